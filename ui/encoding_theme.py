"""One colour, one dash and one name for each encoding; lines differ in both, so that nothing hangs on colour alone."""

# Far apart (30 in CIE Lab) for every eye, and a contrast of 3 on both themes: tests/ui/test_encoding_theme.py.
ENCODING_COLOURS = {
    "sinusoidal": "#4c8ae5", "learned": "#c91d84", "rope": "#789504", "alibi": "#8638fa", "none": "#ac6553",
}  # fmt: skip
DASHES = {"sinusoidal": "solid", "learned": "dash", "rope": "dashdot", "alibi": "dot", "none": "longdash"}
ENCODING_NAMES = {
    "sinusoidal": "sinusoidal", "learned": "learned", "rope": "RoPE", "alibi": "ALiBi", "none": "no positions",
}  # fmt: skip
NEUTRAL = "#808890"

"""Numbers as a person writes them."""

from math import floor, log10

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def scientific(value: float) -> str:
    """Two digits and a power of ten, such as 1.2 · 10⁻¹⁵; 0 is 0."""
    if value == 0:
        return "0"
    exponent = floor(log10(abs(value)))
    digits = f"{value / 10**exponent:.1f}"
    if digits.lstrip("-") == "10.0":
        digits, exponent = digits.replace("10.0", "1.0"), exponent + 1
    return f"{digits.replace('-', '−')} · 10{str(exponent).translate(_SUPERSCRIPT)}"

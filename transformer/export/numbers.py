"""Numbers as a person writes them."""

from math import floor, isfinite, isnan, log10

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


def exact(value: float) -> str:
    """Three decimals; two digits and a power of ten for what they would show as 0; words for what is no number."""
    if not isfinite(value):
        return "not a number" if isnan(value) else "∞" if value > 0 else "−∞"
    if 0 < abs(value) < 0.0005:
        return scientific(value)
    return number(value, 3) if round(value, 3) else "0"


def number(value: float, digits: int = 2) -> str:
    """So many decimals, with a real minus sign; what they would show as −0 is 0."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def percent(value: float) -> str:
    """A probability with two digits, or as little as it is."""
    if value >= 0.0995:
        return f"{value:.0%}"
    return f"{value:.1%}" if value >= 0.0005 else "<0.1%"

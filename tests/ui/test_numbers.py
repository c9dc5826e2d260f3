import pytest

from ui.numbers import scientific


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1.2e-15, "1.2 · 10⁻¹⁵"), (-3e4, "−3.0 · 10⁴"), (9.96e-8, "1.0 · 10⁻⁷"), (1.0, "1.0 · 10⁰")],
)
def test_scientific(value: float, text: str):
    assert scientific(value) == text

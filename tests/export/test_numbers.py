import pytest

from transformer.export.numbers import exact, number, percent, scientific


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1.2e-15, "1.2 · 10⁻¹⁵"), (-3e4, "−3.0 · 10⁴"), (9.96e-8, "1.0 · 10⁻⁷"), (1.0, "1.0 · 10⁰")],
)
def test_scientific(value: float, text: str):
    assert scientific(value) == text


def test_numbers_are_written_as_a_person_writes_them():
    assert (number(-1.234), number(0.5, 3)) == ("−1.23", "0.500")
    assert (number(-0.0004, 3), number(-0.0), number(-0.0006, 3)) == ("0.000", "0.00", "−0.001")
    assert [percent(value) for value in (1.0, 0.52, 0.031, 0.0001)] == ["100%", "52%", "3.1%", "<0.1%"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1.23456, "1.235"),
        (-0.5, "−0.500"),
        (4.04e-5, "4.0 · 10⁻⁵"),
        (-4e-5, "−4.0 · 10⁻⁵"),
        (float("nan"), "not a number"),
        (float("inf"), "∞"),
        (-float("inf"), "−∞"),
    ],
)
def test_numbers_have_three_decimals_or_a_power_of_ten(value, said):
    assert exact(value) == said

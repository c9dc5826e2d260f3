"""The colours, by numbers: contrast (WCAG 2.2), and distances as colour-blind eyes see them (Machado et al. 2009)."""

import re
import tomllib
from itertools import combinations

import numpy as np
import pytest

from tests.conftest import ROOT
from ui.theme import DIFFERENCES, KIND_COLOURS, WEIGHTS, colour_scale, lookup_table, to_rgb

# Severity 1.0, on linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> np.ndarray:
    value = np.array(to_rgb(colour)) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((XYZ[1] @ linear(one), XYZ[1] @ linear(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def lab(colour: str, deficiency: str) -> np.ndarray:
    seen = np.clip(np.array(DEFICIENCIES[deficiency]) @ linear(colour), 0, 1)
    ratio = (XYZ @ seen) / (XYZ @ np.ones(3))
    x, y, z = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.fixture(scope="module")
def themes() -> dict:
    return tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]


@pytest.mark.parametrize("kind", KIND_COLOURS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_colour_of_a_kind_stands_out_on_every_background(themes, kind, theme):
    for background in ("backgroundColor", "secondaryBackgroundColor"):
        assert contrast(KIND_COLOURS[kind], themes[theme][background]) >= 3


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_the_kinds_differ_for_every_eye(deficiency):
    for one, other in combinations(KIND_COLOURS.values(), 2):
        assert np.linalg.norm(lab(one, deficiency) - lab(other, deficiency)) > 20


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_more_weight_is_always_lighter(deficiency):
    lightness = [lab(stop, deficiency)[0] for stop in WEIGHTS]
    assert np.all(np.diff(lightness) > 3)


def test_differences_are_lightest_at_0_and_dark_at_both_ends():
    lightness = [lab(stop, "none")[0] for stop in DIFFERENCES]
    middle = len(DIFFERENCES) // 2
    assert np.all(np.diff(lightness[: middle + 1]) > 0)
    assert np.all(np.diff(lightness[middle:]) < 0)


def test_a_lookup_table_begins_and_ends_as_its_palette_does():
    table = lookup_table(WEIGHTS, 255)
    assert (table.shape, table.dtype) == ((255, 3), np.uint8)
    assert tuple(table[0]) == to_rgb(WEIGHTS[0])
    assert tuple(table[-1]) == to_rgb(WEIGHTS[-1])
    assert colour_scale(WEIGHTS)[0] == [0.0, WEIGHTS[0]]
    assert colour_scale(WEIGHTS)[-1] == [1.0, WEIGHTS[-1]]


def test_a_kind_has_one_colour_everywhere(themes):
    colours = list(KIND_COLOURS.values())
    assert re.findall(r"--kind: (#\w+)", (ROOT / "ui" / "style.css").read_text("utf-8")) == colours
    for theme in ("light", "dark"):
        assert [colour.lower() for colour in themes[theme]["chartCategoricalColors"][:3]] == colours


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_paler_text_keeps_a_contrast_of_4_5(themes, theme):
    """Every opacity that our style sheets give to text, on both backgrounds; a browser test measures what is drawn."""
    sheets = [path.read_text("utf-8") for path in sorted((ROOT / "ui").glob("*.css"))]
    opacities = {float(found) for sheet in sheets for found in re.findall(r"[; ]opacity: (0?\.\d+|1)", sheet)}
    assert min(opacities) < 0.8
    ink = np.array(to_rgb(themes[theme]["textColor"]))
    for name in ("backgroundColor", "secondaryBackgroundColor"):
        paper = np.array(to_rgb(themes[theme][name]))
        for opacity in opacities:
            seen = "#" + "".join(f"{round(channel):02x}" for channel in opacity * ink + (1 - opacity) * paper)
            assert contrast(seen, themes[theme][name]) >= 4.5, (opacity, name)
        for role in ("primaryColor", "linkColor"):
            assert contrast(themes[theme][role], themes[theme]["backgroundColor"]) >= 4.5

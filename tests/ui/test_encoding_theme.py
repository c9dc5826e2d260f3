"""The colours of the five encodings, by numbers."""

from itertools import combinations

import numpy as np
import pytest

from tests.ui.test_theme import DEFICIENCIES, contrast, lab, themes  # noqa: F401
from transformer.ablations.positions import ENCODINGS
from ui.encoding_theme import DASHES, ENCODING_COLOURS, ENCODING_NAMES, NEUTRAL


@pytest.mark.parametrize("colour", [*ENCODING_COLOURS.values(), NEUTRAL])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_encodings_colour_stands_out_on_every_background(themes, colour, theme):  # noqa: F811
    for background in ("backgroundColor", "secondaryBackgroundColor"):
        assert contrast(colour, themes[theme][background]) >= 3


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_the_encodings_differ_for_every_eye(deficiency):
    for one, other in combinations(ENCODING_COLOURS.values(), 2):
        assert np.linalg.norm(lab(one, deficiency) - lab(other, deficiency)) > 30


def test_every_encoding_has_a_colour_a_dash_and_a_name():
    for table in (ENCODING_COLOURS, DASHES, ENCODING_NAMES):
        assert tuple(table) == ENCODINGS
        assert len(set(table.values())) == 5

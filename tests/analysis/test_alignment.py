"""Word alignment from cross-attention, on asymmetric patterns worked out by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from transformer.analysis.alignment import word_links, word_weights
from transformer.analysis.attention import Attention, Tokens

WEIGHTS = np.array([[0.6, 0.1, 0.2], [0.5, 0.3, 0.1]], np.float32)
"""Two target words attend to three source words."""


def tokens(pieces: str, words: list[int]) -> Tokens:
    names = tuple(pieces.split())
    return Tokens(names, names, tuple(words), tuple(name in ("<s>", "</s>") for name in names))


@pytest.fixture
def cross() -> Attention:
    """Writes `y1 y2a y2b </s>`, two words; attends to `xa xb z </s>`, two words."""
    pattern = [[0.2, 0.3, 0.4, 0.1], [0.1, 0.0, 0.8, 0.1], [0.4, 0.4, 0.1, 0.1], [0.0, 0.0, 0.0, 1.0]]
    return Attention(
        "cross",
        np.array([[pattern]], np.float32),
        None,
        np.ones((4, 4), bool),
        queries=tokens("y1 y2a y2b </s>", [0, 1, 1, 2]),
        keys=tokens("xa xb z </s>", [0, 0, 1, 2]),
        read=tokens("<s> y1 y2a y2b", [0, 1, 2, 2]),
    )


def test_weights_of_the_rows_that_write_a_word(cross):
    assert_allclose(word_weights(cross)[0, 0], [[0.5, 0.4], [0.45, 0.45]], atol=1e-6)


def test_weights_of_the_rows_that_read_a_word_come_one_step_later(cross):
    assert_allclose(word_weights(cross, "read")[0, 0], [[0.1, 0.8], [0.4, 0.05]], atol=1e-6)


def test_each_word_finds_its_largest_weight():
    assert word_links(WEIGHTS) == {(0, 0), (0, 1)}
    assert word_links(WEIGHTS, "source") == {(0, 0), (1, 1), (2, 0)}
    assert word_links(WEIGHTS, "intersection") == {(0, 0)}
    assert word_links(WEIGHTS, "union") == {(0, 0), (0, 1), (1, 1), (2, 0)}


def test_a_threshold_links_every_weight_that_reaches_it():
    assert word_links(WEIGHTS, threshold=0.3) == {(0, 0), (0, 1), (1, 1)}
    assert word_links(WEIGHTS, threshold=0.7) == frozenset()


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0)])
def test_nothing_to_align_gives_no_links(shape):
    for direction in ("target", "source", "intersection", "union"):
        assert word_links(np.zeros(shape, np.float32), direction) == frozenset()


def test_what_cannot_be_aligned_is_refused_in_one_sentence(cross):
    with pytest.raises(ValueError, match=r"allowed is cross-attention by pieces\.$"):
        word_weights(cross.words())
    with pytest.raises(ValueError, match=r"rows is 'both'; allowed is written \| read\.$"):
        word_weights(cross, "both")
    with pytest.raises(ValueError, match=r"direction is 'left'; allowed is target \| source"):
        word_links(WEIGHTS, "left")

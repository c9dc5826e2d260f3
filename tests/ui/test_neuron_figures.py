import numpy as np
import pytest

from tests import hostile
from tests.ui.one_head import many_keys, one_head
from tests.ui.samples import tokens
from transformer.export.svg_neurons import LOWERS, MOST_KEYS, RAISES, kept_keys
from ui.neuron_figures import describe_pair, describe_row, pair_figure, row_figure


def stripes(figure) -> list[list[float]]:
    return [trace.z[0].tolist() for trace in figure.data if trace.type == "heatmap"]


def test_a_pair_is_q_k_and_their_product_on_diverging_scales_with_zero_in_the_middle():
    figure = pair_figure(one_head(), 0, 1)
    assert stripes(figure) == [[1, 2, 0, -1], [0.5, 1, 0, -1], [0.5, 2, 0, 1]]
    for trace in figure.data[:3]:
        assert trace.zmin == -trace.zmax
    assert figure.data[0].zmax == figure.data[1].zmax == 2, "q and k are on one scale"


def test_bars_begin_where_the_last_one_ended_and_end_at_the_score():
    terms, score = [trace for trace in pair_figure(one_head(), 0, 1).data if trace.type == "bar"]
    assert list(terms.y) == [0.25, 1, 0, 0.5]
    assert list(terms.base) == [0, 0.25, 1.25, 1.25]
    assert list(score.y) == [1.75]
    assert terms.base[-1] + terms.y[-1] == score.y[0]
    assert score.x[0] > max(terms.x)


def test_terms_that_lower_the_score_have_the_other_colour():
    terms = next(trace for trace in pair_figure(one_head(), 0, 2).data if trace.type == "bar")
    assert list(terms.y) == [-0.5, 0, 0, -1.5]
    assert list(terms.marker.color) == [LOWERS, RAISES, RAISES, LOWERS]


def test_a_bias_is_the_last_step_before_the_score():
    bias = np.array([[0, -1, -2], [-1, 0, -1]], np.float32)
    terms, score = [trace for trace in pair_figure(one_head(bias=bias), 0, 1).data if trace.type == "bar"]
    assert terms.y[-1] == -1
    assert score.y[0] == 0.75
    assert "bias" in pair_figure(one_head(bias=bias), 0, 1).layout.xaxis.ticktext
    assert "bias" not in pair_figure(one_head(), 0, 1).layout.xaxis.ticktext


def test_a_row_has_products_scores_and_weights_of_every_key_in_their_order():
    figure = row_figure(one_head(), 0, 1)
    products, scores, weights = figure.data
    assert products.z.tolist() == [[1, 0, 0, 0], [0.25, 1, 0, 0.5], [-0.5, 0, 0, -1.5]]
    assert list(scores.x) == [1, 1.75, -2]
    assert np.allclose(weights.x, one_head().pattern[0])
    assert list(figure.layout.yaxis.ticktext) == ["yes", "<b>no</b>", "&lt;/s&gt;"]
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1], "the first key stands at the top"


def test_a_masked_key_keeps_its_score_pale_and_has_no_weight():
    figure = row_figure(one_head(kind="decoder", mask=np.tri(2, 3, dtype=bool)), 0, 0)
    _, scores, weights = figure.data
    assert list(scores.marker.opacity) == [1, 0.35, 0.35]
    assert list(weights.x) == [1, 0, 0]
    assert [note.text for note in figure.layout.annotations].count("masked") == 2


def test_bias_and_product_make_the_score_together():
    bias = np.array([[0, -1, -2], [-1, 0, -1]], np.float32)
    _, products, biases, scores, _ = row_figure(one_head(bias=bias), 0, 1).data
    assert list(products.x) == [1, 1.75, -2]
    assert list(biases.x) == [0, -1, -2]
    assert list(scores.x) == [1, 0.75, -4]


@pytest.mark.parametrize("n_keys", [1, MOST_KEYS, MOST_KEYS + 1, 512])
def test_of_many_keys_the_chosen_one_and_the_strongest_are_drawn(n_keys):
    kept = kept_keys(many_keys(n_keys), 0, n_keys - 1)
    assert len(kept) == min(n_keys, MOST_KEYS)
    assert n_keys - 1 in kept
    assert kept.tolist() == sorted(set(kept.tolist()))
    if n_keys > MOST_KEYS:
        assert kept[:-1].tolist() == list(range(MOST_KEYS - 1))
    assert len(row_figure(many_keys(n_keys), 0, n_keys - 1).data[0].z) == len(kept)


def test_both_are_told_in_words():
    assert describe_pair(one_head(), 0, 1).endswith("summing to the score 1.750. Dimension 1 contributes most: 1.000.")
    assert describe_row(one_head(), 1) == (
        "Scores and weights of 3 keys for query nein. The largest weight is 0.787, for key yes."
    )


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_hostile_tokens_are_escaped(text):
    figure = row_figure(one_head(keys=tokens(text, "b", text)), 0, 1)
    for label in (figure.layout.yaxis.ticktext[0], figure.data[1].customdata[0]):
        assert "<" not in label
        assert ">" not in label


@pytest.mark.parametrize("zeros", [np.zeros((2, 4), np.float32)])
def test_a_head_of_zeros_has_a_picture(zeros):
    flat = one_head(q=zeros, scores=np.zeros((2, 3), np.float32))
    assert pair_figure(flat, 0, 0).data[0].zmax > 0
    assert len(row_figure(flat, 0, 0).data) == 3


def test_what_is_no_number_spoils_no_scale():
    broken = np.array([[np.nan, 2, 0, -1], [0, 0, 4, 0]], np.float32)
    parts = one_head(q=broken, scores=np.array([[np.nan] * 3, [2, 0, 0]], np.float32))
    assert pair_figure(parts, 0, 1).data[0].zmax == 2
    assert row_figure(parts, 0, 1).data[0].zmax == 1.5

"""Alignment error rate: the numbers of the definition, and a checkpoint scored against gold of our own."""

from dataclasses import replace
from math import isnan

import pytest

from transformer.analysis import alignment_error
from transformer.analysis.alignment import word_weights
from transformer.analysis.alignment_error import (
    Agreement,
    AlignmentScores,
    Reading,
    alignment_error_rate,
    gold_attention,
)
from transformer.analysis.gold import GoldPair

PAIR = GoldPair(
    "one", ("the", "animal"), ("das", "Tier", "."), frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1)})
)
OTHER = GoldPair("two", ("a", "street"), ("eine", "Straße"), frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1)}))


def test_error_rate_of_och_and_ney_by_hand():
    """Three links: one sure, one possible, one wrong; two sure links in all: 1 − (1 + 2) / (3 + 2)."""
    gold = replace(PAIR, possible=PAIR.sure | {(0, 1)})
    agreement = Agreement.of(frozenset({(0, 0), (0, 1), (1, 0)}), gold)
    assert agreement == (3, 1, 2, 2)
    assert agreement.error_rate == pytest.approx(0.4)
    assert agreement.precision == pytest.approx(2 / 3)
    assert agreement.recall == pytest.approx(1 / 2)


def test_perfect_and_empty_alignments():
    assert Agreement.of(PAIR.sure, PAIR).error_rate == 0
    assert Agreement.of(frozenset(), PAIR).error_rate == 1
    assert isnan(Agreement(0, 0, 0, 0).error_rate)


def test_a_corpus_counts_links_and_averages_no_sentences():
    total = Agreement.total([Agreement(1, 1, 1, 1), Agreement(9, 0, 0, 9)])
    assert total.error_rate == pytest.approx(1 - 2 / 20)


def test_the_best_layer_held_out_is_chosen_on_the_other_half():
    """Layer 0 is right on even pairs only, layer 1 on odd ones only: chosen fairly, each scores the half it fails."""
    right, wrong = Agreement(1, 1, 1, 1), Agreement(1, 0, 0, 1)
    counts = {Reading("read", 0, None): [right, wrong, right], Reading("read", 1, None): [wrong, right, wrong]}
    scores = AlignmentScores(counts, right)
    assert scores.best_layer == ("read", 0, None)
    assert scores[scores.best_layer].error_rate == pytest.approx(1 / 3)
    assert scores.held_out.error_rate == 1


def test_words_of_the_gold_are_words_of_the_attention(checkpoint):
    cross = gold_attention(checkpoint, PAIR)
    words = cross.words()
    for side, expected in ((words.keys, PAIR.source), (words.queries, PAIR.target)):
        assert tuple(piece.removeprefix("▁") for piece in side.pieces) == (*expected, "</s>")
    assert word_weights(cross, "written").shape == word_weights(cross, "read").shape == (3, 4, 3, 2)


def test_pieces_are_those_of_the_words_joined_by_spaces(checkpoint):
    cross = gold_attention(checkpoint, PAIR)
    joined = checkpoint.tokenizer.pieces(checkpoint.tokenizer.encode(" ".join(PAIR.source)))
    assert list(cross.keys.pieces) == [*joined, "</s>"]


def test_every_reading_of_a_checkpoint_is_scored(checkpoint):
    scores = alignment_error_rate(checkpoint, [PAIR, OTHER])
    frame = scores.to_frame()
    assert len(frame) == 2 * (3 * 4 + 3 + 1)
    assert frame["aer"].between(0, 1).all()
    assert all(len(counts) == 2 for counts in scores.counts.values())
    assert all(scores[reading].found == 5 for reading in scores.counts), "each target word is linked once"
    best = scores.best_layer
    layers = frame[(frame["layer"] != "mean") & (frame["head"] == "mean")]
    assert scores[best].error_rate == layers["aer"].min()


def test_the_diagonal_is_scored_beside_it(checkpoint):
    """the–das, the–Tier (its place, ½, is rounded to even), animal–. are linked: one of two sure links."""
    scores = alignment_error_rate(checkpoint, [PAIR])
    assert scores.diagonal == (3, 1, 1, 2)


def test_summary_is_what_evaluation_json_takes(checkpoint):
    summary = alignment_error_rate(checkpoint, [PAIR, OTHER]).summary()
    assert summary["n_sentences"] == 2
    assert summary["n_sure_links"] == 4
    assert set(summary["layers"]) == {"written", "read"}
    best = summary["best_layer"]
    assert summary["layers"][best["rows"]][best["layer"]] == best["aer"] == min(map(min, summary["layers"].values()))


def test_attention_along_the_gold_has_no_error(checkpoint, monkeypatch):
    """Attention put where the gold links are, at the rows that write."""

    def ideal(checkpoint, pair):
        cross = gold_attention(checkpoint, pair)
        pattern = cross.pattern * 0
        for row, target in enumerate(cross.queries.words):
            for column, source in enumerate(cross.keys.words):
                pattern[:, :, row, column] = (source, target) in pair.sure
        return replace(cross, pattern=pattern)

    monkeypatch.setattr(alignment_error, "gold_attention", ideal)
    scores = alignment_error_rate(checkpoint, [OTHER])
    assert scores.best_layer == ("written", 0, None)
    assert scores[Reading("written", 0, None)].error_rate == 0


def test_no_gold_is_refused(checkpoint):
    with pytest.raises(ValueError, match="no gold pairs"):
        alignment_error_rate(checkpoint, [])

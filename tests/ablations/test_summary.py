"""What the table says within the trained lengths and beyond them, over seeds."""

import math
from dataclasses import replace

import pytest
import torch

from tests.ablations.rows import row
from transformer.ablations.lengths import task_corpus
from transformer.ablations.position_parts import PARTS, length
from transformer.ablations.summary import reach, spread_of
from transformer.text.tokenizer import EOS


def test_within_and_beyond_are_weighted_by_the_tokens_that_accuracy_counts():
    """Of 310 and 110 tokens 10 each are </s>, which perplexity counts and accuracy does not."""
    rows = [row("rope", 1, 10, 0.5, n_tokens=310), row("rope", 11, 20, 1.0, n_tokens=110), row("rope", 21, 40, 0.25)]
    found = reach(rows, "copy", "accuracy")["rope"]
    assert found.within.mean == pytest.approx(0.625)
    assert found.beyond.mean == 0.25
    assert reach(rows, "copy", "whole")["rope"].within.mean == pytest.approx(0.75), "targets count alike"
    flat = [replace(rows[0], nll=0.0), replace(rows[1], nll=1.0)]
    assert reach(flat, "copy", "perplexity")["rope"].within.mean == pytest.approx(math.exp(110 / 420))
    assert reach([*rows], "reverse", "accuracy") == {}
    assert reach([row("learned", 21, 40, None)], "copy", "accuracy")["learned"].beyond is None


@pytest.mark.parametrize("part", ["copy", "shift-3"])
def test_judged_tokens_are_those_that_scores_by_length_judge(part: str):
    """Counted letter by letter in the strings that are tested, for every range of lengths."""
    judged = PARTS[part].judged or (lambda gold: gold != EOS)
    pairs = task_corpus(part).pairs("test")
    for low, high in PARTS[part].edges:
        own = [target.split() for source, target in pairs if low <= length((source, target)) <= high]
        counted = sum(int(judged(torch.tensor([[99] * len(one) + [EOS]])).sum()) for one in own)
        n_tokens = sum(len(one) + 1 for one in own)
        assert replace(row("rope", low, high, 0.5), part=part, n_pairs=len(own), n_tokens=n_tokens).n_judged == counted


def test_a_spread_counts_only_seeds_that_have_a_number():
    spread = spread_of([row("rope", 1, 10, 0.5), row("rope", 1, 10, None, seed=2)], "accuracy")
    assert (spread.mean, spread.lowest, spread.highest, spread.n_seeds) == (0.5, 0.5, 0.5, 1)
    assert spread_of([row("rope", 1, 10, None)], "accuracy") is None

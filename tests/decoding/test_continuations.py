"""The two passes find what one sort of everything finds."""

import pytest
import torch

from transformer.decoding.continuations import best_continuations


@pytest.mark.parametrize("n_vocab", [5, 63, 64, 130, 640, 1001])
@pytest.mark.parametrize(("width", "n"), [(1, 1), (1, 4), (4, 4), (3, 2), (2, 9)])
def test_the_best_are_those_of_a_full_sort(n_vocab, width, n):
    torch.manual_seed(n_vocab + width)
    log_probs = torch.randn(3, width, n_vocab).log_softmax(-1)
    totals = torch.randn(3, width)
    best, hypothesis, piece = best_continuations(totals, log_probs, n)
    everything = (totals[:, :, None] + log_probs).flatten(1).sort(descending=True)
    n_found = min(n, width * n_vocab)
    assert torch.equal(best, everything.values[:, :n_found])
    assert torch.equal(hypothesis * n_vocab + piece, everything.indices[:, :n_found])


def test_a_closed_hypothesis_and_forbidden_pieces_come_last():
    log_probs = torch.full((1, 2, 200), -5.0)
    log_probs[:, :, :150] = -torch.inf
    log_probs[:, :, 199] = -1.0
    totals = torch.tensor([[-torch.inf, -2.0]])
    best, hypothesis, piece = best_continuations(totals, log_probs, 2)
    assert best.tolist() == [[-3.0, -7.0]]
    assert hypothesis.tolist() == [[1, 1]]
    assert piece[0, 0] == 199
    assert piece[0, 1] >= 150

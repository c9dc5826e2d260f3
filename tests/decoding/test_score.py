"""Scores of a given target against a pass written out, and against the search that found it."""

import math

import pytest
import torch

from tests.decoding.test_search import MIXED, log_probs, random_model
from transformer.decoding.hypothesis import length_penalty
from transformer.decoding.score import score_target
from transformer.decoding.search import beam_search
from transformer.text.tokenizer import BOS, EOS


def test_log_probabilities_entropies_and_alternatives_are_those_of_the_distribution():
    model, source, target = random_model(), MIXED[3], [17, 23, EOS]
    scored = score_target(model, source, target, n_alternatives=3)
    with torch.inference_mode():
        logits = model(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *target[:-1]]]))[0].double()
    for place, row in enumerate(logits.softmax(-1).tolist()):
        assert scored.token_log_probs[place] == pytest.approx(math.log(row[target[place]]), abs=1e-5)
        assert scored.entropies[place] == pytest.approx(-sum(p * math.log(p) for p in row), abs=1e-4)
        best = sorted(range(EOS, len(row)), key=row.__getitem__, reverse=True)[:3]
        assert list(scored.alternatives[place]) == best
        assert scored.alternative_log_probs[place][0] == pytest.approx(math.log(row[best[0]]), abs=1e-5)


def test_an_even_distribution_has_the_entropy_of_the_vocabulary():
    model = random_model()
    with torch.no_grad():
        model = type(model)(model.config).eval()
        model.projection.weight.zero_()
    scored = score_target(model, [5], [7, EOS])
    assert scored.entropies == pytest.approx([math.log(50)] * 2, abs=1e-5)
    assert scored.mean == pytest.approx(-math.log(50), abs=1e-5)
    assert scored.log_prob == pytest.approx(-2 * math.log(50), abs=1e-5)
    assert scored.score(1.0) == pytest.approx(scored.log_prob / (7 / 6))


def test_the_score_of_what_a_search_found_is_the_search_s():
    model = random_model()
    for source in MIXED:
        for hypothesis in beam_search(model, [source], n_best=4)[0]:
            scored = score_target(model, source, hypothesis.tokens)
            assert scored.token_log_probs == pytest.approx(hypothesis.token_log_probs, abs=1e-4)
            assert scored.token_log_probs == pytest.approx(log_probs(model, source, hypothesis.tokens), abs=1e-5)
            assert scored.score(0.6) == pytest.approx(hypothesis.score, abs=1e-4)
            assert scored.score(0.6) == scored.log_prob / length_penalty(len(hypothesis.tokens), 0.6)


def test_special_pieces_are_no_alternatives():
    scored = score_target(random_model(), [5], [7, 8], n_alternatives=99)
    assert len(scored.alternatives[0]) == 50 - EOS
    assert min(min(row) for row in scored.alternatives) == EOS


def test_nothing_scores_nothing_and_unknown_ids_are_named():
    nothing = score_target(random_model(), [5], [])
    assert (nothing.log_prob, nothing.tokens) == (0, ())
    assert math.isnan(nothing.mean)
    with pytest.raises(ValueError, match="The id 50 is not in the vocabulary; allowed is 0 to 49"):
        score_target(random_model(), [5], [50])

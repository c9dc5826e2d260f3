"""Scores: perplexity by hand, BLEU with its signature, and results that are kept beside each other."""

import json
import math

import pytest
import torch

from tests.analysis.conftest import SENTENCES
from tests.decoding.test_search import random_model
from transformer.evaluate import perplexity, save_evaluation, translation_scores
from transformer.text.tokenizer import BOS, EOS, Tokenizer

GERMAN = ["Das ist ein Haus mit „Garten“.", "Wir gehen morgen ins Kino, oder?", "Er hat zwei Hunde und eine Katze."]


def test_perplexity_is_that_of_every_piece_whatever_the_batches():
    tokenizer = Tokenizer.train(SENTENCES, 310)
    model = random_model(vocab_size=len(tokenizer))
    pairs = [("The animal was tired.", "Das Tier war müde."), ("A street", "Eine"), ("", "")]
    nll, n_tokens = 0.0, 0
    for source, target in pairs:
        ids, written = tokenizer.encode(source), [*tokenizer.encode(target), EOS]
        with torch.inference_mode():
            logits = model(torch.tensor([[*ids, EOS]]), torch.tensor([[BOS, *written[:-1]]]))[0]
        nll -= float(logits.log_softmax(-1).gather(1, torch.tensor(written)[:, None]).sum())
        n_tokens += len(written)
    assert perplexity(model, tokenizer, pairs) == pytest.approx(math.exp(nll / n_tokens), rel=1e-4)


def test_the_reference_itself_scores_100_and_signatures_say_what_was_counted():
    scores = translation_scores(GERMAN, GERMAN)
    assert [scores[name]["score"] for name in ("bleu", "chrf", "bleu_lower_moses")] == [100, 100, 100]
    assert "case:mixed" in scores["bleu"]["signature"]
    assert "tok:13a" in scores["bleu"]["signature"]
    assert "tok:none" in scores["bleu_lower_moses"]["signature"]


def test_only_the_lower_cased_score_overlooks_case():
    shouted = [text.upper().replace("SS", "ß") for text in GERMAN]
    scores = translation_scores(shouted, GERMAN)
    assert scores["bleu_lower_moses"]["score"] == 100
    assert scores["bleu"]["score"] < 20


def test_bleu_by_hand():
    """One sentence, one wrong word of five: precisions 4/5, 2/4, 1/3, and 1/(2·2) for the smoothed 4-grams."""
    scores = translation_scores(["a b c d x"], ["a b y d x"])
    assert scores["bleu"]["score"] == pytest.approx(
        100 * (4 / 5 * 2 / 4 * (1 / (2 * 3)) * (1 / (4 * 2))) ** 0.25, abs=0.01
    )


def test_results_of_other_corpora_are_kept(tmp_path):
    save_evaluation(tmp_path, "one test", {"perplexity": 2.0})
    save_evaluation(tmp_path, "two test", {"perplexity": 3.0})
    assert json.loads((tmp_path / "evaluation.json").read_text()) == {
        "one test": {"perplexity": 2.0},
        "two test": {"perplexity": 3.0},
    }

"""Three verdicts: what exceeds what a seed may make and the paper's rounding, and points the same way, holds."""

import math

import numpy as np
import pytest

from tests.ablations.results import result
from transformer.ablations.paper import PAPER
from transformer.ablations.variants import VARIANTS
from transformer.ablations.verdicts import SAYS, comparisons, missing, n_models, tally, turned
from transformer.presets import TABLE_3

BASE = [result("base", 10.0, 20.0, 1), result("base", 10.2, 20.4, 2), result("base", 10.1, 20.2, 3)]
"""Means 10.1 and 20.2, standard deviations 0.1 and 0.2: margins of 4.303 · √(1/3 + 1) · these, 0.497 and 0.994."""


def verdict(name: str, perplexity: float | None, metric="perplexity", bleu: float = 20.2) -> str | None:
    (found,) = comparisons([*BASE, result(name, perplexity, bleu)], metric)
    return found.verdict


@pytest.mark.parametrize(
    ("name", "perplexity", "expected"),
    [
        ("A-h1", 10.7, "holds"),
        ("A-h1", 9.5, "does not hold"),
        ("A-h1", 10.59, "cannot tell"),
        ("A-h1", 10.60, "holds"),
        ("A-h1", None, "cannot tell"),
        ("no-positions", None, "holds"),
        ("C-n6", 9.0, "holds"),
        ("A-h8", 8.0, "cannot tell"),
        ("E-learned", 30.0, "cannot tell"),
        ("uniform", 12.0, None),
        ("no-positions", 12.0, "holds"),
        ("no-positions", 9.0, "does not hold"),
    ],
)
def test_verdicts_by_perplexity(name: str, perplexity: float | None, expected: str | None):
    """The paper's ΔPPL: h = 1 +0.37; N = 8 −0.04; h = 16 −0.01, which is rounding; learned 0.00."""
    assert verdict(name, perplexity) == expected


def test_more_bleu_is_better():
    """The paper's ΔBLEU: h = 1 −0.9; N = 8 −0.3, though its perplexity is better; learned −0.1, which is rounding."""
    assert verdict("A-h1", 10.5, "bleu", bleu=19.0) == "holds"
    assert verdict("A-h1", 10.5, "bleu", bleu=21.2) == "does not hold"
    assert verdict("C-n6", 9.0, "bleu", bleu=21.2) == "does not hold"
    assert verdict("E-learned", 10.0, "bleu", bleu=1.0) == "cannot tell"
    assert verdict("A-h1", 10.5, "bleu", bleu=21.1) == "cannot tell"


def test_one_further_seed_of_twenty_lies_outside_the_margin():
    """A variant that changes nothing, 4,000 times; its perplexities are drawn as the base's are."""
    drawn = np.random.default_rng(0).normal(10, 0.3, (4000, 4))
    found = [
        comparisons([*(result("base", x, seed=n) for n, x in enumerate(three, 1)), result("A-h1", x)], "perplexity")[0]
        for *three, x in drawn.tolist()
    ]
    assert np.mean([one.distinguishable for one in found]) == pytest.approx(0.05, abs=0.01)


def test_what_did_not_learn_tells_nothing_unless_the_paper_says_that_it_would_not():
    """Below 1 BLEU; the paper has N = 8 at −0.3 BLEU and −0.04 perplexity, and fears for large d_k without scaling."""
    rows = [*BASE, result("A-h1", 10.0), result("C-n6", 10_000.0, 0.99), result("unscaled-dk128", 100.0, 0.5)]
    for metric in ("perplexity", "bleu"):
        found = {one.name: one for one in comparisons(rows, metric)}
        assert (found["C-n6"].learned, found["C-n6"].verdict) == (False, "cannot tell")
        assert (found["unscaled-dk128"].learned, found["unscaled-dk128"].verdict) == (False, "holds")
        assert found["A-h1"].learned


def test_fewer_seeds_make_wider_margins():
    """Of two seeds 0.2 apart: 12.706 · 0.1 · √2 · √(1/2 + 1); of one against one: the base's three say how far."""
    (two,) = comparisons([*BASE[:2], result("A-h1", 12.0)], "perplexity")
    assert two.margin == pytest.approx(12.706 * 0.1 * 3**0.5, rel=1e-4)
    rows = [*BASE, result("A-h1", 11.0), result("unscaled-dk128", 12.0)]
    against_base, against_one = comparisons(rows, "perplexity")
    assert against_base.margin == pytest.approx(0.4969, abs=1e-4)
    assert against_one.margin == pytest.approx(0.6085, abs=1e-4)


def test_what_the_paper_says_is_measured_against_its_own_neighbour():
    rows = [*BASE, result("A-h1", 11.0), result("unscaled-dk128", 12.0)]
    found = {one.name: one for one in comparisons(rows, "perplexity")}
    assert (found["unscaled-dk128"].against, found["unscaled-dk128"].delta) == ("A-h1", 1.0)
    assert found["unscaled-dk128"].verdict == "holds"
    assert [one.name for one in comparisons([*BASE, result("unscaled-dk128", 12.0)], "perplexity")] == []


def test_a_control_is_measured_against_the_variant_that_it_controls():
    rows = [*BASE, result("A-h1", 11.0), result("pre", 9.0), result("rate-quarter", 8.0)]
    rows += [result("twice-dk128", 9.5), result("pre-no-warmup", 9.2), result("rate-quarter-n6", 7.5)]
    found = {one.name: one for one in comparisons(rows, "perplexity")}
    assert [found[name].delta for name in ("twice-dk128", "pre-no-warmup", "rate-quarter-n6")] == pytest.approx(
        [-1.5, 0.2, -0.5]
    )
    assert found["rate-quarter"].against == "base"


def test_a_finding_that_is_looked_at_again_at_another_rate_counts_once():
    """The paper's width of 1024: −0.26 perplexity."""
    rows = [*BASE, result("C-d256", 15.0), result("rate-half", 12.0), result("rate-half-d256", 9.0)]
    found = comparisons(rows, "perplexity")
    verdicts = {one.name: (one.paper_delta, one.verdict) for one in found}
    assert verdicts["C-d256"] == (-0.26, "does not hold")
    assert verdicts["rate-half"] == (None, None)
    assert verdicts["rate-half-d256"] == (-0.26, "holds")
    assert tally(found) == {"holds": 0, "does not hold": 1, "cannot tell": 0}
    assert turned(found) == {"C-d256": ["rate-half-d256"]}
    assert turned(comparisons([*rows[:-1], result("rate-half-d256", 19.0)], "perplexity")) == {"C-d256": []}


def test_with_one_seed_nothing_can_be_told():
    (found,) = comparisons([BASE[0], result("A-h1", 99.0)], "perplexity")
    assert (found.margin, found.verdict, found.distinguishable) == (None, "cannot tell", False)


def test_without_a_base_there_is_nothing_to_compare_with():
    assert comparisons([], "bleu") == []
    assert comparisons([result("A-h1", 10.0)], "perplexity") == []


def test_a_diverged_variant_is_infinitely_worse():
    perplexity, bleu = (comparisons([*BASE, result("pre", None)], metric)[0] for metric in ("perplexity", "bleu"))
    assert (perplexity.ours, perplexity.delta, bleu.delta) == (None, math.inf, -math.inf)
    assert perplexity.distinguishable


def test_the_tally_counts_every_finding_once():
    rows = [*BASE, result("A-h1", 11.0), result("B-dk8", 9.0), result("D-drop0", 10.1), result("uniform", 12.0)]
    assert tally(comparisons(rows, "perplexity")) == {"holds": 1, "does not hold": 1, "cannot tell": 1}


def test_the_papers_table_has_a_row_for_every_preset_and_our_rows_know_theirs():
    assert list(PAPER) == ["base", *TABLE_3]
    assert {variant.paper for variant in VARIANTS.values()} - {None} == set(PAPER)
    assert set(SAYS) <= set(VARIANTS)
    assert PAPER["D-smooth0"].perplexity == 4.67


def test_what_is_missing_is_named_seed_by_seed():
    assert len(missing([])) == n_models() == len(VARIANTS) + 4
    left = missing([BASE[0], BASE[2], result("A-h1", 10.0), result("pre", None)])
    assert left[:4] == ["base, seed 2", "base, seed 4", "base, seed 5", "A-h2"]
    assert "pre" not in left, "a model that diverged has its row"
    assert missing([result(name, 10.0, seed=seed) for name, one in VARIANTS.items() for seed in one.seeds]) == []

"""Which two models differ in their seed alone: by what they are, not by what they are called."""

from dataclasses import replace

import pytest

from transformer.ablations.seeds import differ_in_seed_alone, seed_pair
from transformer.checkpoint import CheckpointConfig
from transformer.config import ModelConfig, TrainConfig

BASE = CheckpointConfig(
    ModelConfig(d_model=64), TrainConfig(steps=100, seed=1), {"name": "tatoeba", "sha256": "a"}, step=100
)
SECOND = replace(BASE, train=replace(BASE.train, seed=2))


def test_another_seed_is_found_whatever_else_it_is_called():
    assert differ_in_seed_alone(BASE, SECOND)
    assert differ_in_seed_alone(SECOND, BASE)
    explicit = replace(SECOND, model=ModelConfig(d_model=64, d_k=8, d_v=8))
    assert differ_in_seed_alone(BASE, explicit), "widths that follow from d_model and heads are the same widths"
    logged = replace(SECOND, train=replace(SECOND.train, log_every=7), version="another")
    assert differ_in_seed_alone(BASE, logged), "how often a run wrote its log makes no other model"


@pytest.mark.parametrize(
    "other",
    [
        BASE,
        replace(SECOND, model=ModelConfig(d_model=64, n_heads=4)),
        replace(SECOND, train=replace(SECOND.train, label_smoothing=0.2)),
        replace(SECOND, corpus={"name": "tatoeba", "sha256": "b"}),
        replace(SECOND, step=50),
        replace(SECOND, weights="average of the last 5"),
    ],
    ids=["the same seed", "other heads", "other training", "other text", "still training", "averaged"],
)
def test_what_differs_in_more_is_no_noise_floor(other: CheckpointConfig):
    assert not differ_in_seed_alone(BASE, other)


def test_the_first_model_shown_comes_first_then_others_then_any_that_reads_the_same():
    heads = replace(BASE, model=ModelConfig(d_model=64, n_heads=4))
    heads_second = replace(heads, train=replace(heads.train, seed=7))
    letters = replace(BASE, corpus={"name": "reverse"})
    known = {"mine": heads, "a": BASE, "b": SECOND, "c": heads_second, "letters": letters}
    assert seed_pair(["mine", "a"], known) == ("mine", "c")
    assert seed_pair(["a", "mine"], known) == ("a", "b")
    alone = {name: known[name] for name in ("mine", "a", "b", "letters")}
    assert seed_pair(["mine", "b"], alone) == ("b", "a")
    assert seed_pair(["mine"], alone) == ("a", "b"), "another model's seeds, which read the same text"
    assert seed_pair(["letters"], alone) is None
    assert seed_pair(["gone"], alone) is None
    assert seed_pair([], alone) is None

"""Configurations: the paper's defaults, and every wrong value refused in a sentence that a person can act on."""

import ast
import inspect
import json
from dataclasses import FrozenInstanceError, asdict, fields
from typing import Any, Literal, get_args, get_origin

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transformer import config as module
from transformer.config import ConfigError, ModelConfig, TrainConfig

CONFIGS = (ModelConfig, TrainConfig)
FIELDS = [(cls, field) for cls in CONFIGS for field in fields(cls)]
by_field = pytest.mark.parametrize(("cls", "field"), FIELDS, ids=[f"{cls.__name__}.{f.name}" for cls, f in FIELDS])

WHOLE = [(cls, f.name) for cls, f in FIELDS if f.type in (int, int | None)]
NUMBERS = [(cls, f.name) for cls, f in FIELDS if f.type is float]
CHOICES = [(cls, f.name) for cls, f in FIELDS if get_origin(f.type) is Literal]
PROBABILITIES = [
    (ModelConfig, "p_drop"),
    (ModelConfig, "p_drop_attention"),
    (TrainConfig, "beta1"),
    (TrainConfig, "beta2"),
    (TrainConfig, "label_smoothing"),
]
AT_LEAST = {
    (ModelConfig, "vocab_size"): 4,
    (TrainConfig, "vocab_size"): 300,
    (TrainConfig, "seed"): 0,
    (TrainConfig, "clip_norm"): 0,
    (TrainConfig, "cooldown"): 0,
    (TrainConfig, "balance"): 0,
}
"""The smallest allowed value where it is not 1."""

NAN, INFINITY = float("nan"), float("inf")


def refused(cls: type, field: str, value: Any, allowed: str = "") -> None:
    """The value is refused in one sentence: which field, which value, and what is allowed."""
    with pytest.raises(ConfigError) as error:
        cls(**{field: value})
    message = str(error.value)
    assert message.startswith(f"{cls.__name__}.{field} is {value!r}; allowed is "), message
    assert allowed in message
    assert message.endswith(".")
    assert "\n" not in message


def test_the_defaults_are_the_papers_base_model():
    model, train = ModelConfig(), TrainConfig()
    assert (model.n_encoder_layers, model.n_decoder_layers, model.d_model, model.d_ff, model.n_heads) == (
        6,
        6,
        512,
        2048,
        8,
    )
    assert (model.p_drop, model.p_drop_attention) == (0.1, 0.0)
    assert (model.positions, model.norm, model.activation, model.tied_embeddings) == (
        "sinusoidal",
        "post",
        "relu",
        True,
    )
    assert (train.steps, train.warmup, train.lr_factor, train.label_smoothing) == (100_000, 4000, 1.0, 0.1)
    assert (train.beta1, train.beta2, train.epsilon, train.clip_norm) == (0.9, 0.98, 1e-9, 0)
    assert (train.batch_tokens, train.accumulate, train.keep) == (25_000, 1, 5)
    assert model.vocab_size == train.vocab_size == 37_000


@by_field
def test_every_field_has_a_docstring_and_a_default_that_is_allowed(cls: type, field: Any):
    """The docstrings are the help texts of the command line."""
    (definition,) = (
        node for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__
    )  # fmt: skip
    body = definition.body
    (place,) = (
        i for i, node in enumerate(body) if isinstance(node, ast.AnnAssign) and node.target.id == field.name
    )  # fmt: skip
    after = body[place + 1]
    assert isinstance(after, ast.Expr), field.name
    assert isinstance(after.value.value, str)
    assert after.value.value.endswith(".")
    assert cls(**{field.name: field.default}) == cls()


@by_field
def test_a_configuration_is_frozen(cls: type, field: Any):
    with pytest.raises(FrozenInstanceError):
        setattr(cls(), field.name, field.default)


@pytest.mark.parametrize("cls", CONFIGS)
def test_a_configuration_goes_through_json_and_takes_names_only(cls: type):
    config = cls()
    assert cls(**json.loads(json.dumps(asdict(config)))) == config
    assert hash(config) == hash(cls())
    with pytest.raises(TypeError):
        cls(64)
    with pytest.raises(TypeError):
        cls(no_such_field=1)


@pytest.mark.parametrize(("cls", "field"), WHOLE)
@pytest.mark.parametrize("value", [True, False, "8", "", 8.0, 8.5, NAN, INFINITY, [8], {}, None, b"8", 8j])
def test_only_whole_numbers_are_whole_numbers(cls: type, field: str, value: Any):
    """JSON and forms bring strings, floats and booleans; True is not 1 here."""
    if value is None and field in ("d_k", "d_v"):
        assert getattr(cls(**{field: None}), field) is None
    else:
        refused(cls, field, value, "a whole number")


@pytest.mark.parametrize(("cls", "field"), NUMBERS)
@pytest.mark.parametrize("value", [True, "0.1", "", None, [0.1], NAN, INFINITY, -INFINITY, 0.1j])
def test_only_finite_numbers_are_numbers(cls: type, field: str, value: Any):
    refused(cls, field, value, "a number")


@pytest.mark.parametrize(("cls", "field"), NUMBERS)
def test_a_whole_number_does_for_a_number_where_json_drops_the_point(cls: type, field: str):
    value = 0 if (cls, field) in PROBABILITIES else 1
    assert getattr(cls(**{field: value}), field) == value


@pytest.mark.parametrize(("cls", "field"), CHOICES)
@pytest.mark.parametrize("value", ["", "Post", "best", None, 0, True, ["post"], {}, NAN])
def test_a_choice_names_all_there_are(cls: type, field: str, value: Any):
    (annotation,) = (f.type for f in fields(cls) if f.name == field)
    refused(cls, field, value, " | ".join(map(repr, get_args(annotation))))


@pytest.mark.parametrize("value", [0, 1, "true", None, "", [True]])
def test_only_true_and_false_are_true_or_false(value: Any):
    for field in ("tied_embeddings", "divide_query", "causal"):
        refused(ModelConfig, field, value, "true or false")


@pytest.mark.parametrize(("cls", "field"), PROBABILITIES)
@pytest.mark.parametrize("value", [-0.1, -1e-12, 1.0, 1, 1.5, 100])
def test_probabilities_are_at_least_0_and_below_1(cls: type, field: str, value: float):
    refused(cls, field, value, "at least 0 and below 1")
    for allowed in (0, 0.0, 0.5, 0.999):
        assert getattr(cls(**{field: allowed}), field) == allowed


@pytest.mark.parametrize(("cls", "field"), [*WHOLE, (TrainConfig, "clip_norm"), (TrainConfig, "balance")])
def test_counts_start_where_they_make_sense(cls: type, field: str):
    least = AT_LEAST.get((cls, field), 1)
    for value in (least - 1, -1, -(10**9)):
        refused(cls, field, value, f"at least {least}")
    sizes = {"d_model": 2, "n_heads": 1} if cls is ModelConfig else {}
    if field == "d_model":
        least = 2  # Sinusoids come in pairs.
    assert getattr(cls(**(sizes | {field: least})), field) == least


def test_a_cooldown_fits_into_the_steps():
    with pytest.raises(ConfigError, match=r"TrainConfig\.cooldown is 11; allowed is at most steps, which is 10"):
        TrainConfig(steps=10, cooldown=11)
    assert TrainConfig(steps=10, cooldown=10).cooldown == 10


@pytest.mark.parametrize("field", ["epsilon", "lr_factor"])
@pytest.mark.parametrize("value", [0, 0.0, -1e-9, -1])
def test_what_divides_or_multiplies_is_above_0(field: str, value: float):
    refused(TrainConfig, field, value, "above 0")


@pytest.mark.parametrize("value", [2**63, 2**64, 2**200])
def test_a_seed_that_torch_cannot_take_is_refused(value: int):
    refused(TrainConfig, "seed", value, "below 2^63")
    torch.manual_seed(TrainConfig(seed=2**63 - 1).seed)


@pytest.mark.parametrize("changes", [{"n_heads": 7}, {"d_model": 100}, {"n_heads": 7, "d_k": 64}, {"n_heads": 1024}])
def test_heads_that_do_not_divide_the_width_need_d_k_and_d_v(changes: dict[str, int]):
    d_model = changes.get("d_model", 512)
    with pytest.raises(
        ConfigError, match=rf"n_heads is \d+; allowed is a divisor of d_model = {d_model}, unless d_k and"
    ):
        ModelConfig(**changes)
    assert ModelConfig(**(changes | {"d_k": 3, "d_v": 5})).resolved().d_v == 5


def test_an_odd_width_has_no_sinusoids_but_may_be_learned():
    with pytest.raises(
        ConfigError, match=r"^ModelConfig\.d_model is 7; allowed is an even number with sinusoidal .*\.$"
    ):
        ModelConfig(d_model=7, n_heads=1)
    assert ModelConfig(d_model=7, n_heads=1, positions="learned").d_model == 7


@given(half_width=st.integers(1, 64), n_heads=st.integers(1, 16), d_k=st.none() | st.integers(1, 9))
def test_resolving_fills_in_what_is_none_and_nothing_else(half_width: int, n_heads: int, d_k: int | None):
    d_model = 2 * half_width * n_heads
    config = ModelConfig(d_model=d_model, n_heads=n_heads, d_k=d_k)
    resolved = config.resolved()
    assert resolved.d_k == (2 * half_width if d_k is None else d_k)
    assert resolved.d_v == 2 * half_width
    assert resolved.resolved() == resolved
    assert asdict(resolved) | {"d_k": d_k, "d_v": None} == asdict(config)

"""Hooks: what they see at every point, and what comes of what they return."""

import pytest
import torch
from torch import Tensor

from tests.model.small import SOURCE, TARGET_IN, largest_difference, small_model
from transformer.model.hooks import HOOK_NAMES, KINDS, Capture, HookPoint

B, H, D_K, D_V, D_MODEL = 3, 2, 4, 12, 16
ROWS = {"encoder": (6, 6), "decoder": (5, 5), "cross": (5, 6)}
"""Queries and keys of each kind, on the sentences of small.py."""


class Replace:
    """Returns what a function makes of the value, at one point, and keeps what it was given."""

    def __init__(self, kind: str, layer: int, name: str, function) -> None:
        self.names, self.where, self.function = {name}, (kind, layer, name), function
        self.seen: list[Tensor] = []

    def __call__(self, value: Tensor, point: HookPoint) -> Tensor | None:
        if (point.kind, point.layer, point.name) != self.where:
            return None
        self.seen.append(value)
        return self.function(value)


def shape(kind: str, name: str) -> tuple[int, ...]:
    query, key = ROWS[kind]
    return {
        "hook_q": (B, H, query, D_K), "hook_rot_q": (B, H, query, D_K),
        "hook_k": (B, H, key, D_K), "hook_rot_k": (B, H, key, D_K),
        "hook_v": (B, H, key, D_V),
        "hook_attn_scores": (B, H, query, key), "hook_pattern": (B, H, query, key),
        "hook_z": (B, H, query, D_V), "hook_result": (B, H, query, D_MODEL),
    }[name]  # fmt: skip


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_every_point_is_seen_once_with_its_shape_and_name(norm: str):
    model, capture = small_model(d_k=D_K, d_v=D_V, norm=norm), Capture()
    seen: list[str] = []

    def note(value: Tensor, point: HookPoint) -> None:
        seen.append(str(point))
        assert point.offset == 0

    note.names = HOOK_NAMES
    model(SOURCE, TARGET_IN, (capture, note))
    expected = [f"{kind}.{layer}.{name}" for kind in KINDS for layer in range(2) for name in HOOK_NAMES]
    assert sorted(seen) == sorted(expected)
    for kind in KINDS:
        for layer in range(2):
            for name in HOOK_NAMES:
                assert capture[f"{kind}.{layer}.{name}"].shape == shape(kind, name)


def test_points_are_reached_in_the_order_that_is_documented():
    seen: list[str] = []

    def note(value: Tensor, point: HookPoint) -> None:
        seen.append(point.name)

    note.names = HOOK_NAMES
    small_model(n_encoder_layers=1).encode(SOURCE, None, (note,))
    rank = {"hook_q": 0, "hook_k": 0, "hook_v": 0, "hook_rot_q": 1, "hook_rot_k": 1, "hook_attn_scores": 2,
            "hook_pattern": 3, "hook_z": 4, "hook_result": 5}  # fmt: skip
    assert [rank[name] for name in seen] == sorted(rank[name] for name in seen)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
@pytest.mark.parametrize(("d_k", "d_v"), [(8, 8), (4, 12)])
def test_logits_are_the_same_watched_and_unwatched(norm: str, positions: str, d_k: int, d_v: int):
    model = small_model(norm=norm, positions=positions, d_k=d_k, d_v=d_v)
    for names in (HOOK_NAMES, ("hook_pattern",), ("hook_result",)):
        assert largest_difference(model(SOURCE, TARGET_IN), model(SOURCE, TARGET_IN, (Capture(names),))) < 1e-5


def test_scores_pattern_values_and_result_follow_from_each_other():
    """Each point holds what its name says: recomputed here from the points before it."""
    model, capture = small_model(d_k=D_K, d_v=D_V), Capture()
    model(SOURCE, TARGET_IN, (capture,))
    masks = {
        "encoder": (SOURCE != 0)[:, None, None, :],
        "decoder": torch.ones(5, 5, dtype=torch.bool).tril(),
        "cross": (SOURCE != 0)[:, None, None, :],
    }
    for kind, mask in masks.items():
        at = {name: capture[f"{kind}.1.{name}"] for name in HOOK_NAMES}
        scores = torch.einsum("bhqd,bhkd->bhqk", at["hook_q"], at["hook_k"]) / D_K**0.5
        assert largest_difference(at["hook_attn_scores"], scores) < 1e-5
        pattern = scores.masked_fill(~mask, -torch.inf).softmax(-1)
        assert largest_difference(at["hook_pattern"], pattern) < 1e-5
        assert largest_difference(at["hook_z"], pattern @ at["hook_v"]) < 1e-5
        layer = {"encoder": model.encoder[1].attention, "decoder": model.decoder[1].attention}.get(
            kind, model.decoder[1].cross
        )
        output = layer.output(at["hook_z"].transpose(1, 2).flatten(2))
        assert largest_difference(at["hook_result"].sum(1) + layer.output.bias, output) < 1e-5


def test_pattern_columns_of_padding_are_exactly_zero_and_rows_sum_to_one():
    model, capture = small_model(), Capture(("hook_pattern",))
    model(SOURCE, TARGET_IN, (capture,))
    for layer in range(2):
        for kind in ("encoder", "cross"):
            pattern = capture[f"{kind}.{layer}.hook_pattern"]
            assert (pattern.transpose(1, 3)[SOURCE == 0] == 0).all(), "whatever the head or query"
        decoder = capture[f"decoder.{layer}.hook_pattern"]
        assert (decoder.triu(1) == 0).all(), "no token sees a later one"
    for name, pattern in capture.values.items():
        assert (pattern.sum(-1) - 1).abs().max() < 1e-5, name


def test_patterns_captured_while_training_sum_to_one_too():
    """They are taken before dropout, whatever p_drop_attention is."""
    model, capture = small_model(p_drop=0.3, p_drop_attention=0.5).train(), Capture(("hook_pattern",))
    model(SOURCE, TARGET_IN, (capture,))
    assert len(capture.values) == 6
    for name, pattern in capture.values.items():
        assert (pattern.sum(-1) - 1).abs().max() < 1e-5, name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", HOOK_NAMES)
def test_what_a_hook_returns_takes_the_values_place(kind: str, name: str):
    model, capture = small_model(), Capture()
    replace = Replace(kind, 0, name, lambda value: value + torch.linspace(0, 1, value.numel()).view(value.shape))
    before = model(SOURCE, TARGET_IN)
    after = model(SOURCE, TARGET_IN, (replace, capture))
    assert len(replace.seen) == 1
    assert largest_difference(before, after) > 1e-4
    put = replace.function(replace.seen[0])
    assert torch.equal(capture[f"{kind}.0.{name}"], put.detach()), "the next hook gets what this one left"


def test_a_hook_that_returns_nothing_changes_nothing():
    model = small_model()
    keep = Replace("encoder", 0, "hook_pattern", lambda value: None)
    assert largest_difference(model(SOURCE, TARGET_IN), model(SOURCE, TARGET_IN, (keep,))) < 1e-5
    assert len(keep.seen) == 1


def test_the_pattern_put_in_place_is_the_pattern_that_mixes_the_values():
    """Every query made to look at its first key alone: z then is the value of that key."""
    model, capture = small_model(), Capture(("hook_v", "hook_z"))

    def first_key(pattern: Tensor) -> Tensor:
        changed = torch.zeros_like(pattern)
        changed[..., 0] = 1
        return changed

    model(SOURCE, TARGET_IN, (Replace("cross", 1, "hook_pattern", first_key), capture))
    value = capture["cross.1.hook_v"][:, :, :1].expand(-1, -1, 5, -1)
    assert largest_difference(capture["cross.1.hook_z"], value) < 1e-6


def test_a_head_without_its_result_is_a_head_whose_values_are_zero():
    model = small_model()

    def without_head_1(value: Tensor) -> Tensor:
        return torch.cat((value[:, :1], torch.zeros_like(value[:, 1:])), 1)

    by_result = model(SOURCE, TARGET_IN, (Replace("decoder", 1, "hook_result", without_head_1),))
    by_values = model(SOURCE, TARGET_IN, (Replace("decoder", 1, "hook_v", without_head_1),))
    assert largest_difference(by_result, by_values) < 1e-5
    assert largest_difference(by_result, model(SOURCE, TARGET_IN)) > 1e-4


def test_hooks_get_gradients_through_them():
    model = small_model()
    keep = Replace("encoder", 0, "hook_pattern", lambda value: None)
    logits = model(SOURCE, TARGET_IN, (keep,))
    (gradient,) = torch.autograd.grad(logits[0, 0, 5], keep.seen[0])
    assert gradient[0].abs().max() > 0
    assert (gradient[1:] == 0).all(), "no sentence sees another"


def test_capture_keeps_only_the_names_it_was_given():
    model, capture = small_model(), Capture(("hook_z",))
    model(SOURCE, TARGET_IN, (capture,))
    assert {name.rpartition(".")[2] for name in capture.values} == {"hook_z"}
    assert not any(value.requires_grad for value in capture.values.values())


def test_hooks_leave_nothing_behind_on_the_model():
    """Sessions share models: the pass after a watched one is an unwatched one."""
    model = small_model()
    before = model(SOURCE, TARGET_IN)
    model(SOURCE, TARGET_IN, (Replace("encoder", 0, "hook_pattern", torch.zeros_like),))
    assert torch.equal(model(SOURCE, TARGET_IN), before)


def test_a_points_string_is_its_name_in_a_cache():
    assert str(HookPoint("encoder", 0, "hook_pattern")) == "encoder.0.hook_pattern"
    assert str(HookPoint("cross", 11, "hook_z", offset=7)) == "cross.11.hook_z"

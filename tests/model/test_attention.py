"""Attention against torch's own, and its two paths against each other (§3.2)."""

import itertools
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from tests.model.small import copy_attention, largest_difference, small_config, stirred
from transformer.decoding.cache import LayerCache
from transformer.model.attention import MultiHeadAttention, causal_mask, masked_softmax
from transformer.model.hooks import HOOK_NAMES, Capture, Watch
from transformer.model.positions import Positions

WIDTHS = [(8, 8), (4, 12)]
"""d_k and d_v of a head: equal, and as in rows B of Table 3."""


class Turning(Positions):
    """Rotates and biases, each differently at every position, so that an offset that is lost shows."""

    def rotate(self, q: Tensor, k: Tensor, offset: int = 0) -> tuple[Tensor, Tensor]:
        angle = torch.arange(offset, offset + q.shape[2]).float()[:, None]
        return self._turn(q, angle), self._turn(k, angle)

    def _turn(self, x: Tensor, angle: Tensor) -> Tensor:
        first, second = x.chunk(2, dim=-1)
        return torch.cat((first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()), -1)

    def bias(self, n_query: int, n_key: int, offset: int = 0) -> Tensor:
        distance = (torch.arange(offset, offset + n_query)[:, None] - torch.arange(n_key)).abs().float()
        return -torch.tensor([0.5, 0.25])[:, None, None] * distance


POSITIONS: dict[str, Callable[[], Positions | None]] = {
    "none": lambda: None,
    "turning": lambda: Turning(small_config()),
}


def attention(d_k: int = 8, d_v: int = 8, seed: int = 0, p_drop_attention: float = 0.0) -> MultiHeadAttention:
    torch.manual_seed(seed)
    config = small_config(d_k=d_k, d_v=d_v, p_drop_attention=p_drop_attention)
    return stirred(MultiHeadAttention(config)).eval()


def key_mask(*rows: list[int]) -> Tensor:
    return torch.tensor(rows, dtype=torch.bool)[:, None, None, :]


def watched(*names: str) -> tuple[Watch, Capture]:
    capture = Capture(names or HOOK_NAMES)
    return Watch((capture,), "encoder", 0), capture


@pytest.mark.parametrize(("d_k", "d_v"), WIDTHS)
def test_equals_torchs_scaled_dot_product_attention(d_k: int, d_v: int):
    """Neither unscaled nor scaled twice: torch's function divides by √d_k once, by itself."""
    ours, x = attention(d_k, d_v), torch.randn(3, 5, 16)
    q, k, v = (layer(x).unflatten(-1, (2, -1)).transpose(1, 2) for layer in (ours.query, ours.key, ours.value))
    expected = ours.output(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
    assert largest_difference(ours(x, x), expected) < 1e-5
    assert largest_difference(ours(x, x, watch=watched()[0]), expected) < 1e-5


def test_pattern_is_what_a_hand_computes():
    """Two keys with q·k = 0 and √d_k · ln 3 get weights 1/4 and 3/4."""
    q = torch.tensor([[[[2.0, 0, 0, 0]]]])
    k = torch.tensor([[[[0.0, 1, 0, 0], [torch.log(torch.tensor(3.0)).item(), 0, 0, 0]]]])
    ours = attention(d_k=4, d_v=4)
    assert torch.allclose(masked_softmax(ours.score(q, k), None), torch.tensor([0.25, 0.75]), atol=1e-6)


@pytest.mark.parametrize("watch", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_equals_torchs_multihead_attention(watch: bool, causal: bool):
    ours, theirs = attention(), nn.MultiheadAttention(16, 2, batch_first=True).eval()
    copy_attention(ours, theirs)
    x, mask = torch.randn(2, 5, 16), key_mask([1, 1, 1, 1, 1], [1, 1, 1, 0, 0])
    hidden = torch.ones(5, 5, dtype=torch.bool).triu(1) if causal else None
    expected, pattern = theirs(x, x, x, key_padding_mask=~mask[:, 0, 0], attn_mask=hidden, average_attn_weights=False)
    watch_, capture = watched("hook_pattern")
    result = ours(x, x, mask, causal=causal, watch=watch_ if watch else None)
    assert largest_difference(result, expected) < 1e-5
    if watch:
        assert largest_difference(capture["encoder.0.hook_pattern"], pattern) < 1e-6


@pytest.mark.parametrize(("d_k", "d_v"), WIDTHS)
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_fused_and_explicit_paths_agree_with_values_and_gradients(
    d_k: int, d_v: int, positions: str, causal: bool, masked: bool
):
    ours = attention(d_k, d_v)
    mask = key_mask([1, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0]) if masked else None
    results = []
    for watch in (None, watched()[0]):
        x = torch.randn(3, 4, 16, generator=torch.Generator().manual_seed(1)).requires_grad_()
        ours.zero_grad()
        out = ours(x, x, mask, positions=POSITIONS[positions](), causal=causal, watch=watch)
        out.square().sum().backward()
        results.append([out, x.grad, *(parameter.grad for parameter in ours.parameters())])
    for fused, explicit in zip(*results, strict=True):
        torch.testing.assert_close(fused, explicit, rtol=1e-5, atol=1e-5)


@given(seed=st.integers(0, 2**31), steps=st.lists(st.integers(1, 4), min_size=1, max_size=5), data=st.data())
def test_cached_pieces_of_any_size_give_what_one_pass_gives(seed: int, steps: list[int], data: st.DataObject):
    d_k, d_v = data.draw(st.sampled_from(WIDTHS))
    positions = POSITIONS[data.draw(st.sampled_from(sorted(POSITIONS)))]()
    ours, n_rows = attention(d_k, d_v, seed), sum(steps)
    x = torch.randn(2, n_rows, 16)
    expected = ours(x, x, positions=positions, causal=True)
    for watch in (None, watched()[0]):
        cache, ends = LayerCache(grows=True), list(itertools.accumulate(steps))
        parts = [x[:, end - step : end] for step, end in zip(steps, ends, strict=True)]
        found = [ours(part, part, positions=positions, causal=True, cache=cache, watch=watch) for part in parts]
        assert largest_difference(torch.cat(found, 1), expected) < 1e-5


def test_a_single_query_after_cached_keys_sees_every_key():
    """A kernel that is told is_causal aligns the one query with key 0 and shows it nothing else."""
    ours, x, cache = attention(), torch.randn(1, 6, 16), LayerCache(grows=True)
    ours(x[:, :5], x[:, :5], causal=True, cache=cache)
    watch, capture = watched("hook_pattern")
    ours(x[:, 5:], x[:, 5:], causal=True, cache=cache, watch=watch)
    pattern = capture["encoder.0.hook_pattern"]
    assert pattern.shape == (1, 2, 1, 6)
    assert (pattern > 0).all()


@pytest.mark.parametrize("offset", [0, 2])
def test_causal_mask_shows_a_query_itself_and_what_stands_before(offset: int):
    mask = causal_mask(3, 3 + offset, offset, torch.device("cpu"))
    expected = [[key <= offset + query for key in range(3 + offset)] for query in range(3)]
    assert mask.tolist() == expected


@pytest.mark.parametrize(("d_k", "d_v"), WIDTHS)
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("watch", [False, True])
def test_a_row_that_may_see_nothing_is_finite_and_leaves_the_others_alone(
    d_k: int, d_v: int, positions: str, watch: bool
):
    ours, x = attention(d_k, d_v), torch.randn(2, 4, 16, requires_grad=True)
    watch_, capture = watched("hook_pattern", "hook_z")
    arguments = {"watch": watch_ if watch else None, "positions": POSITIONS[positions]()}
    empty = ours(x, x, key_mask([1, 1, 0, 1], [0, 0, 0, 0]), **arguments)
    full = ours(x, x, key_mask([1, 1, 0, 1], [1, 1, 1, 1]), positions=POSITIONS[positions]())
    assert largest_difference(empty[0], full[0]) < 1e-6
    assert largest_difference(empty[1], ours.output.bias.expand(4, 16)) < 1e-6
    empty.square().sum().backward()
    gradients = [x.grad, *(parameter.grad for parameter in ours.parameters())]
    assert all(gradient.isfinite().all() for gradient in gradients)
    if watch:
        assert torch.equal(capture["encoder.0.hook_pattern"][1], torch.zeros(2, 4, 4))
        assert torch.equal(capture["encoder.0.hook_z"][1], torch.zeros(2, 4, d_v))


@given(
    mask=st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=5, max_size=5),
    seed=st.integers(0, 2**31),
    size=st.sampled_from([1e-3, 1.0, 1e3, 1e30]),
)
def test_softmax_rows_sum_to_one_or_are_zero_and_forbidden_keys_get_exactly_nothing(
    mask: list[list[bool]], seed: int, size: float
):
    scores = torch.randn(2, 5, 5, generator=torch.Generator().manual_seed(seed)) * size
    allowed = torch.tensor(mask)
    pattern = masked_softmax(scores, allowed)
    assert (pattern[:, ~allowed] == 0).all()
    assert torch.allclose(pattern.sum(-1), allowed.any(-1).float().expand(2, 5), atol=1e-5)
    for row, keys in enumerate(allowed):
        assert torch.allclose(pattern[:, row, keys], scores[:, row, keys].softmax(-1), atol=1e-6)


def test_softmax_is_taken_in_float32_whatever_the_scores_are():
    assert masked_softmax(torch.randn(2, 3, 3, dtype=torch.bfloat16), None).dtype == torch.float32


def test_in_training_the_pattern_shown_is_the_one_before_dropout():
    """Attention shown after dropout has rows that do not sum to 1."""
    ours, x = attention(p_drop_attention=0.5).train(), torch.randn(4, 6, 16)
    watch, capture = watched("hook_pattern")
    first, second = ours(x, x, watch=watch), ours(x, x, watch=watch)
    assert (capture["encoder.0.hook_pattern"].sum(-1) - 1).abs().max() < 1e-5
    assert (capture["encoder.0.hook_pattern"] > 0).all()
    assert not torch.equal(first, second), "dropout acts on what the layer returns"


@pytest.mark.parametrize("watch", [False, True])
def test_dropout_on_attention_keeps_the_mean_and_sleeps_outside_training(watch: bool):
    ours, x = attention(p_drop_attention=0.5), torch.randn(1, 6, 16)
    arguments = {"watch": watched()[0] if watch else None}
    still = ours(x, x, **arguments)
    assert torch.equal(still, ours(x, x, **arguments))
    ours.train()
    with torch.no_grad():
        mean = ours(x.expand(4000, -1, -1), x.expand(4000, -1, -1), **arguments).mean(0, keepdim=True)
    assert largest_difference(mean, still) < 0.1


def test_without_a_hook_nothing_of_query_by_key_is_made():
    """The fused path keeps no (query, key) matrix: no operation's result and nothing kept for the gradient has one."""
    n_query, n_key = 37, 41
    ours, shapes = attention(), []

    class Shapes(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            shapes.extend(tuple(t.shape) for t in torch.utils._pytree.tree_leaves(result) if isinstance(t, Tensor))
            return result

    x, source = torch.randn(2, n_query, 16, requires_grad=True), torch.randn(2, n_key, 16)
    with Shapes():
        ours(x, source, torch.ones(2, 1, 1, n_key, dtype=torch.bool)).sum().backward()
    assert (2, 2, n_query, 8) in shapes
    assert not [shape for shape in shapes if shape[-2:] == (n_query, n_key) and shape[:1] == (2,)]

"""RoPE and ALiBi, and what every encoding has to keep: one answer on both paths and with a cache, and order."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.model.small import SOURCE, TARGET_IN, largest_difference, small_config, small_model
from transformer.config import ConfigError, ModelConfig
from transformer.decoding.cache import KeyValueCache
from transformer.model import Transformer
from transformer.model.hooks import Capture
from transformer.model.positions import POSITIONS, LinearBias, Positions, Rotary, alibi_slopes
from transformer.model.transformer import source_mask

ENCODINGS = tuple(POSITIONS)


@pytest.fixture(autouse=True)
def _without_gradients():
    with torch.no_grad():
        yield


def rotary(d_k: int, max_length: int = 64) -> Positions:
    return Rotary(small_config(positions="rope", d_k=d_k, d_v=d_k, max_length=max_length))


def score(positions: Positions, q: torch.Tensor, k: torch.Tensor, at_q: int, at_k: int) -> float:
    """q at one position · k at another, each a vector of d_k."""
    turned_q, _ = positions.rotate(q[None, None, None], q[None, None, None], at_q)
    _, turned_k = positions.rotate(k[None, None, None], k[None, None, None], at_k)
    return float((turned_q * turned_k).sum())


def test_rope_by_hand():
    """d_k 4: the first pair turns by 1 radian a position, the second by 10000^-½ = 0.01."""
    q = torch.tensor([1.0, 0.0, 0.0, 1.0])[None, None, None]
    turned, _ = rotary(4).rotate(q, q, offset=3)
    angle = torch.tensor([3.0, 0.03])
    expected = torch.stack([angle[0].cos(), angle[0].sin(), -angle[1].sin(), angle[1].cos()])
    assert largest_difference(turned[0, 0, 0], expected) < 1e-6


@given(
    pairs=st.integers(1, 16), at_q=st.integers(0, 200), at_k=st.integers(0, 200), shift=st.integers(0, 200),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_rope_scores_depend_on_distance_only(pairs: int, at_q: int, at_k: int, shift: int, seed: int):
    """Also where the table, here of 64 rows, has ended."""
    generator = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, 2 * pairs, generator=generator)
    positions = rotary(2 * pairs)
    here, there = score(positions, q, k, at_q, at_k), score(positions, q, k, at_q + shift, at_k + shift)
    assert here == pytest.approx(there, abs=1e-3)


def test_rope_keeps_lengths_and_leaves_position_0_alone():
    q, k = torch.randn(2, 3, 4, 7, 8)
    turned_q, turned_k = rotary(8).rotate(q, k)
    assert largest_difference(turned_q.norm(dim=-1), q.norm(dim=-1)) < 1e-5
    assert torch.equal(turned_k[:, :, 0], k[:, :, 0])


def test_rope_beyond_its_table_goes_on():
    q = torch.randn(1, 1, 90, 8)
    assert largest_difference(rotary(8, 64).rotate(q, q)[0], rotary(8, 128).rotate(q, q)[0]) < 1e-6


def test_rope_turns_pairs_so_an_odd_d_k_is_refused():
    with pytest.raises(ConfigError, match=r"d_k is 5; allowed is an even number with rope"):
        small_config(positions="rope", d_k=5)
    with pytest.raises(ConfigError, match=r"d_k is None; allowed is an even number with rope.* are 5\."):
        ModelConfig(positions="rope", d_model=15, n_heads=3)
    assert ModelConfig(positions="rope", d_model=15, n_heads=3, d_k=4, d_v=5).d_k == 4


@pytest.mark.parametrize(
    ("n_heads", "slopes"),
    [
        (1, [2**-8]),
        (4, [2**-2, 2**-4, 2**-6, 2**-8]),
        (8, [2**-1, 2**-2, 2**-3, 2**-4, 2**-5, 2**-6, 2**-7, 2**-8]),
        (12, [2**-1, 2**-2, 2**-3, 2**-4, 2**-5, 2**-6, 2**-7, 2**-8, 2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]),
    ],
)
def test_alibi_slopes_as_published(n_heads: int, slopes: list[float]):
    assert alibi_slopes(n_heads) == pytest.approx(slopes, rel=1e-12)


def test_alibi_bias_by_hand():
    positions = LinearBias(small_config(positions="alibi", n_heads=2))
    assert torch.equal(positions.slopes, torch.tensor([2**-4, 2**-8]))
    steep = torch.tensor([[0.0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1]]) * -(2**-4)
    assert torch.equal(positions.bias(3, 4)[0], steep)
    assert torch.equal(positions.bias(1, 4, offset=3)[1], torch.tensor([[3.0, 2, 1, 0]]) * -(2**-8))


def test_alibi_stands_in_the_scores_that_hooks_see():
    model, capture = small_model(positions="alibi"), Capture(("hook_q", "hook_k", "hook_attn_scores"))
    model(SOURCE[:1], TARGET_IN[:1], hooks=[capture])
    for kind, bias in (("encoder", model.positions.bias(6, 6)), ("decoder", model.positions.bias(5, 5)), ("cross", 0)):
        q, k = capture[f"{kind}.1.hook_q"], capture[f"{kind}.1.hook_k"]
        expected = q @ k.transpose(-2, -1) / 8**0.5 + bias
        assert largest_difference(capture[f"{kind}.1.hook_attn_scores"], expected) < 1e-5


def test_rope_stands_between_its_two_hooks_in_self_attention_only():
    model, capture = small_model(positions="rope"), Capture(("hook_q", "hook_rot_q", "hook_k", "hook_rot_k"))
    model(SOURCE, TARGET_IN, hooks=[capture])
    for kind in ("encoder", "decoder"):
        q, k = model.positions.rotate(capture[f"{kind}.1.hook_q"], capture[f"{kind}.1.hook_k"])
        assert torch.equal(capture[f"{kind}.1.hook_rot_q"], q)
        assert torch.equal(capture[f"{kind}.1.hook_rot_k"], k)
        assert not torch.equal(capture[f"{kind}.1.hook_rot_q"], capture[f"{kind}.1.hook_q"])
    for side in ("q", "k"):
        assert torch.equal(capture[f"cross.1.hook_rot_{side}"], capture[f"cross.1.hook_{side}"])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_fused_and_explicit_paths_agree(encoding: str):
    model = small_model(positions=encoding)
    empty = torch.cat([SOURCE, torch.zeros_like(SOURCE[:1])])
    target = torch.cat([TARGET_IN, TARGET_IN[:1]])
    assert largest_difference(model(empty, target), model(empty, target, hooks=[Capture()])) < 1e-5


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("chunk", [1, 2])
@pytest.mark.parametrize("watched", [False, True])
def test_cached_decoding_equals_the_whole_pass_at_every_step(encoding: str, chunk: int, watched: bool):
    model, hooks = small_model(positions=encoding), [Capture()] if watched else []
    target = torch.randint(4, 40, (3, 70 if encoding != "learned" else 64), generator=torch.Generator().manual_seed(1))
    mask = source_mask(SOURCE)
    memory = model.encode(SOURCE, mask)
    whole = model.decode(target, memory, mask)
    cache = KeyValueCache(2)
    for start in range(0, target.shape[1], chunk):
        step = model.decode(target[:, start : start + chunk], memory, mask, cache=cache, hooks=hooks)
        assert largest_difference(step, whole[:, start : start + chunk]) < 1e-5


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_cached_decoding_after_reordering_beams(encoding: str):
    model, rows = small_model(positions=encoding), torch.tensor([2, 0, 0])
    memory = model.encode(SOURCE[:, :2])
    cache = KeyValueCache(2)
    model.decode(TARGET_IN[:, :3], memory, cache=cache)
    cache.select(rows)
    cache.select_sentences(rows)
    step = model.decode(TARGET_IN[:, 3:4], memory[rows], cache=cache)
    reordered = torch.cat([TARGET_IN[rows, :3], TARGET_IN[:, 3:4]], dim=1)
    assert largest_difference(step, model.decode(reordered, memory[rows])[:, 3:]) < 1e-5


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_causal_leak(encoding: str):
    model, changed = small_model(positions=encoding), TARGET_IN.clone()
    changed[:, 3:] = 30
    assert torch.equal(model(SOURCE, TARGET_IN)[:, :3], model(SOURCE, changed)[:, :3])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_bfloat16_autocast_stays_near(encoding: str):
    model = small_model(positions=encoding)
    exact = model(SOURCE, TARGET_IN)
    with torch.autocast("cpu", torch.bfloat16):
        fused, explicit = model(SOURCE, TARGET_IN), model(SOURCE, TARGET_IN, hooks=[Capture()])
    assert largest_difference(fused.float(), exact) < 0.2
    assert largest_difference(explicit.float(), exact) < 0.2


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_gradients_are_finite_with_an_empty_source_row(encoding: str):
    model = small_model(positions=encoding)
    with torch.enable_grad():
        model(torch.cat([SOURCE[:1], torch.zeros_like(SOURCE[:1])]), TARGET_IN[:2]).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_encoder_without_positions_is_order_blind_and_one_with_them_is_not(encoding: str):
    model = small_model(positions=encoding)
    source, order = torch.tensor([[5, 6, 7, 8, 9, 10, 11, 3]]), torch.tensor([3, 0, 7, 5, 1, 6, 2, 4])
    difference = largest_difference(model.encode(source[:, order]), model.encode(source)[:, order])
    assert difference < 1e-5 if encoding == "none" else difference > 1e-2


def test_a_causal_decoder_has_order_without_positions():
    model = small_model(positions="none")
    memory = model.encode(SOURCE[:1])
    a, b = torch.tensor([[2, 13, 14, 15]]), torch.tensor([[2, 14, 13, 15]])
    assert largest_difference(model.decode(a, memory)[:, 3], model.decode(b, memory)[:, 3]) > 1e-2


def test_nothing_of_rope_or_alibi_is_saved_with_the_weights():
    assert small_model(positions="rope").state_dict().keys() == small_model(positions="none").state_dict().keys()
    assert small_model(positions="alibi").state_dict().keys() == small_model(positions="none").state_dict().keys()


def test_every_encoding_trains_from_one_configuration():
    for encoding in ENCODINGS:
        assert isinstance(Transformer(small_config(positions=encoding)).positions, POSITIONS[encoding])

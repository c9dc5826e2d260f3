"""What the model as a whole promises: embeddings, initial loss, masks, causality, tied weights (§3.1, §3.4)."""

import copy
import math
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from tests.model.small import REAL, SOURCE, TARGET_IN, largest_difference, small_config, small_model
from transformer.decoding.cache import KeyValueCache
from transformer.model import Transformer
from transformer.model.hooks import HOOK_NAMES, Capture
from transformer.model.positions import POSITIONS, sinusoids
from transformer.model.transformer import source_mask

PATHS = pytest.mark.parametrize("hooks", [(), (Capture(),)], ids=["fused", "explicit"])


def first_inputs(model: Transformer) -> tuple[Tensor, Tensor]:
    """What the first encoder layer and the first decoder layer are given."""
    seen: list[Tensor] = []
    for stack in (model.encoder, model.decoder):
        stack[0].register_forward_pre_hook(lambda layer, arguments: seen.append(arguments[0]))
    model(SOURCE, TARGET_IN)
    return seen[0], seen[1]


def test_the_first_layers_get_embeddings_times_sqrt_d_model_plus_positions_exactly():
    """Not unscaled, not scaled twice; √16 = 4 is exact in float32."""
    model = small_model().train()
    for ids, seen in zip((SOURCE, TARGET_IN), first_inputs(model), strict=True):
        expected = model.source_embedding.weight[ids] * 4 + sinusoids(ids.shape[1], 16).float()
        assert torch.equal(seen, expected)


def test_learned_positions_are_added_to_the_scaled_embeddings():
    model = small_model(positions="learned")
    for ids, seen in zip((SOURCE, TARGET_IN), first_inputs(model), strict=True):
        expected = model.source_embedding.weight[ids] * 4 + model.positions.table[: ids.shape[1]]
        assert torch.equal(seen, expected)


def test_without_positions_the_encoder_is_blind_to_order_and_the_causal_decoder_is_not():
    model = small_model(positions="none")
    swapped = SOURCE[:1, [1, 0, 2, 3, 4, 5]]
    assert largest_difference(model.encode(SOURCE[:1])[:, [1, 0, 2, 3, 4, 5]], model.encode(swapped)) < 1e-5
    target, memory = TARGET_IN[:1], model.encode(SOURCE[:1])
    moved = model.decode(target[:, [1, 0, 2, 3, 4]], memory)
    assert largest_difference(model.decode(target, memory)[:, [1, 0, 2, 3, 4]], moved) > 1e-2


def test_dropout_falls_on_embeddings_plus_positions_while_training():
    model = small_model(p_drop=0.5).train()
    seen, _ = first_inputs(model)
    whole = model.source_embedding.weight[SOURCE] * 4 + sinusoids(SOURCE.shape[1], 16).float()
    dropped = seen == 0
    assert 0.3 < dropped.float().mean() < 0.7
    assert torch.allclose(seen[~dropped], 2 * whole[~dropped], atol=1e-6)


@PATHS
def test_outside_training_two_passes_are_bit_equal(hooks: tuple):
    """Dropout that stays on in evaluation makes them differ."""
    model = small_model(p_drop=0.5, p_drop_attention=0.5)
    assert torch.equal(model(SOURCE, TARGET_IN, hooks), model(SOURCE, TARGET_IN, hooks))
    model.train()
    assert not torch.equal(model(SOURCE, TARGET_IN, hooks), model(SOURCE, TARGET_IN, hooks))


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_initial_loss_is_between_ln_v_and_ln_v_plus_1(tied: bool, norm: str):
    """Logits start with variance 1, which costs half a nat over guessing evenly."""
    torch.manual_seed(0)
    config = small_config(vocab_size=2000, d_model=64, d_ff=128, n_heads=4, norm=norm, tied_embeddings=tied)
    model = Transformer(config).eval()
    source, target = torch.randint(4, 2000, (16, 12)), torch.randint(4, 2000, (16, 13))
    with torch.no_grad():
        logits = model(source, target[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten()).item()
    assert math.log(2000) < loss < math.log(2000) + 1


def test_weights_start_from_the_distributions_that_the_class_names():
    torch.manual_seed(0)
    model = Transformer(small_config(vocab_size=500, d_model=64, d_ff=128, n_heads=4, tied_embeddings=False))
    for weight in (model.source_embedding.weight, model.target_embedding.weight, model.projection.weight):
        assert abs(weight.std().item() * 8 - 1) < 0.02
        assert abs(weight.mean().item()) < 0.01
    for module in model.modules():
        if isinstance(module, torch.nn.Linear) and module is not model.projection:
            bound = math.sqrt(6 / (module.in_features + module.out_features))
            assert 0.95 * bound < module.weight.abs().max().item() <= bound
            assert module.bias.eq(0).all()


# Padding


@given(padding=st.integers(1, 6), seed=st.integers(0, 2**31))
@settings(max_examples=25)
def test_more_padding_on_either_side_changes_no_real_logit(padding: int, seed: int):
    generator = torch.Generator().manual_seed(seed)
    source, target_in = (torch.randint(4, 40, (2, n), generator=generator) for n in (5, 4))
    model = small_model(seed=seed % 3)
    for hooks in ((), (Capture(),)):
        padded = model(F.pad(source, (0, padding)), F.pad(target_in, (0, padding)), hooks)[:, :4]
        assert largest_difference(padded, model(source, target_in, hooks)) < 1e-5


@PATHS
def test_what_stands_at_a_padded_place_never_changes_a_real_logit(hooks: tuple):
    """The mask is on keys and of the right polarity: other ids in the padded places give the same bits elsewhere."""
    model, mask = small_model(), source_mask(SOURCE)
    other = torch.where(SOURCE == 0, 33, SOURCE)
    memory, changed = model.encode(SOURCE, mask, hooks), model.encode(other, mask, hooks)
    assert torch.equal(memory[SOURCE != 0], changed[SOURCE != 0])
    assert not torch.equal(memory[SOURCE == 0], changed[SOURCE == 0])
    target = torch.where(TARGET_IN == 0, 34, TARGET_IN)
    before = model.decode(TARGET_IN, memory, mask, hooks=hooks)
    after = model.decode(target, changed, mask, hooks=hooks)
    assert torch.equal(before[REAL], after[REAL])


@PATHS
def test_padding_gets_no_gradient(hooks: tuple):
    model = small_model(tied_embeddings=False)
    model(SOURCE, TARGET_IN, hooks)[REAL].square().sum().backward()
    assert model.source_embedding.weight.grad[0].eq(0).all()
    assert model.target_embedding.weight.grad[0].eq(0).all()
    assert model.source_embedding.weight.grad[5].abs().max() > 0


@PATHS
@pytest.mark.parametrize("positions", POSITIONS)
def test_an_empty_source_row_is_finite_and_leaves_the_others_alone(hooks: tuple, positions: str):
    model = small_model(positions=positions, n_heads=4)
    empty = torch.cat((SOURCE, torch.zeros(1, 6, dtype=torch.int64)))
    target_in = torch.cat((TARGET_IN, TARGET_IN[:1]))
    logits = model(empty, target_in, hooks)
    assert largest_difference(logits[:3], model(SOURCE, TARGET_IN)) < 1e-5
    assert logits.isfinite().all()
    logits.square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name


def test_a_wholly_masked_pattern_row_is_exactly_zero():
    model, capture = small_model(), Capture(("hook_pattern",))
    model(torch.zeros(1, 3, dtype=torch.int64), TARGET_IN[:1], (capture,))
    for kind in ("encoder", "cross"):
        assert capture[f"{kind}.0.hook_pattern"].eq(0).all()


@PATHS
def test_sentences_in_a_batch_do_not_see_each_other(hooks: tuple):
    model = small_model()
    together = model(SOURCE, TARGET_IN, hooks)
    for row in range(3):
        source, target = SOURCE[row : row + 1], TARGET_IN[row : row + 1]
        source, target = source[source != 0][None], target[target != 0][None]
        assert largest_difference(model(source, target, hooks)[0], together[row, : target.shape[1]]) < 1e-5


# Causality


@PATHS
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("place", range(1, 5))
def test_a_later_token_changes_no_earlier_logit(hooks: tuple, positions: str, place: int):
    model = small_model(positions=positions)
    changed = TARGET_IN.clone()
    changed[:, place:] = 30
    before, after = model(SOURCE, TARGET_IN, hooks), model(SOURCE, changed, hooks)
    assert torch.equal(before[:, :place], after[:, :place])
    assert largest_difference(before[:, place], after[:, place]) > 1e-3


@PATHS
def test_the_gradient_of_a_logit_towards_later_tokens_is_exactly_zero(hooks: tuple):
    model, seen = small_model(), []
    model.decoder[0].register_forward_pre_hook(lambda layer, arguments: seen.append(arguments[0]))
    logits = model(SOURCE, TARGET_IN, hooks)
    for place in range(5):
        (gradient,) = torch.autograd.grad(logits[:, place].square().sum(), seen[0], retain_graph=True)
        assert gradient[:, place + 1 :].eq(0).all()
        assert (gradient[:, : place + 1].abs().amax((0, 2)) > 0).all(), "and every earlier one counts"


@PATHS
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("steps", [[1, 1, 1, 1, 1], [2, 3], [1, 4], [4, 1]])
def test_decoding_with_a_cache_gives_the_logits_of_one_pass(hooks: tuple, positions: str, norm: str, steps: list[int]):
    model, mask = small_model(positions=positions, norm=norm), source_mask(SOURCE)
    memory, target_in = model.encode(SOURCE, mask), TARGET_IN.clamp(min=4)
    cache, parts = KeyValueCache(2), target_in.split(steps, dim=1)
    with torch.no_grad():
        found = torch.cat([model.decode(part, memory, mask, cache=cache, hooks=hooks) for part in parts], 1)
        assert cache.length == 5
        assert largest_difference(found, model.decode(target_in, memory, mask)) < 1e-5


def test_points_seen_while_decoding_carry_the_position_of_their_first_query():
    model, mask, offsets = small_model(), source_mask(SOURCE), []

    def note(value: Tensor, point) -> None:
        offsets.append((point.kind, point.offset, value.shape[2:]))

    note.names = ("hook_pattern",)
    cache, memory = KeyValueCache(2), model.encode(SOURCE, mask)
    for place in range(3):
        model.decode(TARGET_IN[:, place : place + 1], memory, mask, cache=cache, hooks=(note,))
    expected = [
        (kind, place, (1, place + 1 if kind == "decoder" else 6))
        for place in range(3)
        for layer in range(2)
        for kind in ("decoder", "cross")
    ]
    assert offsets == expected


# Tied weights (§3.4)


def pointers(model: Transformer) -> set[int]:
    return {
        model.source_embedding.weight.data_ptr(),
        model.target_embedding.weight.data_ptr(),
        model.projection.weight.data_ptr(),
    }


def test_three_tied_matrices_are_one_and_stay_one():
    model = small_model()
    assert len(pointers(model)) == 1
    assert len(pointers(copy.deepcopy(model))) == 1
    assert pointers(copy.deepcopy(model)).isdisjoint(pointers(model))
    assert len(pointers(pickle.loads(pickle.dumps(model)))) == 1
    assert len(pointers(model.double().float())) == 1
    fresh = small_model(seed=1)
    fresh.load_state_dict(model.state_dict())
    assert len(pointers(fresh)) == 1
    with torch.no_grad():
        fresh.source_embedding.weight.zero_()
    assert fresh.projection.weight.eq(0).all()
    assert len(pointers(small_model(tied_embeddings=False))) == 3


@given(vocab_size=st.integers(4, 300), half_width=st.integers(1, 8))
@settings(max_examples=20)
def test_tying_drops_exactly_two_matrices(vocab_size: int, half_width: int):
    sizes = {"vocab_size": vocab_size, "d_model": 2 * half_width, "n_heads": 1, "n_encoder_layers": 1}
    tied, untied = (Transformer(small_config(**sizes, tied_embeddings=tied)) for tied in (True, False))
    assert untied.n_parameters - tied.n_parameters == 2 * vocab_size * 2 * half_width


def test_a_seed_fixes_the_initial_weights():
    """An untrained twin is made again from configuration and seed alone."""
    first, again, other = (list(small_model(seed).parameters()) for seed in (5, 5, 6))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0], other[0])


def test_logits_have_the_width_of_the_vocabulary_and_hooks_are_optional():
    model = small_model()
    assert model(SOURCE, TARGET_IN).shape == (3, 5, 40)
    assert model(SOURCE, TARGET_IN, hooks=(Capture(HOOK_NAMES),)).shape == (3, 5, 40)

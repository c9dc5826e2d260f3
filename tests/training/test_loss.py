"""The loss against torch's and by hand: smoothing, sums over real tokens only, gradients of the fused projection."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from tests.model.small import small_model
from transformer.text.batches import make_batch
from transformer.text.tokenizer import PAD
from transformer.training import loss as loss_module
from transformer.training.loss import batch_loss, projected_cross_entropy

PAIRS = [
    ([5, 6, 7], [8, 9]),
    ([10], [11, 12, 13, 14, 15, 16]),
    ([17, 18, 19, 20], [21]),
    ([22, 23], []),
    ([24, 25, 26, 27, 28, 29], [30, 31, 32]),
]

MODEL = small_model()


def rows(n: int = 7, d_model: int = 6, n_vocab: int = 11) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    hidden, weight = torch.randn(n, d_model), torch.randn(n_vocab, d_model)
    return hidden.requires_grad_(), weight.requires_grad_(), torch.randint(n_vocab, (n,))


def test_closed_form_of_the_smoothed_loss():
    """Two pieces, logits 0 and ln 3, so probabilities 1/4 and 3/4, the first one gold, ε = 0.2.

    The smoothed target is 1 - ε + ε/V = 0.9 on the gold piece (not 0.8, as is said elsewhere) and 0.1 on the other.
    """
    hidden, weight, gold = torch.tensor([[1.0]]), torch.tensor([[0.0], [math.log(3)]]), torch.tensor([0])
    smoothed, nll = projected_cross_entropy(hidden, weight, gold, 0.2)
    assert nll.item() == pytest.approx(math.log(4), abs=1e-6)
    assert smoothed.item() == pytest.approx(0.9 * math.log(4) + 0.1 * math.log(4 / 3), abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.2, 0.9])
@pytest.mark.parametrize("chunk", [1, 25, 2**20])
def test_values_and_gradients_equal_torchs(epsilon: float, chunk: int, monkeypatch: pytest.MonkeyPatch):
    """In one piece, and cut into chunks of one and of two rows with one left over."""
    monkeypatch.setitem(loss_module._CHUNK_ELEMENTS, "cpu", chunk)
    hidden, weight, gold = rows()
    smoothed, nll = projected_cross_entropy(hidden, weight, gold, epsilon)
    found = torch.autograd.grad(smoothed * 0.37, (hidden, weight))
    logits = hidden @ weight.T
    expected = F.cross_entropy(logits, gold, reduction="sum", label_smoothing=epsilon)
    torch.testing.assert_close(smoothed, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(nll, F.cross_entropy(logits, gold, reduction="sum"), rtol=1e-5, atol=1e-5)
    for ours, torchs in zip(found, torch.autograd.grad(expected * 0.37, (hidden, weight)), strict=True):
        torch.testing.assert_close(ours, torchs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("trained", ["hidden", "weight"])
def test_a_gradient_is_there_for_whichever_side_is_trained(trained: str):
    """A probe trains the projection alone; a frozen projection trains what lies before it."""
    hidden, weight, gold = rows()
    tensors = {"hidden": hidden, "weight": weight}
    for name, tensor in tensors.items():
        tensor.requires_grad_(name == trained)
    smoothed, _ = projected_cross_entropy(hidden, weight, gold, 0.1)
    (found,) = torch.autograd.grad(smoothed, tensors[trained])
    logits = F.cross_entropy(hidden @ weight.T, gold, reduction="sum", label_smoothing=0.1)
    torch.testing.assert_close(found, torch.autograd.grad(logits, tensors[trained])[0], rtol=1e-5, atol=1e-5)


def test_a_second_derivative_is_refused_rather_than_wrong():
    hidden, weight, gold = rows()
    smoothed, _ = projected_cross_entropy(hidden, weight, gold, 0.1)
    (gradient,) = torch.autograd.grad(smoothed.square(), hidden, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.square().sum().backward()


def test_without_gradients_none_are_computed():
    hidden, weight, gold = rows()
    with torch.no_grad():
        smoothed, _ = projected_cross_entropy(hidden, weight, gold, 0.1)
    assert not smoothed.requires_grad
    assert smoothed.item() == pytest.approx(projected_cross_entropy(hidden, weight, gold, 0.1)[0].item())


def test_epsilon_0_is_cross_entropy_and_the_perplexitys_part_is_never_smoothed():
    hidden, weight, gold = rows()
    smoothed, nll = projected_cross_entropy(hidden, weight, gold, 0.0)
    assert smoothed.item() == nll.item()
    assert projected_cross_entropy(hidden, weight, gold, 0.3)[1].item() == nll.item()
    assert not nll.requires_grad, "it is reported, not trained on"


def test_logits_of_any_size_stay_finite():
    hidden, weight, gold = rows()
    smoothed, nll = projected_cross_entropy(hidden * 1e4, weight, gold, 0.1)
    assert smoothed.isfinite()
    assert nll.isfinite()
    assert torch.autograd.grad(smoothed, weight)[0].isfinite().all()


def test_under_autocast_the_gradients_are_float32_and_near():
    hidden, weight, gold = rows()
    exact = torch.autograd.grad(projected_cross_entropy(hidden, weight, gold, 0.1)[0], (hidden, weight))
    with torch.autocast("cpu", torch.bfloat16):
        smoothed, nll = projected_cross_entropy(hidden, weight, gold, 0.1)
    assert smoothed.dtype == nll.dtype == torch.float32
    for found, expected in zip(torch.autograd.grad(smoothed, (hidden, weight)), exact, strict=True):
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, expected, rtol=0.05, atol=0.05)


# Whole batches


def by_hand(pairs: list, epsilon: float) -> tuple[float, float, int]:
    """Σ token loss of each pair alone, from the logits, and the number of tokens."""
    model, smoothed, nll, n_tokens = small_model(), 0.0, 0.0, 0
    for pair in pairs:
        batch = make_batch([pair])
        logits = model(batch.source, batch.target_in)[0].double()
        gold = batch.target_out[0]
        smoothed += F.cross_entropy(logits, gold, reduction="sum", label_smoothing=epsilon).item()
        nll += F.cross_entropy(logits, gold, reduction="sum").item()
        n_tokens += len(gold)
    return smoothed, nll, n_tokens


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_a_batchs_loss_is_the_sum_over_its_real_tokens(epsilon: float):
    found = batch_loss(small_model(), make_batch(PAIRS), epsilon)
    smoothed, nll, n_tokens = by_hand(PAIRS, epsilon)
    assert found.n_tokens == n_tokens == 17
    assert found.smoothed.item() == pytest.approx(smoothed, rel=1e-5)
    assert found.nll.item() == pytest.approx(nll, rel=1e-5)


@given(order=st.permutations(range(5)), cuts=st.sets(st.integers(1, 4)))
@settings(max_examples=15)
def test_the_mean_over_tokens_is_the_same_for_any_split_and_padding(order: list[int], cuts: set[int]):
    """Neither sentences nor batches are averaged, whatever padding each split brings."""
    ends = [0, *sorted(cuts), 5]
    groups = [[PAIRS[i] for i in order[a:b]] for a, b in itertools.pairwise(ends)]
    losses = [batch_loss(MODEL, make_batch(group), 0.1) for group in groups]
    whole = batch_loss(MODEL, make_batch(PAIRS), 0.1)
    n_tokens = sum(loss.n_tokens for loss in losses)
    assert n_tokens == whole.n_tokens
    mean = sum(loss.smoothed.item() for loss in losses) / n_tokens
    assert mean == pytest.approx(whole.smoothed.item() / whole.n_tokens, rel=1e-5)


def test_padding_is_neither_predicted_nor_smoothed_at():
    """A batch padded by ten more places has the same loss and the same gradients."""
    results = []
    for extra in (0, 10):
        model, batch = small_model(), make_batch(PAIRS)
        wide = type(batch)(
            *(F.pad(ids, (0, extra), value=PAD) for ids in (batch.source, batch.target_in, batch.target_out))
        )
        loss = batch_loss(model, wide, 0.1)
        loss.smoothed.backward()
        results.append((loss, [parameter.grad for parameter in model.parameters()]))
    (narrow, gradients), (wide, others) = results
    assert narrow.n_tokens == wide.n_tokens
    assert wide.smoothed.item() == pytest.approx(narrow.smoothed.item(), rel=1e-5)
    for first, second in zip(gradients, others, strict=True):
        torch.testing.assert_close(first, second, rtol=1e-4, atol=1e-5)


def test_gradients_of_a_batch_equal_those_through_full_logits():
    """The fused projection adds its share to the tied matrix beside those of the two embeddings."""
    model, other, batch = small_model(), small_model(), make_batch(PAIRS)
    batch_loss(model, batch, 0.1).smoothed.backward()
    logits = other(batch.source, batch.target_in).flatten(0, 1)
    F.cross_entropy(
        logits, batch.target_out.flatten(), ignore_index=PAD, reduction="sum", label_smoothing=0.1
    ).backward()
    for (name, ours), theirs in zip(model.named_parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-5, msg=name)

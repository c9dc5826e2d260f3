"""Our own dropout against what dropout is: a share of zeros, an unchanged mean, the same mask for the gradient."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transformer.model.dropout import Dropout


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.9])
def test_a_share_p_is_zero_and_the_rest_is_divided_by_1_minus_p(p: float):
    torch.manual_seed(0)
    x = torch.rand(1000, 1000) + 1
    y = Dropout(p)(x)
    kept = y != 0
    assert (~kept).float().mean().item() == pytest.approx(p, abs=2e-3)
    assert torch.allclose(y[kept], x[kept] / (1 - p), rtol=1e-6)
    assert y.mean().item() == pytest.approx(1.5, rel=5e-3)


def test_neighbours_are_dropped_independently():
    """One random number decides over four: each of the four, and each pair of them, falls as often as it should."""
    torch.manual_seed(0)
    dropped = Dropout(0.25)(torch.ones(250_000, 4)) == 0
    assert torch.allclose(dropped.float().mean(0), torch.full((4,), 0.25), atol=5e-3)
    together = dropped.float().T @ dropped.float() / len(dropped)
    off_diagonal = together[~torch.eye(4, dtype=torch.bool)]
    assert torch.allclose(off_diagonal, torch.full((12,), 0.0625), atol=5e-3)


@pytest.mark.parametrize("p", [1e-6, 2**-17, 0.99999, 0.999999, 1 - 1e-12])
def test_the_ends_of_the_range_keep_nearly_all_and_nearly_nothing(p: float):
    torch.manual_seed(0)
    share = (Dropout(p)(torch.ones(400_000)) == 0).float().mean().item()
    assert share == pytest.approx(p, abs=1e-3)


@given(shape=st.lists(st.integers(0, 5), max_size=4), p=st.floats(0, 0.99))
def test_any_shape_comes_back_with_its_own_kind_of_numbers(shape: list[int], p: float):
    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        y = Dropout(p)(torch.ones(shape, dtype=dtype))
        assert y.shape == torch.Size(shape)
        assert y.dtype == dtype


def test_a_transposed_tensor_is_dropped_as_well():
    x = torch.rand(30, 40).T + 1
    y = Dropout(0.5)(x)
    kept = y != 0
    assert torch.allclose(y[kept], 2 * x[kept])
    assert 0.4 < kept.float().mean() < 0.6


def test_the_gradient_passes_where_the_number_did():
    x = torch.randn(100, requires_grad=True)
    y = Dropout(0.5)(x)
    y.sum().backward()
    assert torch.equal(x.grad, torch.where(y == 0, 0.0, 2.0))


def test_nothing_happens_outside_training_or_with_p_0():
    x = torch.randn(100)
    assert torch.equal(Dropout(0.5).eval()(x), x)
    assert torch.equal(Dropout(0.0)(x), x)


def test_the_mask_is_torchs_generators():
    """What a resume restores: the same state gives the same mask, and each call another."""
    x, dropout = torch.ones(1000), Dropout(0.5)
    state = torch.get_rng_state()
    first, second = dropout(x), dropout(x)
    assert not torch.equal(first, second)
    torch.set_rng_state(state)
    assert torch.equal(dropout(x), first)
    assert torch.equal(dropout(x), second)

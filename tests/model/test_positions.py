"""Sinusoidal and learned positions (§3.5): hand-computed points, the rotation law, wavelengths, where a table ends."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.model.small import largest_difference, small_config, small_model
from transformer.model import Transformer
from transformer.model.positions import POSITIONS, Learned, Positions, Sinusoidal, sinusoids


def test_points_worked_out_by_hand():
    """d_model = 4: the pairs turn by 1 and by 10000^(-2/4) = 1/100 a position; sine and cosine alternate."""
    table = sinusoids(101, 4)
    assert table.dtype == torch.float64
    assert table[0].tolist() == [0, 1, 0, 1]
    expected_1 = [0.8414709848078965, 0.5403023058681398, 0.009999833334166664, 0.9999500004166653]
    assert table[1].tolist() == pytest.approx(expected_1, abs=1e-15)
    expected_100 = [-0.5063656411097588, 0.8623188722876839, 0.8414709848078965, 0.5403023058681398]
    assert table[100].tolist() == pytest.approx(expected_100, abs=1e-13)


@given(position=st.integers(0, 5000), pair=st.integers(0, 255))
def test_each_number_is_the_papers_formula(position: int, pair: int):
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)) and PE(pos, 2i+1) the cosine of the same."""
    row = sinusoids(1, 512, start=position)[0]
    angle = position / 10000 ** (2 * pair / 512)
    assert row[2 * pair].item() == pytest.approx(math.sin(angle), abs=1e-11)
    assert row[2 * pair + 1].item() == pytest.approx(math.cos(angle), abs=1e-11)


@given(position=st.integers(0, 2000), k=st.integers(-500, 500), half_width=st.integers(1, 32))
def test_moving_by_k_is_a_rotation_that_does_not_depend_on_the_position(position: int, k: int, half_width: int):
    """PE(pos + k) = R(k) · PE(pos), a rotation of each pair by k · frequency."""
    d_model = 2 * half_width
    here, there = (sinusoids(1, d_model, start=start)[0].view(-1, 2) for start in (position, position + k))
    angle = k * 10000.0 ** (-torch.arange(half_width, dtype=torch.float64) * 2 / d_model)
    # Rows are (sin a, cos a), and sin(a + b) = sin a cos b + cos a sin b.
    sine = here[:, 0] * angle.cos() + here[:, 1] * angle.sin()
    cosine = here[:, 1] * angle.cos() - here[:, 0] * angle.sin()
    assert largest_difference(there, torch.stack((sine, cosine), -1)) < 1e-10


@given(position=st.integers(0, 10**5), other=st.integers(0, 10**5))
def test_every_position_has_the_same_length_and_similarity_depends_on_distance_alone(position: int, other: int):
    first, second = (sinusoids(1, 64, start=start)[0] for start in (position, other))
    assert (first @ first).item() == pytest.approx(32, abs=1e-9)
    distance = sinusoids(1, 64, start=abs(position - other))[0]
    assert (first @ second).item() == pytest.approx((distance @ sinusoids(1, 64)[0]).item(), abs=1e-8)


@pytest.mark.parametrize(("pair", "wavelength"), [(0, 2 * math.pi), (127, 606.0), (255, 60_612.0)])
def test_wavelengths_of_the_base_model(pair: int, wavelength: float):
    """From 2π up to, and never reaching, 10000 · 2π. Dimensions 254–255 have 606, not the 61,600 said elsewhere."""
    slow = sinusoids(2, 512)[1, 2 * pair : 2 * pair + 2]
    angle = math.atan2(*slow.tolist())
    assert 2 * math.pi / angle == pytest.approx(wavelength, rel=1e-3)
    assert 2 * math.pi / angle < 10_000 * 2 * math.pi


@given(start=st.integers(0, 300), n=st.integers(1, 40))
def test_a_later_start_is_a_piece_of_the_whole_table(start: int, n: int):
    assert largest_difference(sinusoids(n, 16, start=start), sinusoids(start + n, 16)[start:]) == 0


@given(offset=st.integers(0, 80), n_rows=st.integers(1, 40))
def test_sinusoids_go_on_past_the_table(offset: int, n_rows: int):
    """The table has 64 rows here; a text that starts inside it and ends outside gets the same numbers."""
    positions, x = Sinusoidal(small_config()), torch.zeros(2, n_rows, 16)
    found = positions.embed(x, offset)
    assert torch.equal(found, sinusoids(offset + n_rows, 16)[offset:].float().expand(2, -1, -1))
    assert found.dtype == torch.float32


def test_a_text_longer_than_max_length_runs_with_sinusoids():
    model, long = small_model(max_length=8), small_model(max_length=100)
    source, target_in = torch.randint(4, 40, (1, 30)), torch.randint(4, 40, (1, 20))
    assert largest_difference(model(source, target_in), long(source, target_in)) < 1e-6


def test_sinusoids_are_no_parameters_and_are_not_saved():
    model = small_model()
    assert not any("table" in name for name, _ in model.named_parameters())
    assert not any("table" in name for name in model.state_dict())
    learned = small_model(positions="learned")
    assert learned.n_parameters - model.n_parameters == 64 * 16


@pytest.mark.parametrize(("offset", "n_rows"), [(0, 9), (8, 1), (5, 4), (1000, 1)])
def test_learned_positions_refuse_in_one_sentence_past_their_table(offset: int, n_rows: int):
    positions = Learned(small_config(max_length=8))
    with pytest.raises(ValueError, match=rf"^The text has {offset + n_rows} pieces, .* end at 8; shorten it\.$"):
        positions.embed(torch.zeros(1, n_rows, 16), offset)


@pytest.mark.parametrize(("offset", "n_rows"), [(0, 8), (7, 1), (3, 5)])
def test_learned_positions_reach_to_the_end_of_their_table(offset: int, n_rows: int):
    positions = Learned(small_config(max_length=8))
    assert torch.equal(positions.embed(torch.zeros(1, n_rows, 16), offset)[0], positions.table[offset:][:n_rows])


def test_a_learned_table_starts_like_an_embedding_and_is_trained():
    torch.manual_seed(0)
    model = Transformer(small_config(positions="learned", max_length=512, d_model=64))
    assert abs(model.positions.table.std().item() * 8 - 1) < 0.02
    model(torch.tensor([[5, 3]]), torch.tensor([[2, 6, 7]])).sum().backward()
    gradient = model.positions.table.grad.abs().amax(1)
    assert (gradient[:3] > 0).all()
    assert gradient[3:].eq(0).all()


@pytest.mark.parametrize("name", POSITIONS)
def test_an_encoding_does_what_it_does_in_one_place(name: str):
    """Embedding, rotation and bias are each the identity unless the encoding says otherwise."""
    positions = POSITIONS[name](small_config(positions=name).resolved())
    x, q = torch.randn(1, 5, 16), torch.randn(1, 2, 5, 8)
    changes = {
        "embed": not torch.equal(positions.embed(x), x),
        "rotate": not torch.equal(positions.rotate(q, q)[0], q),
        "bias": positions.bias(5, 5) is not None,
    }
    expected = {"sinusoidal": {"embed"}, "learned": {"embed"}, "rope": {"rotate"}, "alibi": {"bias"}, "none": set()}
    assert {what for what, changed in changes.items() if changed} == expected[name]
    assert isinstance(positions, Positions)

"""Sinusoids by hand, the rotation that moves positions, and what is drawn of any table of positions."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transformer.analysis.encodings import (
    distance_profile,
    frequencies,
    principal_components,
    quarter_turns,
    shift_error,
    shift_matrix,
    similarity,
    sinusoidal,
    spectrum,
    wavelengths,
    with_partner,
)
from transformer.model.positions import sinusoids


def test_sinusoids_by_hand():
    """d_model 4: wavelengths 2π and 2π · 100."""
    table = sinusoidal(3, 4)
    assert table[0].tolist() == [0, 1, 0, 1]
    assert table[2] == pytest.approx([np.sin(2), np.cos(2), np.sin(0.02), np.cos(0.02)], abs=1e-15)
    assert wavelengths(4) == pytest.approx([2 * np.pi, 200 * np.pi])


@pytest.mark.parametrize(("n", "d_model"), [(1, 2), (1, 512), (2000, 2), (2000, 512)])
def test_equal_to_what_the_model_adds(n: int, d_model: int):
    assert np.abs(sinusoidal(n, d_model) - sinusoids(n, d_model).numpy()).max() < 1e-12


def test_wavelengths_of_the_papers_base_model():
    """From 2π to below 10000 · 2π: the last of 256 pairs has 60,611.5, and pair 127, with dimension 254, has 606."""
    lengths = wavelengths(512)
    assert len(lengths) == 256
    assert lengths[0] == pytest.approx(2 * np.pi)
    assert lengths[-1] == pytest.approx(60_611.5, abs=0.05)
    assert round(lengths[127]) == 606
    assert (np.diff(lengths) > 0).all()
    assert lengths[-1] < 10_000 * 2 * np.pi


def test_the_base_is_the_longest_wavelengths_scale():
    assert wavelengths(64, base=100)[-1] < 100 * 2 * np.pi
    assert wavelengths(2, base=7) == pytest.approx([2 * np.pi])


@pytest.mark.parametrize("d_model", [0, 1, 5, -2])
def test_odd_d_model_is_refused_in_a_sentence(d_model: int):
    with pytest.raises(ValueError, match=rf"^d_model is {d_model}; sinusoidal positions need an even number.*\.$"):
        frequencies(d_model)
    with pytest.raises(ValueError, match="even number"):
        sinusoidal(4, d_model)
    with pytest.raises(ValueError, match="even number"):
        shift_matrix(1, d_model)


@pytest.mark.parametrize("base", [0.0, 0.5, float("inf"), float("nan")])
def test_a_base_that_makes_no_waves_is_refused(base: float):
    with pytest.raises(ValueError, match="base of the wavelengths"):
        wavelengths(8, base)


@given(
    n=st.integers(1, 200), half=st.integers(1, 64), k=st.integers(-250, 250), base=st.floats(1, 1e6, allow_nan=False)
)
@example(n=2000, half=256, k=1000, base=10_000.0)
@example(n=2000, half=1, k=-1, base=10_000.0)
def test_m_k_moves_every_position_by_k(n: int, half: int, k: int, base: float):
    table = sinusoidal(n, 2 * half, base)
    error = shift_error(table, shift_matrix(k, 2 * half, base), k)
    assert len(error) == max(0, n - abs(k))
    assert error.max(initial=0) < 1e-9


@given(half=st.integers(1, 32), a=st.integers(-99, 99), b=st.integers(-99, 99))
def test_shifts_add_up_and_keep_lengths(half: int, a: int, b: int):
    first, second, both = (shift_matrix(k, 2 * half) for k in (a, b, a + b))
    assert np.abs(first @ second - both).max() < 1e-9
    assert np.abs(first @ first.T - np.eye(2 * half)).max() < 1e-12


def test_shift_error_by_hand():
    table = np.array([[1.0, 0], [0, 1], [0, 3]])
    assert shift_error(table, np.array([[0.0, -1], [1, 0]]), 1).tolist() == [0, pytest.approx(10**0.5)]


def test_partners_by_hand():
    assert with_partner(4, 1).tolist() == [0, 1, 2]
    assert with_partner(4, -3).tolist() == [3]
    assert with_partner(4, 0).tolist() == [0, 1, 2, 3]
    assert [len(with_partner(4, k)) for k in (4, -4, 9, -9)] == [0, 0, 0, 0]


def test_similarity_and_its_profile_by_hand():
    """Lengths² 1 and 4, mean 2.5; the product of the two rows is 2."""
    matrix = similarity(np.array([[1.0, 0], [2, 0]], np.float32))
    assert matrix.tolist() == [[0.4, 0.8], [0.8, 1.6]]
    profile = distance_profile(matrix)
    assert profile.mean.tolist() == [1.0, 0.8]
    assert (profile.lowest.tolist(), profile.highest.tolist()) == ([0.4, 0.8], [1.6, 0.8])
    assert profile.spread == pytest.approx(1.2)


@given(n=st.integers(1, 200), half=st.integers(1, 64))
def test_sinusoids_are_similar_by_distance_alone(n: int, half: int):
    """PE(i) · PE(j) is the sum of cos((i − j) · frequency), at every place on a diagonal."""
    profile = distance_profile(similarity(sinusoidal(n, 2 * half)))
    assert profile.spread < 1e-12
    expected = np.cos(np.outer(np.arange(n), frequencies(2 * half))).mean(1)
    assert profile.mean == pytest.approx(expected, abs=1e-12)


def test_learned_rows_are_not_similar_by_distance_alone():
    random = np.random.default_rng(0).normal(size=(30, 16)).astype(np.float32)
    assert distance_profile(similarity(random)).spread > 0.1


def test_spectrum_finds_a_wave():
    """Three turns in 24 positions, of amplitude 2, around 5; and nothing in a constant."""
    wave = 5 + 2 * np.sin(2 * np.pi * 3 * np.arange(24) / 24)
    frequency, amplitude = spectrum(np.stack([wave, np.full(24, 7.0)], axis=1))
    assert frequency[2] == 3 / 24
    assert amplitude[2].tolist() == pytest.approx([2, 0], abs=1e-12)
    assert np.delete(amplitude, 2, axis=0).max() < 1e-12


def test_the_fastest_wave_has_its_own_amplitude():
    """+3, −3, +3, −3: half a turn a position, whose bin has no mirror image; an odd length has no such bin."""
    frequency, amplitude = spectrum(np.array([[3.0], [-3], [3], [-3]]))
    assert frequency.tolist() == [0.25, 0.5]
    assert amplitude[:, 0].tolist() == pytest.approx([0, 3])
    three = 2 * np.cos(2 * np.pi * np.arange(3) / 3)
    assert spectrum(three[:, None])[1][:, 0].tolist() == pytest.approx([2])


def test_principal_components_by_hand():
    """Points on a line in the direction (3, 4): one component has it all."""
    table = np.array([[-3.0, -4], [0, 0], [3, 4]]) + 10
    found = principal_components(table, 2)
    assert np.abs(found.coordinates[:, 0]).tolist() == pytest.approx([5, 0, 5])
    assert found.share.tolist() == pytest.approx([1, 0])


@given(n=st.integers(2, 40), d=st.integers(1, 40), seed=st.integers(0, 9))
def test_principal_components_keep_distances(n: int, d: int, seed: int):
    """All components together are the centred table, turned."""
    table = np.random.default_rng(seed).normal(size=(n, d))
    found = principal_components(table, max(n, d))
    centred = table - table.mean(0)
    assert np.abs(found.coordinates @ found.coordinates.T - centred @ centred.T).max() < 1e-9
    assert (np.diff(found.share) < 1e-12).all()
    assert found.share.sum() == pytest.approx(1)


@pytest.mark.parametrize("n", [1, 2, 2000])
@pytest.mark.parametrize("d_model", [2, 512])
def test_every_number_for_the_smallest_and_largest_tables(n: int, d_model: int):
    table = sinusoidal(n, d_model)
    assert np.isfinite(similarity(table)).all()
    assert len(distance_profile(similarity(table)).mean) == n
    assert np.isfinite(principal_components(table).coordinates).all()
    assert spectrum(table)[1].shape == (n // 2, d_model)


def test_most_pairs_hardly_turn_within_a_sentence():
    """Of the 64 pairs at d_model 128, 41 turn less than a quarter within 40 tokens; the only pair turns by 1 radian."""
    assert quarter_turns(40, 128) == 41
    assert [quarter_turns(n, 2) for n in (1, 2, 3)] == [1, 1, 0]

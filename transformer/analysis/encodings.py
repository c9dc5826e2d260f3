"""Sinusoidal positions, and any other table of positions, as numbers to be drawn (§3.5). Plain numpy, no torch.

A table has one row a position. Everything is float64, so that what is left over is rounding and nothing else.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float64, Int64

BASE = 10_000.0
"""The paper's; the longest wavelengths come near 2π · BASE."""


def frequencies(d_model: int, base: float = BASE) -> Float64[np.ndarray, " pair"]:
    """Radians a position by which each pair of dimensions turns, base^(-2i / d_model) (§3.5).

    Raises ValueError for an odd d_model: sines and cosines come in pairs.
    """
    if d_model < 2 or d_model % 2:
        raise ValueError(f"d_model is {d_model}; sinusoidal positions need an even number: they are pairs.")
    if not 1 <= base < float("inf"):
        raise ValueError(f"The base of the wavelengths is {base}; allowed is a number of at least 1.")
    return base ** (-np.arange(0, d_model, 2) / d_model)


def wavelengths(d_model: int, base: float = BASE) -> Float64[np.ndarray, " pair"]:
    """Positions that each pair of dimensions takes for one full turn: from 2π up to, and never quite, base · 2π."""
    return 2 * np.pi / frequencies(d_model, base)


def sinusoidal(n_positions: int, d_model: int, base: float = BASE) -> Float64[np.ndarray, "position d_model"]:
    """PE(pos, 2i) = sin(pos / base^(2i / d_model)) and PE(pos, 2i+1) = cos of the same (§3.5)."""
    angle = np.outer(np.arange(n_positions), frequencies(d_model, base))
    return np.stack((np.sin(angle), np.cos(angle)), axis=-1).reshape(n_positions, d_model)


def shift_matrix(k: int, d_model: int, base: float = BASE) -> Float64[np.ndarray, "d_model d_model"]:
    """M_k, with PE(pos + k) = M_k · PE(pos) for every pos: each pair of dimensions turned by k · frequency (§3.5)."""
    angle = k * frequencies(d_model, base)
    matrix = np.zeros((d_model, d_model))
    sine, cosine = np.arange(0, d_model, 2), np.arange(1, d_model, 2)
    matrix[sine, sine] = matrix[cosine, cosine] = np.cos(angle)
    matrix[sine, cosine], matrix[cosine, sine] = np.sin(angle), -np.sin(angle)
    return matrix


def with_partner(n_positions: int, k: int) -> Int64[np.ndarray, " pair"]:
    """The positions that have another one k places on among the first n; k may be negative."""
    return np.arange(max(0, -k), min(n_positions, n_positions - k))


def shift_error(
    table: Float[np.ndarray, "position d_model"], matrix: Float[np.ndarray, "d_model d_model"], k: int
) -> Float64[np.ndarray, " pair"]:
    """‖PE(pos + k) − matrix · PE(pos)‖ for every pos that has a partner."""
    table, at = table.astype(float), with_partner(len(table), k)
    return np.linalg.norm(table[at + k] - table[at] @ matrix.T, axis=1)


def similarity(table: Float[np.ndarray, "position d_model"]) -> Float64[np.ndarray, "position position"]:
    """PE · PEᵀ divided by the mean squared length of a row, so that the diagonal is 1 on average."""
    table = table.astype(float)
    power = np.square(table).sum(1).mean()
    return table @ table.T / (power if power > 0 else 1.0)


@dataclass(frozen=True)
class Profile:
    """A similarity matrix seen over distance |i − j|; each array has one entry a distance, from 0."""

    mean: Float64[np.ndarray, " distance"]
    lowest: Float64[np.ndarray, " distance"]
    highest: Float64[np.ndarray, " distance"]

    @property
    def spread(self) -> float:
        """The largest difference within one distance: 0 where only distance counts, as with sinusoids."""
        return float((self.highest - self.lowest).max())


def distance_profile(matrix: Float64[np.ndarray, "position position"]) -> Profile:
    """Mean, lowest and highest entry at every distance of a symmetric matrix."""
    diagonals = [np.diagonal(matrix, distance) for distance in range(len(matrix))]
    mean, lowest, highest = (np.array([of(d) for d in diagonals]) for of in (np.mean, np.min, np.max))
    return Profile(mean, lowest, highest)


def spectrum(
    table: Float[np.ndarray, "position d_model"],
) -> tuple[Float64[np.ndarray, " frequency"], Float64[np.ndarray, "frequency d_model"]]:
    """Fourier transform over position: frequencies in turns a position, and the amplitude of each in every dimension.

    Each dimension's mean is taken off first. A frequency above 0 and up to ½ is there for each whole number of turns in
    the table's length, so a wavelength longer than the table cannot be told from its length.
    """
    n = len(table)
    centred = table.astype(float) - table.mean(0)
    amplitude = np.abs(np.fft.rfft(centred, axis=0)) * 2 / max(n, 1)
    if n % 2 == 0:
        amplitude[-1] /= 2  # half a turn a position has no mirror image to share its power with
    return np.fft.rfftfreq(n)[1:], amplitude[1:]


@dataclass(frozen=True)
class Components:
    """Positions along the directions in which they differ most."""

    coordinates: Float64[np.ndarray, "position component"]
    share: Float64[np.ndarray, " component"]
    """Of the variance over all positions that each component accounts for."""


def principal_components(table: Float[np.ndarray, "position d_model"], n: int = 3) -> Components:
    """The first n principal components, fewer where there are fewer dimensions or positions.

    The sign of a component is arbitrary; here its largest coordinate is positive.
    """
    centred = table.astype(float) - table.mean(0)
    n = min(n, *table.shape)
    tall = table.shape[0] > table.shape[1]
    values, vectors = np.linalg.eigh(centred.T @ centred if tall else centred @ centred.T)
    values, vectors = values[::-1][:n].clip(0), vectors[:, ::-1][:, :n]
    coordinates = centred @ vectors if tall else vectors * np.sqrt(values)
    largest = np.abs(coordinates).argmax(0)
    signs = np.where(coordinates[largest, np.arange(n)] < 0, -1.0, 1.0)
    total = np.square(centred).sum()
    return Components(coordinates * signs, values / (total if total > 0 else 1.0))


def quarter_turns(n_positions: int, d_model: int, base: float = BASE) -> int:
    """How many pairs turn by less than a quarter from the first of n positions to the last: too little to tell much."""
    return int((frequencies(d_model, base) * (n_positions - 1) < np.pi / 2).sum())

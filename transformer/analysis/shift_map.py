"""The best linear map from a position's row to the row k positions on: does a learned table have what sinusoids have?

In d_model dimensions a few rows can be mapped onto any others, so a small residual on the rows that were fitted says
nothing. Here some positions stay out of the fit, and the residual is measured on them, beside the identity map's.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float64

from transformer.analysis.encodings import with_partner

HELD_OUT_EVERY = 4
RIDGES = 10.0 ** np.arange(-8, 3)
"""Tried strengths of the ridge, as multiples of the mean squared length of a row."""


@dataclass(frozen=True)
class ShiftMap:
    """The ridge map for one k. Residuals are shares: 0 is perfect, and 1 is as far off as guessing the mean row."""

    k: int
    matrix: Float64[np.ndarray, "d_model d_model"]
    """Times a row as a column: matrix · PE(pos) ≈ PE(pos + k)."""
    ridge: float
    """Chosen from RIDGES by leaving out one fitted pair at a time; never by the positions held out."""
    n_fitted: int
    n_held_out: int
    """Pairs of positions in the fit, and pairs that touch a position held out of it."""
    fitted: float
    """Residual on the pairs of the fit."""
    held_out: float
    """Residual on the pairs held out."""
    identity: float
    """Residual of leaving the row as it is, on the pairs held out."""


def held_out_positions(n_positions: int) -> Bool[np.ndarray, " position"]:
    """True for every fourth position, from position 2 on."""
    return np.arange(n_positions) % HELD_OUT_EVERY == 2


def fit_shift(table: Float[np.ndarray, "position d_model"], k: int) -> ShiftMap:
    """The map for shift k, fitted on pairs that touch no position held out. Give only rows that training has visited.

    Raises ValueError, in one sentence, when too few rows are left for a fit.
    """
    table, out = table.astype(float), held_out_positions(len(table))
    at = with_partner(len(table), k)
    touches = out[at] | out[at + k]
    fit, test = at[~touches], at[touches]
    if len(fit) < 3 or len(test) == 0:
        raise ValueError(
            f"{len(table)} positions leave {len(fit)} pairs to fit a map that shifts by {k}, and {len(test)} to test; "
            "at least 3 and 1 are needed."
        )
    x, y = table[fit], table[fit + k]
    ridge = _best_ridge(x, y)
    # (XXᵀ + λ)⁻¹ in the space of pairs, of which there are fewer than dimensions.
    matrix = (x.T @ np.linalg.solve(x @ x.T + ridge * np.eye(len(x)), y)).T
    mean = y.mean(0)

    def residual(pairs: np.ndarray, guess: np.ndarray) -> float:
        wanted = table[pairs + k]
        power = np.square(wanted - mean).sum()
        return float(np.square(wanted - guess).sum() / power) if power > 0 else 0.0

    return ShiftMap(
        k=k,
        matrix=matrix,
        ridge=ridge,
        n_fitted=len(fit),
        n_held_out=len(test),
        fitted=residual(fit, x @ matrix.T),
        held_out=residual(test, table[test] @ matrix.T),
        identity=residual(test, table[test]),
    )


def _best_ridge(x: Float64[np.ndarray, "pair d_model"], y: Float64[np.ndarray, "pair d_model"]) -> float:
    """The ridge whose predictions of each pair from all others are best, in closed form: e / (1 − leverage)."""
    values, vectors = np.linalg.eigh(x @ x.T)
    values = values.clip(0)
    turned = vectors.T @ y
    errors = {}
    for ridge in RIDGES * np.square(x).sum(1).mean():
        shrink = values / (values + ridge)
        leverage = np.square(vectors) @ shrink
        left_out = (y - vectors @ (shrink[:, None] * turned)) / (1 - leverage).clip(1e-12)[:, None]
        errors[float(ridge)] = float(np.square(left_out).sum())
    return min(errors, key=errors.__getitem__)

"""Exact expectations when the weights take few distinct values: count the ones per value."""

import math

import numpy as np
from scipy import stats

from paritylab.problem import Parity
from paritylab.risk.routes.pieces import Pieces

#: Largest number of count combinations that is summed.
MAX_STATES = 1 << 21
MAX_GROUPS = 20


def groups_of(weights: np.ndarray, problem: Parity) -> list[np.ndarray] | None:
    """Positions grouped by equal weight and bias, or None if the counts have too many states."""
    # A glance at a few positions spares most calls the sort over all of them.
    glance = weights[:: max(1, problem.n // 64)]
    if len(np.unique(np.round(glance / max(glance.max(), 1e-300), 12))) > MAX_GROUPS:
        return None
    rounded = np.round(weights / max(weights.max(), 1e-300), 13)
    keys = np.stack([rounded, problem.probabilities], axis=1)
    _, inverse, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    if len(counts) > MAX_GROUPS or math.prod(int(count) + 1 for count in counts) > MAX_STATES:
        return None
    return [np.flatnonzero(inverse.ravel() == index) for index in range(len(counts))]


def lattice_mean(
    weights: np.ndarray, problem: Parity, groups: list[np.ndarray], pieces: Pieces
) -> float:
    """E[even(s)] + contrast·E[odd(s) χ_B(x)], exact for every n."""
    sums, plain, signed = np.zeros(1), np.ones(1), np.ones(1)
    inside = problem.indicator > 0
    for members in groups:
        weight, p = weights[members[0]], problem.probabilities[members[0]]
        chances, parities = _counts(len(members), int(inside[members].sum()), p)
        ones = np.arange(len(members) + 1)
        sums = np.add.outer(sums, weight * ones).ravel()
        plain = np.outer(plain, chances).ravel()
        signed = np.outer(signed, parities).ravel()
    contrast = problem.sign * (1 - 2 * problem.noise)
    even, odd = _evaluate(pieces, sums)
    return float(np.sum(plain * even) + contrast * np.sum(signed * odd))


def _counts(size: int, in_subset: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """P(r ones) and E[χ; r ones] for r = 0..size."""
    others = stats.binom.pmf(np.arange(size - in_subset + 1), size - in_subset, p)
    subset = stats.binom.pmf(np.arange(in_subset + 1), in_subset, p)
    signs = (-1.0) ** np.arange(in_subset + 1)
    return np.convolve(others, subset), np.convolve(others, subset * signs)


def _evaluate(pieces: Pieces, s: np.ndarray) -> np.ndarray:
    """Even and odd part at the points s."""
    values = np.repeat(np.asarray(pieces.start)[:, None], len(s), axis=1)
    for knot, slope, curve in zip(
        pieces.knots, np.asarray(pieces.slope).T, np.asarray(pieces.curve).T, strict=True
    ):
        beyond = np.maximum(s - knot, 0)
        values += slope[:, None] * beyond + curve[:, None] / 2 * beyond**2
    return values

"""Choosing how to sum a series, outside compiled code, from a few of the largest weights.

Nothing here depends on n beyond one pass; sizes are powers of two so that a second problem of the
same size compiles nothing.
"""

import math

import numpy as np

from paritylab.learning.pieces import Pieces
from paritylab.learning.series import Plan
from paritylab.learning.spectrum import layout_of
from paritylab.problem import Parity

MAX_HEAVY = 10
TERMS = tuple(1 << e for e in range(6, 14))

_LOOK_AT = 160  # largest weights that vouch for the decay of the characteristic function


class Tail:
    """What is left out when dominant weights are enumerated and M terms are kept.

    |E[e^{iωs}]| and its χ-weighted sibling are at most the product of |factor| over any set of
    positions outside B. The largest such weights are followed to twice the frequency at which they
    could come back into step; beyond, the mean of what was seen stands for the rest.
    """

    def __init__(self, weights: np.ndarray, problem: Parity, heavy: np.ndarray):
        self.heavy = heavy
        inside = problem.indicator > 0
        self.reach = max(float(weights.sum() - weights[heavy].sum()), 1e-12)
        light = np.setdiff1d(_largest(weights, _LOOK_AT + len(heavy)), heavy)
        light = light[~inside[light] & (weights[light] > 0)]
        p, g = problem.probabilities[light], weights[light]
        first = math.pi * TERMS[0] / self.reach
        last = max(4 * math.pi / g.max() if len(g) else 0.0, 4 * math.pi * TERMS[-1] / self.reach)
        self._omega = np.union1d(np.geomspace(first, last, 400), np.linspace(first, last, 400))
        squares = 1 - 4 * p * (1 - p) * np.sin(np.multiply.outer(self._omega, g) / 2) ** 2
        log_size = np.log(np.maximum(squares, 1e-300)).sum(axis=1) / 2
        # Smaller weights help too, as long as their own angles stay below a right angle.
        if len(g) >= _LOOK_AT // 2:
            others = (weights * np.where(inside, 0.0, weights)) @ (
                problem.probabilities * (1 - problem.probabilities)
            )
            others -= g**2 @ (p * (1 - p)) + weights[heavy] ** 2 @ (
                np.where(inside[heavy], 0.0, 1.0)
                * (problem.probabilities[heavy] * (1 - problem.probabilities[heavy]))
            )
            in_step = self._omega * g.min() < math.pi
            log_size -= np.where(in_step, 0.4 * self._omega**2 * max(others, 0.0), 0.0)
        self._size = np.exp(log_size)

    def beyond(self, terms: int, kink: float) -> float:
        """Estimate of Σ_{m ≥ M} |a_m φ_m| for |a_m| ≤ 2·kink/(R ω_m²)."""
        start = math.pi * terms / self.reach
        keep = self._omega >= start
        omega, size = self._omega[keep], self._size[keep]
        if len(omega) < 2:
            return 2 * kink / math.pi / start
        seen = np.trapezoid(size / omega**2, omega) + size[0] / omega[0] ** 2 * (omega[0] - start)
        typical = np.trapezoid(size, omega) / (omega[-1] - omega[0])
        return 1.5 * 2 * kink / math.pi * (seen + typical / omega[-1])


def kinked_plan(
    weights: np.ndarray, problem: Parity, pieces: Pieces, tolerance: float
) -> tuple[Plan, Tail]:
    """The cheapest plan whose estimated truncation is below the tolerance, or the most exact."""
    kink = float(np.abs(pieces.slope).sum()) * 2
    order = _largest(weights, MAX_HEAVY)
    best: tuple[float, float, Tail, int] | None = None
    for count in range(min(MAX_HEAVY, problem.n - 1) + 1):
        tail = Tail(weights, problem, order[:count])
        for terms in TERMS:
            # Coefficients cost 2^H·M·knots, the characteristic function about M·(large weights).
            large = np.sum(weights > 0.5 * tail.reach / (math.pi * terms))
            cost = (len(pieces.knots) * 2.0**count + large + 8) * terms
            missed = tail.beyond(terms, kink)
            key = (max(missed, tolerance / 2), cost)
            if best is None or key < best[:2]:
                best = (*key, tail, terms)
    assert best is not None
    _, _, tail, terms = best
    frequencies = math.pi * np.arange(terms) / tail.reach
    light = weights.copy()
    light[tail.heavy] = 0.0
    layout = layout_of(light, np.setdiff1d(problem.subset, tail.heavy), frequencies[-1])
    plan = Plan(tail.heavy.astype(np.int32), layout, frequencies, np.float64(tail.reach))
    return plan, tail


def _largest(weights: np.ndarray, count: int) -> np.ndarray:
    """Positions of the largest weights, largest first."""
    if count >= len(weights):
        return np.argsort(-weights, kind="stable")
    chosen = np.argpartition(weights, -count)[-count:] if count else np.zeros(0, dtype=int)
    return chosen[np.argsort(-weights[chosen], kind="stable")]

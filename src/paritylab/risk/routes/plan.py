"""Choosing how to sum a series, outside compiled code, from a few of the largest weights.

Nothing here depends on n beyond one pass; sizes are powers of two so that a second problem of the
same size compiles nothing.
"""

import math

import numpy as np

from paritylab.problem import Junta, Parity
from paritylab.risk.routes.characteristic import layout_of
from paritylab.risk.routes.pieces import Pieces
from paritylab.risk.routes.series import Plan

HEAVY = (0, 2, 4, 6, 8, 10)
TERMS = tuple(1 << e for e in range(6, 14))

#: How many light weights vouch for the decay of the characteristic function.
_WITNESSES = 256


class Tail:
    """What is left out when dominant weights are enumerated and M terms are kept.

    |E[e^{iωs}]| and its χ-weighted sibling are at most the product of |factor| over any set of
    positions outside B. A few witnesses among the light weights are followed to twice the frequency
    at which the largest could come back into step; beyond, the mean of what was seen stands for
    the rest.
    """

    def __init__(self, weights: np.ndarray, problem: Parity | Junta, heavy: np.ndarray):
        self.heavy = heavy
        mass = max(float(weights.sum() - weights[heavy].sum()), 1e-12)
        mean = float(
            weights @ problem.probabilities - weights[heavy] @ problem.probabilities[heavy]
        )
        squares = max(float(weights @ weights - weights[heavy] @ weights[heavy]), 0.0)
        # Hoeffding: the light sum is within 4.2·√Σg² of its mean but for 1e-15 of the inputs.
        half_width = min(mass, 4.2 * math.sqrt(squares) + 1e-12)
        self.start, self.reach = mean - half_width, 2 * half_width
        witnesses = _witnesses(weights, problem, heavy)
        p, g = problem.probabilities[witnesses], weights[witnesses]
        first = math.pi * TERMS[0] / self.reach
        last = 4 * math.pi * TERMS[-1] / self.reach
        top = g.max(initial=4 * math.pi / last)
        last = max(last, 4 * math.pi / top)
        self._omega = np.union1d(np.geomspace(first, last, 100), np.linspace(first, last, 100))
        moduli = 1 - 4 * p * (1 - p) * np.sin(np.multiply.outer(self._omega, g) / 2) ** 2
        log_size = np.log(np.maximum(moduli, 1e-300)).sum(axis=1) / 2
        # All other weights help too, as long as the largest angle stays below a right angle.
        others = _variance(weights, problem, heavy) - g**2 @ (p * (1 - p))
        in_step = self._omega * top < math.pi
        log_size -= np.where(in_step, 0.4 * self._omega**2 * max(others, 0.0), 0.0)
        self._size = np.exp(log_size)

    def beyond(self, terms: int, kink: float) -> float:
        """Estimate of Σ_{m ≥ M} |a_m φ_m| for |a_m| ≤ 2·kink/(R ω_m²)."""
        start = math.pi * terms / self.reach
        keep = self._omega >= start * (1 - 1e-9)
        omega, size = self._omega[keep], self._size[keep]
        seen = np.trapezoid(size / omega**2, omega) + size[0] / omega[0] ** 2 * (omega[0] - start)
        typical = np.trapezoid(size, omega) / (omega[-1] - omega[0])
        return float(1.5 * 2 * kink / math.pi * (seen + typical / omega[-1]))


def kinked_plan(
    weights: np.ndarray, problem: Parity | Junta, pieces: Pieces, tolerance: float
) -> tuple[Plan, Tail]:
    """The cheapest plan whose estimated truncation is below the tolerance, or the most exact."""
    kink = 2 * float(np.abs(pieces.slope).sum())
    always = enumerated_always(problem)
    order = np.append(always, largest_besides(weights, always, HEAVY[-1]))
    stride = max(1, problem.n // 4096)
    sample = weights[::stride]
    best: tuple[float, float, Tail, int] | None = None
    for more in HEAVY:
        count = len(always) + more
        if more and (count >= problem.n or count > max(HEAVY[-1], len(always) + 4)):
            break
        tail = Tail(weights, problem, order[:count])
        for terms in TERMS:
            # Coefficients cost 2^H·M·knots, the characteristic function about M·(large weights).
            large = stride * np.count_nonzero(sample > 0.5 * tail.reach / (math.pi * terms))
            cost = (len(pieces.knots) * 2.0**count + large + 8) * terms
            key = (max(tail.beyond(terms, kink), tolerance / 2), cost)
            if best is None or key < best[:2]:
                best = (*key, tail, terms)
        if best is not None and best[0] <= tolerance / 2 and best[1] < 2e5:
            break
    assert best is not None
    _, _, tail, terms = best
    frequencies = math.pi * np.arange(terms) / tail.reach
    light = weights.copy()
    light[tail.heavy] = 0.0
    layout = layout_of(light, np.setdiff1d(problem.subset, tail.heavy), frequencies[-1])
    plan = Plan(
        tail.heavy.astype(np.int32),
        layout,
        frequencies,
        np.asarray(tail.reach),
        np.asarray(tail.start),
    )
    return plan, tail


def enumerated_always(problem: Parity | Junta) -> np.ndarray:
    """Positions that every plan enumerates: the hidden bits of a junta."""
    return np.array(problem.subset if isinstance(problem, Junta) else (), dtype=int)


def largest_besides(weights: np.ndarray, without: np.ndarray, count: int) -> np.ndarray:
    """Positions of the largest weights outside a few positions, largest first."""
    if not len(without):
        return largest(weights, count)
    others = largest(weights, count + len(without))
    return others[~np.isin(others, without)][:count]


def largest(weights: np.ndarray, count: int) -> np.ndarray:
    """Positions of the largest weights, largest first.

    The `count` largest lie in the `count` blocks with the largest maxima, so one pass for the
    maxima leaves little to sort.
    """
    block = 512
    pool = np.arange(len(weights))
    if len(weights) > block * 2 * count:
        whole = len(weights) // block * block
        maxima = weights[:whole].reshape(-1, block).max(axis=1)
        blocks = np.argsort(-maxima, kind="stable")[:count]
        inside = (blocks[:, None] * block + np.arange(block)[None, :]).ravel()
        pool = np.sort(np.append(inside, np.arange(whole, len(weights))))
    return pool[np.argsort(-weights[pool], kind="stable")][:count]


def _witnesses(weights: np.ndarray, problem: Parity | Junta, heavy: np.ndarray) -> np.ndarray:
    """Light positions outside B: some of the largest, the others spread over comparable weights.

    The largest alone would be nearly equal on a smooth bump and seem to come back into step.
    """
    excluded = np.union1d(heavy, np.asarray(problem.subset))
    top = largest(weights, _WITNESSES // 2 + len(excluded))
    top = np.setdiff1d(top, excluded, assume_unique=True)[: _WITNESSES // 2]
    level = weights[top].max(initial=0.0)
    comparable = np.flatnonzero(weights > 0.02 * level)
    spread = comparable[:: max(1, len(comparable) // (_WITNESSES // 2))][:_WITNESSES]
    chosen = np.setdiff1d(np.union1d(top, spread), excluded)
    return np.asarray(chosen[weights[chosen] > 0])


def _variance(weights: np.ndarray, problem: Parity | Junta, heavy: np.ndarray) -> float:
    """Variance of the light positions outside B."""
    out = np.union1d(heavy, np.asarray(problem.subset)).astype(int)
    p = problem.probabilities
    square = weights @ (weights / 4 if problem.is_uniform else weights * p * (1 - p))
    return float(square - weights[out] ** 2 @ (p[out] * (1 - p[out])))

"""Heads in the limit tau → 0: what they can attend to, and which combinations solve a parity."""

from collections.abc import Iterable
from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

import numpy as np

from paritylab.learning.hardness.frozen import every_input, parity_of
from paritylab.problem import Parity
from paritylab.theory.hg1 import risk_of_missing_weight
from paritylab.theory.hg1_limits import smoothed_zigzag


def limits_of_heads(n: int) -> np.ndarray:
    """Attention a head can have as tau → 0: one position, or a share between two neighbours."""
    sharp = np.eye(n)
    split = [
        share * sharp[j] + (1 - share) * sharp[(j + 1) % n]
        for j in range(n)
        for share in (0.25, 0.5, 0.75)
    ]
    return np.concatenate([sharp, split])


class SoftSolutions(NamedTuple):
    """Combinations of limiting heads tried, and what became of them when hardened.

    tried: how many. solutions: those with soft risk 0. failures: solutions that are wrong when
    hard. slack: least risk minus `theory.hg1.risk_of_missing_weight`. off: largest |g_j - 1_B(j)|
    of a solution's weights g, 0 without any. least: smallest soft risk above 0.
    """

    tried: int
    solutions: int
    failures: int
    slack: float
    off: float
    least: float


def search_soft_solutions(sizes: Iterable[tuple[int, int]]) -> SoftSolutions:
    """Every combination of k limiting heads on every k-set without circular neighbours.

    sizes: (n, k).
    """
    tried, hardened, slack, off, above = 0, [np.zeros(0)], [], [0.0], []
    for n, k in sizes:
        limits = limits_of_heads(n)
        combos = np.array(list(combinations_with_replacement(range(len(limits)), k)))
        weights = limits[combos].sum(axis=1)
        hard = np.eye(n)[np.argmax(limits, axis=1)][combos].sum(axis=1)
        for subset in sets_without_neighbours(n, k):
            problem, inside = Parity(n, subset), np.isin(np.arange(n), subset)
            risks = risks_of_weights(weights, problem)
            solved = risks < 1e-9
            tried += len(combos)
            if solved.any():
                hardened.append(risks_of_weights(hard[solved], problem))
                off.append(np.abs(weights[solved] - inside).max())
            slack.append(np.min(risks - risk_of_missing_weight(weights, inside)))
            above.append(risks[~solved].min(initial=np.inf))
    wrong = np.concatenate(hardened) > 1e-9
    return SoftSolutions(tried, wrong.size, int(wrong.sum()), min(slack), max(off), min(above))


def least_risk_of_heads(n: int, k: int, heads: int) -> tuple[float, int]:
    """Smallest soft risk of `heads` limiting heads on a k-set without circular neighbours.

    The heads are averaged and weighted k/heads. Also how many combinations were tried.
    """
    limits = limits_of_heads(n)
    combos = np.array(list(combinations_with_replacement(range(len(limits)), heads)))
    weights = k / heads * limits[combos].sum(axis=1)
    risks = [
        risks_of_weights(weights, Parity(n, subset)).min()
        for subset in sets_without_neighbours(n, k)
    ]
    return float(min(risks, default=np.inf)), len(combos) * len(risks)


def sets_without_neighbours(n: int, k: int) -> list[tuple[int, ...]]:
    """Every k-set with 0 in it and no two neighbours on the circle; the others are rotations.

    >>> sets_without_neighbours(6, 2)
    [(0, 2), (0, 3), (0, 4)]
    """
    sets = ((0, *others) for others in combinations(range(1, n), k - 1))
    return [subset for subset in sets if np.diff([*subset, n]).min() >= 2]


def risks_of_weights(weights: np.ndarray, problem: Parity) -> np.ndarray:
    """Exact squared-hinge risks of many weight vectors on one problem, by enumeration."""
    bits = every_input(problem.n)
    labels = parity_of(bits, problem.subset)
    made = smoothed_zigzag(weights @ bits.T, problem.k, 0.0)
    return np.asarray(np.mean(np.maximum(0, 1 - labels * made) ** 2, axis=1))

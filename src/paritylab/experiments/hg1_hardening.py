"""Heads in the limit tau → 0: what they attend to and solve, and whether soft ones may harden."""

from collections.abc import Iterable
from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from paritylab.learning.hardness.frozen import every_input, parity_of
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.problem import Parity
from paritylab.risk import Risk, population_risk
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


class HardenedHeads(NamedTuple):
    """Heads with soft risk 0, made hard.

    wrong: whether the hard heads have a risk above 0, one entry per solution. distance: largest
    distance of a solution's summed attention from 1_B. slack: least risk, over all heads tried,
    minus `theory.hg1.risk_of_missing_weight`.
    """

    wrong: Bool[np.ndarray, " solutions"]
    distance: float
    slack: float


def harden_soft_solutions(sizes: Iterable[tuple[int, int]]) -> HardenedHeads:
    """Try every combination of k limiting heads on every k-set without circular neighbours, and
    harden those with soft risk 0.

    sizes: (n, k).
    """
    hardened, slack, off = [np.zeros(0)], [], [0.0]
    for n, k in sizes:
        limits = limits_of_heads(n)
        combos = np.array(list(combinations_with_replacement(range(len(limits)), k)))
        weights = limits[combos].sum(axis=1)
        hard = np.eye(n)[np.argmax(limits, axis=1)][combos].sum(axis=1)
        for subset in sets_without_neighbours(n, k):
            problem, inside = Parity(n, subset), np.isin(np.arange(n), subset)
            risks = risks_of_weights(weights, problem)
            solved = risks < 1e-9
            if solved.any():
                hardened.append(risks_of_weights(hard[solved], problem))
                off.append(np.abs(weights[solved] - inside).max())
            slack.append(np.min(risks - risk_of_missing_weight(weights, inside)))
    return HardenedHeads(np.concatenate(hardened) > 1e-9, max(off), min(slack))


def search_least_risk_of_heads(n: int, k: int, heads: int) -> tuple[float, int]:
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


#: Score differences that break the tie between the two positions, in units of tau.
LEAN = 1e-4


def risk_between_neighbours(n: int, tau: float, kind: str, last: int, lean: float = LEAN) -> Risk:
    """Risk on B = {0, last} of two heads midway between 0 and n-1, nearer to 0 by δ = lean."""
    angle = -np.pi / n + lean * tau / (2 * np.sin(np.pi / n))
    directions = np.array([[np.sin(angle), np.cos(angle)]] * 2)
    heads = HeadAttention(directions, Circle(n), 2, Zigzag(2), tau, kind)
    return population_risk(heads, Parity(n, (0, last)))

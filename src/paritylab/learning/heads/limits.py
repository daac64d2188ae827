"""Heads in the limit tau → 0: what they can attend to, and which combinations solve a parity."""

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

import jax
import numpy as np

from paritylab.models import Zigzag
from paritylab.precision import float64
from paritylab.problem import LOSSES, Parity
from paritylab.risk.objective import target_of, weight_risk


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
    """Combinations tried, those with soft risk 0, and those of them that fail when hardened."""

    tried: int
    solutions: int
    failures: int


def search_soft_solutions(n: int, k: int) -> SoftSolutions:
    """Every combination of k limiting heads on every k-set without circular neighbours."""
    limits = limits_of_heads(n)
    combos = np.array(list(combinations_with_replacement(range(len(limits)), k)))
    weights = limits[combos].sum(axis=1)
    hard = np.eye(n)[np.argmax(limits, axis=1)][combos].sum(axis=1)
    tried = solutions = failures = 0
    for others in combinations(range(1, n), k - 1):
        subset = (0, *others)
        gaps = np.diff([*subset, n])
        if gaps.min() < 2:
            continue
        soft_risks = risks_of_weights(weights, Parity(n, subset))
        solved = soft_risks < 1e-9
        tried, solutions = tried + len(combos), solutions + int(solved.sum())
        if solved.any():
            failures += int(np.sum(risks_of_weights(hard[solved], Parity(n, subset)) > 1e-9))
    return SoftSolutions(tried, solutions, failures)


def risks_of_weights(weights: np.ndarray, problem: Parity) -> np.ndarray:
    """Exact squared-hinge risks of many weight vectors on one problem."""
    with float64():
        padded = np.resize(weights, (max(256, 1 << (len(weights) - 1).bit_length()), problem.n))
        risks = _compiled_risks(problem.n, problem.k)(padded, target_of(problem))
        return np.asarray(risks)[: len(weights)]


@lru_cache(maxsize=16)
def _compiled_risks(n: int, k: int) -> Callable:
    risk = weight_risk(Zigzag(k), LOSSES["squared_hinge"], n, k)
    return jax.jit(jax.vmap(risk, in_axes=(0, None)))

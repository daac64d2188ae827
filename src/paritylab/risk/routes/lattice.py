"""Exact expectations when the weights take few distinct values: count the ones per value."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats

from paritylab.problem import Junta, Parity
from paritylab.problem.junta import bit_patterns
from paritylab.risk.routes.statistic import (
    EPS,
    Case,
    RouteRisk,
    at_rounded_sums,
    evaluate,
    evaluated,
    risk_through_outer,
    scale_of,
)
from paritylab.risk.routes.targets import (
    Labelled,
    target_of,
)

#: Largest number of count combinations that is summed.
MAX_STATES = 1 << 21
MAX_GROUPS = 20
#: Bits up to which all counts are kept, however rare.
_FEW = 4096


class States(NamedTuple):
    """Sums with their chances, plain (row 0) and times χ (row 1); for a junta a row per label.

    spread: how far the sums may be off because weights that are nearly equal count as equal.
    """

    sums: Float[np.ndarray, " size"]
    chances: Float[np.ndarray, "rows size"]
    spread: float


def applies(case: Case) -> bool:
    """For weights with few distinct values; values only, no slopes."""
    return not case.slopes and groups_of(case.weights, case.problem) is not None


def risk(case: Case) -> RouteRisk:
    """The value to rounding, of any statistic."""
    statistic, problem = case.statistic, case.problem
    groups = groups_of(case.weights, problem)
    assert groups is not None
    states = (
        junta_states_of(case, groups)
        if isinstance(problem, Junta)
        else states_of(case.weights, problem, groups)
    )
    pieces, shift = statistic.pieces, states.spread + 2 * problem.n * EPS * problem.k
    function = partial(evaluate, pieces) if pieces else partial(evaluated, statistic)
    parts, moved = at_rounded_sums(function, states.sums, shift, problem.k)
    scale = scale_of(pieces, problem.k) if pieces else float(np.abs(parts).max(axis=1).sum())
    mean = np.sum(states.chances * parts)
    # A jump or a steep flank at a sum makes the value depend on the rounding of that sum. Chances
    # of a parity times χ are no larger than its plain ones.
    shares = np.abs(states.chances) if isinstance(problem, Junta) else states.chances[:1]
    wobble = np.sum(shares * moved)
    # Binomial probabilities are good to about 1e-12 relative.
    error = 1e-11 * scale + float(wobble)
    return risk_through_outer(statistic.loss, float(mean), error, exact=True)


def groups_of(weights: np.ndarray, problem: Parity | Junta) -> list[np.ndarray] | None:
    """Positions grouped by equal weight and bias, or None if the counts have too many states.

    Hidden bits of a junta are in no group: their values are enumerated.
    """
    if isinstance(problem, Junta):
        others = np.flatnonzero(problem.indicator == 0)
        heads = len(np.unique(np.round(_junta_sums(weights, problem), 13)))
        p = problem.probabilities[others]
        found = _groups(weights[others], p, MAX_STATES // heads) if len(others) else []
        return None if found is None else [others[members] for members in found]
    return _groups(weights, problem.probabilities, MAX_STATES)


def _groups(weights: np.ndarray, probabilities: np.ndarray, most: int) -> list[np.ndarray] | None:
    n = len(weights)
    # A glance at a few positions spares most calls the sort over all of them.
    glance = weights[:: max(1, n // 64)]
    if len(np.unique(np.round(glance / max(glance.max(), 1e-300), 12))) > MAX_GROUPS:
        return None
    rounded = np.round(weights / max(weights.max(), 1e-300), 13)
    keys = np.stack([rounded, probabilities], axis=1)
    _, inverse, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    if len(counts) > MAX_GROUPS or math.prod(int(count) + 1 for count in counts) > most:
        return None
    return [np.flatnonzero(inverse.ravel() == index) for index in range(len(counts))]


def states_of(weights: np.ndarray, problem: Parity, groups: list[np.ndarray]) -> States:
    """Every sum that counts of ones per group can reach; label noise is in the chances."""
    sums, plain, signed, spread = np.zeros(1), np.ones(1), np.ones(1), 0.0
    inside = problem.indicator > 0
    for members in groups:
        weight, p = weights[members[0]], problem.probabilities[members[0]]
        spread += float(np.abs(weights[members] - weight).sum())
        chances, parities = _counts(len(members), int(inside[members].sum()), p)
        ones = np.arange(len(members) + 1)
        sums = np.add.outer(sums, weight * ones).ravel()
        plain = np.outer(plain, chances).ravel()
        signed = np.outer(signed, parities).ravel()
    return States(sums, np.stack([plain, target_of(problem).contrast * signed]), spread)


def junta_states_of(case: Case, groups: list[np.ndarray]) -> States:
    """The same for a junta: values of the hidden bits, one entry per distinct sum, times counts."""
    problem, weights, target = case.problem, case.weights, case.target
    assert isinstance(target, Labelled)
    head = _junta_sums(weights, problem)
    patterns, p = bit_patterns(problem.k) == 1, problem.probabilities[list(problem.subset)]
    chances = np.prod(np.where(patterns, p, 1 - p), axis=1) * np.asarray(target.shares)
    _, first, which = np.unique(np.round(head, 13), return_index=True, return_inverse=True)
    merged = np.stack([np.bincount(which.ravel(), row) for row in chances])
    sums, plain, spread = head[first], np.ones(1), float(1e-13 * (len(first) < len(head)))
    for members in groups:
        weight = weights[members[0]]
        spread += float(np.abs(weights[members] - weight).sum())
        others, _ = _counts(len(members), 0, problem.probabilities[members[0]])
        sums = np.add.outer(sums, weight * np.arange(len(members) + 1)).ravel()
        plain = np.outer(plain, others).ravel()
    return States(sums, np.stack([np.outer(row, plain).ravel() for row in merged]), spread)


def _junta_sums(weights: np.ndarray, problem: Parity | Junta) -> np.ndarray:
    """Σ_{j∈B} g_j u_j for every value u of the hidden bits."""
    return np.asarray(bit_patterns(problem.k) @ weights[list(problem.subset)])


def _counts(size: int, in_subset: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """P(r ones) and E[χ; r ones] for r = 0..size."""
    start, others = _likely(size - in_subset, p)
    inside, subset = _likely(in_subset, p)
    signs = np.where((inside + np.arange(len(subset))) % 2 == 0, 1.0, -1.0)
    found = np.zeros((2, size + 1))
    for row, each in zip(found, (subset, subset * signs), strict=True):
        row[start + inside :][: len(others) + len(subset) - 1] = np.convolve(others, each)
    return found[0], found[1]


def _likely(size: int, p: float) -> tuple[int, np.ndarray]:
    """Chances of r ones among `size` bits, from the first r on that is not beyond belief.

    What is left out is less than 1e-18 in all; without it a convolution of half a million counts
    with as many others would take hours.
    """
    chances = stats.binom.pmf(np.arange(size + 1), size, p)
    if size < _FEW:
        return 0, chances
    kept = np.flatnonzero(chances > 1e-25)
    return int(kept[0]), chances[kept[0] : kept[-1] + 1]

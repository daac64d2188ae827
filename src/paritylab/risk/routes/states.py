"""Plain sums over states, for any statistic: all 2^n inputs, or the counts of ones per weight.

Either way the mean is Σ chance·statistic(s) over the sums s that inputs can reach. Up to 2^20 (or,
when asked for, 2^26) inputs are taken one by one. Weights that take few distinct values form a
lattice: only the number of ones among equal weights matters, and it is binomial.
"""

import math
from functools import partial

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy import stats

from paritylab.problem import Junta, Parity
from paritylab.risk.routes.half_sums import halves, head_sums
from paritylab.risk.routes.pieces import evaluate
from paritylab.risk.routes.statistic import (
    EPS,
    Case,
    JuntaTarget,
    Labelled,
    RouteRisk,
    Statistic,
    Target,
    WeightRisk,
    at_rounded_sums,
    evaluated,
    labelled,
    risk_through_outer,
)

#: 2^_INNER sums are evaluated at a time.
_INNER = 15
#: Largest number of count combinations that is summed.
MAX_STATES = 1 << 21
MAX_GROUPS = 20
#: Bits up to which all counts are kept, however rare.
_FEW = 4096


def enumerated(case: Case) -> RouteRisk:
    """Value and slopes to rounding.

    Sums are rounded too. Where one lies on a jump, or a slope on a kink, the error counts what
    the other side would give.
    """
    n, statistic = case.problem.n, case.statistic
    both = halves(case.weights, case.target, _INNER)
    inner, outer = (tuple(map(np.asarray, half)) for half in (both.left, both.right))
    shift = 2 * n * EPS * statistic.k
    # Of the statistic and, if asked for, of its derivative: mean, what rounding moves, the largest.
    totals = np.zeros((1 + case.slopes, 3))
    inner_slopes, outer_slopes = np.zeros(len(inner[0])), np.zeros(len(outer[0]))
    for number, (start, chance) in enumerate(zip(outer[0], outer[1].T, strict=True)):
        sums, shares = inner[0] + start, inner[1] * chance[:, None]
        for row, total in enumerate(totals):
            function = partial(evaluated, statistic, slopes=row == 1)
            values, moved = at_rounded_sums(function, sums, shift, statistic.k)
            if row == 1:
                moved[:, sums == 0] = 0  # the empty sum is exact, and belongs to no weight
                slopes = np.sum(shares * values, axis=0)
                inner_slopes += slopes
                outer_slopes[number] = slopes.sum()
            total[0] += np.sum(shares * values)
            total[1] += np.sum(np.abs(shares) * moved)
            total[2] = max(total[2], np.abs(values).max())
    errors = 64 * n * EPS * (1 + totals[:, 2]) + totals[:, 1]
    return risk_through_outer(
        statistic.loss,
        float(totals[0, 0]),
        float(errors[0]),
        exact=True,
        slopes=both.gathered(inner_slopes, outer_slopes) if case.slopes else None,
        slopes_error=float(errors[1]) if case.slopes else None,
    )


def in_loop(statistic: Statistic, n: int) -> WeightRisk:
    """The risk for compiled loops; its error is that of rounding, away from jumps."""

    def function(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
        every = halves(weights, labelled(target, statistic.labels), n).left
        return statistic.loss.outer(
            jnp.sum(every.chances * statistic.parts(jnp.asarray(every.sums)))
        )

    size = np.abs(evaluated(statistic, np.linspace(0, statistic.k, 4096))).max()
    return WeightRisk(function, 64 * n * EPS * (1 + float(size)))


def lattice(case: Case) -> RouteRisk:
    """The value to rounding, of any statistic."""
    statistic, problem = case.statistic, case.problem
    sums, chances, spread = _states_of(case)
    pieces, shift = statistic.pieces, spread + 2 * problem.n * EPS * problem.k
    function = partial(evaluate, pieces) if pieces else partial(evaluated, statistic)
    parts, moved = at_rounded_sums(function, sums, shift, problem.k)
    scale = statistic.scale if pieces else float(np.abs(parts).max(axis=1).sum())
    mean = np.sum(chances * parts)
    # A jump or a steep flank at a sum makes the value depend on the rounding of that sum. Chances
    # of a parity times χ are no larger than its plain ones.
    shares = np.abs(chances) if isinstance(problem, Junta) else chances[:1]
    wobble = np.sum(shares * moved)
    # Binomial probabilities are good to about 1e-12 relative.
    error = 1e-11 * scale + float(wobble)
    return risk_through_outer(statistic.loss, float(mean), error, exact=True)


def groups_of(weights: np.ndarray, problem: Parity | Junta) -> list[np.ndarray] | None:
    """Positions grouped by equal weight and bias, or None if the counts have too many states.

    Hidden bits of a junta are in no group: their 2^k values are enumerated.
    """
    hidden = problem.k if isinstance(problem, Junta) else 0
    others = np.flatnonzero(problem.indicator == 0) if hidden else np.arange(problem.n)
    if not len(others):
        return []
    rounded = np.round(weights[others] / max(weights[others].max(), 1e-300), 13)
    keys = np.stack([rounded, problem.probabilities[others]], axis=1)
    _, inverse, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    states = math.prod(int(count) + 1 for count in counts)
    if len(counts) > MAX_GROUPS or states > MAX_STATES >> hidden:
        return None
    return [others[inverse.ravel() == index] for index in range(len(counts))]


def _states_of(case: Case) -> tuple[np.ndarray, np.ndarray, float]:
    """Every sum that counts of ones per group can reach, their chances with label noise (plain and
    times χ, or a row per label), and how far sums are off as nearly equal weights count as equal.

    A parity begins with the empty sum, a junta with the sums of its hidden bits, whose chances
    carry the labels. Every group then multiplies the states by its possible counts: r ones of m
    equal bits add r·weight, with a binomial chance, and for the second row of a parity with the
    mean of χ among the strings that have r ones.
    """
    problem, weights, target = case.problem, case.weights, case.target
    groups, spread = groups_of(weights, problem), 0.0
    assert groups is not None
    if isinstance(target, Labelled):
        sums, chances = map(np.asarray, head_sums(weights, target, target.subset))
    else:
        sums, chances = np.zeros(1), np.array([[1.0], [float(target.contrast)]])
    for members in groups:
        weight, size = weights[members[0]], len(members)
        spread += float(np.abs(weights[members] - weight).sum())
        inside = int(problem.indicator[members].sum())
        counts = _counts(size, inside, problem.probabilities[members[0]])
        sums = np.add.outer(sums, weight * np.arange(size + 1)).ravel()
        factors = counts[:1] if isinstance(problem, Junta) else counts
        chances = (chances[:, :, None] * factors[:, None, :]).reshape(len(chances), -1)
    return sums, chances, spread


def _counts(size: int, in_subset: int, p: float) -> Float[np.ndarray, "2 counts"]:
    """P(r ones) and E[χ; r ones] for r = 0..size: binomials of the bits in B and of the others."""
    start, others = _likely(size - in_subset, p)
    inside, subset = _likely(in_subset, p)
    signs = np.where((inside + np.arange(len(subset))) % 2 == 0, 1.0, -1.0)
    found = np.zeros((2, size + 1))
    for row, each in zip(found, (subset, subset * signs), strict=True):
        row[start + inside :][: len(others) + len(subset) - 1] = np.convolve(others, each)
    return found


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

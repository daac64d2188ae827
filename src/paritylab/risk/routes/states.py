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
from paritylab.risk.routes.half_sums import Half, halves, head_sums
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


def enumerated(case: Case) -> RouteRisk:
    """Value and slopes to rounding.

    Sums are rounded too. Where one lies on a jump, the error counts what the other side would give.
    """
    n, statistic = case.problem.n, case.statistic
    both = halves(case.weights, case.target, _INNER)
    inner, outer = (Half(*map(np.asarray, half)) for half in (both.left, both.right))
    shift = 2 * n * EPS * statistic.k
    mean = moved_mean = largest = 0.0
    inner_slopes, outer_slopes = np.zeros(len(inner.sums)), np.zeros(len(outer.sums))
    for number, (start, chance) in enumerate(zip(outer.sums, outer.chances.T, strict=True)):
        sums, shares = inner.sums + start, inner.chances * chance[:, None]
        function = partial(evaluated, statistic)
        values, moved = at_rounded_sums(function, sums, shift, statistic.k)
        mean += float(np.sum(shares * values))
        moved_mean += float(np.sum(np.abs(shares) * moved))
        largest = max(largest, float(np.abs(values).max()))
        if case.slopes:
            within = np.clip(sums, 0, statistic.k)
            slopes = np.sum(shares * evaluated(statistic, within, slopes=True), axis=0)
            inner_slopes += slopes
            outer_slopes[number] = slopes.sum()
    error = 64 * n * EPS * (1 + largest) + moved_mean
    slopes = both.gathered(inner_slopes, outer_slopes) if case.slopes else None
    return risk_through_outer(statistic.loss, mean, error, exact=True, slopes=slopes)


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
    # A jump or a steep flank at a sum makes the value depend on the rounding of that sum. Chances
    # of a parity times χ are no larger than its plain ones.
    shares = np.abs(chances) if isinstance(problem, Junta) else chances[:1]
    # Binomial probabilities are good to about 1e-12 relative.
    error = 1e-11 * scale + float(np.sum(shares * moved))
    return risk_through_outer(statistic.loss, float(np.sum(chances * parts)), error, exact=True)


def groups_of(weights: np.ndarray, problem: Parity | Junta) -> list[np.ndarray] | None:
    """Positions grouped by equal weight and bias, or None if the counts have too many states.

    Hidden bits of a junta are in no group: their 2^k values are enumerated.
    """
    hidden = problem.k if isinstance(problem, Junta) else 0
    others = np.flatnonzero(problem.indicator == 0) if hidden else np.arange(problem.n)
    shares = weights[others] / max(weights[others].max(initial=0.0), 1e-300)
    # Weight and bias in one number: numpy sorts complex numbers by both parts.
    keys = np.round(shares, 13) + 1j * problem.probabilities[others]
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    states = math.prod(int(count) + 1 for count in counts)
    if len(counts) > MAX_GROUPS or states > MAX_STATES >> hidden:
        return None
    return [others[inverse == index] for index in range(len(counts))]


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
    """P(r ones) and E[χ; r ones] for r = 0..size: binomials of the bits in B and of the others,
    whose sums are convolved by a Fourier transform, so that a million bits take a second."""
    subset = stats.binom.pmf(np.arange(in_subset + 1), in_subset, p)
    others = stats.binom.pmf(np.arange(size - in_subset + 1), size - in_subset, p)
    signed = np.where(np.arange(in_subset + 1) % 2 == 0, subset, -subset)
    length = 1 << size.bit_length()  # holds the size + 1 counts without wrapping around
    wave = np.fft.rfft(others, length) * np.fft.rfft([subset, signed], length)
    return np.fft.irfft(wave, length)[:, : size + 1]

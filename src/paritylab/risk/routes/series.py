"""The expectation of declared pieces as a series of characteristic functions: any n.

s = u + x, where u is the sum of a few dominant weights, which are enumerated, and x that of all
others. For each u the function f(u+·) is expanded in cosines on an interval [start, start+R] around
the mean of x that holds all but 1e-15 of it:

    E f(s) = Σ_u P(u) Σ_{m<M} a_m(u) E cos(ω_m (x - start)),    ω_m = πm/R.

The mean of a cosine is the real part of a product over positions, so M terms cost O(n·M) at most.
Pieces have kinks and no jumps, so |a_m| falls like 1/ω², with a factor that is known; and the
product falls like a Gaussian as long as no few weights dominate x. `Tail` adds up both beyond M: an
estimate, because far out the product is followed at a few hundred frequencies only. Enumerating H
weights costs 2^H sums u; the others are lighter then, so the interval is shorter and fewer terms
are needed. What is cheapest depends on the weights: a single risk chooses its plan outside compiled
code (`kinked_plan`). A training loop, whose weights move, enumerates 6 weights and keeps 128 terms.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from paritylab._support.precision import AnyArray
from paritylab.problem import Junta, Parity
from paritylab.risk.routes.characteristic import (
    SMALL_HALF_ANGLE,
    Layout,
    characteristic,
    dense_characteristic,
    powers,
)
from paritylab.risk.routes.half_sums import head_sums
from paritylab.risk.routes.pieces import Pieces
from paritylab.risk.routes.statistic import (
    EPS,
    Case,
    JuntaTarget,
    Labelled,
    RouteRisk,
    Statistic,
    Target,
    WeightRisk,
    labelled,
    risk_through_outer,
)

#: Numbers of enumerated weights and of terms that a plan may choose; powers of two, so that a
#: second problem of the same size compiles nothing.
HEAVY = (0, 2, 4, 6, 8, 10)
TERMS = tuple(1 << e for e in range(6, 14))
#: Enumerated weights and terms inside loops.
LOOP_HEAVY, LOOP_TERMS = 6, 128
#: How many light weights vouch for the decay of the characteristic function.
_WITNESSES = 256


class Plan(NamedTuple):
    """How a series is summed; chosen outside compiled code.

    heavy: positions to enumerate, first those of B for a junta. layout: which of the
    others get a factor of their own. frequencies: M of them. reach: R, the length of the interval
    of expansion. start: where it begins.
    """

    heavy: Int[AnyArray, " H"]
    layout: Layout
    frequencies: Float[AnyArray, " M"]
    reach: Float[AnyArray, ""]
    start: Float[AnyArray, ""]


def risk(case: Case) -> RouteRisk:
    """Value and slopes with the series' estimated error; exact where that is mere rounding."""
    problem, pieces = case.problem, case.statistic.pieces
    assert pieces is not None
    plan, tail = kinked_plan(case.weights, problem, pieces, case.tolerance)
    arguments = (case.weights, case.target, pieces, plan)
    mean, kink, slopes = kinked_sum(*arguments, fair=problem.is_uniform, slopes=case.slopes)
    terms = len(plan.frequencies)
    rounding = 16 * (terms + problem.n**0.5) * EPS * case.statistic.scale
    truncation = float(tail.beyond(terms, float(kink)))
    return risk_through_outer(
        case.statistic.loss,
        float(mean),
        truncation + rounding,
        exact=bool(truncation <= rounding),
        slopes=slopes,
    )


def in_loop(statistic: Statistic, n: int) -> WeightRisk:
    """The risk for compiled loops, from a fixed number of terms."""
    pieces, outer = statistic.pieces, statistic.loss.outer
    assert pieces is not None

    def function(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
        return outer(moving_mean(weights, labelled(target, statistic.labels), pieces))

    return WeightRisk(function, None)


@partial(jax.jit, static_argnames=("fair", "slopes"))
def kinked_sum(
    weights: Array,
    target: Target | Labelled,
    pieces: Pieces,
    plan: Plan,
    *,
    fair: bool,
    slopes: bool,
) -> tuple[Array, Array, Array | None]:
    """What `half_sum_mean` gives, the total kink, and the mean's gradient if slopes are asked for.

    The total kink K bounds the coefficients left out: |a_m| ≤ 2K/(R ω_m²).
    """
    frequencies, p = jnp.asarray(plan.frequencies), jnp.asarray(target.probabilities)
    waves = partial(
        characteristic, probabilities=p, frequencies=frequencies, layout=plan.layout, fair=fair
    )
    interval = (plan.start, plan.reach)

    def mean(some: Array) -> tuple[Array, Array]:
        return _expanded(some, target, pieces, plan.heavy, interval, frequencies, waves)

    if not slopes:
        return *mean(weights), None
    (found, kink), gradient = jax.value_and_grad(mean, has_aux=True)(weights)
    return found, kink, gradient


def moving_mean(
    weights: Float[Array, " n"], target: Target | Labelled, pieces: Pieces
) -> Float[Array, ""]:
    """What `half_sum_mean` gives, at any n, with its plan made inside compiled code.

    Compared with the exact routes it is off by 1e-14 … 1e-3, by up to 0.2 where equal weights pile
    their sums up on a kink, and its gradient by a few percent.
    """
    heavy, rest = _split(jax.lax.stop_gradient(weights), target)
    p, light = jnp.asarray(target.probabilities), jax.lax.stop_gradient(weights).at[heavy].set(0.0)
    # Hoeffding's interval around the mean of the light sum.
    half_width = jnp.minimum(jnp.sum(light), 4.2 * jnp.sqrt(jnp.sum(light**2))) + 1e-9
    base = jnp.pi / (2 * half_width)
    interval = (light @ p - half_width, 2 * half_width)
    waves = partial(
        dense_characteristic, indicator=rest, probabilities=p, base=base, terms=LOOP_TERMS
    )
    frequencies = base * jnp.arange(LOOP_TERMS)
    return _expanded(weights, target, pieces, heavy, interval, frequencies, waves)[0]


def _expanded(
    weights: Float[Array, " n"],
    target: Target | Labelled,
    pieces: Pieces,
    heavy: Int[AnyArray, " H"],
    interval: tuple[AnyArray, AnyArray],
    frequencies: Float[Array, " M"],
    waves: Callable[[Array], tuple[Array, Array]],
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Σ_m a_m E[cos ω_m(x - start)], a_m summed over the sums of the heavy weights; total kink.

    interval: start and length. waves: from the light weights to E[e^{iωx}] and E[e^{iωx} χ_B].
    """
    (start, reach), head = interval, head_sums(weights, target, heavy)
    coefficients, kink = cosine_coefficients(
        jnp.asarray(head.sums) + start, jnp.asarray(head.chances), pieces, frequencies, reach
    )
    plain, signed = waves(weights.at[heavy].set(0.0))
    if isinstance(target, Labelled):  # B is enumerated, so that all rows share one wave
        terms = jnp.sum(coefficients, axis=0) * plain
    else:
        terms = coefficients[0] * plain + coefficients[1] * signed
    return jnp.sum((terms * jnp.exp(-1j * frequencies * start)).real), kink


def cosine_coefficients(
    shifts: Float[Array, " U"],
    chances: Float[Array, "rows U"],
    pieces: Pieces,
    frequencies: Float[Array, " M"],
    reach: Float[AnyArray, ""] | float,
) -> tuple[Float[Array, "rows M"], Float[Array, ""]]:
    """Σ_u chance_u·a_m(u) for every row of the pieces: cosine series of f(u+x) on [0, R].

    a_m = (2/(Rω²)) {(-1)^m f'(u+R) - f'(u) - Σ_p [slope_p cos ωx_p - curve_p sin(ωx_p)/ω]}, the sum
    over the knots x_p = t_p - u inside (0, R); a_0 is the mean of f(u+·) over [0, R].
    """
    terms = frequencies.shape[0]
    omega = jnp.where(frequencies > 0, frequencies, 1.0)
    scale = 2 / (reach * omega**2)
    alternating = jnp.where(jnp.arange(terms) % 2 == 0, 1.0, -1.0)

    def of_knot(knot: tuple[Array, Array, Array]) -> tuple[Array, ...]:
        t, slope, curve = knot
        x = (t - shifts)[None, :]
        inside = (x > 0) & (x < reach)
        near_end = slope[:, None] * (x < reach) + curve[:, None] * jnp.maximum(reach - x, 0)
        near_start = slope[:, None] * (x <= 0) + curve[:, None] * jnp.maximum(-x, 0)
        means = _mean_over_interval(x, slope[:, None], curve[:, None], reach)
        turns = powers(jnp.exp(1j * jnp.pi / reach * jnp.where(inside, x, 0.0))[0], terms)
        cos, sin = (chances * inside) @ turns.real.T, (chances * inside) @ turns.imag.T
        waves = slope[:, None] * cos - curve[:, None] * sin / omega[None, :]
        kink = jnp.sum(jnp.abs(chances) * inside * jnp.abs(slope)[:, None])
        return means, near_end, near_start, waves, kink

    table = (jnp.asarray(pieces.knots), jnp.asarray(pieces.slope).T, jnp.asarray(pieces.curve).T)
    # All knots at once while that fits a cache, one by one beyond.
    at_once = shifts.size * terms * len(pieces.knots) <= 2**18
    found = jax.vmap(of_knot)(table) if at_once else jax.lax.map(of_knot, table)
    means, ends, starts, waves, kink = (jnp.sum(each, axis=0) for each in found)
    means = means + jnp.asarray(pieces.start)[:, None]
    ends, starts = jnp.sum(chances * ends, axis=1), jnp.sum(chances * starts, axis=1)
    edges = ends[:, None] * alternating[None, :] - starts[:, None]
    constant = jnp.sum(chances * means, axis=1)
    coefficients = jnp.asarray(scale[None, :] * (edges - waves)).at[:, 0].set(constant)
    return coefficients, kink + jnp.sum(jnp.abs(ends)) + jnp.sum(jnp.abs(starts))


def _mean_over_interval(
    x: Array, slope: Array, curve: Array, reach: Float[AnyArray, ""] | float
) -> Array:
    """Mean over [0, R] of slope·(·-x)₊ + curve·(·-x)₊²/2, without cancellation."""
    before, inside = x <= 0, (x > 0) & (x < reach)
    beyond = reach - x
    line = jnp.where(before, reach / 2 - x, jnp.where(inside, beyond**2 / (2 * reach), 0.0))
    square = jnp.where(
        before, reach**2 / 3 - reach * x + x**2, jnp.where(inside, beyond**3 / (3 * reach), 0.0)
    )
    return jnp.asarray(slope * line + curve / 2 * square)


def _split(weights: Float[Array, " n"], target: Target | Labelled) -> tuple[Array, Array]:
    """Positions to enumerate, and what is left of the indicator of B outside them."""
    n = weights.shape[0]
    if isinstance(target, Labelled):
        k = target.subset.shape[0]
        others = jax.lax.top_k(
            weights.at[target.subset].set(-1.0), min(max(LOOP_HEAVY - k, 2), n - k)
        )
        return jnp.concatenate([target.subset, others[1]]), jnp.zeros_like(weights)
    heavy = jax.lax.top_k(weights, min(LOOP_HEAVY, n))[1]
    return heavy, jnp.asarray(target.indicator).at[heavy].set(0.0)


class Tail:
    """What is left out when dominant weights are enumerated and M terms are kept.

    |E[e^{iωs}]| and its χ-weighted sibling are at most the product of |factor| over any set of
    positions outside B, and |factor|² = 1 - 4p(1-p) sin²(ωg/2). A few witnesses among the light
    weights are followed to twice the frequency at which the largest could come back into step
    (ωg = 2π, where its factor is 1 again); beyond, the mean of what was seen stands for the rest.

    light: the weights that are not enumerated. start, reach: the interval of expansion.
    """

    def __init__(self, weights: np.ndarray, problem: Parity | Junta, heavy: np.ndarray):
        self.heavy, self.light = heavy, weights.copy()
        self.light[heavy] = 0.0
        p, light = problem.probabilities, self.light
        # Hoeffding: the light sum is within 4.2·√Σg² of its mean but for 1e-15 of the inputs.
        half_width = min(max(light.sum(), 1e-12), 4.2 * math.sqrt(light @ light) + 1e-12)
        self.start, self.reach = float(light @ p - half_width), float(2 * half_width)
        subset = np.asarray(problem.subset, dtype=int)
        chosen = _witnesses(light, subset)
        spread, g = 4 * p[chosen] * (1 - p[chosen]), light[chosen]
        first = math.pi * TERMS[0] / self.reach
        last = 4 * math.pi * TERMS[-1] / self.reach
        top = g.max(initial=4 * math.pi / last)
        last = max(last, 4 * math.pi / top)
        self._omega = np.union1d(np.geomspace(first, last, 100), np.linspace(first, last, 100))
        moduli = 1 - spread * np.sin(np.multiply.outer(self._omega, g) / 2) ** 2
        log_size = np.log(np.maximum(moduli, 1e-300)).sum(axis=1) / 2
        # All other weights help too, as long as the largest angle stays below a right angle.
        variances = light**2 * (p * (1 - p))
        others = variances.sum() - variances[subset].sum() - variances[chosen].sum()
        in_step = self._omega * top < math.pi
        log_size -= np.where(in_step, 0.4 * self._omega**2 * max(others, 0.0), 0.0)
        self._size = np.exp(log_size)

    def beyond(self, terms: int, kink: float) -> float:
        """Estimate of Σ_{m ≥ M} |a_m φ_m| for |a_m| ≤ 2·kink/(R ω_m²).

        The sum over m is the integral over ω times R/π; 1.5 is a margin.
        """
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
    # The hidden bits of a junta are always enumerated, and then the largest of the others.
    always = np.array(problem.subset if isinstance(problem, Junta) else (), dtype=int)
    others = weights.copy()
    others[always] = -1.0
    order = np.append(always, _largest(others, min(HEAVY[-1], problem.n - len(always))))
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
    subset = np.setdiff1d(problem.subset, tail.heavy)
    layout = layout_of(tail.light, subset, frequencies[-1])
    heavy, reach, start = map(np.asarray, (tail.heavy.astype(np.int32), tail.reach, tail.start))
    return Plan(heavy, layout, frequencies, reach, start), tail


def _largest(weights: np.ndarray, count: int) -> np.ndarray:
    """Positions of the largest weights, largest first, without sorting all of them."""
    count = min(count, len(weights))
    pool = np.argpartition(-weights, count - 1)[:count] if count else np.zeros(0, int)
    return pool[np.argsort(-weights[pool], kind="stable")]


def _witnesses(light: np.ndarray, subset: np.ndarray) -> np.ndarray:
    """Light positions outside B: some of the largest, the others spread over comparable weights.

    The largest alone would be nearly equal on a smooth bump and seem to come back into step.
    """
    top = _largest(light, _WITNESSES // 2 + len(subset))
    top = np.setdiff1d(top, subset, assume_unique=True)[: _WITNESSES // 2]
    comparable = np.flatnonzero(light > 0.02 * light[top].max(initial=0.0))
    spread = comparable[:: max(1, len(comparable) // (_WITNESSES // 2))]
    chosen = np.setdiff1d(np.union1d(top, spread), subset)
    return np.asarray(chosen[light[chosen] > 0])


def layout_of(
    weights: np.ndarray, subset: Sequence[int] | np.ndarray, top_frequency: float
) -> Layout:
    """The layout for frequencies up to `top_frequency`.

    The number of large weights is padded to a power of two, so that few sizes are compiled.
    """
    limit = 2 * SMALL_HALF_ANGLE / top_frequency
    is_large = weights > limit
    is_large[list(subset)] = False
    large = np.flatnonzero(is_large)
    size = 1 << max(len(large) - 1, 0).bit_length() if len(large) else 0
    padded = np.full(size, len(weights), dtype=np.int32)
    padded[: len(large)] = large
    return Layout(np.asarray(subset, dtype=np.int32), padded)

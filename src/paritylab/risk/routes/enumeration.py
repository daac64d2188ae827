"""The expectation as a plain sum over all 2^n attended sums: any statistic, small n."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from paritylab.precision import AnyArray
from paritylab.risk.routes.case import (
    EPS,
    Case,
    LoopRisk,
    RouteRisk,
    Statistic,
    risk_through_outer,
)
from paritylab.risk.routes.narrow import worst_change
from paritylab.risk.routes.sums import halves
from paritylab.risk.routes.targets import JuntaTarget, Labelled, Target, labelled

#: 2^_INNER sums are evaluated at a time.
_INNER = 14


class _Totals(NamedTuple):
    mean: Array
    wobble: Array
    largest: Array
    slopes: Array
    slopes_wobble: Array
    steepest: Array


def applies(statistic: Statistic, case: Case | None = None) -> bool:
    """For every statistic."""
    return True


def risk(case: Case) -> RouteRisk:
    """Value and slopes to rounding."""
    n, statistic = case.problem.n, case.statistic
    totals = _sum_over_strings(statistic, case.weights, case.target, case.slopes)
    error = 64 * n * EPS * (1 + float(totals.largest)) + float(totals.wobble)
    slopes_error = 64 * n * EPS * (1 + float(totals.steepest)) + float(totals.slopes_wobble)
    return risk_through_outer(
        statistic.loss,
        float(totals.mean),
        error,
        exact=True,
        slopes=totals.slopes if case.slopes else None,
        slopes_error=slopes_error if case.slopes else None,
    )


def in_loop(statistic: Statistic, n: int) -> LoopRisk:
    """The risk for compiled loops; its error is that of a sum on the worst jump there is."""

    def function(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
        every = halves(weights, labelled(target, statistic.labels), n).left
        return statistic.loss.outer(jnp.sum(every.chances * statistic.parts(every.sums)))

    worst = worst_change(statistic, n)
    return LoopRisk(function, 64 * n * EPS * (1 + worst.size) + worst.change)


@eqx.filter_jit
def _sum_over_strings(
    statistic: Statistic,
    weights: Float[AnyArray, " n"],
    target: Target | Labelled,
    with_slopes: bool,
) -> _Totals:
    """Mean, its dependence on the rounding of sums, largest term, and the same of the slopes."""
    n, k = weights.shape[0], statistic.k
    both = halves(jnp.asarray(weights), target, _INNER)
    inner, outer = both.left, both.right
    shift = 2 * n * EPS * k

    def with_steepness(s: Array) -> tuple[Array, Array]:
        if not with_slopes:
            return statistic.parts(s), jnp.zeros_like(s)[None]
        return jax.jvp(statistic.parts, (s,), (jnp.ones_like(s),))

    def visit(totals: _Totals, entry: tuple[Array, Array]) -> tuple[_Totals, Array]:
        start, chance = entry
        s = jnp.clip(inner.sums + start, 0, k)
        shares = inner.chances * chance[:, None]
        parts, steep = with_steepness(s)
        beside = [with_steepness(jnp.clip(s + side * shift, 0, k)) for side in (-1, 1)]
        moved = jnp.maximum(*(jnp.abs(near - parts) for near, _ in beside))
        # The empty sum is exact, and belongs to no weight.
        turned = jnp.where(s > 0, jnp.maximum(*(jnp.abs(near - steep) for _, near in beside)), 0)
        slopes = jnp.sum(shares * steep, axis=0)
        new = _Totals(
            totals.mean + jnp.sum(shares * parts),
            totals.wobble + jnp.sum(jnp.abs(shares) * moved),
            jnp.maximum(totals.largest, jnp.max(jnp.abs(parts))),
            totals.slopes + slopes,
            totals.slopes_wobble + jnp.sum(jnp.abs(shares) * turned),
            jnp.maximum(totals.steepest, jnp.max(jnp.abs(steep))),
        )
        return new, jnp.sum(slopes)

    zero = jnp.zeros(())
    start = _Totals(zero, zero, zero, jnp.zeros_like(inner.sums), zero, zero)
    totals, outer_slopes = jax.lax.scan(visit, start, (outer.sums, outer.chances.T))
    return totals._replace(slopes=both.gathered(totals.slopes, outer_slopes))

"""The expectation as a plain sum over all 2^n attended sums: any statistic, small n."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.risk.routes.case import (
    EPS,
    Case,
    Found,
    Looped,
    Statistic,
    Target,
    found_through_outer,
    target_of,
)
from paritylab.risk.routes.half_sums import gather, partial_sums

#: 2^_INNER sums are evaluated at a time.
_INNER = 14


class _Totals(NamedTuple):
    mean: Any
    wobble: Any
    largest: Any
    slopes: Any


def applies(statistic: Statistic, case: Case | None = None) -> bool:
    """For every statistic."""
    return True


def risk(case: Case) -> Found:
    """Value and slopes to rounding."""
    n, statistic = case.problem.n, case.statistic
    target = target_of(case.problem)
    totals = _sum_over_strings(statistic, case.weights, target, case.slopes)
    error = 64 * n * EPS * (1 + float(totals.largest)) + float(totals.wobble)
    slopes = totals.slopes if case.slopes else None
    return found_through_outer(statistic.loss, float(totals.mean), error, exact=True, slopes=slopes)


def looped(statistic: Statistic, n: int) -> Looped:
    """The risk for compiled loops; as exact as `risk`."""

    def function(weights: Float[Array, " n"], target: Target) -> Float[Array, ""]:
        every = partial_sums(weights, target.arrays().indicator, target.arrays().probabilities)
        even, odd = jnp.sum(every.chances * statistic.parts(every.sums), axis=1)
        return statistic.loss.outer(even + target.contrast * odd)

    largest = float(np.abs(statistic.parts(jnp.linspace(0.0, statistic.k, 257))).max())
    return Looped(function, 64 * n * EPS * (1 + largest))


@eqx.filter_jit
def _sum_over_strings(
    statistic: Statistic, weights: Any, target: Target, with_slopes: bool
) -> _Totals:
    """Mean, its dependence on the rounding of sums, largest term, slopes."""
    n, k = weights.shape[0], statistic.k
    indicator, probabilities, contrast = target.arrays()
    inner, outer = (
        partial_sums(jnp.asarray(weights)[part], indicator[part], probabilities[part])
        for part in (slice(None, _INNER), slice(_INNER, None))
    )
    factors = jnp.stack([jnp.ones_like(contrast), contrast])[:, None]
    shift = 2 * n * EPS * k

    def visit(totals: _Totals, entry: Any) -> tuple[_Totals, Any]:
        start, chance = entry
        s = jnp.clip(inner.sums + start, 0, k)
        shares = inner.chances * chance[:, None] * factors
        if with_slopes:
            parts, steep = jax.jvp(statistic.parts, (s,), (jnp.ones_like(s),))
            slopes = jnp.sum(shares * steep, axis=0)
        else:
            parts, slopes = statistic.parts(s), jnp.zeros_like(s)
        beside = [statistic.parts(jnp.clip(s + side * shift, 0, k)) for side in (-1, 1)]
        moved = jnp.maximum(*(jnp.abs(near - parts) for near in beside))
        new = _Totals(
            totals.mean + jnp.sum(shares * parts),
            totals.wobble + jnp.sum(jnp.abs(shares) * moved),
            jnp.maximum(totals.largest, jnp.max(jnp.abs(parts))),
            totals.slopes + slopes,
        )
        return new, jnp.sum(slopes)

    zero = jnp.zeros(())
    start = _Totals(zero, zero, zero, jnp.zeros_like(inner.sums))
    totals, outer_slopes = jax.lax.scan(visit, start, (outer.sums, outer.chances.T))
    slopes = jnp.concatenate([gather(totals.slopes), gather(outer_slopes)])
    return totals._replace(slopes=slopes)

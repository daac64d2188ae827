"""Exact expectations for piecewise quadratic losses up to about 36 bits: meet in the middle.

The positions are split in two halves with 2^(n/2) partial sums u and v each. For a knot t the
terms (u+v-t)₊ and (u+v-t)₊² need, for every u, the mass and the first two moments of the v above
t-u: a binary search in the sorted v and a look-up in their running moments.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from paritylab.precision import AnyArray
from paritylab.risk.routes.case import (
    EPS,
    Case,
    Found,
    Looped,
    Statistic,
    found_through_outer,
    through_outer,
)
from paritylab.risk.routes.pieces import Pieces, scale_of
from paritylab.risk.routes.sums import Half, halves
from paritylab.risk.routes.targets import Labelled, Labels, Target, labelled


def applies(statistic: Statistic, case: Case | None = None) -> bool:
    """For declared pieces."""
    return statistic.pieces is not None


def risk(case: Case) -> Found:
    """Value and slopes to rounding."""
    arguments = (case.weights, case.target, case.statistic.pieces)
    if case.slopes:
        mean, slopes = half_sum_value_and_gradient(*arguments)
    else:
        mean, slopes = half_sum_value(*arguments), None
    error = _rounding(case.statistic, case.problem.n)
    return found_through_outer(case.statistic.loss, float(mean), error, exact=True, slopes=slopes)


def many(
    statistic: Statistic, weights: Float[AnyArray, "runs n"], targets: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Values and errors (runs,) of weights (runs, n) on stacked targets."""
    means = np.asarray(_half_sum_values(weights, targets, statistic.pieces, statistic.labels))
    error = _rounding(statistic, weights.shape[1])
    carried = through_outer(statistic.loss, means, np.full(len(means), error))
    return carried.value, carried.error


def looped(statistic: Statistic, n: int) -> Looped:
    """The risk for compiled loops; as exact as `risk`."""
    pieces, outer = statistic.pieces, statistic.loss.outer
    assert pieces is not None

    def function(weights: Float[Array, " n"], target: Any) -> Float[Array, ""]:
        return outer(half_sum_mean(weights, labelled(target, statistic.labels), pieces))

    return Looped(function, _rounding(statistic, n))


def _rounding(statistic: Statistic, n: int) -> float:
    """Rounding of the moments, and of sums that the sort leaves out of order in their last bits."""
    assert statistic.pieces is not None
    unsorted = 2.0 ** (n // 2 + 2)
    return (64 * n + unsorted) * EPS * scale_of(statistic.pieces, statistic.k)


@jax.custom_vjp
def half_sum_mean(
    weights: Float[Array, " n"], target: Target | Labelled, pieces: Pieces
) -> Float[Array, ""]:
    """E[even(s)] + contrast·E[odd(s) χ_B(x)] for s = Σ_j g_j x_j, over all 2^n inputs; for a junta
    Σ_r E[share_r(u)·statistic_r(s)], u the bits of B.

    weights: g ≥ 0. Needs float64: the sort packs positions into the last bits of the sums.
    """
    return _mean_and_gradient(weights, target, pieces)[0]


def _forward(weights: Any, target: Any, pieces: Pieces) -> tuple[Array, Array]:
    return _mean_and_gradient(weights, target, pieces)


def _backward(gradient: Array, cotangent: Array) -> tuple[Any, ...]:
    return cotangent * gradient, None, None


half_sum_mean.defvjp(_forward, _backward)


def _mean_and_gradient(weights: Any, target: Any, pieces: Pieces) -> tuple[Array, Array]:
    parts = halves(weights, target, max(weights.shape[0] // 2 - 1, 0))
    order = _ascending(parts.right.sums)
    right = Half(parts.right.sums[order], parts.right.chances[:, order])
    mean, slopes_left, slopes_right = _sum_over_knots(parts.left, right, pieces)
    slopes_right = jnp.zeros_like(slopes_right).at[order].set(slopes_right)
    return mean, parts.gathered(slopes_left, slopes_right)


def _ascending(sums: Float[Array, " size"]) -> Int[Array, " size"]:
    """Order of nonnegative sums, exact up to their last log2(size) bits.

    Nonnegative doubles compare like their bit patterns, and XLA sorts plain integers an order of
    magnitude faster than floats with a payload; so the index rides in the lowest bits.
    """
    size = sums.shape[0]
    pattern = jax.lax.bitcast_convert_type(sums, jnp.int64)
    keys = (pattern & ~jnp.int64(size - 1)) | jnp.arange(size, dtype=jnp.int64)
    return jax.lax.sort(keys, is_stable=False) & (size - 1)


def _first_above(sums: Float[Array, " size"], x: Float[Array, "..."]) -> Int[Array, "..."]:
    """Index of the first of 2^m ascending sums above x, by m+1 halvings without branches."""
    index = jnp.zeros(x.shape, jnp.int32)
    step = sums.shape[0] // 2
    while step:
        index = jnp.where(sums[index + step - 1] <= x, index + step, index)
        step //= 2
    return jnp.where(sums[index] <= x, index + 1, index)


def _sum_over_knots(left: Half, right: Half, pieces: Pieces) -> tuple[Array, Array, Array]:
    """The mean and its derivative with respect to every partial sum; `right` is ascending."""
    moments = _moments_above(right)
    knots, (rows, size) = jnp.asarray(pieces.knots), right.chances.shape
    # All knots at once while that fits a cache, one by one beyond.
    one_by_one = left.sums.shape[0] > 2**14

    def add(totals: Any, some: Any) -> tuple[Any, None]:
        knot, slope, curve = some
        x = knot[:, None] - left.sums[None, :]
        index = _first_above(right.sums, x)
        mass, first, second = jnp.moveaxis(moments[index], (-2, -1), (0, 1))
        x = x[None]
        linear = first - x * mass
        square = second - 2 * x * first + x**2 * mass
        jump, bend = slope.T[:, :, None], curve.T[:, :, None]
        value, change, marks = totals
        value = value + jnp.sum(jump * linear + bend / 2 * square, axis=1)
        change = change + jnp.sum(jump * mass + bend * linear, axis=1)
        terms = [left.chances[:, None, :] * (jump - bend * x), left.chances[:, None, :] * bend]
        if rows == 1:
            terms = [jnp.sum(term, axis=0, keepdims=True) for term in terms]
        update = jnp.moveaxis(jnp.stack(terms), (0, 1), (-2, -1))
        return (value, change, marks.at[index].add(update)), None

    start = jnp.asarray(pieces.start)[:, None] * moments[0, 0][:, None]
    start = jnp.broadcast_to(start, left.chances.shape)
    marks = jnp.zeros((size + 1, 2, rows), left.sums.dtype)
    table = (knots, jnp.asarray(pieces.slope).T, jnp.asarray(pieces.curve).T)
    totals = (start, jnp.zeros_like(start), marks)
    if one_by_one:
        totals, _ = jax.lax.scan(add, totals, jax.tree.map(lambda a: a[:, None], table))
    else:
        totals, _ = add(totals, table)
    value, change, marks = totals
    level, tilt = jnp.moveaxis(jax.lax.associative_scan(jnp.add, marks, axis=0)[:-1], 0, -1)
    slopes_right = jnp.sum(right.chances * (level + tilt * right.sums[None, :]), axis=0)
    return jnp.sum(left.chances * value), jnp.sum(left.chances * change, axis=0), slopes_right


def _moments_above(half: Half) -> Float[Array, "above 3 rows"]:
    """Mass, first and second moment of the entries from each index on, per row of chances."""
    powers = jnp.stack([jnp.ones_like(half.sums), half.sums, half.sums**2], axis=1)
    terms = powers[:, :, None] * half.chances.T[:, None, :]
    totals = jax.lax.associative_scan(jnp.add, terms, reverse=True, axis=0)
    return jnp.concatenate([totals, jnp.zeros_like(totals[:1])])


@partial(jax.jit, static_argnums=3)
def _half_sum_values(weights: Any, targets: Any, pieces: Pieces, labels: Labels) -> Array:
    one = lambda row, target: half_sum_mean(row, labelled(target, labels), pieces)  # noqa: E731
    return jax.vmap(one)(weights, targets)


half_sum_value = jax.jit(half_sum_mean)
half_sum_value_and_gradient = jax.jit(jax.value_and_grad(half_sum_mean))

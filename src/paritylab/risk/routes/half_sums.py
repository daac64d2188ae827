"""Exact expectations for piecewise quadratic losses up to about 36 bits: meet in the middle.

The positions are split in two halves with 2^(n/2) partial sums u and v each. For a knot t the
terms (u+v-t)₊ and (u+v-t)₊² need, for every u, the mass and the first two moments of the v above
t-u: a binary search in the sorted v and a look-up in their running moments. Here for compiled loops
and many runs; `half_sums_numpy` does the
same for a single case.
"""

from functools import partial
from operator import itemgetter

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from paritylab.precision import AnyArray
from paritylab.risk.routes.case import (
    EPS,
    Case,
    LoopRisk,
    RouteRisk,
    Statistic,
    risk_through_outer,
    through_outer,
)
from paritylab.risk.routes.half_sums_numpy import mean_and_slopes
from paritylab.risk.routes.pieces import Pieces, scale_of
from paritylab.risk.routes.sums import Half, halves
from paritylab.risk.routes.targets import JuntaTarget, Labelled, Labels, Target, labelled

#: Terms of one stage of a running sum, and lines beyond which XLA's own sum of them is faster, if
#: slower to compile.
_STAGE, _MANY_LINES = 16, 256
#: Values, their changes, and marks on the right sums: what a sum over knots gathers.
_Totals = tuple[Array, Array, Array]
#: Knots (P,), with their slopes and, where there are any, curves (P, rows).
_Knots = tuple[Array, Array, Array | None]
#: So many partial sums are soon done one run after the other, sooner than code is compiled.
_SOON = 2**19


def applies(statistic: Statistic, case: Case | None = None) -> bool:
    """For declared pieces."""
    return statistic.pieces is not None


def risk(case: Case) -> RouteRisk:
    """Value and slopes to rounding."""
    pieces = _lean(case.statistic.pieces)
    mean, slopes = mean_and_slopes(case.weights, case.target, pieces, slopes=case.slopes)
    error = _rounding(case.statistic, case.problem.n)
    return risk_through_outer(case.statistic.loss, mean, error, exact=True, slopes=slopes)


def many(
    statistic: Statistic, weights: Float[AnyArray, "runs n"], targets: Target | JuntaTarget
) -> tuple[np.ndarray, np.ndarray]:
    """Values and errors (runs,) of weights (runs, n) on stacked targets."""
    pieces, (runs, n) = _lean(statistic.pieces), weights.shape
    if runs * (2 ** (n // 2 + 1) + 1024) <= _SOON:
        pairs = [(weights[run], jax.tree.map(itemgetter(run), targets)) for run in range(runs)]
        means = np.array([_once(*pair, pieces, statistic.labels) for pair in pairs])
    else:
        means = np.asarray(_half_sum_values(weights, targets, pieces, statistic.labels))
    error = _rounding(statistic, weights.shape[1])
    carried = through_outer(statistic.loss, means, np.full(len(means), error))
    return carried.value, carried.error


def _once(
    weights: Float[AnyArray, " n"], target: Target | JuntaTarget, pieces: Pieces, labels: Labels
) -> float:
    return mean_and_slopes(weights, labelled(target, labels), pieces, slopes=False)[0]


def in_loop(statistic: Statistic, n: int) -> LoopRisk:
    """The risk for compiled loops; as exact as `risk`."""
    pieces, outer = _lean(statistic.pieces), statistic.loss.outer

    def function(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
        return outer(half_sum_mean(weights, labelled(target, statistic.labels), pieces))

    return LoopRisk(function, _rounding(statistic, n))


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


def _backward(gradient: Array, cotangent: Array) -> tuple[Array, None, None]:
    return cotangent * gradient, None, None


def _mean_and_gradient(
    weights: Float[Array, " n"], target: Target | Labelled, pieces: Pieces
) -> tuple[Float[Array, ""], Float[Array, " n"]]:
    """`half_sum_mean` and its gradient in g, which the forward pass finds on its way."""
    parts = halves(weights, target, max(weights.shape[0] // 2 - 1, 0))
    order = _ascending(parts.right.sums)
    right = Half(parts.right.sums[order], parts.right.chances[:, order])
    mean, slopes_left, slopes_right = _sum_over_knots(parts.left, right, pieces)
    slopes_right = jnp.zeros_like(slopes_right).at[order].set(slopes_right)
    return mean, parts.gathered(slopes_left, slopes_right)


half_sum_mean.defvjp(_mean_and_gradient, _backward)


def _ascending(sums: Float[Array, " size"]) -> Int[Array, " size"]:
    """Order of all 2^m partial sums of nonnegative numbers, exact up to their last m bits.

    A choice and its opposite add up to the sum of all, so the smaller of every two is sorted, and
    their opposites follow backwards. Nonnegative doubles compare like their bit patterns, and XLA
    sorts plain integers an order of magnitude faster than floats with a payload; so the index rides
    in the lowest bits.
    """
    size = sums.shape[0]
    if size == 1:
        return jnp.zeros(1, jnp.int64)
    index, opposite = jnp.arange(size // 2), jnp.arange(size - 1, size // 2 - 1, -1)
    one, other = sums[: size // 2], sums[size // 2 :][::-1]
    pattern = jax.lax.bitcast_convert_type(jnp.minimum(one, other), jnp.int64)
    keys = (pattern & ~jnp.int64(size - 1)) | jnp.where(one <= other, index, opposite)
    lower = jnp.asarray(jax.lax.sort(keys, is_stable=False)) & (size - 1)
    return jnp.concatenate([lower, size - 1 - lower[::-1]])


def _first_above(sums: Float[Array, " size"], x: Float[Array, "..."]) -> Int[Array, "..."]:
    """Index of the first of 2^m ascending sums above x, by m+1 halvings without branches.

    A loop, so that what reads the index does not search anew.
    """

    def halve(number: Array, index: Array) -> Array:
        step = jnp.maximum(sums.shape[0] >> (number + 1), 1)
        return jnp.where(sums[index + step - 1] <= x, index + step, index)

    halvings = sums.shape[0].bit_length()
    start = jnp.zeros(x.shape, jnp.int32)
    index: Array = jax.lax.fori_loop(0, halvings, halve, start)
    return index


def _running_sums(
    terms: Float[Array, "rows size"], *, from_each: bool = False
) -> Float[Array, "rows size"]:
    """Sums of the terms up to each, or from each on: products of short lines with a triangle, and
    sums of the lines before."""
    rows, size = terms.shape
    lines = jnp.pad(terms, ((0, 0), (0, -size % _STAGE))).reshape(rows, -1, _STAGE)
    sums = lines @ (jnp.tril if from_each else jnp.triu)(jnp.ones((_STAGE, _STAGE)))
    if size > _STAGE:
        totals = sums[:, :, 0 if from_each else -1]
        if totals.shape[1] > _MANY_LINES:
            running = jax.lax.cumsum(totals, axis=1, reverse=from_each)
        else:
            running = _running_sums(totals, from_each=from_each)
        sums += (running - totals)[:, :, None]
    return sums.reshape(rows, -1)[:, :size]


def _sum_over_knots(left: Half, right: Half, pieces: Pieces) -> tuple[Array, Array, Array]:
    """The mean and its derivative with respect to every partial sum; `right` is ascending."""
    curved = pieces.curve is not None
    moments = _moments_above(right, 3 if curved else 2)
    knots, (rows, size) = jnp.asarray(pieces.knots), right.chances.shape
    # All knots at once while that fits a cache, one by one beyond.
    one_by_one = left.sums.shape[0] > 2**14

    def add(totals: _Totals, some: _Knots) -> tuple[_Totals, None]:
        knot, slope, curve = some
        x = knot[:, None] - left.sums[None, :]
        index = _first_above(right.sums, x)
        mass, first, *second = moments[:, index].reshape(-1, rows, *x.shape)
        x, chances = x[None], left.chances[:, None, :]
        linear, jump = first - x * mass, slope.T[:, :, None]
        values, changes, terms = jump * linear, jump * mass, [chances * jump]
        if curve is not None:
            bend = curve.T[:, :, None]
            values += bend / 2 * (second[0] - x * (first + linear))
            changes += bend * linear
            terms = [chances * (jump - bend * x), chances * bend]
        if rows == 1:
            terms = [jnp.sum(term, axis=0, keepdims=True) for term in terms]
        value, change, marks = totals
        update = jnp.moveaxis(jnp.stack(terms), (0, 1), (-2, -1))
        value, change = value + jnp.sum(values, axis=1), change + jnp.sum(changes, axis=1)
        return (value, change, marks.at[index].add(update)), None

    start = jnp.asarray(pieces.start)[:, None] * moments[:rows, :1]
    start = jnp.broadcast_to(start, left.chances.shape)
    marks = jnp.zeros((size + 1, 1 + curved, rows), left.sums.dtype)
    curve = None if pieces.curve is None else jnp.asarray(pieces.curve).T
    table = (knots, jnp.asarray(pieces.slope).T, curve)
    totals = (start, jnp.zeros_like(start), marks)
    if one_by_one:
        totals, _ = jax.lax.scan(add, totals, jax.tree.map(lambda a: a[:, None], table))
    else:
        totals, _ = add(totals, table)
    value, change, marks = totals
    level, *tilt = _running_sums(marks[:-1].reshape(size, -1).T).reshape(-1, rows, size)
    steep = level + tilt[0] * right.sums[None, :] if curved else level
    slopes_right = jnp.sum(right.chances * steep, axis=0)
    return jnp.sum(left.chances * value), jnp.sum(left.chances * change, axis=0), slopes_right


def _moments_above(half: Half, count: int) -> Float[Array, "moments above"]:
    """Mass, first moment and so on of the entries from each index on, per row of chances."""
    terms = [half.chances]
    while len(terms) < count:
        terms.append(terms[-1] * half.sums[None, :])
    totals = _running_sums(jnp.concatenate(terms), from_each=True)
    return jnp.pad(totals, ((0, 0), (0, 1)))


def _lean(pieces: Pieces | None) -> Pieces:
    """The pieces, without curves where all are straight: a third of the work less."""
    assert pieces is not None
    return pieces if np.any(pieces.curve) else pieces._replace(curve=None)


@partial(jax.jit, static_argnums=3)
def _half_sum_values(
    weights: Float[Array, "runs n"],
    targets: Target | JuntaTarget,
    pieces: Pieces,
    labels: Labels,
) -> Float[Array, " runs"]:
    def one(row: Array, target: Target | JuntaTarget) -> Array:
        return half_sum_mean(row, labelled(target, labels), pieces)

    return jax.vmap(one)(weights, targets)

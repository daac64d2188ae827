"""Exact expectations for piecewise quadratic losses up to about 36 bits: meet in the middle.

The positions are split in two halves with 2^(n/2) partial sums u and v each. For a knot t the
terms (u+v-t)₊ and (u+v-t)₊² need, for every u, the mass and the first two moments of the v above
t-u: a binary search in the sorted v and a look-up in their running moments. With K knots that is
O(K·n·2^(n/2)) instead of 2^n. The same pass finds the slope of every partial sum; added up over
the choices that hold bit j they are the slope in g_j, so no automatic differentiation is needed.

A single risk runs in numpy, a training loop in compiled code. The algorithm is written once; four
primitives (sort, search, running sum, scattered sum) exist for both. Compiling costs 1 to 4 s of
processor time for every new n, numpy 1 to 50 ms for the whole risk.
"""

from operator import itemgetter
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from paritylab.precision import AnyArray
from paritylab.risk.routes.statistic import (
    EPS,
    Case,
    LoopRisk,
    Pieces,
    RouteRisk,
    Statistic,
    risk_through_outer,
    scale_of,
    through_outer,
)
from paritylab.risk.routes.targets import (
    Half,
    JuntaTarget,
    Labelled,
    Target,
    halves,
    labelled,
    namespace,
)

#: Pairs of a knot and a partial sum held at a time: what fits a cache.
_HELD = 1 << 14
#: Terms of one stage of a running sum, and lines beyond which XLA's own sum of them is faster, if
#: slower to compile.
_STAGE, _MANY_LINES = 16, 256


def risk(case: Case) -> RouteRisk:
    """Value and slopes to rounding."""
    mean, slopes = mean_and_slopes(case.weights, case.target, _lean(case.statistic.pieces))
    error = _rounding(case.statistic, case.problem.n)
    return risk_through_outer(
        case.statistic.loss,
        float(mean),
        error,
        exact=True,
        slopes=slopes if case.slopes else None,
    )


def many(
    statistic: Statistic, weights: Float[AnyArray, "runs n"], targets: Target | JuntaTarget
) -> tuple[np.ndarray, np.ndarray]:
    """Values and errors (runs,) of weights (runs, n) on stacked targets, run after run."""
    pieces, means = _lean(statistic.pieces), np.empty(len(weights))
    for run, row in enumerate(np.asarray(weights)):
        target: Target | Labelled | JuntaTarget = jax.tree.map(itemgetter(run), targets)
        if isinstance(target, JuntaTarget):
            target = labelled(target, statistic.labels)
        means[run] = mean_and_slopes(row, target, pieces)[0]
    error = _rounding(statistic, weights.shape[1])
    carried = through_outer(statistic.loss, means, np.full(len(means), error))
    return carried.value, carried.error


def in_loop(statistic: Statistic, n: int) -> LoopRisk:
    """The risk for compiled loops; as exact as `risk`."""
    pieces, outer = _lean(statistic.pieces), statistic.loss.outer

    def function(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
        return outer(half_sum_mean(weights, labelled(target, statistic.labels), pieces))

    return LoopRisk(function, _rounding(statistic, n))


def _rounding(statistic: Statistic, n: int) -> float:
    """Rounding of the running moments, whose number of terms is at most 2^(n/2+2), and of sums
    that the compiled sort leaves out of order in their last bits."""
    assert statistic.pieces is not None
    return (64 * n + 2.0 ** (n // 2 + 2)) * EPS * scale_of(statistic.pieces, statistic.k)


def _lean(pieces: Pieces | None) -> Pieces:
    """The pieces, without curves where all are straight: a third of the work less."""
    assert pieces is not None
    return pieces if np.any(pieces.curve) else pieces._replace(curve=None)


@jax.custom_vjp
def half_sum_mean(
    weights: Float[Array, " n"], target: Target | Labelled, pieces: Pieces
) -> Float[Array, ""]:
    """E[even(s)] + contrast·E[odd(s) χ_B(x)] for s = Σ_j g_j x_j, over all 2^n inputs; for a junta
    Σ_r E[share_r(u)·statistic_r(s)], u the bits of B.

    weights: g ≥ 0. Needs float64: the sort packs positions into the last bits of the sums.
    """
    return jnp.asarray(mean_and_slopes(weights, target, pieces)[0])


def _forward(
    weights: Float[Array, " n"], target: Target | Labelled, pieces: Pieces
) -> tuple[Array, Array]:
    mean, slopes = mean_and_slopes(weights, target, pieces)
    return jnp.asarray(mean), jnp.asarray(slopes)


def _backward(gradient: Array, cotangent: Array) -> tuple[Array, None, None]:
    return cotangent * gradient, None, None


def mean_and_slopes(
    weights: Float[AnyArray, " n"], target: Target | Labelled, pieces: Pieces
) -> tuple[Float[AnyArray, ""], Float[AnyArray, " n"]]:
    """`half_sum_mean` and its gradient in g, which the same pass finds on its way."""
    primitives = _NUMPY if isinstance(weights, np.ndarray) else _COMPILED
    parts = halves(weights, target, max(weights.shape[0] // 2 - 1, 0))
    order = primitives.ascending(parts.right.sums)
    right = Half(parts.right.sums[order], parts.right.chances[:, order])
    mean, slopes_left, slopes_right = _sum_over_knots(parts.left, right, pieces, primitives)
    return mean, parts.gathered(slopes_left, primitives.placed(slopes_right, order))


half_sum_mean.defvjp(_forward, _backward)


def _sum_over_knots(
    left: Half, right: Half, pieces: Pieces, primitives: "_Primitives"
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """The mean and its derivative with respect to every partial sum; `right` is ascending.

    The slope of a right sum v gathers terms of all left sums whose threshold lies below v. They
    are added at the threshold's place (`marks`), and a running sum over the places spreads them.
    """
    xp, (rows, size) = namespace(left.sums), right.chances.shape
    above = _moments_above(right, 2 if pieces.curve is None else 3, primitives)
    value = xp.asarray(pieces.start)[:, None] * above[0, :, :1] + xp.zeros_like(left.chances)
    change, marks = xp.zeros_like(value), xp.zeros(((len(above) - 1) * rows, size + 1))
    few = max(1, _HELD // len(left.sums))
    for at in range(0, len(pieces.knots), few):
        x = xp.asarray(pieces.knots)[at : at + few, None] - left.sums[None, :]
        index = primitives.first_above(right.sums, x)
        mass, first, *second = xp.take(above, index, axis=2)
        x = x[None]  # in front of knots and sums: rows
        linear, jump = first - x * mass, xp.asarray(pieces.slope)[:, at : at + few, None]
        value += xp.sum(jump * linear, axis=1)
        change += xp.sum(jump * mass, axis=1)
        terms = [jump]
        if second:
            bend = xp.asarray(pieces.curve)[:, at : at + few, None]
            value += xp.sum(bend / 2 * (second[0] - x * (first + linear)), axis=1)
            change += xp.sum(bend * linear, axis=1)
            terms = [jump - bend * x, bend]
        given = [left.chances[:, None, :] * term for term in terms]
        if rows == 1:  # a junta: the right chances are the same for all labels
            given = [xp.sum(each, axis=0, keepdims=True) for each in given]
        marks += primitives.scattered(index, xp.concatenate(given), size + 1)
    level, *tilt = primitives.running(marks)[:, :-1].reshape(-1, rows, size)
    steep = level + tilt[0] * right.sums[None, :] if tilt else level
    slopes_right = xp.sum(right.chances * steep, axis=0)
    mean = xp.asarray(xp.sum(left.chances * value))
    return mean, xp.sum(left.chances * change, axis=0), slopes_right


def _moments_above(
    half: Half, count: int, primitives: "_Primitives"
) -> Float[AnyArray, "moments rows above"]:
    """Mass, first moment and so on of the entries from each index on, per row of chances."""
    terms, xp = [half.chances], namespace(half.sums)
    while len(terms) < count:
        terms.append(terms[-1] * half.sums[None, :])
    totals = primitives.running(xp.concatenate(terms)[:, ::-1])[:, ::-1]
    padded: AnyArray = xp.pad(totals, ((0, 0), (0, 1))).reshape(count, len(half.chances), -1)
    return padded


class _Primitives(Protocol):
    """What numpy and compiled code do differently."""

    def ascending(self, sums: AnyArray) -> AnyArray:
        """What sorts all 2^m partial sums of nonnegative numbers."""

    def placed(self, values: AnyArray, order: AnyArray) -> AnyArray:
        """Values of the sorted sums back at the places of the unsorted ones."""

    def first_above(self, sums: AnyArray, x: AnyArray) -> AnyArray:
        """Index of the first of the ascending sums above x."""

    def running(self, terms: AnyArray) -> AnyArray:
        """Sums of the terms (rows, size) up to each."""

    def scattered(self, index: AnyArray, terms: AnyArray, size: int) -> AnyArray:
        """Sums of the terms (rows, *index.shape) that share an index below `size`."""


class _Numpy:
    def ascending(self, sums: AnyArray) -> AnyArray:
        return np.argsort(np.asarray(sums))

    def placed(self, values: AnyArray, order: AnyArray) -> AnyArray:
        found = np.empty_like(np.asarray(values))
        found[order] = values
        return found

    def first_above(self, sums: AnyArray, x: AnyArray) -> AnyArray:
        return np.searchsorted(sums, np.asarray(x).ravel(), side="right").reshape(x.shape)

    def running(self, terms: AnyArray) -> AnyArray:
        return np.cumsum(terms, axis=1)

    def scattered(self, index: AnyArray, terms: AnyArray, size: int) -> AnyArray:
        flat = np.asarray(index).ravel()
        return np.stack([np.bincount(flat, row.ravel(), size) for row in np.asarray(terms)])


class _Compiled:
    def ascending(self, sums: AnyArray) -> Int[Array, " size"]:
        """Exact up to the last m bits of the sums.

        A choice and its opposite add up to the sum of all, so the smaller of every two is sorted,
        and their opposites follow backwards. Nonnegative doubles compare like their bit patterns,
        and XLA sorts plain integers an order of magnitude faster than floats with a payload; so the
        index rides in the lowest bits.
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

    def placed(self, values: AnyArray, order: AnyArray) -> Array:
        return jnp.zeros_like(values).at[order].set(values)

    def first_above(self, sums: AnyArray, x: AnyArray) -> Int[Array, "..."]:
        """By m+1 halvings without branches; a loop, so that what reads the index does not search
        anew."""

        def halve(number: Array, index: Array) -> Array:
            step = jnp.maximum(sums.shape[0] >> (number + 1), 1)
            return jnp.where(sums[index + step - 1] <= x, index + step, index)

        start = jnp.zeros(x.shape, jnp.int32)
        index: Array = jax.lax.fori_loop(0, sums.shape[0].bit_length(), halve, start)
        return index

    def running(self, terms: AnyArray) -> Float[Array, "rows size"]:
        """Products of short lines with a triangle, and sums of the lines before."""
        rows, size = terms.shape
        lines = jnp.pad(terms, ((0, 0), (0, -size % _STAGE))).reshape(rows, -1, _STAGE)
        sums = lines @ jnp.triu(jnp.ones((_STAGE, _STAGE)))
        if size > _STAGE:
            totals = sums[:, :, -1]
            wide = totals.shape[1] > _MANY_LINES
            before = jax.lax.cumsum(totals, axis=1) if wide else self.running(totals)
            sums += (before - totals)[:, :, None]
        return sums.reshape(rows, -1)[:, :size]

    def scattered(self, index: AnyArray, terms: AnyArray, size: int) -> Array:
        found = jnp.zeros((size, terms.shape[0])).at[index].add(jnp.moveaxis(terms, 0, -1))
        return found.T


_NUMPY, _COMPILED = _Numpy(), _Compiled()

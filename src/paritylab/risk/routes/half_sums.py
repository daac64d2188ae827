"""Exact expectations for piecewise quadratic losses up to about 36 bits: meet in the middle.

The positions are split in two halves with 2^(n/2) partial sums u and v each. For a knot t the
terms (u+v-t)₊ and (u+v-t)₊² need, for every u, the mass and the first two moments of the v above
t-u: a binary search in the sorted v and a look-up in their running moments. With K knots that is
O(K·n·2^(n/2)) instead of 2^n. The same pass finds the slope of every partial sum; added up over
the choices that hold bit j they are the slope in g_j, so no automatic differentiation is needed.

A single risk runs in numpy, a training loop in compiled code. The algorithm is written once, for
arrays of either library (`namespace`); sorting, running sums and scattered sums, where XLA's own
are slow, have a compiled form of their own. Compiling costs 1 to 4 s of processor time for every
new n, numpy 1 to 50 ms for the whole risk.
"""

from types import ModuleType
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from paritylab._support.precision import AnyArray
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

#: Bits whose 2^bits choices are taken one by one.
_AT_ONCE = 5
#: Pairs of a knot and a partial sum held at a time: what fits a cache.
_HELD = 1 << 14
#: Terms of one stage of a running sum, and lines beyond which XLA's own sum of them is faster, if
#: slower to compile.
_STAGE, _MANY_LINES = 16, 256


def namespace(array: AnyArray) -> ModuleType:
    """numpy for numpy arrays, jax.numpy for everything else."""
    return np if isinstance(array, np.ndarray) else jnp


class Half(NamedTuple):
    """Partial sums with their chances.

    Rows of chances: plain and times χ for a parity; one per label for a junta, or a single plain
    row where B lies elsewhere.
    """

    sums: Float[AnyArray, " size"]
    chances: Float[AnyArray, "rows size"]


def plain_sums(weights: Float[AnyArray, " m"], probabilities: Float[AnyArray, " m"]) -> Half:
    """All 2^m partial sums with their probabilities; entry number i has bit j equal to
    (i >> j) & 1."""
    chances = _choices(probabilities, 1 - probabilities, add=False)
    return Half(_choices(weights, 0 * weights, add=True), chances[None, :])


def partial_sums(
    weights: Float[AnyArray, " m"],
    indicator: Float[AnyArray, " m"],
    probabilities: Float[AnyArray, " m"],
) -> Half:
    """The same with a second row of chances, times χ = Π_{j∈B} (-1)^{x_j}."""
    plain = plain_sums(weights, probabilities)
    signed = _choices(probabilities * (1 - 2 * indicator), 1 - probabilities, add=False)
    joined = namespace(weights).concatenate([plain.chances, signed[None, :]])
    return Half(plain.sums, joined)


def _choices(
    present: Float[AnyArray, " m"], absent: Float[AnyArray, " m"], *, add: bool
) -> Float[AnyArray, " size"]:
    """Entry number i joins present_j where bit j of i is set and absent_j elsewhere.

    add: join by addition, or else by multiplication. More than a few bits are split in two parts.
    """
    bits, xp = present.shape[0], namespace(present)
    if bits <= _AT_ONCE:
        picked = xp.where(_bit_table(bits, xp), present[None, :], absent[None, :])
        few: AnyArray = (xp.sum if add else xp.prod)(picked, axis=1)
        return few
    some = slice(bits // 2), slice(bits // 2, None)
    low, high = (_choices(present[part], absent[part], add=add) for part in some)
    low, high = low[None, :], high[:, None]
    return (high + low if add else high * low).reshape(-1)


def gather(slopes: Float[AnyArray, " size"]) -> Float[AnyArray, " bits"]:
    """Σ over entries with bit j set, for every j: the transpose of the partial sums."""
    bits, xp = slopes.shape[0].bit_length() - 1, namespace(slopes)
    if bits <= _AT_ONCE:
        few: AnyArray = xp.sum(xp.where(_bit_table(bits, xp), slopes[:, None], 0.0), axis=0)
        return few
    table = slopes.reshape(-1, 1 << bits // 2)
    both: AnyArray = xp.concatenate([gather(xp.sum(table, axis=axis)) for axis in (0, 1)])
    return both


def _bit_table(bits: int, xp: ModuleType) -> Bool[AnyArray, "size bits"]:
    """Whether bit j of i is set; inside compiled code a fused operand that is never stored."""
    index, place = xp.arange(1 << bits, dtype=xp.int32), xp.arange(bits, dtype=xp.int32)
    table: AnyArray = (index[:, None] >> place[None, :]) & 1 == 1
    return table


def head_sums(
    weights: Float[AnyArray, " n"],
    target: Target | Labelled,
    positions: Int[AnyArray, " some"] | slice,
) -> Half:
    """Partial sums over the positions, label noise included in the chances.

    For a junta (`Labelled`) the positions must begin with B.
    """
    xp, part = namespace(weights), (weights[positions], target.probabilities[positions])
    if isinstance(target, Target):
        half = partial_sums(part[0], target.indicator[positions], part[1])
        factors = xp.stack([xp.ones_like(target.contrast), target.contrast])
        return half._replace(chances=half.chances * factors[:, None])
    half = plain_sums(*part)
    repeats = len(half.sums) // target.shares.shape[-1]
    return half._replace(chances=half.chances * xp.tile(target.shares, (1, repeats)))


class Halves(NamedTuple):
    """All positions in two parts; left carries B of a junta. order: of the positions, left first;
    None if it is theirs."""

    left: Half
    right: Half
    order: Int[AnyArray, " n"] | None

    def gathered(
        self, left: Float[AnyArray, " a"], right: Float[AnyArray, " b"]
    ) -> Float[AnyArray, " n"]:
        """Slopes of every weight from those of both parts' partial sums."""
        xp = namespace(left)
        slopes: AnyArray = xp.concatenate([gather(left), gather(right)])
        return slopes if self.order is None else slopes[xp.argsort(self.order)]


def halves(weights: Float[AnyArray, " n"], target: Target | Labelled, size: int) -> Halves:
    """The first `size` positions (at least those of B for a junta) and the rest."""
    if isinstance(target, Labelled):
        xp, size = namespace(weights), max(size, target.subset.shape[0])
        places = xp.arange(len(weights))
        hidden = xp.any(places[:, None] == xp.asarray(target.subset)[None, :], axis=1)
        order = xp.argsort(~hidden, stable=True)
        rest = plain_sums(weights[order[size:]], target.probabilities[order[size:]])
        return Halves(head_sums(weights, target, order[:size]), rest, order)
    rest = partial_sums(weights[size:], target.indicator[size:], target.probabilities[size:])
    return Halves(head_sums(weights, target, slice(size)), rest, None)


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


def in_loop(statistic: Statistic, n: int) -> WeightRisk:
    """The risk for compiled loops; as exact as `risk`."""
    pieces, outer = _lean(statistic.pieces), statistic.loss.outer

    def function(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
        return outer(half_sum_mean(weights, labelled(target, statistic.labels), pieces))

    return WeightRisk(function, _rounding(statistic, n))


def _rounding(statistic: Statistic, n: int) -> float:
    """Rounding of the running moments, whose number of terms is at most 2^(n/2+2), and of sums
    that the compiled sort leaves out of order in their last bits."""
    assert statistic.pieces is not None
    return (64 * n + 2.0 ** (n // 2 + 2)) * EPS * statistic.scale


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
    parts = halves(weights, target, max(weights.shape[0] // 2 - 1, 0))
    order = ascending(parts.right.sums)
    right = Half(parts.right.sums[order], parts.right.chances[:, order])
    mean, slopes_left, slopes_right = _sum_over_knots(parts.left, right, pieces)
    (unsorted,) = _scattered(order, slopes_right[None], len(order))
    return mean, parts.gathered(slopes_left, unsorted)


half_sum_mean.defvjp(_forward, _backward)


def _sum_over_knots(left: Half, right: Half, pieces: Pieces) -> tuple[AnyArray, AnyArray, AnyArray]:
    """The mean and its derivative with respect to every partial sum; `right` is ascending.

    The slope of a right sum v gathers terms of all left sums whose threshold lies below v. They
    are added at the threshold's place (`marks`), and a running sum over the places spreads them.
    """
    xp, (rows, size) = namespace(left.sums), right.chances.shape
    above = _moments_above(right, 2 if pieces.curve is None else 3)
    value = xp.asarray(pieces.start)[:, None] * above[0, :, :1] + xp.zeros_like(left.chances)
    change, marks = xp.zeros_like(value), xp.zeros(((len(above) - 1) * rows, size + 1))
    few = max(1, _HELD // len(left.sums))
    for at in range(0, len(pieces.knots), few):
        x = xp.asarray(pieces.knots)[at : at + few, None] - left.sums[None, :]
        index = _first_above(right.sums, x)
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
        marks += _scattered(index, xp.concatenate(given), size + 1)
    level, *tilt = running(marks)[:, :-1].reshape(-1, rows, size)
    steep = level + tilt[0] * right.sums[None, :] if tilt else level
    slopes_right = xp.sum(right.chances * steep, axis=0)
    mean = xp.asarray(xp.sum(left.chances * value))
    return mean, xp.sum(left.chances * change, axis=0), slopes_right


def _moments_above(half: Half, count: int) -> Float[AnyArray, "moments rows above"]:
    """Mass, first moment and so on of the entries from each index on, per row of chances."""
    terms, xp = [half.chances], namespace(half.sums)
    while len(terms) < count:
        terms.append(terms[-1] * half.sums[None, :])
    totals = running(xp.concatenate(terms)[:, ::-1])[:, ::-1]
    padded: AnyArray = xp.pad(totals, ((0, 0), (0, 1))).reshape(count, len(half.chances), -1)
    return padded


def ascending(sums: Float[AnyArray, " size"]) -> Int[AnyArray, " size"]:
    """What sorts all 2^m partial sums of nonnegative numbers; compiled, up to their last m bits.

    A choice and its opposite add up to the sum of all, so the smaller of every two is sorted, and
    their opposites follow backwards. Nonnegative doubles compare like their bit patterns, and XLA
    sorts plain integers an order of magnitude faster than floats with a payload; so the index rides
    in the lowest bits. Loops take half the time with it.
    """
    size = sums.shape[0]
    if isinstance(sums, np.ndarray):
        return np.argsort(sums)
    if size == 1:
        return jnp.zeros(1, jnp.int64)
    index, opposite = jnp.arange(size // 2), jnp.arange(size - 1, size // 2 - 1, -1)
    one, other = sums[: size // 2], sums[size // 2 :][::-1]
    pattern = jax.lax.bitcast_convert_type(jnp.minimum(one, other), jnp.int64)
    keys = (pattern & ~jnp.int64(size - 1)) | jnp.where(one <= other, index, opposite)
    lower = jnp.asarray(jax.lax.sort(keys, is_stable=False)) & (size - 1)
    return jnp.concatenate([lower, size - 1 - lower[::-1]])


def _first_above(
    sums: Float[AnyArray, " size"], x: Float[AnyArray, "knots left"]
) -> Int[AnyArray, "knots left"]:
    """Index of the first of the ascending sums above x.

    Compiled: m+1 halvings without branches, in a loop, so that what reads the index does not search
    anew; a training loop takes a fifth longer with XLA's own search.
    """
    if isinstance(sums, np.ndarray):
        return np.searchsorted(sums, x.ravel(), side="right").reshape(x.shape)

    def halve(number: Array, index: Array) -> Array:
        step = jnp.maximum(sums.shape[0] >> (number + 1), 1)
        return jnp.where(sums[index + step - 1] <= x, index + step, index)

    index: Array = jax.lax.fori_loop(
        0, sums.shape[0].bit_length(), halve, jnp.zeros(x.shape, jnp.int32)
    )
    return index


def running(terms: Float[AnyArray, "rows size"]) -> Float[AnyArray, "rows size"]:
    """Sums of the terms up to each; compiled, products of short lines with a triangle, and sums of
    the lines before."""
    if isinstance(terms, np.ndarray):
        return np.cumsum(terms, axis=1)
    rows, size = terms.shape
    lines = jnp.pad(terms, ((0, 0), (0, -size % _STAGE))).reshape(rows, -1, _STAGE)
    sums = lines @ jnp.triu(jnp.ones((_STAGE, _STAGE)))
    if size > _STAGE:
        totals = sums[:, :, -1]
        wide = totals.shape[1] > _MANY_LINES
        before = jax.lax.cumsum(totals, axis=1) if wide else running(totals)
        sums += (before - totals)[:, :, None]
    return sums.reshape(rows, -1)[:, :size]


def _scattered(
    index: Int[AnyArray, "..."], terms: Float[AnyArray, "rows ..."], size: int
) -> Float[AnyArray, "rows size"]:
    """Sums of the terms that share an index below `size`."""
    if isinstance(terms, np.ndarray):
        flat = np.asarray(index).ravel()
        return np.stack([np.bincount(flat, row.ravel(), size) for row in terms])
    return jnp.zeros((size, terms.shape[0])).at[index].add(jnp.moveaxis(terms, 0, -1)).T

"""Half-sums of a single case in numpy: the arithmetic of `half_sums`, with nothing to compile."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from paritylab.precision import AnyArray
from paritylab.risk.routes.pieces import Pieces
from paritylab.risk.routes.targets import Labelled, Target

#: Pairs of a knot and a partial sum held at a time.
_HELD = 1 << 14


class _Half(NamedTuple):
    """Partial sums over some positions, ascending, with their chances; order: what sorts them."""

    sums: Float[np.ndarray, " size"]
    chances: Float[np.ndarray, "rows size"]
    order: np.ndarray

    def slopes(self, of_sums: Float[np.ndarray, " size"]) -> Float[np.ndarray, " bits"]:
        """Σ over the sums that hold a position, for every position."""
        rest = np.empty_like(of_sums)
        rest[self.order] = of_sums
        found = np.empty(len(rest).bit_length() - 1)
        for bit in reversed(range(len(found))):
            upper = rest[1 << bit :]
            found[bit] = upper.sum()
            rest = rest[: 1 << bit] + upper
        return found


def mean_and_slopes(
    weights: Float[AnyArray, " n"],
    target: Target | Labelled,
    pieces: Pieces,
    *,
    slopes: bool = True,
) -> tuple[float, Float[np.ndarray, " n"] | None]:
    """What `half_sums.half_sum_mean` gives, and its gradient in the weights if asked for."""
    weights, target = np.asarray(weights), type(target)(*map(np.asarray, target))
    left, right, order = _halves(weights, target)
    above = _moments_above(right, 2 if pieces.curve is None else 3)
    value = np.asarray(pieces.start)[:, None] * above[0, :, :1] + np.zeros_like(left.chances)
    change, marks = np.zeros_like(value), np.zeros((len(above) - 1, *above.shape[1:]))
    few = max(1, _HELD // len(left.sums))
    for at in range(0, len(pieces.knots), few):
        some = slice(at, at + few)
        x = pieces.knots[some, None] - left.sums
        index = np.searchsorted(right.sums, x.ravel(), side="right")
        mass, first, *second = above.take(index, axis=2).reshape(len(above), -1, *x.shape)
        linear, jump = first - x * mass, np.asarray(pieces.slope)[:, some, None]
        value += np.sum(jump * linear, axis=1)
        change += np.sum(jump * mass, axis=1)
        shares = [jump]
        if second:
            bend = np.asarray(pieces.curve)[:, some, None]
            value += np.sum(bend / 2 * (second[0] - x * (first + linear)), axis=1)
            change += np.sum(bend * linear, axis=1)
            shares = [jump - bend * x, bend]
        if slopes:
            _mark(marks, index, [left.chances[:, None, :] * share for share in shares])
    mean = float(np.vdot(left.chances, value))
    if not slopes:
        return mean, None
    level, *tilt = _running(marks)[..., :-1]
    steep = level + tilt[0] * right.sums if tilt else level
    parts = ((left, change), (right, steep))
    found = np.empty(len(weights))
    found[order] = np.concatenate(
        [half.slopes(np.einsum("rs,rs->s", half.chances, each)) for half, each in parts]
    )
    return mean, found


def _halves(
    weights: Float[np.ndarray, " n"], target: Target | Labelled
) -> tuple[_Half, _Half, np.ndarray]:
    """Both parts, and the order of the positions, left first; left carries B of a junta."""
    n, size = len(weights), max(len(weights) // 2 - 1, 0)
    order, signs = np.arange(n), np.ones((1, n))
    if isinstance(target, Labelled):
        size = max(size, len(target.subset))
        order = np.argsort(~np.isin(order, target.subset), kind="stable")
    else:
        signs = np.stack([np.ones(n), 1 - 2 * target.indicator])
    absent, weights = 1 - target.probabilities[order], weights[order]
    odds = signs * (target.probabilities[order] / absent)
    left, right = (
        _partial_sums(weights[part], odds[:, part], float(absent[part].prod()))
        for part in (slice(size), slice(size, n))
    )
    if isinstance(target, Labelled):
        shares = np.tile(target.shares, (1, len(left.sums) // target.shares.shape[1]))
        left = left._replace(chances=left.chances * shares[:, left.order])
    else:
        left.chances[1] *= target.contrast
    return left, right, order


def _partial_sums(weights: np.ndarray, odds: np.ndarray, empty: float) -> _Half:
    """All 2^m partial sums, made by doubling. odds: what a position present multiplies the chances
    by. empty: the chance of none."""
    bits = len(weights)
    sums, chances = np.empty(1 << bits), np.empty((len(odds), 1 << bits))
    sums[0], chances[:, 0] = 0, empty
    for bit, factors in enumerate(odds.T[:, :, None]):
        half = 1 << bit
        np.add(sums[:half], weights[bit], out=sums[half : 2 * half])
        np.multiply(chances[:, :half], factors, out=chances[:, half : 2 * half])
    order = sums.argsort()
    return _Half(sums[order], chances[:, order], order)


def _moments_above(half: _Half, count: int) -> Float[np.ndarray, "moments rows above"]:
    """Mass, first moment and so on of the entries from each index on, per row of chances."""
    terms = [half.chances]
    while len(terms) < count:
        terms.append(terms[-1] * half.sums)
    above = np.zeros((count, len(half.chances), len(half.sums) + 1))
    above[..., :-1] = _running(np.array(terms)[..., ::-1])[..., ::-1]
    return above


def _running(terms: Float[np.ndarray, "... size"]) -> Float[np.ndarray, "... size"]:
    """Sums of the terms up to each, in two stages: rounding grows with the root of their number."""
    size = terms.shape[-1]
    stage = 1 << size.bit_length() // 2
    lines = np.zeros((*terms.shape[:-1], -(-size // stage), stage))
    whole = lines.reshape(*terms.shape[:-1], -1)[..., :size]
    whole[...] = terms
    lines.cumsum(axis=-1, out=lines)
    lines[..., 1:, :] += lines[..., :-1, -1:].cumsum(axis=-2)
    return whole


def _mark(marks: np.ndarray, index: np.ndarray, terms: list[np.ndarray]) -> None:
    """Add what every left sum gives to the slope of the right sums from its index on."""
    for kind, given in enumerate(terms):
        rows = given if marks.shape[1] > 1 else given.sum(axis=0, keepdims=True)
        for row, some in enumerate(rows):
            marks[kind, row] += np.bincount(index, some.ravel(), minlength=marks.shape[2])

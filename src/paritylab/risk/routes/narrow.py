"""Features of a statistic that a grid cannot see: values at single sums, spikes between points.

The statistic and its second derivative are enclosed on every cell of a fine grid. A cell where a
comparison is undecided, or where the second derivative may be far from what its neighbours show, is
halved again and again; what is left are short stretches of s with the height of what they may hide.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.models.readouts import HasCorners
from paritylab.risk.routes.case import EPS, Case, Statistic
from paritylab.risk.routes.enclosure import Enclosed
from paritylab.risk.routes.interval import UnknownOperationError
from paritylab.risk.routes.targets import SIGNS

#: Prime numbers, so that no point of a grid is a simple fraction of the range.
_CELLS, _COARSE = 32749, 4093
#: Stretches that are followed at a time; beyond, they are taken as they are.
_MOST = 1 << 13
#: The second derivative may leave what is seen nearby by so many times the step seen there.
_WILD = 1000
_NEIGHBOURS = 32
#: Relative differences up to this are rounding.
_ROUNDING = 1e-12


class Narrow(NamedTuple):
    """Stretches [low, high] of s, and how far the statistic may be there from what is beside."""

    low: Float[np.ndarray, " L"]
    high: Float[np.ndarray, " L"]
    height: Float[np.ndarray, " L"]


_NONE = Narrow(*(np.zeros(0),) * 3)


class Hidden(NamedTuple):
    """How much features narrower than the grid may add to the mean, and to each of its slopes;
    infinite if nobody can tell."""

    mean: float
    slope: float


def hidden_mean(case: Case, sums: Float[np.ndarray, " N"]) -> Hidden:
    """What features narrower than the grid may add.

    sums: s at random inputs. Rare stretches are charged their height times Chernoff's bound on
    their chance, the others by the empirical Bernstein inequality at confidence 1 - 1e-6. Slopes
    are charged the steepest place of each stretch.
    """
    weights, problem = case.weights, case.problem
    centre, width = float(weights @ problem.probabilities), 4.2 * math.sqrt(weights @ weights)
    window = max(0.0, centre - width), min(float(problem.k), centre + width)
    shift = 2 * problem.n * EPS * problem.k
    rows = _rows(case.statistic)
    try:
        every = [narrow_features(row, *window, float(problem.k), shift) for row in rows]
        steep = [_steepest(*each, shift) for each in zip(rows, every, strict=True) if case.slopes]
    except UnknownOperationError:
        return Hidden(math.inf, math.inf)
    return Hidden(_charged(case, _joined(every), sums), _charged(case, _joined(steep), sums))


def _charged(case: Case, found: Narrow, sums: Float[np.ndarray, " N"]) -> float:
    """The mean of the heights, at most."""
    if not len(found.low):
        return 0.0
    shift = 2 * case.problem.n * EPS * case.problem.k
    whole = _merged(found, 2 * shift)
    chance = _chances(case, whole.low - shift, whole.high + shift)
    rare = chance < 1e-3
    common = found.low >= 0
    for low, high in zip(whole.low[rare], whole.high[rare], strict=True):
        common &= (found.low < low) | (found.high > high)
    return float(whole.height[rare] @ chance[rare]) + _bernstein(found, common, sums, shift)


def _steepest(function: Callable[[Array], Array], found: Narrow, shift: float) -> Narrow:
    """The same stretches, as high as the function may be steep there."""

    def slope(s: Array) -> Array:
        return jnp.asarray(jax.jvp(function, (s,), (jnp.ones_like(s),))[1])

    if not len(found.low):
        return found
    (over,) = Enclosed(slope)(found.low - shift, found.high + shift)
    return found._replace(height=np.maximum(np.abs(over.low), np.abs(over.high)))


class Worst(NamedTuple):
    """Of a statistic on all of [0, k]: its largest size, and the most it changes when s is rounded;
    infinite if nobody can tell."""

    size: float
    change: float


def worst_change(statistic: Statistic, n: int) -> Worst:
    """What rounding may do at any weights: for loops, whose weights move."""
    reach = float(statistic.k)
    try:
        rows = [_worst_change(row, reach, 2 * n * EPS * reach) for row in _rows(statistic)]
    except UnknownOperationError:
        return Worst(math.inf, math.inf)
    return Worst(*(max(each) for each in zip(*rows, strict=True)))


def highest_hidden(statistic: Statistic, n: int) -> float:
    """The highest feature on [0, k] that is narrower than the grid; infinite if nobody can tell."""
    reach = float(statistic.k)
    shift = 2 * n * EPS * reach
    try:
        found = [narrow_features(row, 0.0, reach, reach, shift) for row in _rows(statistic)]
    except UnknownOperationError:
        return math.inf
    return float(_joined(found).height.max(initial=0.0))


def _worst_change(
    function: Callable[[Array], Array], reach: float, shift: float
) -> tuple[float, float]:
    """The largest |value|, and the largest change over a distance of shift."""

    def with_slope(s: Array) -> tuple[Array, Array]:
        return jax.jvp(function, (s,), (jnp.ones_like(s),))

    bent, ends = Enclosed(with_slope), np.linspace(0.0, reach, _COARSE + 1)
    low, high, size, change = ends[:-1], ends[1:], 0.0, 0.0
    while len(low):
        over, slope = bent(np.maximum(low - shift, 0.0), np.minimum(high + shift, reach))
        size = max(size, float(np.maximum(np.abs(over.low), np.abs(over.high)).max()))
        most, loose = over.high - over.low, over.loose | slope.loose
        steep = 2 * shift * np.maximum(np.abs(slope.low), np.abs(slope.high))
        most = np.where(loose | ~np.isfinite(steep), most, np.minimum(most, steep))
        halved = loose & (high - low > shift)
        halved &= 2 * np.count_nonzero(halved) <= _MOST
        change = max(change, float(most[~halved].max(initial=0.0)))
        low, high, _ = _Cells(low, high, low).take(halved).halved()
    return size, change


def _rows(statistic: Statistic) -> list[Callable[[Array], Array]]:
    """loss(y, readout(s)) as a function of s for every label y."""
    readout = statistic.readout
    corners = readout.corners(statistic.k) if isinstance(readout, HasCorners) else None
    if corners is not None:
        slopes = np.diff(corners.values) / np.diff(corners.s)
        bends, at, start = np.diff(slopes, prepend=0.0), corners.s[:-1], corners.values[0]

        def readout(s: Array) -> Array:
            return jnp.asarray(start + jnp.sum(bends * jnp.maximum(s - at, 0)))

    pointwise = statistic.loss.pointwise

    def at_label(y: float, s: Array) -> Array:
        return jnp.asarray(pointwise(jnp.asarray(y, s.dtype), readout(s)), s.dtype)

    return [partial(at_label, y) for y in statistic.labels or SIGNS]


def narrow_features(
    function: Callable[[Array], Array], low: float, high: float, reach: float, least: float
) -> Narrow:
    """Stretches of [low, high] where the function may leave what a grid sees, and of the rest of
    [0, reach], which is looked at coarsely. least: stretches this short are not halved."""

    def with_curve(s: Array) -> tuple[Array, Array]:
        one = jnp.ones_like(s)

        def slope(t: Array) -> Array:
            return jnp.asarray(jax.jvp(function, (t,), (one,))[1])

        return function(s), jax.jvp(slope, (s,), (one,))[1]

    bent, ends = Enclosed(with_curve), np.linspace(low, high, _CELLS + 1)
    value, curve = (each.low for each in bent(ends, ends))
    over, second = bent(ends[:-1], ends[1:])
    seen = np.abs(np.diff(np.where(np.isfinite(curve), curve, 0.0)))
    allowed = _WILD * (_local_maximum(seen) + 1e-2 * seen.max()) + 1e-9 * np.abs(curve).max()
    wild = over.loose | second.loose | ~(second.high - second.low <= allowed)
    cells = _Cells(ends[:-1][wild], ends[1:][wild], np.flatnonzero(wild))
    seen_beside = _Beside(ends, value)
    finer = _followed(bent, cells, seen_beside, max(4 * least, 1e-14 * reach), (0.0, reach))
    return _joined([finer, _outside(bent, low, high, reach)])


class _Cells(NamedTuple):
    """Parts of the grid's cells. cell: the number of the one they lie in."""

    low: np.ndarray
    high: np.ndarray
    cell: np.ndarray

    def take(self, chosen: np.ndarray) -> "_Cells":
        return _Cells(*(part[chosen] for part in self))

    def halved(self) -> "_Cells":
        middle = (self.low + self.high) / 2
        low = np.stack([self.low, middle], axis=1).ravel()
        high = np.stack([middle, self.high], axis=1).ravel()
        return _Cells(low, high, np.repeat(self.cell, 2))


class _Beside:
    """What the grid shows around a cell: parabolas through three points on its left and right.

    The outermost points are left out: what is at an end of the range may be there alone.
    """

    def __init__(self, ends: np.ndarray, values: np.ndarray) -> None:
        self._ends, self._values, self._step = ends, values, ends[1] - ends[0]

    def range(self, cells: _Cells) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Least and largest value expected on each part, and how sure that is: what both
        parabolas differ by, and their fourth neighbours from them."""
        last = len(self._values) - 1
        left = np.where(cells.cell >= 4, cells.cell - 2, cells.cell + 1)
        right = np.where(cells.cell <= last - 5, cells.cell + 1, cells.cell - 2)
        left, right = (np.clip(start, 1, last - 3) for start in (left, right))
        both = [
            [self._parabola(start, t) for t in (cells.low, cells.high)] for start in (left, right)
        ]
        apart = np.max(np.abs(np.subtract(np.array(both[0]), np.array(both[1]))), axis=0)
        for start, outer in ((left, left - 1), (right, right + 3)):
            fourth = np.where((outer < 1) | (outer >= last), np.clip(outer, 4, last - 4), outer)
            beyond = self._parabola(start, self._ends[fourth]) - self._values[fourth]
            apart += 4 * np.abs(beyond)
        return np.min(both, axis=(0, 1)) - apart, np.max(both, axis=(0, 1)) + apart, apart

    def _parabola(self, start: np.ndarray, t: np.ndarray) -> np.ndarray:
        """The parabola through the points start, start+1, start+2 of the grid, at t."""
        a, b, c = (self._values[start + j] for j in range(3))
        u = (t - self._ends[start]) / self._step
        return np.asarray(a + u * (b - a) + u * (u - 1) / 2 * (c - 2 * b + a))


def _local_maximum(steps: np.ndarray) -> np.ndarray:
    padded = np.pad(steps, _NEIGHBOURS, mode="edge")
    blocks = np.lib.stride_tricks.sliding_window_view(padded, 2 * _NEIGHBOURS + 1)
    return np.asarray(blocks.max(axis=1))


def _followed(
    bent: Enclosed,
    cells: _Cells,
    beside: _Beside,
    least: float,
    ends: tuple[float, float],
) -> Narrow:
    """Halve the cells until each is understood, short, or there are too many."""
    done = [_NONE]
    while len(cells.low):
        over, second = bent(cells.low, cells.high)
        at_ends = bent.at(cells.low, cells.high)
        width, loose = cells.high - cells.low, over.loose | second.loose
        bow = np.maximum(np.abs(second.low), np.abs(second.high)) * width**2 / 8
        bow = np.where(loose | ~np.isfinite(bow), np.inf, bow)
        top = np.minimum(np.maximum(*at_ends) + bow, over.high)
        bottom = np.maximum(np.minimum(*at_ends) - bow, over.low)
        floor, ceiling, apart = beside.range(cells)
        height = np.maximum(np.maximum(top - ceiling, floor - bottom), 0.0)
        height[height <= _ROUNDING * (np.abs(top) + np.abs(bottom))] = 0.0
        short = width <= least
        known = ~loose & (bow <= 1e-3 * height + apart + _ROUNDING * (np.abs(top) + np.abs(bottom)))
        ended = short | known
        ended |= 2 * np.count_nonzero(~ended) > _MOST
        plain = ended & ~(short & loose) & (height > 0)
        done.append(Narrow(cells.low[plain], cells.high[plain], height[plain]))
        done.append(_points(bent, cells.take(short & loose), least, ends))
        cells = cells.take(~ended).halved()
    return _joined(done)


def _points(
    bent: Enclosed,
    cells: _Cells,
    least: float,
    ends: tuple[float, float],
) -> Narrow:
    """Places where a comparison turns: how far the value there may leave those on both sides.

    A jump from one side to the other is no feature of its own: the series sees both sides.
    """
    if not len(cells.low):
        return _NONE
    order = np.argsort(cells.low)
    low, high = cells.low[order], cells.high[order]
    first = np.concatenate([[True], low[1:] > high[:-1] + least])
    starts = low[first]
    stops = np.append(high[:-1][first[1:]], high[-1])
    over, _ = bent(starts, stops)
    before, after = starts - least, stops + least
    before = np.where(before < ends[0], after, before)
    after = np.where(after > ends[1], before, after)
    *sides, further = bent.at(before, after, before - least)
    height = np.maximum(over.high - np.maximum(*sides), np.minimum(*sides) - over.low)
    # A bend is as high as its slope times the length; rounding of s moves it by as much.
    slope = np.abs(sides[0] - further)
    kept = ~(height <= 4 * slope + _ROUNDING * (np.abs(sides[0]) + np.abs(sides[1])))
    return Narrow(starts[kept], stops[kept], height[kept])


def _outside(bent: Enclosed, low: float, high: float, reach: float) -> Narrow:
    """Beyond the window, which 1e-15 of the inputs reach: the range of values, coarsely."""
    parts = [np.linspace(a, b, 65) for a, b in ((0.0, low), (high, reach)) if b > a]
    if not parts:
        return _NONE
    starts = np.concatenate([ends[:-1] for ends in parts])
    stops = np.concatenate([ends[1:] for ends in parts])
    over, _ = bent(starts, stops)
    return Narrow(starts, stops, over.high - over.low)


def _joined(some: list[Narrow]) -> Narrow:
    return Narrow(*(np.concatenate(parts) for parts in zip(_NONE, *some, strict=True)))


def _merged(found: Narrow, gap: float) -> Narrow:
    """Stretches that touch as one, as high as the highest of them."""
    order = np.argsort(found.low)
    low, high, height = (part[order] for part in found)
    first = np.concatenate([[True], low[1:] > np.maximum.accumulate(high)[:-1] + gap])
    starts = np.flatnonzero(first)
    return Narrow(
        low[starts], np.maximum.reduceat(high, starts), np.maximum.reduceat(height, starts)
    )


def _chances(case: Case, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Chernoff: P(s ≤ a) ≤ e^{ta} E[e^{-ts}] for every t > 0, and the same from above."""
    g, p, k = case.weights, case.problem.probabilities, float(case.problem.k)
    tilts = np.geomspace(1e-2, 1e14, 160) / k
    best = np.ones(len(low))
    for absent, ends in ((1 - p, high), (p, k - low)):
        for tilt in tilts:
            gone = float(np.sum(np.log(absent + (1 - absent) * np.exp(-tilt * g))))
            best = np.minimum(best, np.exp(np.minimum(tilt * np.maximum(ends, 0.0) + gone, 0.0)))
    return best


def _bernstein(found: Narrow, chosen: np.ndarray, sums: np.ndarray, shift: float) -> float:
    """The mean height at random sums may be at most this, at confidence 1 - 1e-6."""
    if not chosen.any():
        return 0.0
    low, high, height = (part[chosen] for part in found)
    met = np.zeros(len(sums))
    order = np.argsort(sums)
    ranked = sums[order]
    first = np.searchsorted(ranked, low - shift, side="left")
    last = np.searchsorted(ranked, high + shift, side="right")
    for start, stop, each in zip(first, last, height, strict=True):
        met[start:stop] = np.maximum(met[start:stop], each)
    with np.errstate(invalid="ignore"):
        bound = met.mean() + 5.4 * met.std() / len(met) ** 0.5 + 34 * height.max() / len(met)
    return float(bound) if np.isfinite(bound) else math.inf

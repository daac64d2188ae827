"""The split product on an accelerator: int8 products with exact int32 sums, in tiles of one shape.

In colexicographic order the sets of below + 1 columns that end in one pivot lie side by side, and
the sets above the pivot are the first ones of their list, fewer the later the pivot. So all subsets
are one product of two lists under a staircase. A first pass keeps only the best score of every
tile; the best few tiles are then computed again to see which subset it was. Nothing but tiles and
the two lists is held.
"""

import math
import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import islice
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from xorfind.solvers.correlation import BestSets, colex, count_subsets, moments

#: Subsets per tile with the pivot and above it.
TALL, WIDE = 8192, 16384
#: Tiles computed before the clock is read.
AHEAD = 64
#: Bytes that one list of products may take.
LARGEST_LIST = 16 << 30
#: Columns of rows are filled up to multiples of this.
INNER = 128


@lru_cache(maxsize=1)
def has_accelerator() -> bool:
    """Whether jax computes on something else than the CPU."""
    return jax.default_backend() != "cpu"


class Split(NamedTuple):
    """How subsets of n columns are split: members below the pivot, and above it."""

    n: int
    below: int
    above: int

    @property
    def lows(self) -> int:
        """Sets of columns up to and with a pivot."""
        return math.comb(self.n - self.above, self.below + 1)

    @property
    def highs(self) -> int:
        """Sets of columns above the first pivot."""
        return math.comb(self.n - self.below - 1, self.above)

    def limits(self) -> np.ndarray:
        """For each set with its pivot, how many sets lie above it; never growing."""
        pivots = np.arange(self.below, self.n - self.above)
        counts = [math.comb(each, self.below) for each in pivots.tolist()]
        above = [math.comb(self.n - 1 - each, self.above) for each in pivots.tolist()]
        return np.repeat(np.array(above, np.int64), counts)


def split_of(n: int, size: int) -> Split:
    """The split at the median."""
    below = (size - 1) // 2
    return Split(n, below, size - 1 - below)


def fits_device(n: int, rows: int, size: int) -> bool:
    """Whether there is room for the list with the pivots; the other one is never longer."""
    return split_of(n, size).lows * (rows + INNER) <= LARGEST_LIST


class Tile(NamedTuple):
    """Sets number low … with their pivots, high … above; subsets: how many of them there are."""

    low: int
    high: int
    subsets: int


def device_correlate(
    signs: np.ndarray,
    labels: np.ndarray,
    size: int,
    *,
    keep: int = 32,
    deadline: float = math.inf,
    progress: Callable[[float], None] | None = None,
) -> BestSets:
    """As `correlation.correlate` for sizes from 3 on; one subset per tile is kept."""
    total = count_subsets(len(signs), size)
    sides = _Sides(signs, labels, split_of(len(signs), size))
    best: list[tuple[float, Tile]] = []
    done = 0
    every = tiles(sides.split)
    while batch := list(islice(every, AHEAD)):
        scores = sides.best(batch)
        best += [(float(score), each) for score, each in zip(scores, batch, strict=True)]
        best = sorted(best, key=lambda pair: -pair[0])[:keep]
        done += sum(tile.subsets for tile in batch)
        if progress is not None:
            progress(done / total)
        if time.perf_counter() > deadline:
            break
    subsets = [sides.named(tile) for _, tile in best]
    return BestSets(subsets, done, done == total)


def tiles(split: Split) -> Iterator[Tile]:
    """Tiles that hold every subset once."""
    limits = split.limits()
    for low in range(0, len(limits), TALL):
        heights, counts = np.unique(limits[low : low + TALL], return_counts=True)
        for high in range(0, int(heights[-1]), WIDE):
            yield Tile(low, high, int(np.clip(heights - high, 0, WIDE) @ counts))


class _Sides:
    """Products with and above the pivots on the device, and the compiled tile."""

    def __init__(self, signs: np.ndarray, labels: np.ndarray, split: Split) -> None:
        self.split = split
        which = moments(signs, labels)
        # Raw labels rank as centred ones do where both margins are about even.
        even = len(which.parts) == 1
        self.margins = np.array([which.mean, which.rows], np.float32)
        self.lower, self.upper = list[Any](), list[Any]()
        for rows, _ in which.parts:
            chosen = signs[:, rows]
            room = -(-chosen.shape[1] // INNER) * INNER
            columns, weights = np.zeros((split.n, room), np.int8), np.zeros(room, np.int8)
            columns[:, : chosen.shape[1]] = chosen
            weights[: chosen.shape[1]] = labels if even else 1
            below, above = jnp.asarray(columns), jnp.asarray(columns[::-1])
            self.lower.append(listed(below, split.below + 1, split.lows, TALL, weights))
            self.upper.append(listed(above, split.above, split.highs, WIDE))
        limits = np.zeros(-(-split.lows // TALL) * TALL, np.int32)
        limits[: split.lows] = split.limits()
        self.limits = jnp.asarray(limits)

    def best(self, batch: list[Tile]) -> np.ndarray:
        """The best score of each tile."""
        # Repeats of the first tile fill the batch up to its one compiled shape.
        filled = [*batch, *[batch[0]] * (AHEAD - len(batch))]
        corners = np.array([(tile.low, tile.high) for tile in filled], np.int32)
        sides = (self.lower, self.upper, self.limits)
        return np.asarray(_tile_scores(*sides, corners, self.margins, (TALL, WIDE)))[: len(batch)]

    def named(self, tile: Tile) -> tuple[int, ...]:
        """The best subset of a tile, as numbers of columns."""
        sides, corner = (self.lower, self.upper, self.limits), np.array(tile[:2], np.int32)
        at = int(_tile_best(*sides, corner, self.margins, (TALL, WIDE)))
        n, below, above = self.split
        low = colex(np.array([tile.low + at // WIDE]), below + 1)[0]
        high = colex(np.array([tile.high + at % WIDE]), above)[0]
        return tuple(sorted([*low.tolist(), *(n - 1 - high).tolist()]))


def listed(columns: Any, size: int, count: int, room: int, weights: Any = None) -> Any:
    """Products of columns over the first `count` sets, and zeros to fill the last tile.

    Each is the product over all members but the last, from the list of smaller sets, times that.
    """
    alive = np.zeros(-(-count // room) * room, np.int8)
    alive[:count] = 1
    before, last = np.zeros((2, len(alive)), np.int32)
    firsts = np.array([math.comb(each, size) for each in range(len(columns) + 1)], np.int64)
    member = np.repeat(np.arange(len(columns)), np.diff(firsts))[:count]
    last[:count] = member
    before[:count] = np.arange(count) - firsts[member]
    if size == 1:
        smaller = jnp.ones((1, columns.shape[1]), jnp.int8)
    else:
        smaller = listed(columns, size - 1, int(before.max(initial=0)) + 1, 1)
    given = np.ones(columns.shape[1], np.int8) if weights is None else weights
    return _extended(smaller, columns, before, last, alive, given)


@jax.jit
def _extended(smaller: Any, columns: Any, before: Any, last: Any, alive: Any, weights: Any) -> Any:
    return smaller[before] * columns[last] * alive[:, None] * weights[None, :]


@partial(jax.jit, static_argnums=(5,))
def _tile_scores(
    lower: Any, upper: Any, limits: Any, corners: Any, margins: Any, shape: tuple[int, int]
) -> Any:
    """The largest score of each tile."""

    def one(corner: Any) -> Any:
        lefts, rights, inside = _tile(lower, upper, limits, corner, shape)
        return jnp.max(_scores(lefts, rights, inside, margins))

    return jax.lax.map(one, corners)


@partial(jax.jit, static_argnums=(5,))
def _tile_best(
    lower: Any, upper: Any, limits: Any, corner: Any, margins: Any, shape: tuple[int, int]
) -> Any:
    """Where the largest score of a tile is."""
    lefts, rights, inside = _tile(lower, upper, limits, corner, shape)
    return jnp.argmax(_scores(lefts, rights, inside, margins).reshape(-1))


def _tile(lower: Any, upper: Any, limits: Any, corner: Any, shape: tuple[int, int]) -> Any:
    """Products with and above the pivots in a tile, and how many of the latter each may take."""
    (low, high), (tall, wide) = corner, shape
    lefts = [jax.lax.dynamic_slice_in_dim(each, low, tall) for each in lower]
    rights = [jax.lax.dynamic_slice_in_dim(each, high, wide) for each in upper]
    return lefts, rights, jax.lax.dynamic_slice_in_dim(limits, low, tall) - high


def _scores(lefts: Any, rights: Any, inside: Any, margins: Any) -> Any:
    """As `Moments.score`, -1 outside: size of the sum, or the squared correlation from two."""
    sums = [
        jax.lax.dot_general(left, right, (((1,), (1,)), ((), ())), preferred_element_type=jnp.int32)
        for left, right in zip(lefts, rights, strict=True)
    ]
    if len(sums) == 1:
        scores = jnp.abs(sums[0]).astype(jnp.float32)
    else:
        mean, rows = margins
        plus, minus = (each.astype(jnp.float32) for each in sums)
        total = plus + minus
        covariance = plus - minus - mean * total
        scores = covariance**2 / jnp.maximum(rows - total * total / rows, 0.5)
    return jnp.where(jnp.arange(scores.shape[1])[None, :] < inside[:, None], scores, -1.0)

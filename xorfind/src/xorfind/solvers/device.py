"""The split product on an accelerator: int8 products with exact int32 sums, in tiles of one shape.

In colexicographic order the sets of below + 1 columns that end in one pivot lie side by side, and
the sets above the pivot are the first ones of their list, fewer the later the pivot. So all subsets
are one product of two lists under a staircase. A first pass keeps only the best score of every
tile; the best few tiles are then computed again to see which subset it was. Nothing but tiles and
the two lists is held.

XLA writes a product to memory before it reduces it, four bytes for every subset. Where it compiles,
a kernel keeps a block of sums in registers, takes the largest size under the staircase and writes
that one number: 1.9 times as fast, and its first call takes 0.5 s instead of 7 (one H200).
"""

import math
import time
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

from xorfind.solvers.correlation import BestSets, colex, count_subsets, moments

#: Subsets per tile with the pivot and above it.
TALL, WIDE = 8192, 16384
#: Tiles computed before the clock is read.
AHEAD = 64
#: Bytes that one list of products may take; the list above the pivots goes in parts.
LARGEST_LIST = 16 << 30
#: Sums held by one program, rows and columns, and rows of the table per step of its loop.
HIGH, BROAD, INNER = 128, 128, 128
#: Warps of a program, and steps that it loads ahead.
WARPS, STAGES = 8, 3


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
    """Whether the list that is held whole has room."""
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
    on_chip: bool | None = None,
) -> BestSets:
    """As `correlation.correlate` for sizes from 3 on; one subset per tile is kept.

    on_chip: whether tiles stay on the chip; None: wherever that works.
    """
    total = count_subsets(len(signs), size)
    sides = _Sides(signs, labels, split_of(len(signs), size), on_chip)
    best: list[tuple[float, Tile]] = []
    done = 0
    for batch in _batches(sides):
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


def _batches(sides: "_Sides") -> Iterator[list[Tile]]:
    """Tiles of one part of the upper list, AHEAD at a time."""
    batch: list[Tile] = []
    for tile in tiles(sides.split, sides.most_high):
        if batch and (len(batch) == AHEAD or sides.part(tile) != sides.part(batch[0])):
            yield batch
            batch = []
        batch.append(tile)
    yield batch


def tiles(split: Split, most_high: int) -> Iterator[Tile]:
    """Tiles that hold every subset once; parts of the upper list come one after the other."""
    limits = split.limits()
    for start in range(0, split.highs, most_high):
        for low in range(0, len(limits), TALL):
            heights, counts = np.unique(limits[low : low + TALL], return_counts=True)
            for high in range(start, min(int(heights[-1]), start + most_high), WIDE):
                yield Tile(low, high, int(np.clip(heights - high, 0, WIDE) @ counts))


class _Sides:
    """Products with and above the pivots on the device, and the compiled tile."""

    def __init__(
        self, signs: np.ndarray, labels: np.ndarray, split: Split, on_chip: bool | None
    ) -> None:
        self.split = split
        which = moments(signs, labels)
        # Raw labels rank as centred ones do where both margins are about even.
        even = len(which.parts) == 1
        self.on_chip = even and (works() if on_chip is None else on_chip)
        self.margins = np.array([which.mean, which.rows], np.float32)
        self.columns, self.lower = [], []
        for rows, _ in which.parts:
            chosen = signs[:, rows]
            room = -(-chosen.shape[1] // INNER) * INNER
            columns, weights = np.zeros((split.n, room), np.int8), np.zeros(room, np.int8)
            columns[:, : chosen.shape[1]] = chosen
            weights[: chosen.shape[1]] = labels if even else 1
            self.columns.append(jnp.asarray(columns[::-1]))
            self.lower.append(
                listed(jnp.asarray(columns), split.below + 1, 0, split.lows, TALL, weights)
            )
        limits = np.zeros(-(-split.lows // TALL) * TALL, np.int64)
        limits[: split.lows] = split.limits()
        self.limits = limits
        widest = max(each.shape[1] for each in self.columns)
        self.most_high = max(WIDE, LARGEST_LIST // widest // WIDE * WIDE)
        self.start, self.upper, self.here = -1, list[Any](), jnp.zeros(0)

    def part(self, tile: Tile) -> int:
        """Where the part of the upper list begins that a tile needs."""
        return tile.high // self.most_high * self.most_high

    def best(self, batch: list[Tile]) -> np.ndarray:
        """The best score of each tile; all of one part."""
        self._load(self.part(batch[0]))
        corners = np.zeros((AHEAD, 2), np.int32)
        corners[: len(batch)] = [(tile.low, tile.high - self.start) for tile in batch]
        # Repeats of the first tile fill the batch up to its one compiled shape.
        corners[len(batch) :] = corners[0]
        made = _tile_scores(
            self.lower, self.upper, self.here, corners, self.margins, self._shape, self.on_chip
        )
        return np.asarray(made)[: len(batch)]

    def named(self, tile: Tile) -> tuple[int, ...]:
        """The best subset of a tile, as numbers of columns."""
        self._load(self.part(tile))
        corner = np.array([tile.low, tile.high - self.start], np.int32)
        at = int(_tile_best(self.lower, self.upper, self.here, corner, self.margins, self._shape))
        n, below, above = self.split
        low = colex(np.array([tile.low + at // WIDE]), below + 1)[0]
        high = colex(np.array([tile.high + at % WIDE]), above)[0]
        return tuple(sorted([*low.tolist(), *(n - 1 - high).tolist()]))

    @property
    def _shape(self) -> tuple[int, int]:
        return TALL, WIDE

    def _load(self, start: int) -> None:
        if start == self.start:
            return
        self.start, self.upper = start, []
        stop = min(start + self.most_high, self.split.highs)
        self.here = jnp.asarray(np.clip(self.limits - start, 0, stop - start).astype(np.int32))
        self.upper = [listed(c, self.split.above, start, stop, WIDE) for c in self.columns]


def listed(columns: Any, size: int, start: int, stop: int, room: int, weights: Any = None) -> Any:
    """Products of columns over sets number start … stop-1, and zeros to fill the last tile.

    Each is the product over all members but the last, from the list of smaller sets, times that.
    """
    alive = np.zeros(-(-(stop - start) // room) * room, np.int8)
    alive[: stop - start] = 1
    before, last = np.zeros((2, len(alive)), np.int32)
    firsts = np.array([math.comb(each, size) for each in range(len(columns) + 1)], np.int64)
    member = np.repeat(np.arange(len(columns)), np.diff(firsts))[start:stop]
    last[: stop - start] = member
    before[: stop - start] = np.arange(start, stop) - firsts[member]
    if size == 1:
        smaller = jnp.ones((1, columns.shape[1]), jnp.int8)
    else:
        smaller = listed(columns, size - 1, 0, int(before.max(initial=0)) + 1, 1)
    given = np.ones(columns.shape[1], np.int8) if weights is None else weights
    return _extended(smaller, columns, before, last, alive, given)


@jax.jit
def _extended(smaller: Any, columns: Any, before: Any, last: Any, alive: Any, weights: Any) -> Any:
    return smaller[before] * columns[last] * alive[:, None] * weights[None, :]


@partial(jax.jit, static_argnums=(5, 6))
def _tile_scores(
    lower: Any,
    upper: Any,
    limits: Any,
    corners: Any,
    margins: Any,
    shape: tuple[int, int],
    on_chip: bool,
) -> Any:
    """The largest score of each tile."""

    def one(corner: Any) -> Any:
        lefts, rights, inside = _tile(lower, upper, limits, corner, shape)
        if on_chip:
            return largest_sum(lefts[0], rights[0], inside).astype(jnp.float32)
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


# The kernel.


def largest_sum(left: Any, right: Any, inside: Any, interpret: bool = False) -> Any:
    """max |left·rightᵀ| over places (i, j) with j < inside[i], -1 if there are none, as int32.

    left: ±1 or 0 in int8, (a, N). right: (b, N). inside: int32, (a,). a, b and N are multiples of
    HIGH, BROAD and INNER. interpret: run the kernel as plain operations, for tests.
    """
    (rows, inner), columns = left.shape, right.shape[0]
    if rows % HIGH or columns % BROAD or inner % INNER:
        raise ValueError(
            f"a tile must be multiples of {HIGH}, {BROAD}, {INNER}; got {rows}, {columns}, {inner}"
        )
    grid = (columns // BROAD, rows // HIGH)
    made = pl.pallas_call(
        _kernel,
        grid=grid,
        in_specs=[
            pl.BlockSpec((HIGH, inner), lambda j, i: (i, 0)),
            pl.BlockSpec((BROAD, inner), lambda j, i: (j, 0)),
            pl.BlockSpec((HIGH,), lambda j, i: (i,)),
        ],
        out_specs=pl.BlockSpec((1, 1), lambda j, i: (j, i)),
        out_shape=jax.ShapeDtypeStruct(grid, jnp.int32),  # type: ignore[no-untyped-call]
        interpret=interpret,
        **({} if interpret else {"compiler_params": _parameters()}),
    )(left, right, inside)
    return jnp.max(made)


def _kernel(left: Any, right: Any, inside: Any, out: Any) -> None:
    first = pl.program_id(0) * BROAD
    limits = inside[:] - first
    out[0, 0] = jnp.int32(-1)

    @pl.when(jnp.max(limits) > 0)
    def _compute() -> None:
        def step(at: Any, sums: Any) -> Any:
            part = pl.ds(at * INNER, INNER)
            return sums + jax.lax.dot_general(
                left[:, part],
                right[:, part],
                (((1,), (1,)), ((), ())),
                preferred_element_type=jnp.int32,
            )

        zeros = jnp.zeros((HIGH, BROAD), jnp.int32)
        sums = jax.lax.fori_loop(0, left.shape[1] // INNER, step, zeros)
        places = jax.lax.broadcasted_iota(jnp.int32, (HIGH, BROAD), 1)
        out[0, 0] = jnp.max(jnp.where(places < limits[:, None], jnp.abs(sums), -1))


def _parameters() -> Any:
    from jax.experimental.pallas import triton

    return triton.CompilerParams(num_warps=WARPS, num_stages=STAGES)


@lru_cache(maxsize=1)
def works() -> bool:
    """Whether the kernel compiles here and gives what a plain product gives."""
    if jax.default_backend() != "gpu":
        return False
    generator = np.random.default_rng(0)
    left, right = (
        jnp.asarray(generator.choice([-1, 1], (size, 2 * INNER)).astype(np.int8))
        for size in (2 * HIGH, 2 * BROAD)
    )
    inside = np.sort(generator.integers(0, 2 * BROAD, 2 * HIGH))[::-1].astype(np.int32)
    try:
        found = int(jax.jit(largest_sum)(left, right, jnp.asarray(inside)))
    except (jax.errors.JaxRuntimeError, NotImplementedError, ImportError) as error:
        warnings.warn(
            f"the kernel of xorfind does not compile here ({type(error).__name__}); large searches "
            "use the plain product, which takes about twice as long",
            stacklevel=2,
        )
        return False
    return found == plain_largest(left, right, inside)


def plain_largest(left: Any, right: Any, inside: Any) -> int:
    """`largest_sum` by numpy: float32 is exact up to 2^24 rows."""
    sums = np.abs(np.asarray(left, np.float32) @ np.asarray(right, np.float32).T)
    within = np.arange(sums.shape[1])[None, :] < np.asarray(inside)[:, None]
    return int(np.where(within, sums, -1).max())

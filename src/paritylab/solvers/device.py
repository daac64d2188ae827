"""The split product on an accelerator: int8 products with exact int32 sums, in tiles of one shape.

A first pass keeps only the best score of every tile; the best few tiles are then computed again to
see which subset it was. Nothing but tiles and the two lists of products is held.
"""

import math
import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.solvers.correlation import Found, colex, count_subsets, moments

#: Subsets per tile below and above the pivot, the second for pivots with few sets above.
TALL, WIDE, NARROW = 4096, 65536, 8192
#: Tiles in flight before the clock is read.
AHEAD = 64
#: Bytes that one list of products may take; longer ones go in parts.
LARGEST_LIST = 16 << 30


@lru_cache(maxsize=1)
def has_accelerator() -> bool:
    """Whether jax computes on something else than the CPU."""
    return jax.default_backend() != "cpu"


def fits_device(n: int, rows: int, size: int) -> bool:
    """Whether the list of products below the pivots, which is held whole, has room."""
    below = (size - 1) // 2
    return math.comb(n - (size - 1 - below) - 1, below) * (rows + 32) <= LARGEST_LIST


class Tile(NamedTuple):
    """A block of subsets: sets number low … below and high … above of one pivot.

    lows, highs: how many sets there are below and above the pivot. tall, wide: shape.
    """

    pivot: int
    low: int
    high: int
    lows: int
    highs: int
    tall: int
    wide: int

    @property
    def subsets(self) -> int:
        return min(self.tall, self.lows - self.low) * min(self.wide, self.highs - self.high)


def device_correlate(
    signs: np.ndarray,
    labels: np.ndarray,
    size: int,
    *,
    keep: int = 32,
    deadline: float = math.inf,
    progress: Callable[[float], None] | None = None,
) -> Found:
    """As `correlation.correlate` for sizes from 3 on; one subset per tile is kept."""
    n, total = len(signs), count_subsets(len(signs), size)
    below, above = (size - 1) // 2, size - 1 - (size - 1) // 2
    sides = _Sides(signs, labels, below, above)
    best: list[tuple[float, Tile]] = []
    done, batch = 0, list[tuple[Tile, Any]]()
    for tile in _tiles(n, below, above, sides.most_high):
        batch.append((tile, sides.best(tile)))
        done += tile.subsets
        if len(batch) < AHEAD and done < total:
            continue
        scores = np.asarray(jnp.stack([score for _, score in batch]))
        best += [(float(score), each) for score, (each, _) in zip(scores, batch, strict=True)]
        best = sorted(best, key=lambda pair: -pair[0])[:keep]
        batch = []
        if progress is not None:
            progress(done / total)
        if time.perf_counter() > deadline:
            break
    subsets = [sides.named(tile) for _, tile in best]
    return Found(subsets, done, done == total)


def _tiles(n: int, below: int, above: int, most_high: int) -> Iterator[Tile]:
    """Tiles that hold every subset once; parts of the upper list come one after the other."""
    for start in range(0, math.comb(n - below - 1, above), most_high):
        for pivot in range(below, n - above):
            lows, highs = math.comb(pivot, below), math.comb(n - 1 - pivot, above)
            stop = min(highs, start + most_high)
            if stop <= start:
                break
            tall = min(TALL, max(32, 1 << (lows - 1).bit_length()))
            wide = min(most_high, WIDE if stop - start > NARROW else NARROW)
            for high in range(start, stop, wide):
                for low in range(0, lows, tall):
                    yield Tile(pivot, low, high, lows, stop, tall, wide)


class _Sides:
    """Products below and above the pivots on the device, and the compiled tile."""

    def __init__(self, signs: np.ndarray, labels: np.ndarray, below: int, above: int) -> None:
        self.n, self.below, self.above = len(signs), below, above
        which = moments(signs, labels)
        self.mean, self.rows = which.mean, which.rows
        # Raw labels rank as centred ones do where both margins are about even.
        even = len(which.parts) == 1
        groups = [np.arange(self.rows)] if even else [rows for rows, _ in which.parts]
        self.columns, self.weights = [], []
        for rows in groups:
            room = -(-len(rows) // 32) * 32
            columns, weights = np.zeros((self.n, room), np.int8), np.zeros(room, np.int8)
            columns[:, : len(rows)] = signs[:, rows]
            weights[: len(rows)] = labels[rows] if even else 1
            self.columns.append(jnp.asarray(columns))
            self.weights.append(jnp.asarray(weights))
        widest = max(each.shape[1] for each in self.columns)
        self.most_high = max(WIDE, LARGEST_LIST // widest // WIDE * WIDE)
        count = math.comb(self.n - above - 1, below)
        self.lower = [_listed(c, below, 0, count, TALL) for c in self.columns]
        self.start, self.upper = -1, list[Any]()

    def best(self, tile: Tile) -> Any:
        return self._tile(tile, False)

    def named(self, tile: Tile) -> tuple[int, ...]:
        """The best subset of a tile, as numbers of columns."""
        at = int(self._tile(tile, True))
        low = colex(np.array([tile.low + at // tile.wide]), self.below)[0]
        high = colex(np.array([tile.high + at % tile.wide]), self.above)[0]
        return tuple(sorted([*low.tolist(), tile.pivot, *(self.n - 1 - high).tolist()]))

    def _tile(self, tile: Tile, where: bool) -> Any:
        start = tile.high // self.most_high * self.most_high
        if start != self.start:
            self.start = start
            stop = min(start + self.most_high, math.comb(self.n - self.below - 1, self.above))
            self.upper = []
            self.upper = [_listed(c[::-1], self.above, start, stop, WIDE) for c in self.columns]
        parts = [
            (lower, upper, weights * columns[tile.pivot])
            for lower, upper, weights, columns in zip(
                self.lower, self.upper, self.weights, self.columns, strict=True
            )
        ]
        corner = np.array([tile.low, tile.high - start, tile.lows, tile.highs - start], np.int32)
        margins = np.array([self.mean, self.rows], np.float32)
        return _tile_best(parts, corner, margins, tile.tall, tile.wide, where)


def _listed(columns: Any, size: int, start: int, stop: int, room: int) -> Any:
    """Products of columns over sets number start … stop-1, and zeros to fill the last tile."""
    made, step = [], 1 << 20
    for at in range(start, stop, step):
        sets = colex(np.arange(at, min(at + step, stop)), size).astype(np.int32)
        made.append(_products(columns, jnp.asarray(sets)))
    fill = -(stop - start) % room
    made.append(jnp.zeros((fill, columns.shape[1]), jnp.int8))
    return jnp.concatenate(made)


@jax.jit
def _products(columns: Any, sets: Any) -> Any:
    made = jnp.ones((sets.shape[0], columns.shape[1]), jnp.int8)
    for member in range(sets.shape[1]):
        made = made * columns[sets[:, member]]
    return made


@partial(jax.jit, static_argnums=(3, 4, 5))
def _tile_best(parts: Any, corner: Any, margins: Any, tall: int, wide: int, where: bool) -> Any:
    """The largest score of a tile, or where it is."""
    low, high, lows, highs = corner
    sums = []
    for lower, upper, weights in parts:
        left = jax.lax.dynamic_slice_in_dim(lower, low, tall) * weights[None, :]
        right = jax.lax.dynamic_slice_in_dim(upper, high, wide)
        sums.append(
            jax.lax.dot_general(
                left, right, (((1,), (1,)), ((), ())), preferred_element_type=jnp.int32
            )
        )
    inside = (low + jnp.arange(tall) < lows)[:, None] & (high + jnp.arange(wide) < highs)[None, :]
    scores = jnp.where(inside, _score(sums, *margins), -1.0)
    return jnp.argmax(scores.reshape(-1)) if where else jnp.max(scores)


def _score(sums: list[Any], mean: Any, rows: Any) -> Any:
    """As `Moments.score`: size of the sum, or the squared correlation from two of them."""
    if len(sums) == 1:
        return jnp.abs(sums[0]).astype(jnp.float32)
    plus, minus = (each.astype(jnp.float32) for each in sums)
    total = plus + minus
    covariance = plus - minus - mean * total
    return covariance**2 / jnp.maximum(rows - total * total / rows, 0.5)

"""Every subset of a size by the split product.

A subset is split at its pivot, the element with ⌊(k-1)/2⌋ members below: products of the columns
below it times label and pivot, against products of the columns above it, give the correlation of
every such subset in one matrix product. In colexicographic order the sets below a pivot, and, with
columns counted from the end, those above it, are the first ones of one list; so every
subset is examined exactly once and memory stays in blocks.
"""

import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

#: Products of one side in memory at a time (64 MB), numbers in one block of correlations, and its
#: width.
SIDE, BLOCK, BLOCK_WIDTH = 1 << 24, 1 << 19, 1024
#: Pairs: columns in one tile, and multiplications in a tile, which take less than a second, so that
#: the clock is read in time.
TILE_WIDTH, TILE_WORK = 4096, 1 << 32
#: Rows and columns converted to float32 at a time: as many as fit into a cache.
CACHE_ROWS, CACHE_COLUMNS = 1 << 12, 512


class BestSubsets(NamedTuple):
    """The best subsets of a search, as places of distinct columns, and how far it came."""

    subsets: list[tuple[int, ...]]
    examined: int
    complete: bool


class Moments(NamedTuple):
    """Which products give a subset's score.

    parts: one or two selections of rows with their weights. Centred labels alone rank subsets
    whose columns are about balanced; otherwise the sums over rows with label +1 and -1 do, and cost
    no more.
    """

    parts: list[tuple[Any, np.ndarray]]
    mean: float
    rows: int

    def score(self, sums: list[np.ndarray]) -> np.ndarray:
        """Squared correlation of label and parity, up to a constant factor."""
        if len(sums) == 1:
            np.abs(sums[0], out=sums[0])
            return sums[0]
        plus, minus = sums
        total = plus + minus
        covariance = plus - minus - np.float32(self.mean) * total
        spread = np.float32(self.rows) - total * total / np.float32(self.rows)
        scores: np.ndarray = covariance * covariance / np.maximum(spread, np.float32(0.5))
        return scores


def moments(signs: np.ndarray, labels: np.ndarray) -> Moments:
    """Row selections and weights for columns (n, N) and labels (N,)."""
    mean, rows = float(labels.mean()), len(labels)
    if abs(mean) <= 0.5 and np.abs(signs.mean(axis=1)).max(initial=0) <= 0.5:
        return Moments([(slice(None), (labels - mean).astype(np.float32))], mean, rows)
    plus, minus = np.flatnonzero(labels > 0), np.flatnonzero(labels < 0)
    parts = [(plus, np.ones(len(plus), np.float32)), (minus, np.ones(len(minus), np.float32))]
    return Moments(parts, mean, rows)


def colex(ranks: np.ndarray, size: int) -> np.ndarray:
    """The sets of `size` naturals at these places of the colexicographic order, (places, size).

    >>> colex(np.arange(4), 2).tolist()
    [[0, 1], [0, 2], [1, 2], [0, 3]]
    """
    left = np.asarray(ranks, dtype=np.int64)
    members = np.empty((len(left), size), dtype=np.int64)
    for part in range(size, 0, -1):
        table = _binomials(part, int(left.max(initial=0)))
        at = np.searchsorted(table, left, side="right") - 1
        members[:, part - 1] = at + part - 1
        left = left - table[at]
    return members


def _binomials(part: int, limit: int) -> np.ndarray:
    """C(part-1, part), C(part, part), … up to the first that exceeds a number."""
    table, top = [0], part - 1
    while table[-1] <= limit:
        top += 1
        table.append(math.comb(top, part))
    return np.array(table, dtype=np.int64)


def products(columns: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Products of columns ±1 (n, N) over sets (M, size), in float32: (M, N)."""
    product = np.ones((len(sets), columns.shape[1]), columns.dtype)
    for member in sets.T:
        product *= columns[member]
    return product.astype(np.float32, copy=False)


class TopSubsets:
    """The subsets with the largest scores of those that were offered."""

    def __init__(self, keep: int) -> None:
        self.keep, self.threshold = keep, -1.0
        self.scores, self.sets = np.zeros(0), np.zeros((0, 0), np.int64)

    def offer(self, scores: np.ndarray, members_at: Callable[[np.ndarray], np.ndarray]) -> None:
        """scores: of a block. members_at: from positions in the block to the sets there."""
        if scores.max(initial=-1.0) <= self.threshold:
            return
        flat = scores.ravel()
        at = np.flatnonzero(flat > self.threshold)
        if len(at) > self.keep:
            at = at[np.argpartition(flat[at], -self.keep)[-self.keep :]]
        new = members_at(at)
        values = np.concatenate([self.scores, flat[at].astype(np.float64)])
        members = np.concatenate([self.sets.reshape(-1, new.shape[1]), new])
        order = np.argsort(-values, kind="stable")[: self.keep]
        self.scores, self.sets = values[order], members[order]
        if len(order) == self.keep:
            self.threshold = float(self.scores[-1])


def correlate(
    signs: np.ndarray,
    labels: np.ndarray,
    size: int,
    *,
    keep: int = 32,
    deadline: float = math.inf,
    progress: Callable[[float], None] | None = None,
) -> BestSubsets:
    """The `keep` subsets of this size whose parity correlates most with the labels.

    signs: columns ±1 of any type, (n, N). labels: ±1, (N,). deadline: on time.perf_counter.
    """
    total = math.comb(len(signs), size)
    if not total:
        return BestSubsets([], 0, True)
    scoring, top, examined = moments(signs, labels), TopSubsets(keep), 0
    blocks = _small_subsets(signs, scoring, size) if size <= 2 else _split(signs, scoring, size)
    for scores, members_at, count in blocks:
        top.offer(scores, members_at)
        examined += count
        if progress is not None:
            progress(examined / total)
        if time.perf_counter() > deadline and examined < total:
            break
    subsets = [tuple(sorted(members)) for members in top.sets.tolist()]
    return BestSubsets(subsets, examined, examined == total)


#: Scores of a block of subsets, how to name them, and how many there are.
Block = tuple[np.ndarray, Callable[[np.ndarray], np.ndarray], int]


def _split(signs: np.ndarray, scoring: Moments, size: int) -> Iterator[Block]:
    """Subsets of three columns or more, by their pivot: blocks of the sets below it and above."""
    n, below = len(signs), (size - 1) // 2
    above, length = size - 1 - below, max(1, SIDE // signs.shape[1])
    signs_of_parts = [signs[:, rows] for rows, _ in scoring.parts]
    for uppers in _ranges(0, math.comb(n - below - 1, above), length):
        sets = n - 1 - colex(np.arange(*uppers), above)
        upper_parts = [products(columns, sets) for columns in signs_of_parts]
        for lowers in _ranges(0, math.comb(n - above - 1, below), length):
            lower_parts = [
                products(columns, colex(np.arange(*lowers), below)) for columns in signs_of_parts
            ]
            for pivot in range(below, n - above):
                # Only the first sets of each list lie wholly on their side of the pivot.
                left = min(lowers[1], math.comb(pivot, below))
                right = min(uppers[1], math.comb(n - 1 - pivot, above))
                width = min(right - uppers[0], BLOCK_WIDTH)
                if width <= 0:
                    continue
                for row in _ranges(lowers[0], left, max(1, BLOCK // BLOCK_WIDTH)):
                    low = slice(row[0] - lowers[0], row[1] - lowers[0])
                    weighted = [
                        part[low] * (weights * signs[pivot, rows])
                        for part, (rows, weights) in zip(lower_parts, scoring.parts, strict=True)
                    ]
                    for column in _ranges(uppers[0], right, width):
                        high = slice(column[0] - uppers[0], column[1] - uppers[0])
                        sums = [a @ b[high].T for a, b in zip(weighted, upper_parts, strict=True)]
                        corner = row[0], column[0], column[1] - column[0]
                        members_at = partial(_members_at, corner, pivot, n, below, above)
                        yield scoring.score(sums), members_at, sums[0].size


def _ranges(start: int, stop: int, length: int) -> list[tuple[int, int]]:
    return [(at, min(at + length, stop)) for at in range(start, stop, length)]


def _members_at(
    corner: tuple[int, int, int], pivot: int, n: int, below: int, above: int, at: np.ndarray
) -> np.ndarray:
    """The sets at positions of a block. corner: its first lower and upper set, and its width."""
    low, high, width = corner
    lows, highs = colex(low + at // width, below), colex(high + at % width, above)
    return np.concatenate([lows, np.full((len(at), 1), pivot), n - 1 - highs], axis=1)


def _small_subsets(signs: np.ndarray, scoring: Moments, size: int) -> Iterator[Block]:
    """Single columns, and pairs in tiles, each pair once by its triangle."""
    n = len(signs)
    parts = [(signs[:, rows], weights) for rows, weights in scoring.parts]
    if size == 1:
        ones = np.ones((1, signs.shape[1]), np.int8)
        sums = [weighted_product(ones[:, : len(w)], x, w) for x, w in parts]
        yield scoring.score(sums), lambda at: at[:, None], n
        return
    width = min(n, TILE_WIDTH)
    work = TILE_WORK // (2 * width * signs.shape[1])
    height = max(1, min(width, work, BLOCK * 4 // width))
    for top in range(0, n, height):
        for left in range(top, n, width):
            rows, columns = np.arange(top, min(top + height, n)), slice(left, left + width)
            sums = [weighted_product(x[top : top + height], x[columns], w) for x, w in parts]
            scores = scoring.score(sums)
            first = left + np.arange(scores.shape[1])
            pairs = first > rows[:, None]
            scores[~pairs] = -1.0
            yield scores, partial(_pairs_at, rows, first), int(pairs.sum())


def _pairs_at(rows: np.ndarray, columns: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The pairs at positions of a tile."""
    return np.stack([rows[at // len(columns)], columns[at % len(columns)]], axis=1)


def weighted_product(left: np.ndarray, right: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """left·diag(weights)·rightᵀ in float32, a small tile of the table at a time."""
    sums = np.zeros((len(left), len(right)), np.float32)
    space = np.empty((min(CACHE_COLUMNS, len(right)), min(CACHE_ROWS, len(weights))), np.float32)
    for at in range(0, len(weights), CACHE_ROWS):
        rows = slice(at, at + CACHE_ROWS)
        weighted = left[:, rows] * weights[rows]
        for first in range(0, len(right), CACHE_COLUMNS):
            columns = slice(first, first + CACHE_COLUMNS)
            part = right[columns, rows]
            tile = space[: part.shape[0], : part.shape[1]]
            tile[...] = part
            sums[:, columns] += weighted @ tile.T
    return sums

"""Elimination over GF(2) on packed bits: 64 columns of a row are one exclusive or."""

import math
import time
from typing import NamedTuple

import numpy as np

from xorfind.rows import packed, unpacked

#: Rows that `products` packs at a time.
PART = 1 << 13


class Echelon(NamedTuple):
    """Rows in reduced echelon form.

    rows: packed words, the first `rank` of them with a pivot each, which no other row has. pivots:
    their columns, ascending. order: which row each one came from; the first `rank` span all.
    """

    rows: np.ndarray
    pivots: np.ndarray
    order: np.ndarray

    @property
    def rank(self) -> int:
        return len(self.pivots)


def echelon(words: np.ndarray, columns: int, deadline: float = math.inf) -> Echelon:
    """Reduced echelon form of packed rows in their first `columns` columns; others follow along.

    deadline: on time.perf_counter; a TimeoutError says that it was missed.

    >>> bits = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], np.uint8)
    >>> echelon(packed(bits), 3).pivots.tolist()
    [0, 1]
    """
    rows, free = np.array(words, order="C"), np.ones(len(words), bool)
    chosen, pivots = list[int](), list[int]()
    for column in range(columns):
        if len(pivots) == len(rows):
            break
        if time.perf_counter() > deadline:
            raise TimeoutError("elimination ran out of time")
        word, bit = divmod(column, 64)
        has = np.flatnonzero(rows[:, word] >> np.uint64(bit) & np.uint64(1))
        first = has[free[has]][:1]
        if len(first):
            # The pivot row is zero in all columns before this one.
            rows[has[has != first], word:] ^= rows[first, word:]
            free[first] = False
            chosen += first.tolist()
            pivots.append(column)
    order = np.concatenate([np.array(chosen, dtype=np.int64), np.flatnonzero(free)])
    return Echelon(rows[order], np.array(pivots, dtype=np.int64), order)


class Affine(NamedTuple):
    """All x with A x = b over GF(2), for several b at once.

    solutions: one per right-hand side, (sides, columns); meaningless where not consistent.
    basis: of the x with A x = 0, (dimensions, columns), or as many of it as were asked for.
    dimensions: of all such x. consistent: flags, (sides,). clash: for each side the number of a row
    that contradicts rows `spanning`, -1 where consistent.
    """

    solutions: np.ndarray
    basis: np.ndarray
    dimensions: int
    consistent: np.ndarray
    clash: np.ndarray
    spanning: np.ndarray


def affine_solutions(bits: np.ndarray, sides: np.ndarray) -> Affine:
    """The solutions of bits·x = side over GF(2). bits: (N, columns). sides: (N, how many)."""
    return affine_of(np.concatenate([bits, sides], axis=1), bits.shape[1])


def affine_of(
    both: np.ndarray, columns: int, *, most: int | None = None, deadline: float = math.inf
) -> Affine:
    """`affine_solutions` of bits and sides in one array, (N, columns + sides).

    most: members of the basis that are wanted. deadline: as for `echelon`.
    """
    count = both.shape[1] - columns
    form = echelon(packed(both), columns, deadline)
    rank, pivots = form.rank, form.pivots
    left = unpacked(form.rows[rank:], columns + count)[:, columns:].astype(bool)
    consistent: np.ndarray = np.logical_not(left.any(axis=0))
    clash = np.where(consistent, -1, form.order[rank:][left.argmax(axis=0)] if len(left) else -1)
    free = np.setdiff1d(np.arange(columns), pivots)[:most]
    upper = unpacked(form.rows[:rank], columns + count)
    solutions = np.zeros((count, columns), np.uint8)
    solutions[:, pivots] = upper[:, columns:].T
    basis = np.zeros((len(free), columns), np.uint8)
    basis[:, pivots] = upper[:, free].T
    basis[np.arange(len(free)), free] = 1
    return Affine(solutions, basis, columns - rank, consistent, clash, form.order[:rank])


def reduced(rows: np.ndarray) -> np.ndarray:
    """The reduced echelon form, zero rows left out: the same for every basis of one row space.

    >>> reduced(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], np.uint8)).tolist()
    [[1, 0, 1], [0, 1, 1]]
    """
    bits = np.asarray(rows, np.uint8)
    columns = bits.shape[1]
    if not len(bits) or not columns:
        return np.zeros((0, columns), np.uint8)
    form = echelon(packed(bits), columns)
    return unpacked(form.rows[: form.rank], columns)


def products(bits: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """bits·masksᵀ over GF(2): bits (N, n) and masks (w, n) give (N, w).

    >>> products(np.array([[1, 1], [0, 1]], np.uint8), np.array([[1, 1]], np.uint8)).tolist()
    [[0], [1]]
    """
    words, made = packed(masks), np.empty((len(bits), len(masks)), np.uint8)
    for start in range(0, len(bits), PART):
        some = packed(bits[start : start + PART])
        for at, mask in enumerate(words):
            folded = np.bitwise_xor.reduce(some & mask, axis=1)
            made[start : start + len(some), at] = np.bitwise_count(folded) & 1
    return made


def contradiction(bits: np.ndarray, label: np.ndarray) -> np.ndarray | None:
    """Rows whose bits sum to 0 and whose labels sum to 1; None if some x fits all of them.

    bits: (N, columns). label: (N,). A certificate: whoever adds those rows up sees 0 = 1.

    >>> contradiction(np.array([[1, 0], [0, 1], [1, 1]], np.uint8), np.array([0, 0, 1])).tolist()
    [0, 1, 2]
    """
    found = affine_solutions(bits, np.asarray(label, np.uint8)[:, None])
    if found.consistent[0]:
        return None
    clash, spanning = int(found.clash[0]), found.spanning
    combination = affine_solutions(bits[spanning].T, bits[clash][:, None])
    assert combination.consistent[0]
    return np.sort(np.append(spanning[combination.solutions[0].astype(bool)], clash))


def solve_many(words: np.ndarray, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Many small systems at once: reduce rows whose last bit (number `columns`) is the side.

    words: packed rows, (systems, rows, words), changed in place. Returns bits of one solution each,
    (systems, columns), free ones zero, and flags of the systems that have one.
    """
    systems, rows, _ = words.shape
    every, taken = np.arange(systems), np.zeros((systems, rows), bool)
    home = np.full((systems, columns), -1)
    one = np.uint64(1)
    for column in range(columns):
        word, shift = column // 64, np.uint64(column % 64)
        has = ((words[:, :, word] >> shift) & one).astype(bool)
        open_rows = has & ~taken
        pivot = open_rows.argmax(axis=1)
        there = open_rows[every, pivot]
        taken[every[there], pivot[there]] = True
        home[there, column] = pivot[there]
        has[every, pivot] = False
        has &= there[:, None]
        words ^= np.where(has[:, :, None], words[every, pivot][:, None], np.uint64(0))
    side = ((words[:, :, columns // 64] >> np.uint64(columns % 64)) & one).astype(bool)
    consistent: np.ndarray = np.logical_not((side & ~taken).any(axis=1))
    solution = np.where(home >= 0, np.take_along_axis(side, np.maximum(home, 0), axis=1), False)
    return solution.astype(np.uint8), consistent

"""Linear algebra over GF(2) on packed bits: 64 columns of a row are one exclusive or."""

import math
import time
from typing import NamedTuple

import numpy as np


def pack_bits(bits: np.ndarray) -> np.ndarray:
    """Bits (rows, columns) as 64-bit words; column c is bit c % 64 of word c // 64."""
    rows, columns = bits.shape
    padded = np.zeros((rows, -(-columns // 64) * 8), np.uint8)
    narrow = np.packbits(bits, axis=1, bitorder="little")
    padded[:, : narrow.shape[1]] = narrow
    return padded.view("<u8")


def unpack_bits(words: np.ndarray, columns: int) -> np.ndarray:
    """Bits (rows, columns) of the words that `pack_bits` returned."""
    as_bytes = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(as_bytes, axis=1, count=columns, bitorder="little")


class Echelon(NamedTuple):
    """Rows in reduced echelon form.

    rows: packed words, the first `rank` of them with a pivot each, which no other row has. pivots:
    their columns, ascending. order: the original number of each row; the first `rank` of these
    span all rows.
    """

    rows: np.ndarray
    pivots: np.ndarray
    order: np.ndarray

    @property
    def rank(self) -> int:
        return len(self.pivots)


def echelon(words: np.ndarray, columns: int, deadline: float = math.inf) -> Echelon:
    """Reduced echelon form of packed rows in their first `columns` columns; others follow along.

    deadline: on time.perf_counter; a TimeoutError is raised when it has passed.

    >>> bits = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], np.uint8)
    >>> echelon(pack_bits(bits), 3).pivots.tolist()
    [0, 1]
    """
    rows, free = np.array(words, order="C"), np.ones(len(words), bool)
    pivot_rows, pivots = list[int](), list[int]()
    for column in range(columns):
        if len(pivots) == len(rows):
            break
        if time.perf_counter() > deadline:
            raise TimeoutError("elimination ran out of time")
        word, bit = divmod(column, 64)
        ones = np.flatnonzero(rows[:, word] >> np.uint64(bit) & np.uint64(1))
        pivot = ones[free[ones]][:1]
        if len(pivot):
            # The pivot row is zero in all columns before this one.
            rows[ones[ones != pivot], word:] ^= rows[pivot, word:]
            free[pivot] = False
            pivot_rows += pivot.tolist()
            pivots.append(column)
    order = np.concatenate([np.array(pivot_rows, dtype=np.int64), np.flatnonzero(free)])
    return Echelon(rows[order], np.array(pivots, dtype=np.int64), order)


class Affine(NamedTuple):
    """All x with A x = b over GF(2), for several b at once.

    solutions: one per right-hand side, (sides, columns); meaningless where not consistent.
    basis: of the x with A x = 0, (dimension, columns), or the requested part of it. dimension: of
    the space of all such x. consistent: flags, (sides,). clash: for each side the number of a row
    that contradicts the rows `spanning`, -1 where consistent.
    """

    solutions: np.ndarray
    basis: np.ndarray
    dimension: int
    consistent: np.ndarray
    clash: np.ndarray
    spanning: np.ndarray


def affine_solutions(bits: np.ndarray, sides: np.ndarray) -> Affine:
    """The solutions of bits·x = side over GF(2). bits: (N, columns). sides: (N, sides)."""
    return solve_augmented(np.concatenate([bits, sides], axis=1), bits.shape[1])


def solve_augmented(
    system: np.ndarray,
    columns: int,
    *,
    basis_size: int | None = None,
    deadline: float = math.inf,
) -> Affine:
    """`affine_solutions` of bits and sides in one array, (N, columns + sides).

    basis_size: at most so many members of the basis. deadline: as for `echelon`.
    """
    sides = system.shape[1] - columns
    form = echelon(pack_bits(system), columns, deadline)
    rank, pivots = form.rank, form.pivots
    below = unpack_bits(form.rows[rank:], columns + sides)[:, columns:].astype(bool)
    consistent: np.ndarray = np.logical_not(below.any(axis=0))
    clash = np.where(consistent, -1, form.order[rank:][below.argmax(axis=0)] if len(below) else -1)
    free = np.setdiff1d(np.arange(columns), pivots)[:basis_size]
    upper = unpack_bits(form.rows[:rank], columns + sides)
    solutions = np.zeros((sides, columns), np.uint8)
    solutions[:, pivots] = upper[:, columns:].T
    basis = np.zeros((len(free), columns), np.uint8)
    basis[:, pivots] = upper[:, free].T
    basis[np.arange(len(free)), free] = 1
    return Affine(solutions, basis, columns - rank, consistent, clash, form.order[:rank])


def contradictory_rows(bits: np.ndarray, labels: np.ndarray) -> np.ndarray | None:
    """A certificate that no parity of the columns equals the labels, or None if one does.

    The rows at these numbers sum to 0 over GF(2) and their labels to 1: whoever adds them up sees
    0 = 1. bits: (N, n). labels: 0/1, (N,). Append a column of ones to allow for either sign.

    >>> bits = np.array([[1, 0], [0, 1], [1, 1]], np.uint8)
    >>> contradictory_rows(bits, np.array([0, 0, 1])).tolist()
    [0, 1, 2]
    """
    system = affine_solutions(bits, np.asarray(labels, np.uint8)[:, None])
    if system.consistent[0]:
        return None
    clash, spanning = int(system.clash[0]), system.spanning
    combination = affine_solutions(bits[spanning].T, bits[clash][:, None])
    assert combination.consistent[0]
    return np.sort(np.append(spanning[combination.solutions[0].astype(bool)], clash))


def solve_systems(words: np.ndarray, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Many small systems at once: rows whose last bit (number `columns`) is the right-hand side.

    words: packed rows, (systems, rows, words), changed in place. Returns bits of one solution each,
    (systems, columns), free ones zero, and flags of the systems that are consistent.
    """
    systems, rows, _ = words.shape
    numbers, used = np.arange(systems), np.zeros((systems, rows), bool)
    pivot_rows = np.full((systems, columns), -1)
    for column in range(columns):
        word, shift = column // 64, np.uint64(column % 64)
        ones = ((words[:, :, word] >> shift) & np.uint64(1)).astype(bool)
        candidates = ones & ~used
        pivot = candidates.argmax(axis=1)
        exists = candidates[numbers, pivot]
        used[numbers[exists], pivot[exists]] = True
        pivot_rows[exists, column] = pivot[exists]
        ones[numbers, pivot] = False
        ones &= exists[:, None]
        words ^= np.where(ones[:, :, None], words[numbers, pivot][:, None], np.uint64(0))
    side = ((words[:, :, columns // 64] >> np.uint64(columns % 64)) & np.uint64(1)).astype(bool)
    consistent: np.ndarray = np.logical_not((side & ~used).any(axis=1))
    values = np.take_along_axis(side, np.maximum(pivot_rows, 0), axis=1)
    return np.where(pivot_rows >= 0, values, False).astype(np.uint8), consistent

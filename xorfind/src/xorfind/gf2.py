"""Elimination over GF(2) on packed bits, by the method of four Russians.

Eight columns are cleared at a time: their pivot rows, reduced among themselves, are added up in a
table of 256 sums, and every other row takes the one sum that its eight bits call for.
"""

import math
import time
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from xorfind.rows import packed, unpacked

#: Rows that take their sums at a time: these and the table stay in the cache.
CHUNK = 512
#: Rows that `products` packs at a time.
PART = 1 << 13


class Echelon(NamedTuple):
    """Rows in echelon form.

    rows: packed words, the first `rank` of them with a pivot each. pivots: their columns,
    ascending. order: which row each one came from; the first `rank` span all.
    """

    rows: np.ndarray
    pivots: np.ndarray
    order: np.ndarray

    @property
    def rank(self) -> int:
        return len(self.pivots)


def echelon(words: np.ndarray, columns: int, deadline: float = math.inf) -> Echelon:
    """Echelon form of packed rows in their first `columns` columns; the others follow along.

    deadline: on time.perf_counter; a TimeoutError says that it was missed.

    >>> bits = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], np.uint8)
    >>> echelon(packed(bits), 3).pivots.tolist()
    [0, 1]
    """
    rows = np.array(words, order="C")
    as_bytes, order = rows.view(np.uint8), np.arange(len(rows))
    pivots: list[int] = []
    space = np.empty((CHUNK, rows.shape[1]), rows.dtype)
    for strip in range(-(-columns // 8)):
        done = len(pivots)
        if done == len(rows):
            break
        _mind(deadline)
        values = as_bytes[done:, strip].copy()
        if columns - 8 * strip < 8:
            values &= (1 << (columns - 8 * strip)) - 1
        chosen, places = _strip_pivots(values)
        if not chosen:
            continue
        first = strip // 8
        table = _sums(rows[done + np.array(places), first:], chosen, strip % 8)
        which = _selector(tuple(chosen))[values]
        _add(rows[done:, first:], table, which, space)
        heads = table[1 << np.arange(len(chosen))]
        for offset, place in enumerate(places):
            to, came = done + offset, done + place
            rows[came], rows[to, first:] = rows[to], heads[offset]
            rows[to, :first] = 0
            order[[to, came]] = order[[came, to]]
            # A later pivot that sat where this one goes has moved to where this one was.
            places[offset + 1 :] = [place if p == offset else p for p in places[offset + 1 :]]
        pivots += [8 * strip + bit for bit in chosen]
    return Echelon(rows, np.array(pivots, dtype=np.int64), order)


def _mind(deadline: float) -> None:
    if time.perf_counter() > deadline:
        raise TimeoutError("elimination ran out of time")


def _strip_pivots(values: np.ndarray) -> tuple[list[int], list[int]]:
    """Bits of eight columns that have a pivot, and the rows that hold them."""
    rest, chosen, places = values.copy(), [], []
    for bit in range(8):
        has = (rest >> bit) & 1
        place = int(has.argmax())
        if has[place]:
            rest ^= has * rest[place]
            chosen.append(bit)
            places.append(place)
    return chosen, places


def _sums(heads: np.ndarray, bits: list[int], byte: int) -> np.ndarray:
    """All sums of the pivot rows once each holds its own pivot bit only; sum number s adds row i
    if bit i of s is set."""
    strip = np.ascontiguousarray(heads).view(np.uint8)
    heads = strip.view(heads.dtype)
    for row, bit in enumerate(bits):
        others = ((strip[:, byte] >> bit) & 1).astype(bool)
        others[row] = False
        heads[others] ^= heads[row]
    table = np.zeros((1 << len(bits), heads.shape[1]), heads.dtype)
    for row in range(len(bits)):
        half = 1 << row
        np.bitwise_xor(table[:half], heads[row], out=table[half : 2 * half])
    return table


@lru_cache(maxsize=256)
def _selector(bits: tuple[int, ...]) -> np.ndarray:
    """For each byte, the number of the sum that clears its pivot bits."""
    values = np.arange(256)
    return sum((((values >> bit) & 1) << row for row, bit in enumerate(bits)), np.zeros(256, int))


def _add(rows: np.ndarray, table: np.ndarray, which: np.ndarray, space: np.ndarray) -> None:
    width = rows.shape[1]
    flat = space.reshape(-1)
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        taken = flat[: len(part) * width].reshape(len(part), width)
        np.take(table, which[start : start + CHUNK], axis=0, out=taken, mode="clip")
        np.bitwise_xor(part, taken, out=part)


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
    others = (columns - rank, consistent, clash, form.order[:rank])
    upper = unpacked(form.rows[:rank], columns + count)
    given = np.concatenate([upper[:, columns:], upper[:, free]], axis=1)
    solved = back_substitution(upper[:, pivots], given, deadline)
    solutions = np.zeros((count, columns), np.uint8)
    solutions[:, pivots] = solved[:, :count].T
    basis = np.zeros((len(free), columns), np.uint8)
    basis[:, pivots] = solved[:, count:].T
    basis[np.arange(len(free)), free] = 1
    return Affine(solutions, basis, *others)


def back_substitution(
    upper: np.ndarray, sides: np.ndarray, deadline: float = math.inf
) -> np.ndarray:
    """X with upper·X = sides for a unit upper triangular matrix, all in bits."""
    solved = packed(sides)
    for row in range(len(upper) - 2, -1, -1):
        _mind(deadline)
        later = np.flatnonzero(upper[row, row + 1 :]) + row + 1
        solved[row] ^= np.bitwise_xor.reduce(solved[later], axis=0)
    return unpacked(solved, sides.shape[1])


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
    upper = unpacked(form.rows[: form.rank], columns)
    return back_substitution(upper[:, form.pivots], upper)


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

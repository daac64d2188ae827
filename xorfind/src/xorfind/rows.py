"""Rows as solvers see them: columns that differ, as signs and as packed bits."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from xorfind.checks import shortened

#: Rows packed at a time, a multiple of 8.
TOGETHER = 512


class Twins(NamedTuple):
    """Columns that say the same as a kept one on every row, or always the opposite."""

    same: tuple[int, ...]
    opposite: tuple[int, ...]


class LabelledRows:
    """Rows of 0/1 bits (N, n) with labels (N,), either ±1 or 0/1; 1 of the latter is -1.

    Columns that never change are left out, and of columns that are equal or opposite on all rows
    one is kept: nothing that is asked of labels given the rows depends on the others.
    """

    def __init__(self, bits: Any, labels: Any) -> None:
        bits, labels = as_bits(bits), np.asarray(labels)
        if bits.ndim != 2 or labels.shape != bits.shape[:1] or len(bits) < 2:
            raise ValueError(
                f"rows need bits of shape (N ≥ 2, n) and one label each, got {bits.shape} and "
                f"{labels.shape}"
            )
        self.bits = np.ascontiguousarray(bits, dtype=np.uint8)
        self.labels = as_signs(labels)

    def at(self, chosen: np.ndarray) -> "LabelledRows":
        """Some of the rows."""
        return LabelledRows(self.bits[chosen], self.labels[chosen])

    @property
    def rows(self) -> int:
        return len(self.labels)

    @property
    def n(self) -> int:
        return int(self.bits.shape[1])

    @cached_property
    def minus(self) -> int:
        """Rows labelled -1."""
        return int(np.count_nonzero(self.labels < 0))

    @cached_property
    def kept(self) -> np.ndarray:
        """Numbers of the columns that stand for all, ascending."""
        return np.array(sorted(self._groups), dtype=np.int64)

    @cached_property
    def distinct_bits(self) -> np.ndarray:
        """The kept columns, (N, columns)."""
        return self.bits if self.distinct == self.n else self.bits[:, self.kept]

    @property
    def distinct(self) -> int:
        """How many columns change and differ."""
        return len(self._groups)

    def twins(self, column: int) -> Twins:
        """Columns that say the same as a kept one, or the opposite."""
        return self._groups[column]

    def interchangeable(self, column: int) -> tuple[int, ...]:
        """A kept column, and those that are equal or opposite to it."""
        same, opposite = self._groups[column]
        return column, *same, *opposite

    def named(self, subset: Any) -> tuple[int, ...]:
        """Numbers of columns from their places among the kept ones."""
        return tuple(self.kept[np.asarray(subset, int)].tolist())

    def system(self, rows: Any) -> np.ndarray:
        """Kept columns, the constant 1 and the label bits of some rows, side by side."""
        some = self.distinct_bits[rows]
        made = np.ones((len(some), self.distinct + 2), np.uint8)
        made[:, :-2] = some
        made[:, -1] = self.label_bits[rows]
        return made

    @cached_property
    def _groups(self) -> dict[int, Twins]:
        """Every kept column with those that are equal or opposite to it."""
        # Complemented where the first row is 1, opposites become equal, and constants zero.
        complement = (self._packed[:, :1] & np.uint64(1)).astype(bool)
        all_rows = packed(np.ones((1, self.rows), np.uint8))
        turned = np.where(complement, self._packed ^ all_rows, self._packed)
        keys = np.ascontiguousarray(turned).view(f"V{8 * turned.shape[1]}").ravel()
        varying = np.flatnonzero(turned.any(axis=1))
        if not len(varying):
            return {}
        _, which = np.unique(keys[varying], return_inverse=True)
        order = np.argsort(which, kind="stable")
        starts = np.flatnonzero(np.diff(which[order], prepend=-1))
        groups = {}
        for members in np.split(varying[order], starts[1:]):
            head, others = members[0], members[1:]
            equal = complement[others, 0] == complement[head, 0]
            groups[int(head)] = Twins(tuple(others[equal].tolist()), tuple(others[~equal].tolist()))
        return groups

    @cached_property
    def signs(self) -> np.ndarray:
        """Kept columns as ±1 in one byte each, (columns, N)."""
        made = unpacked(self.packed_columns, self.rows).view(np.int8)
        made *= -2
        made += 1
        return made

    @cached_property
    def packed_columns(self) -> np.ndarray:
        """Kept columns as packed bits, (columns, words)."""
        return self._packed if self.distinct == self.n else self._packed[self.kept]

    @cached_property
    def _packed(self) -> np.ndarray:
        """All columns as packed bits, (n, words): one bit per cell."""
        whole = np.zeros((self.n, -(-self.rows // 64) * 8), np.uint8)
        # Few rows at a time, turned while they are in the processor's cache: packing down the
        # columns of a whole table takes ten times as long.
        for at in range(0, self.rows, TOGETHER):
            columns = np.ascontiguousarray(self.bits[at : at + TOGETHER].T)
            few = np.packbits(columns, axis=1, bitorder="little")
            whole[:, at // 8 : at // 8 + few.shape[1]] = few
        return whole.view("<u8")

    @cached_property
    def label_bits(self) -> np.ndarray:
        """1 where the label is -1."""
        minus: np.ndarray = self.labels < 0
        return minus.astype(np.uint8)

    @cached_property
    def packed_label(self) -> np.ndarray:
        """`label_bits` as packed bits, (words,)."""
        words: np.ndarray = packed(self.label_bits[None])[0]
        return words

    def parity(self, subset: Iterable[int]) -> np.ndarray:
        """The exclusive or of some columns, one bit per row."""
        odd: np.ndarray = unpacked(self.packed_parity(subset)[None], self.rows)[0]
        return odd

    def predicted(self, subset: Iterable[int], sign: int) -> np.ndarray:
        """What the label bits are if the label is sign·(-1)^(xor of the columns)."""
        return self.parity(subset) ^ np.uint8(sign < 0)

    def packed_parity(self, subset: Iterable[int]) -> np.ndarray:
        """The exclusive or of some columns as packed bits, (words,)."""
        words: np.ndarray = np.bitwise_xor.reduce(self._packed[list(subset)], axis=0, initial=0)
        return words


def as_bits(values: Any) -> np.ndarray:
    """An array in which every entry is 0 or 1; anything else is a ValueError that names it.

    >>> as_bits([[0, 1], [1, 1]]).tolist()
    [[0, 1], [1, 1]]
    """
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"bits must be 0 or 1, got {shortened(values)}")
    if array.dtype == np.uint8 and array.max(initial=0) <= 1:
        return array  # without flags as large as the table
    other = (array != 0) & (array != 1)
    if other.any():
        raise ValueError(f"bits must be 0 or 1, got {array[other].flat[0]!s}")
    return array


def as_signs(labels: np.ndarray) -> np.ndarray:
    """Labels as +1 and -1 in one byte each: ±1 as they are, and of 0/1 the 0 as +1, the 1 as -1.

    >>> as_signs(np.array([0, 1, 1])).tolist(), as_signs(np.array([1, -1])).tolist()
    ([1, -1, -1], [1, -1])
    """
    ones = labels == 1
    if (ones | (labels == -1)).all():
        return np.where(ones, 1, -1).astype(np.int8)
    if (ones | (labels == 0)).all():
        return np.where(ones, -1, 1).astype(np.int8)
    raise ValueError(f"labels must be ±1 or 0/1, got {shortened(labels)}")


def packed(bits: np.ndarray) -> np.ndarray:
    """Bits (rows, columns) as 64-bit words; column c is bit c % 64 of word c // 64."""
    rows, columns = bits.shape
    words = -(-columns // 64)
    whole = np.zeros((rows, words * 8), np.uint8)
    narrow = np.packbits(bits, axis=1, bitorder="little")
    whole[:, : narrow.shape[1]] = narrow
    return whole.view("<u8")


def unpacked(words: np.ndarray, columns: int) -> np.ndarray:
    """Bits (rows, columns) of 64-bit words, as `packed` wrote them."""
    as_bytes = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(as_bytes, axis=1, count=columns, bitorder="little")

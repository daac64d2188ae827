"""Rows and labels as solvers see them: columns that differ, as signs and as packed bits."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from paritylab._support.checks import shortened
from paritylab.baselines.gf2 import pack_bits, unpack_bits

#: Rows packed at a time, a multiple of 8.
ROWS_PER_BLOCK = 512


class Twins(NamedTuple):
    """Columns that are equal to a column on every row, and those that are its complement."""

    equal: tuple[int, ...]
    opposite: tuple[int, ...]


class LabelledRows:
    """Rows of 0/1 bits (N, n) with labels (N,), either ±1 or 0/1; 1 of the latter is -1.

    Constant columns are left out, and of columns that are equal or opposite on all rows one is
    kept, the *distinct* ones: no parity of the others says anything new of the labels.
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

    def take(self, rows: np.ndarray) -> "LabelledRows":
        """The rows with these numbers."""
        return LabelledRows(self.bits[rows], self.labels[rows])

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
    def distinct_columns(self) -> np.ndarray:
        """Numbers of the distinct columns, ascending."""
        return np.array(sorted(self._twins), dtype=np.int64)

    @cached_property
    def distinct_bits(self) -> np.ndarray:
        """The distinct columns, (N, distinct)."""
        return self.bits if self.distinct == self.n else self.bits[:, self.distinct_columns]

    @property
    def distinct(self) -> int:
        """The number of distinct columns."""
        return len(self._twins)

    def interchangeable(self, column: int) -> tuple[int, ...]:
        """A distinct column, and those that are equal or opposite to it."""
        equal, opposite = self._twins[column]
        return column, *equal, *opposite

    def columns_of(self, subset: Any) -> tuple[int, ...]:
        """Numbers of columns from their places among the distinct ones."""
        return tuple(self.distinct_columns[np.asarray(subset, int)].tolist())

    def system(self, rows: Any) -> np.ndarray:
        """Distinct columns, the constant 1 and the label bits of some rows, side by side."""
        bits = self.distinct_bits[rows]
        system = np.ones((len(bits), self.distinct + 2), np.uint8)
        system[:, :-2] = bits
        system[:, -1] = self.label_bits[rows]
        return system

    @cached_property
    def _twins(self) -> dict[int, Twins]:
        """Every distinct column with those that are equal or opposite to it."""
        # Complemented where the first row is 1, opposites become equal, and constants zero.
        complement = (self._words[:, :1] & np.uint64(1)).astype(bool)
        all_ones = pack_bits(np.ones((1, self.rows), np.uint8))
        normal = np.where(complement, self._words ^ all_ones, self._words)
        keys = np.ascontiguousarray(normal).view(f"V{8 * normal.shape[1]}").ravel()
        varying = np.flatnonzero(normal.any(axis=1))
        if not len(varying):
            return {}
        _, group = np.unique(keys[varying], return_inverse=True)
        order = np.argsort(group, kind="stable")
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        twins = {}
        for members in np.split(varying[order], starts[1:]):
            head, copies = members[0], members[1:]
            equal = complement[copies, 0] == complement[head, 0]
            twins[int(head)] = Twins(tuple(copies[equal].tolist()), tuple(copies[~equal].tolist()))
        return twins

    @cached_property
    def signs(self) -> np.ndarray:
        """Distinct columns as ±1 in one byte each, (distinct, N)."""
        signs = unpack_bits(self.packed_columns, self.rows).view(np.int8)
        signs *= -2
        signs += 1
        return signs

    @cached_property
    def packed_columns(self) -> np.ndarray:
        """Distinct columns as packed bits, (distinct, words)."""
        return self._words if self.distinct == self.n else self._words[self.distinct_columns]

    @cached_property
    def _words(self) -> np.ndarray:
        """All columns as packed bits, (n, words): one bit per cell."""
        packed = np.zeros((self.n, -(-self.rows // 64) * 8), np.uint8)
        # Few rows at a time, transposed while they are in the processor's cache: packing down the
        # columns of a whole table takes ten times as long.
        for at in range(0, self.rows, ROWS_PER_BLOCK):
            columns = np.ascontiguousarray(self.bits[at : at + ROWS_PER_BLOCK].T)
            block = np.packbits(columns, axis=1, bitorder="little")
            packed[:, at // 8 : at // 8 + block.shape[1]] = block
        return packed.view("<u8")

    @cached_property
    def label_bits(self) -> np.ndarray:
        """1 where the label is -1."""
        minus: np.ndarray = self.labels < 0
        return minus.astype(np.uint8)

    @cached_property
    def packed_label(self) -> np.ndarray:
        """`label_bits` as packed bits, (words,)."""
        words: np.ndarray = pack_bits(self.label_bits[None])[0]
        return words

    def parity(self, subset: Iterable[int]) -> np.ndarray:
        """The exclusive or of some columns, one bit per row."""
        odd: np.ndarray = unpack_bits(self.packed_parity(subset)[None], self.rows)[0]
        return odd

    def predict(self, subset: Iterable[int], sign: int) -> np.ndarray:
        """The label bits if the label were sign·(-1)^(xor of the columns)."""
        return self.parity(subset) ^ np.uint8(sign < 0)

    def packed_parity(self, subset: Iterable[int]) -> np.ndarray:
        """The exclusive or of some columns as packed bits, (words,)."""
        words: np.ndarray = np.bitwise_xor.reduce(self._words[list(subset)], axis=0, initial=0)
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
    invalid = (array != 0) & (array != 1)
    if invalid.any():
        raise ValueError(f"bits must be 0 or 1, got {array[invalid].flat[0]!s}")
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

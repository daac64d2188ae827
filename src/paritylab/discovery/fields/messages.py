"""Messages and check values of one length, as the families of checksums see them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paritylab.discovery.fields.batches import FieldTable, Selection


@dataclass(frozen=True)
class Messages:
    """Rows of one length. bits: of the messages, first sent or most significant first, (N, n).
    target: of the check values, most significant first, (N, w). lines: where they stand."""

    bits: np.ndarray
    target: np.ndarray
    lines: np.ndarray

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.bits)

    @property
    def width(self) -> int:
        """Bits of the check value."""
        return int(self.target.shape[1])

    @property
    def length(self) -> int:
        """Bits of the message."""
        return int(self.bits.shape[1])

    @cached_property
    def values(self) -> np.ndarray:
        """Check values as numbers, for up to 64 bits, (N,)."""
        return numbers(self.target)

    @cached_property
    def bytes(self) -> np.ndarray | None:
        """The messages as bytes, (N, n/8); None if they are not whole bytes."""
        return None if self.length % 8 or not self.length else np.packbits(self.bits, axis=1)


def numbers(bits: np.ndarray) -> np.ndarray:
    """Rows of up to 64 bits, most significant first, as numbers."""
    made = np.zeros(len(bits), np.uint64)
    for column in bits.T:
        made = (made << np.uint64(1)) | column.astype(np.uint64)
    return made


def messages_of(table: FieldTable, selection: Selection) -> tuple[Messages, ...]:
    """The rows of a table by length of the message, one entry per batch."""
    return tuple(
        Messages(
            batch.taken(selection.input_bits(batch, bytewise=True)),
            batch.taken(selection.target_bits(batch)),
            batch.lines,
        )
        for batch in table
    )


def swapped(target: np.ndarray) -> np.ndarray:
    """Check values with their bytes in the other order; only for whole bytes."""
    w = target.shape[1]
    return np.ascontiguousarray(target.reshape(-1, w // 8, 8)[:, ::-1].reshape(-1, w))


def total(batches: Sequence[Messages]) -> int:
    """Rows of all lengths."""
    return sum(each.rows for each in batches)


def commonest(values: np.ndarray) -> tuple[int, int]:
    """The most frequent value and how often it occurs."""
    found, counts = np.unique(values, return_counts=True)
    at = int(counts.argmax())
    return int(found[at]), int(counts[at])


def evidence_bits(width: int, fitting: int, rows: int, free: float) -> float:
    """-log2 of the chance that unrelated check values fit this well, roughly.

    Every fitting row says `width` bits; which rows do not fit costs N·H(share), and what was fitted
    costs `free` bits.

    >>> round(evidence_bits(8, 10, 10, 16))
    64
    """
    share = fitting / rows
    spread = 0.0
    if 0 < share < 1:
        spread = -rows * (share * math.log2(share) + (1 - share) * math.log2(1 - share))
    return width * fitting - spread - free


def without_repeats(batches: Sequence[Messages]) -> tuple[Messages, ...]:
    """Every distinct row once: a frame that was captured twice says nothing new."""
    made = []
    for each in batches:
        both = np.concatenate([np.packbits(each.bits, axis=1), np.packbits(each.target, axis=1)], 1)
        keys = np.ascontiguousarray(both).view(f"V{both.shape[1]}").ravel()
        first = np.sort(np.unique(keys, return_index=True)[1])
        made.append(Messages(each.bits[first], each.target[first], each.lines[first]))
    return tuple(made)

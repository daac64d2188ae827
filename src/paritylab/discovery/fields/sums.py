"""Checksums that are no XOR: sums, their complements, Fletcher, Adler; and the XOR of bytes.

Each is a function of the bytes; a family fits if check value minus function is one constant. The
constant is free (a start value, an address that is added), so it costs one row of evidence.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from paritylab.discovery.fields.messages import (
    Messages,
    commonest,
    evidence_bits,
    numbers,
    swapped,
    total,
)

#: Bits of evidence that a family needs: a chance of 2^-20.
EVIDENCE = 20
#: Leading bytes that may lie outside of what is summed.
MOST_SKIPPED = 4

Whole = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]
Sum = Callable[[np.ndarray, int], Whole | None]


@dataclass(frozen=True)
class SumFit:
    """A family that rows fit.

    family: its key in FAMILIES. constant: added (for XORs: XORed) at the end. little: stored least
    significant byte first. skip: leading bytes left out. fitting, rows: how many rows fit.
    """

    family: str
    width: int
    constant: int
    little: bool
    skip: int
    fitting: int
    rows: int

    @property
    def evidence(self) -> float:
        """Bits: -log2 of the chance that unrelated check values would fit."""
        return evidence_bits(self.width, self.fitting, self.rows, self.width + 8)

    @property
    def name(self) -> str:
        """In words, with its constant."""
        what = FAMILIES[self.family].words.format(w=self.width)
        digits = -(-self.width // 4)
        if self.constant:
            joint = " XOR" if FAMILIES[self.family].is_xor else " plus"
            what += f"{joint} 0x{self.constant:0{digits}x}"
        return what


@dataclass(frozen=True)
class Family:
    """words: its name; {w} is the width. value: from bytes (N, m) and the width to numbers (N,),
    None if that makes no sense. is_xor: the constant is XORed, not added."""

    words: str
    value: Sum
    is_xor: bool = False


def _whole(values: np.ndarray) -> Whole:
    return np.asarray(values, np.uint64)


def _xor_bytes(data: np.ndarray, width: int) -> Whole | None:
    return np.bitwise_xor.reduce(data, axis=1).astype(np.uint64) if width == 8 else None


def _xor_words(data: np.ndarray, width: int) -> Whole | None:
    if width not in (16, 32) or data.shape[1] % (width // 8):
        return None
    return _whole(np.bitwise_xor.reduce(_words_of(data, width, ">"), axis=1))


def _xor_nibbles(data: np.ndarray, width: int) -> Whole | None:
    if width != 4:
        return None
    return _whole(np.bitwise_xor.reduce((data >> 4) ^ (data & 15), axis=1))


def _sum_bytes(data: np.ndarray, width: int) -> Whole:
    return _whole(data.sum(axis=1, dtype=np.uint64))


def _negative_sum(data: np.ndarray, width: int) -> Whole:
    return _whole(np.uint64(0) - data.sum(axis=1, dtype=np.uint64))


def _sum_nibbles(data: np.ndarray, width: int) -> Whole:
    high, low = (data >> 4).sum(axis=1, dtype=np.uint64), (data & 15).sum(axis=1, dtype=np.uint64)
    return _whole(high + low)


def _words_of(data: np.ndarray, width: int, order: str) -> Whole:
    made = np.ascontiguousarray(data).view(f"{order}u{width // 8}")
    return _whole(made)


def _sum_big(data: np.ndarray, width: int) -> Whole | None:
    whole = width in (16, 32) and data.shape[1] % (width // 8) == 0
    return _words_of(data, width, ">").sum(axis=1, dtype=np.uint64) if whole else None


def _sum_little(data: np.ndarray, width: int) -> Whole | None:
    whole = width in (16, 32) and data.shape[1] % (width // 8) == 0
    return _words_of(data, width, "<").sum(axis=1, dtype=np.uint64) if whole else None


def _internet(data: np.ndarray, width: int) -> Whole | None:
    if width != 16:
        return None
    even = np.pad(data, ((0, 0), (0, data.shape[1] % 2)))
    total_ = _words_of(even, 16, ">").sum(axis=1, dtype=np.uint64)
    for _ in range(4):
        total_ = (total_ & np.uint64(0xFFFF)) + (total_ >> np.uint64(16))
    return _whole(np.uint64(0xFFFF) - total_)


def _pairs_of_sums(data: np.ndarray, width: int, modulus: int, start: int) -> Whole:
    """Two running sums side by side: of the bytes, and of those sums."""
    weights = np.arange(data.shape[1], 0, -1, dtype=np.uint64)
    wide = data.astype(np.uint64)
    low = (wide.sum(axis=1) + np.uint64(start)) % np.uint64(modulus)
    high = ((wide * weights).sum(axis=1) + np.uint64(start * data.shape[1])) % np.uint64(modulus)
    return _whole((high << np.uint64(width // 2)) | low)


def _fletcher(data: np.ndarray, width: int) -> Whole | None:
    return _pairs_of_sums(data, 16, 255, 0) if width == 16 else None


def _fletcher_256(data: np.ndarray, width: int) -> Whole | None:
    return _pairs_of_sums(data, 16, 256, 0) if width == 16 else None


def _fletcher_8(data: np.ndarray, width: int) -> Whole | None:
    if width != 8:
        return None
    nibbles = np.stack([data >> 4, data & 15], axis=2).reshape(len(data), -1)
    return _pairs_of_sums(nibbles, 8, 15, 0)


def _fletcher_32(data: np.ndarray, width: int) -> Whole | None:
    if width != 32:
        return None
    even = np.pad(data, ((0, 0), (0, data.shape[1] % 2)))
    return _pairs_of_sums(_words_of(even, 16, "<"), 32, 65535, 0)


def _adler(data: np.ndarray, width: int) -> Whole | None:
    return _pairs_of_sums(data, 32, 65521, 1) if width == 32 else None


def _sum_255(data: np.ndarray, width: int) -> Whole | None:
    return data.sum(axis=1, dtype=np.uint64) % np.uint64(255) if width == 8 else None


#: Simple ones first: of two that fit equally well the first is named.
FAMILIES: dict[str, Family] = {
    "xor-bytes": Family("XOR of all bytes", _xor_bytes, True),
    "xor-nibbles": Family("XOR of all nibbles", _xor_nibbles, True),
    "xor-words": Family("XOR of {w}-bit words, big-endian", _xor_words, True),
    "sum-bytes": Family("sum of all bytes modulo 2^{w}", _sum_bytes),
    "negative-sum": Family("minus the sum of all bytes modulo 2^{w}", _negative_sum),
    "sum-nibbles": Family("sum of all nibbles modulo 2^{w}", _sum_nibbles),
    "sum-big": Family("sum of {w}-bit words, big-endian, modulo 2^{w}", _sum_big),
    "sum-little": Family("sum of {w}-bit words, little-endian, modulo 2^{w}", _sum_little),
    "internet": Family("Internet checksum (ones' complement of the 16-bit sum)", _internet, True),
    "sum-255": Family("sum of all bytes modulo 255", _sum_255, True),
    "fletcher-8": Family("Fletcher-8", _fletcher_8, True),
    "fletcher-16": Family("Fletcher-16", _fletcher, True),
    "fletcher-16-256": Family("Fletcher's two sums modulo 256", _fletcher_256, True),
    "fletcher-32": Family("Fletcher-32 of little-endian 16-bit words", _fletcher_32, True),
    "adler-32": Family("Adler-32", _adler, True),
}


def find_sums(batches: Sequence[Messages]) -> list[SumFit]:
    """The families that most rows fit, where luck does not explain it; best and simplest first."""
    if any(each.bytes is None for each in batches) or not batches[0].width <= 64:
        return []
    width, found = batches[0].width, []
    orders = [False, True] if width % 8 == 0 and width > 8 else [False]
    shortest = min(each.length for each in batches) // 8
    for skip in range(min(MOST_SKIPPED, shortest - 1) + 1):
        fits = [_fitted(batches, key, little, skip) for key in FAMILIES for little in orders]
        found += [fit for fit in fits if fit is not None and fit.evidence >= EVIDENCE]
        if any(fit.fitting == fit.rows for fit in found):
            break
    return sorted(found, key=lambda fit: -fit.fitting)


def left_over(each: Messages, key: str, little: bool, skip: int) -> np.ndarray | None:
    """Check value minus function for every row, as numbers of the check value's width."""
    data = each.bytes
    assert data is not None
    value = FAMILIES[key].value(np.ascontiguousarray(data[:, skip:]), each.width)
    if value is None:
        return None
    mask = np.uint64((1 << each.width) - 1)
    given = _values(each, little)
    return (given ^ value) & mask if FAMILIES[key].is_xor else (given - value) & mask


def _values(each: Messages, little: bool) -> np.ndarray:
    return numbers(swapped(each.target)) if little else each.values


def _fitted(batches: Sequence[Messages], key: str, little: bool, skip: int) -> SumFit | None:
    lefts = [left_over(each, key, little, skip) for each in batches]
    if any(each is None for each in lefts):
        return None
    constant, fitting = commonest(np.concatenate([each for each in lefts if each is not None]))
    return SumFit(key, batches[0].width, constant, little, skip, fitting, total(batches))

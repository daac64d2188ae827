"""Checksums by arithmetic: sums, their complements, Fletcher, Adler; and the XOR of bytes.

Each is a function of the bytes; a family fits if check value minus function is one constant. The
constant is free (a start value, an address that is added), so it costs one row of evidence.

A family is a few lines of arithmetic that mean the same in C, in Python and on columns of numpy:
`left_over` runs them on all rows at once, and `emit` prints them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xorfind.fields.equations import Equations, commonest, evidence_bits, numbers, swapped

#: Bits of evidence that a family needs: a chance of 2^-20.
EVIDENCE = 20
#: Leading bytes that may lie outside of what is summed.
MOST_SKIPPED = 4


@dataclass(frozen=True)
class Family:
    """words: its name; {w} is the width. steps: for byte x, the j-th of m, what happens to the sums
    a and b, which begin at 0; W stands for the bytes of the check value. value: in the end. is_xor:
    the constant is XORed, not added. widths: of the check value, empty for any. whole: messages
    must be whole words of the check value. digits: messages must be decimal digits, "each" in a
    byte of its own (as a number or in ASCII) or "two" to a byte."""

    words: str
    steps: tuple[str, ...]
    value: str = "a"
    is_xor: bool = False
    widths: tuple[int, ...] = ()
    whole: bool = False
    digits: str = ""

    def takes(self, data: np.ndarray, width: int) -> bool:
        """Whether it makes sense for messages in bytes, (N, m), and check values of some width."""
        if self.widths and width not in self.widths:
            return False
        if self.digits == "two":
            return bool((data & 15 <= 9).all() and (data >> 4 <= 9).all())
        if self.digits == "each":
            return bool((data <= 9).all() or ((data >= 0x30) & (data <= 0x39)).all())
        return not (self.whole and data.shape[1] % (width // 8))


def _two_sums(modulus: int, shift: int, start: int = 0) -> str:
    """Two running sums side by side: of the bytes, and of those sums."""
    first, second = (f" + {start}", " + m") if start else ("", "")
    return f"((b{second}) % {modulus}) << {shift} | (a{first}) % {modulus}"


_BIG, _LITTLE = "x << (8 * (W - 1 - j % W))", "x << (8 * (j % W))"
_SUMS = ("a += x", "b += (m - j) * x")
_NIBBLES = (
    "a += (x >> 4) + (x & 15)",
    "b += 2 * (m - j) * (x >> 4) + (2 * (m - j) - 1) * (x & 15)",
)
_PAIRS = (
    "a += x << (8 * (j % 2))",
    "b += (((m + 1) >> 1) - (j >> 1)) * (x << (8 * (j % 2)))",
)
_DIGIT: tuple[str, bool, tuple[int, ...]] = ("(10 - a % 10) % 10", True, (3, 4, 8))
_ONES = "0xffff - ((a - 1) % 0xffff + 1) * (a > 0)"

#: Simple ones first: of two that fit equally well the first is named.
FAMILIES: dict[str, Family] = {
    "xor-bytes": Family("XOR of all bytes", ("a ^= x",), is_xor=True, widths=(8,)),
    "xor-nibbles": Family(
        "XOR of all nibbles", ("a ^= (x >> 4) ^ (x & 15)",), is_xor=True, widths=(4,)
    ),
    "xor-words": Family(
        "XOR of {w}-bit words, big-endian", (f"a ^= {_BIG}",), "a", True, (16, 32), True
    ),
    "sum-bytes": Family("sum of all bytes modulo 2^{w}", ("a += x",)),
    "negative-sum": Family("minus the sum of all bytes modulo 2^{w}", ("a -= x",)),
    "sum-nibbles": Family("sum of all nibbles modulo 2^{w}", _NIBBLES[:1]),
    "sum-big": Family(
        "sum of {w}-bit words, big-endian, modulo 2^{w}",
        (f"a += {_BIG}",),
        widths=(16, 32),
        whole=True,
    ),
    "sum-little": Family(
        "sum of {w}-bit words, little-endian, modulo 2^{w}",
        (f"a += {_LITTLE}",),
        widths=(16, 32),
        whole=True,
    ),
    "places-up": Family(
        "sum of all bytes, each times its place (1, 2, … from the front), modulo 2^{w}",
        ("a += (j + 1) * x",),
    ),
    "places-down": Family(
        "sum of all bytes, each times its place (1, 2, … from the end), modulo 2^{w}",
        ("a += (m - j) * x",),
    ),
    "luhn": Family(
        "Luhn's check digit",
        ("a += (x & 15) * (2 - (m - j - 1) % 2) - 9 * (((m - j) % 2 * (x & 15) + 3) >> 3)",),
        *_DIGIT,
        digits="each",
    ),
    "luhn-packed": Family(
        "Luhn's check digit, two digits to a byte",
        ("a += (x >> 4) + 2 * (x & 15) - 9 * (((x & 15) + 3) >> 3)",),
        *_DIGIT,
        digits="two",
    ),
    "gtin": Family(
        "check digit of EAN, UPC and GTIN (weights 3 and 1, modulo 10)",
        ("a += (x & 15) * (3 - 2 * ((m - j - 1) % 2))",),
        *_DIGIT,
        digits="each",
    ),
    "isbn-10": Family(
        "check digit of ISBN-10 (weights 2, 3, … from the end, modulo 11)",
        ("a += (m - j + 1) * (x & 15)",),
        "(11 - a % 11) % 11",
        True,
        (3, 4, 8),
        digits="each",
    ),
    "internet": Family(
        "Internet checksum (ones' complement of the 16-bit sum)",
        ("a += x << (8 * (1 - j % 2))",),
        _ONES,
        True,
        (16,),
    ),
    "sum-255": Family("sum of all bytes modulo 255", ("a += x",), "a % 255", True, (8,)),
    "fletcher-8": Family("Fletcher-8", _NIBBLES, _two_sums(15, 4), True, (8,)),
    "fletcher-16": Family("Fletcher-16", _SUMS, _two_sums(255, 8), True, (16,)),
    "fletcher-16-256": Family(
        "Fletcher's two sums modulo 256", _SUMS, _two_sums(256, 8), True, (16,)
    ),
    "fletcher-32": Family(
        "Fletcher-32 of little-endian 16-bit words", _PAIRS, _two_sums(65535, 16), True, (32,)
    ),
    "adler-32": Family("Adler-32", _SUMS, _two_sums(65521, 16, 1), True, (32,)),
}


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
        width = math.log2(10) if FAMILIES[self.family].digits else self.width
        return evidence_bits(width, self.fitting, self.rows, self.width + 8)

    @property
    def name(self) -> str:
        """In words, with its constant."""
        what = FAMILIES[self.family].words.format(w=self.width)
        if self.constant:
            joint = " XOR" if FAMILIES[self.family].is_xor else " plus"
            what += f"{joint} 0x{self.constant:0{-(-self.width // 4)}x}"
        return what

    def misfits(self, each: Equations) -> np.ndarray:
        """Flags of the rows of one length that the family does not give."""
        left = left_over(each, self.family, self.little, self.skip)
        return np.asarray(left != self.constant)


def find_sums(parts: Sequence[Equations]) -> list[SumFit]:
    """The families that most rows fit, where luck does not explain it; best and simplest first."""
    if any(each.size % 4 or not each.size for each in parts) or parts[0].width > 64:
        return []
    width, found = parts[0].width, list[SumFit]()
    orders = [False, True] if width % 8 == 0 and width > 8 else [False]
    shortest = min(each.size for each in parts) // 8
    if halves := any(each.size % 8 for each in parts):
        orders, shortest = [False], 1
    for skip in range(min(MOST_SKIPPED, shortest - 1) + 1):
        keys = [key for key in FAMILIES if not halves or FAMILIES[key].digits == "two"]
        fits = [_fitted(parts, key, little, skip) for key in keys for little in orders]
        found += [fit for fit in fits if fit is not None and fit.evidence >= EVIDENCE]
        if any(fit.fitting == fit.rows for fit in found):
            break
    return sorted(found, key=lambda fit: -fit.fitting)


def value_of(key: str, data: np.ndarray, width: int) -> np.ndarray | None:
    """A family's function of messages (N, m) in bytes, (N,); None if it makes no sense for them.

    >>> value_of("fletcher-16", np.frombuffer(b"abcde", np.uint8)[None], 16).tolist() == [0xC8F0]
    True
    """
    family, count = FAMILIES[key], data.shape[1]
    if not family.takes(data, width):
        return None
    sums = np.zeros(len(data), np.uint64)
    space = {"a": sums, "b": sums.copy(), "m": np.uint64(count), "W": np.uint64(max(width // 8, 1))}
    steps = compile("\n".join(family.steps), key, "exec")
    with np.errstate(over="ignore"):  # sums wrap at 2^64, a multiple of every power of two
        for at, column in enumerate(data.T.astype(np.uint64)):
            exec(steps, {"x": column, "j": np.uint64(at)}, space)
        made: np.ndarray = np.asarray(eval(family.value, {}, space), np.uint64)
    return made


def left_over(each: Equations, key: str, little: bool, skip: int) -> np.ndarray | None:
    """Check value minus function for every row, as numbers of the check value's width."""
    # Half a byte is filled up in front: a digit 0 there changes none of the families that take it.
    data = np.packbits(np.pad(each.bits, ((0, 0), (each.size % 8, 0))), axis=1)
    value = value_of(key, data[:, skip:], each.width)
    if value is None:
        return None
    mask = np.uint64((1 << each.width) - 1)
    given = numbers(swapped(each.target)) if little else each.values
    left = given ^ value if FAMILIES[key].is_xor else given - value
    return np.asarray(left & mask)


def _fitted(parts: Sequence[Equations], key: str, little: bool, skip: int) -> SumFit | None:
    lefts = [left_over(each, key, little, skip) for each in parts]
    if any(each is None for each in lefts):
        return None
    constant, fitting = commonest(np.concatenate([each for each in lefts if each is not None]))
    rows = sum(each.rows for each in parts)
    return SumFit(key, parts[0].width, constant, little, skip, fitting, rows)

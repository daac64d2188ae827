"""Checksums by arithmetic: sums, their complements, Fletcher, Adler; and the XOR of bytes.

Each is a function of the bytes; a family fits if check value minus function is one constant. The
constant is free (a start value, an address that is added), so it costs one row of evidence.

A family is an entry of sums.toml: a few lines of arithmetic that mean the same in C, in Python and
on columns of numpy. `left_over` runs them on all rows at once, and `emit` prints them.
"""

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from xorfind.fields.equations import (
    Conventions,
    Equations,
    commonest,
    evidence_bits,
    numbers,
    swapped,
)

#: Bits of evidence that a family needs: a chance of 2^-20.
EVIDENCE = 20


class Family(NamedTuple):
    """An entry of sums.toml, which says what each field means."""

    words: str
    steps: tuple[str, ...]
    value: str = "a"
    joint: str = "sum"
    widths: tuple[int, ...] = ()
    whole: bool = False
    digits: bool = False


_TEXT = files(__package__).joinpath("sums.toml").read_text("utf-8")
FAMILIES = {key: Family(**entry) for key, entry in tomllib.loads(_TEXT).items()}


@dataclass(frozen=True)
class SumFit:
    """A family that rows fit.

    family: its key in FAMILIES. constant: added (for XORs: XORed) at the end. how: the order of
    bytes in the check value. fitting, rows: how many rows fit.
    """

    family: str
    width: int
    constant: int
    how: Conventions
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
            joint = " XOR" if FAMILIES[self.family].joint == "xor" else " plus"
            what += f"{joint} 0x{self.constant:0{-(-self.width // 4)}x}"
        return what

    def misfits(self, each: Equations) -> np.ndarray:
        """Flags of the rows of one length that the family does not give."""
        left = left_over(each, self.family, self.how.little)
        return np.asarray(left != self.constant)


def find_sums(parts: Sequence[Equations]) -> list[SumFit]:
    """The families that most rows fit, where luck does not explain it; best and simplest first."""
    if any(each.size % 8 or not each.size for each in parts) or parts[0].width > 64:
        return []
    width = parts[0].width
    orders = [False, True] if width % 8 == 0 and width > 8 else [False]
    fits = [_fitted(parts, key, e) for key in FAMILIES for e in orders]
    found = [fit for fit in fits if fit is not None and fit.evidence >= EVIDENCE]
    return sorted(found, key=lambda fit: -fit.fitting)


def value_of(key: str, data: np.ndarray, width: int) -> np.ndarray | None:
    """A family's function of messages (N, m) in bytes, (N,); None if it makes no sense for them.

    >>> value_of("fletcher-16", np.frombuffer(b"abcde", np.uint8)[None], 16).tolist() == [0xC8F0]
    True
    """
    family, count, word = FAMILIES[key], data.shape[1], max(width // 8, 1)
    if (family.widths and width not in family.widths) or (family.whole and count % word):
        return None
    if family.digits and not ((data <= 9).all() or ((data >= 0x30) & (data <= 0x39)).all()):
        return None
    sums = np.zeros(len(data), np.uint64)
    space = {"a": sums, "b": sums.copy(), "m": np.uint64(count), "W": np.uint64(word)}
    steps = compile("\n".join(family.steps), key, "exec")
    with np.errstate(over="ignore"):  # sums wrap at 2^64, a multiple of every power of two
        for at, column in enumerate(data.T.astype(np.uint64)):
            exec(steps, {"x": column, "j": np.uint64(at)}, space)
        made: np.ndarray = np.asarray(eval(family.value, {}, space), np.uint64)
    return made


def left_over(each: Equations, key: str, little: bool) -> np.ndarray | None:
    """Check value minus function for every row, as numbers of the check value's width."""
    value = value_of(key, np.packbits(each.bits, axis=1), each.width)
    if value is None:
        return None
    given = numbers(swapped(each.target) if little else each.target)
    left = given ^ value if FAMILIES[key].joint == "xor" else given - value
    return np.asarray(left & np.uint64((1 << each.width) - 1))


def _fitted(parts: Sequence[Equations], key: str, little: bool) -> SumFit | None:
    lefts = [left for each in parts if (left := left_over(each, key, little)) is not None]
    if len(lefts) < len(parts):
        return None
    every = np.concatenate(lefts)
    constant, fitting = commonest(every)
    how = Conventions(little=little)
    return SumFit(key, parts[0].width, constant, how, fitting, len(every))

"""Cyclic redundancy checks, found by common divisors of differences.

Two frames of one length differ by a multiple of the generator polynomial: start value and final
XOR cancel. So the generator is a common divisor of a few differences, at any width and without a
search; the two constants follow from frames of different lengths, or stay one equation.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from importlib.resources import files
from itertools import product as pairs
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
from xorfind.fields.polynomials import (
    common_divisor,
    divisors_of_degree,
    over_x,
    powers_of_x,
    product,
    remainder,
)
from xorfind.gf2 import affine_solutions, products
from xorfind.words import listed

#: Widths that are tried.
WIDTHS = range(3, 65)
#: Bytes that a constant after the message may have, the likeliest first.
AFTER = (0, 1, 2, 3, 4)
#: Frames whose differences are divided; draws of four frames where some are wrong.
SAMPLE, DRAWS = 40, 60
#: Bits of evidence that a CRC needs: a chance of 2^-20.
EVIDENCE = 20
#: Names that are shown where several CRCs say the same.
MOST_READINGS = 4


class Named(NamedTuple):
    """One published CRC. poly: without its top term. refin, refout: the least significant bit of
    bytes, of the check value, comes first. check: the CRC of the characters 123456789."""

    name: str
    width: int
    poly: int
    init: int
    refin: bool
    refout: bool
    xorout: int
    check: int


@cache
def catalogue() -> tuple[Named, ...]:
    """Published CRCs, from crcs.txt."""
    lines = files(__package__).joinpath("crcs.txt").read_text("utf-8").splitlines()
    made = []
    for name, *rest in (line.split() for line in lines if not line.startswith("#")):
        width, poly, init, refin, refout, xorout, check = (int(each, 0) for each in rest)
        made.append(Named(name, width, poly, init, bool(refin), bool(refout), xorout, check))
    return tuple(made)


@dataclass(frozen=True)
class CrcFit:
    """A CRC that rows fit.

    poly: without its top term. how: conventions under which `constants` were measured: for each
    message length in bits, the XOR that is left when start value and final XOR are 0. init, xorout:
    a pair that gives the constants, that of the catalogue if there is one; 2^freedom pairs do.
    names: of the catalogue that agree with all of it. tails: for each of them the constant after
    the message in hex; one if there is no name. fitting, rows: how many rows fit.
    """

    width: int
    poly: int
    how: Conventions
    constants: dict[int, int]
    init: int
    xorout: int
    freedom: int
    names: tuple[str, ...]
    tails: tuple[str, ...]
    fitting: int
    rows: int

    @property
    def evidence(self) -> float:
        """Bits: -log2 of the chance that unrelated check values would fit."""
        free = self.width * (len(self.constants) + 1) + 6 + 2 * self.how.after
        return evidence_bits(self.width, self.fitting, self.rows, free)

    @property
    def rank(self) -> tuple[int, bool]:
        """Of two CRCs the one that fits more rows is better, then the one that has a name."""
        return self.fitting, bool(self.names)

    @property
    def name(self) -> str:
        """In words, with its parameters."""
        digits, words, how = -(-self.width // 4), ("no", "yes"), self.how
        title = "a CRC that is not in our list"
        if self.names:
            # Each name has a constant of its own after the message; a line of its own says so.
            title = self.names[0] if how.after else " or ".join(self.names[:MOST_READINGS])
        elif self.alike:
            known = listed([each.name for each in self.alike], MOST_READINGS)
            title = f"a CRC with the polynomial of {known} but other constants"
        text = (
            f"{title}: width {self.width}, polynomial 0x{self.poly:0{digits}x}, "
            f"reflected in {words[how.refin]}, out {words[how.refout]}, "
            f"init 0x{self.init:0{digits}x}, xorout 0x{self.xorout:0{digits}x}"
        )
        if how.after:
            text += f", with 0x{self.tails[0]} after the message, which is not sent"
        return text

    @property
    def alike(self) -> tuple[Named, ...]:
        """Entries of the catalogue that differ in init and xorout at most."""
        return _alike(self.width, self.poly, self.how)

    def misfits(self, each: Equations) -> np.ndarray:
        """Flags of the rows of one length that the CRC does not give."""
        bits, target = _sent(each, self.how)
        left = _left_over(bits, target, self.poly | 1 << self.width)
        missed: np.ndarray = left != self.constants[bits.shape[1]]
        return missed


def _alike(width: int, poly: int, how: Conventions) -> tuple[Named, ...]:
    key = (width, poly, how.refin, how.refout)
    return tuple(c for c in catalogue() if (c.width, c.poly, c.refin, c.refout) == key)


def reflect(value: int, width: int) -> int:
    """The bits in the other order.

    >>> reflect(0b0011, 4) == 0b1100
    True
    """
    return int(format(value, f"0{width}b")[::-1], 2)


def find_crc(parts: Sequence[Equations], clean: bool = False) -> CrcFit | None:
    """The CRC behind check values, if luck does not explain its fit. clean: no row is wrong."""
    if parts[0].width not in WIDTHS:
        return None
    best: CrcFit | None = None
    for how in _variants(parts):
        if best is not None and (how.after or best.rank == (best.rows, True)):
            break
        sent = [_sent(each, how) for each in parts]
        for generator in _generators(sent, clean):
            fit = _fitted(sent, generator, how)
            if fit.evidence >= EVIDENCE and (best is None or fit.rank > best.rank):
                best = fit
    return best


def _variants(parts: Sequence[Equations]) -> Iterator[Conventions]:
    """Conventions to try, those that are rare last."""
    whole = all(each.size % 8 == 0 for each in parts)
    width = parts[0].width
    orders = [False, True] if width % 8 == 0 and width > 8 else [False]
    reflections = [(False, False), (True, True), (True, False), (False, True)]
    afters = AFTER if whole else AFTER[:1]
    for after, (refin, refout), little in pairs(afters, reflections, orders):
        if whole or not refin:
            yield Conventions(refin, refout, little, after)


#: Bits of messages and of check values in the order in which a CRC takes them.
Sent = tuple[np.ndarray, np.ndarray]


def _sent(each: Equations, how: Conventions) -> Sent:
    bits, rows = each.bits, each.rows
    if how.refin:
        bits = bits.reshape(rows, -1, 8)[:, :, ::-1].reshape(rows, -1)
    target = swapped(each.target) if how.little else each.target
    return np.pad(bits, ((0, 0), (0, 8 * how.after))), target[:, ::-1] if how.refout else target


def _words(sent: Sent, rows: np.ndarray | slice) -> list[int]:
    """Message and check value of some rows as polynomials."""
    both = np.concatenate([each[rows] for each in sent], axis=1)
    data = np.packbits(np.pad(both, ((0, 0), (-both.shape[1] % 8, 0))), axis=1)
    return [int.from_bytes(row.tobytes(), "big") for row in data]


def _generators(sent: Sequence[Sent], clean: bool) -> list[int]:
    """Polynomials of the right degree that divide differences of frames."""
    width = sent[0][1].shape[1]
    differences = []
    for each in sent:
        first, *others = _words(each, slice(SAMPLE))
        differences += [word ^ first for word in others if word != first]
    if len(differences) < 2:
        return []
    found = divisors_of_degree(reduce(common_divisor, differences), width)
    return found if found or clean else _voted(sent, width)


def _voted(sent: Sequence[Sent], width: int) -> list[int]:
    """Divisors that several draws of four frames agree on: some frames may be wrong."""
    large = [each for each in sent if len(each[0]) >= 8]
    if not large:
        return []
    draw, votes = np.random.default_rng(0), Counter[int]()
    weights = np.array([len(bits) for bits, _ in large], float)
    for _ in range(DRAWS if large[0][0].shape[1] <= 1024 else DRAWS // 10):
        each = large[int(draw.choice(len(large), p=weights / weights.sum()))]
        first, *others = _words(each, draw.choice(len(each[0]), 4, replace=False))
        common = reduce(common_divisor, [other ^ first for other in others])
        votes.update(divisors_of_degree(common, width) if common else [])
    return [divisor for divisor, count in votes.most_common(3) if count > 1]


def _left_over(bits: np.ndarray, target: np.ndarray, generator: int) -> np.ndarray:
    """What init and xorout add to each row's check value, as a number.

    The last bit of a message stands for x^width, the first of n bits for x^(width + n - 1).
    """
    width, size = target.shape[1], bits.shape[1]
    terms = powers_of_x(width + size, generator)[width:]
    plain = _bits_of(terms[::-1], width).T[::-1]
    return numbers(products(bits, plain) ^ target)


def _fitted(sent: Sequence[Sent], generator: int, how: Conventions) -> CrcFit:
    width, lefts = sent[0][1].shape[1], dict[int, np.ndarray]()
    for bits, target in sent:
        left, length = _left_over(bits, target, generator), bits.shape[1]
        lefts[length] = np.concatenate([lefts.get(length, left[:0]), left])
    init, xorout, freedom = _constants(generator, width, lefts)
    constants = {each: _constant(init, xorout, each, generator) for each in lefts}
    fitting = sum(int((left == constants[each]).sum()) for each, left in lefts.items())
    poly, rows = generator ^ (1 << width), sum(len(left) for left in lefts.values())
    tails = {named: _tail(named, generator, how, constants) for named in _alike(width, poly, how)}
    found = [(named, tail) for named, tail in tails.items() if tail is not None]
    if found:
        init, xorout = found[0][0].init, found[0][0].xorout
    elif how.refout:
        xorout = reflect(xorout, width)
    names = tuple(named.name for named, _ in found)
    after = tuple(tail for _, tail in found) or ("00" * how.after,)
    return CrcFit(width, poly, how, constants, init, xorout, freedom, names, after, fitting, rows)


def _constant(init: int, xorout: int, length: int, generator: int) -> int:
    """What init and xorout leave for messages of `length` bits: init·x^length + xorout."""
    power = powers_of_x(length + 1, generator)[-1]
    return remainder(product(init, power), generator) ^ xorout


def _constants(generator: int, width: int, lefts: dict[int, np.ndarray]) -> tuple[int, int, int]:
    """Start value and final XOR in register order, and how many bits of them are free.

    lefts: for each length what is left of every row. The commonest value at a length is `width`
    equations for the bits of xorout and init. Lengths with many such rows come first; one that
    contradicts those before it has too many wrong rows and is left out.
    """
    rows, sides = np.zeros((0, 2 * width), np.uint8), np.zeros((0, 1), np.uint8)
    found = affine_solutions(rows, sides)
    votes = {length: commonest(left) for length, left in lefts.items()}
    for length in sorted(votes, key=lambda each: -votes[each][1]):
        images = powers_of_x(length + width, generator)[length:]
        made = np.concatenate([np.eye(width, dtype=np.uint8), _bits_of(images, width).T], axis=1)
        more = np.concatenate([rows, made])
        both = np.concatenate([sides, _bits_of([votes[length][0]], width).T])
        trial = affine_solutions(more, both)
        if trial.consistent[0]:
            rows, sides, found = more, both, trial
    xorout, init = numbers(found.solutions.reshape(2, width)[:, ::-1]).tolist()
    return init, xorout, len(found.basis)


def _bits_of(values: Sequence[int], width: int) -> np.ndarray:
    """Numbers as rows of bits, the least significant first."""
    return np.array([[value >> bit & 1 for bit in range(width)] for value in values], np.uint8)


def _tail(named: Named, generator: int, how: Conventions, constants: dict[int, int]) -> str | None:
    """The constant after the message under which a CRC of the catalogue leaves the constants, in
    hex, "" where none is needed; None if there is no such constant.

    A constant c leaves c·x^width + init·x^n + xorout for n bits, c included; c is the same for all
    lengths n, or the CRC is another.
    """
    width = named.width
    xorout = reflect(named.xorout, width) if how.refout else named.xorout
    found = {
        over_x(constant ^ _constant(named.init, xorout, length, generator), width, generator)
        for length, constant in constants.items()
    }
    value = found.pop()
    if found or value.bit_length() > 8 * how.after:
        return None
    made = value.to_bytes(how.after, "big")
    return (bytes(reflect(byte, 8) for byte in made) if how.refin else made).hex()

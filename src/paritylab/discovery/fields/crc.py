"""Cyclic redundancy checks, found by common divisors of differences.

Two frames of one length differ by a multiple of the generator polynomial: start value and final
XOR cancel. So the generator is a common divisor of a few differences, at any width and without a
search; the two constants follow from frames of different lengths, or stay one equation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product as pairs

import numpy as np

from paritylab.discovery.fields.crc_catalogue import CATALOGUE, Named
from paritylab.discovery.fields.messages import (
    Messages,
    commonest,
    evidence_bits,
    numbers,
    swapped,
    total,
)
from paritylab.discovery.fields.polynomials import (
    common_divisor,
    divisors_of_degree,
    power_of_x,
    product,
    remainder,
)
from paritylab.solvers.gf2 import affine_solutions
from paritylab.solvers.labelled_rows import packed

#: Widths that are tried.
WIDTHS = range(3, 65)
#: Leading bytes that may lie outside of what is checked.
MOST_SKIPPED = 4
#: Frames whose differences are divided; draws of four frames where some are wrong.
SAMPLE, DRAWS = 40, 60
#: Degree of a common divisor beyond the width that is still taken apart.
ROOM = 24
#: Bits of evidence that a CRC needs: a chance of 2^-20.
EVIDENCE = 20


@dataclass(frozen=True)
class Conventions:
    """How bits are sent. refin, refout: least significant bit of bytes, of the check value, first.
    little: the check value is stored least significant byte first. skip: leading bytes that are
    not checked."""

    refin: bool = False
    refout: bool = False
    little: bool = False
    skip: int = 0


@dataclass(frozen=True)
class CrcFit:
    """A CRC that rows fit.

    poly: without its top term. constants: for each message length in bits, the XOR that is left
    when start value and final XOR are 0. init, xorout: a pair that gives them, that of the
    catalogue if there is one; 2^freedom pairs do. names: of the catalogue that agree with all of
    it. fitting, rows: how many rows fit.
    """

    width: int
    poly: int
    conventions: Conventions
    constants: dict[int, int]
    init: int
    xorout: int
    freedom: int
    names: tuple[str, ...]
    fitting: int
    rows: int

    @property
    def evidence(self) -> float:
        """Bits: -log2 of the chance that unrelated check values would fit."""
        free = self.width * (len(self.constants) + 1) + 6
        return evidence_bits(self.width, self.fitting, self.rows, free)


def reflect(value: int, width: int) -> int:
    """The bits in the other order.

    >>> reflect(0b0011, 4) == 0b1100
    True
    """
    return int(format(value, f"0{width}b")[::-1], 2)


def crc(data: bytes, named: Named) -> int:
    """The CRC of some bytes by its definition, bit by bit.

    >>> hex(crc(b"123456789", next(c for c in CATALOGUE if c.name == "CRC-16/ARC")))
    '0xbb3d'
    """
    top, mask, register = 1 << (named.width - 1), (1 << named.width) - 1, named.init
    for byte in data:
        for bit in range(8):
            fed = byte >> (bit if named.refin else 7 - bit) & 1
            over = bool(register & top) != bool(fed)
            register = (register << 1 & mask) ^ (named.poly if over else 0)
    return (reflect(register, named.width) if named.refout else register) ^ named.xorout


def find_crc(batches: Sequence[Messages], clean: bool = False) -> CrcFit | None:
    """The CRC behind check values, if luck does not explain its fit. clean: no row is wrong."""
    batches = [each for each in batches if each.length]
    if not batches or batches[0].width not in WIDTHS:
        return None
    best: CrcFit | None = None
    for conventions in _variants(batches):
        sent = [_sent(each, conventions) for each in batches]
        for generator in _generators(sent, clean):
            fit = _fitted(batches, sent, generator, conventions)
            if fit.evidence >= EVIDENCE and (best is None or fit.evidence > best.evidence):
                best = fit
        if best is not None and best.fitting == best.rows:
            break
    return best


def _variants(batches: Sequence[Messages]) -> Iterator[Conventions]:
    whole = all(each.length % 8 == 0 for each in batches)
    width = batches[0].width
    orders = [False, True] if width % 8 == 0 and width > 8 else [False]
    shortest = min(each.length for each in batches) // 8
    skips = range(min(MOST_SKIPPED, shortest - 1) + 1) if whole and shortest else range(1)
    reflections = [(False, False), (True, True), (True, False), (False, True)]
    for skip, (refin, refout), little in pairs(skips, reflections, orders):
        if whole or not refin:
            yield Conventions(refin, refout, little, skip)


def _sent(each: Messages, conventions: Conventions) -> Messages:
    """Message and check value in the order in which a CRC takes their bits."""
    bits = each.bits[:, 8 * conventions.skip :]
    if conventions.refin:
        bits = bits.reshape(each.rows, -1, 8)[:, :, ::-1].reshape(each.rows, -1)
    target = swapped(each.target) if conventions.little else each.target
    return Messages(bits, target[:, ::-1] if conventions.refout else target, each.lines)


def _words(each: Messages, rows: np.ndarray) -> list[int]:
    """Message and check value of some rows as polynomials."""
    both = np.concatenate([each.bits[rows], each.target[rows]], axis=1)
    pad = -both.shape[1] % 8
    data = np.packbits(np.pad(both, ((0, 0), (pad, 0))), axis=1)
    return [int.from_bytes(row.tobytes(), "big") for row in data]


def _generators(sent: Sequence[Messages], clean: bool) -> list[int]:
    """Polynomials of the right degree that divide differences of frames."""
    width = sent[0].width
    differences = []
    for each in sent:
        words = _words(each, np.arange(min(each.rows, SAMPLE)))
        differences += [word ^ words[0] for word in words[1:]]
    differences = [each for each in differences if each]
    if len(differences) < 2:
        return []
    found = _divisors(reduce(common_divisor, differences), width)
    return found if found or clean else _voted(sent, width)


def _divisors(common: int, width: int) -> list[int]:
    degree = common.bit_length() - 1
    return divisors_of_degree(common, width) if width <= degree <= width + ROOM else []


def _voted(sent: Sequence[Messages], width: int) -> list[int]:
    """Divisors that several draws of four frames agree on: some frames may be wrong."""
    large = [each for each in sent if each.rows >= 8]
    if not large:
        return []
    draw, votes = np.random.default_rng(0), dict[int, int]()
    weights = np.array([each.rows for each in large], float)
    for _ in range(DRAWS if large[0].length <= 1024 else DRAWS // 10):
        each = large[int(draw.choice(len(large), p=weights / weights.sum()))]
        first, *others = _words(each, draw.choice(each.rows, 4, replace=False))
        common = reduce(common_divisor, [other ^ first for other in others])
        for divisor in _divisors(common, width):
            votes[divisor] = votes.get(divisor, 0) + 1
    ranked = sorted(votes.items(), key=lambda vote: -vote[1])[:3]
    return [divisor for divisor, count in ranked if count > 1]


def plain_map(generator: int, width: int, length: int) -> np.ndarray:
    """The CRC with start value and final XOR 0 as a matrix, (width, length)."""
    made, term = np.zeros((width, length), np.uint8), remainder(1 << width, generator)
    for column in range(length - 1, -1, -1):
        made[:, column] = [term >> (width - 1 - bit) & 1 for bit in range(width)]
        term = remainder(term << 1, generator)
    return made


def _left_over(each: Messages, generator: int) -> np.ndarray:
    """What init and xorout add to each row's check value, as a number."""
    masks, words = packed(plain_map(generator, each.width, each.length)), packed(each.bits)
    plain = np.empty_like(each.target)
    for bit, mask in enumerate(masks):
        odd = np.bitwise_count(words & mask).sum(axis=1, dtype=np.uint64) & np.uint64(1)
        plain[:, bit] = odd.astype(np.uint8)
    return numbers(plain ^ each.target)


def crc_misfits(each: Messages, fit: CrcFit) -> np.ndarray:
    """Flags of the rows of one length that a CRC does not give."""
    skip = (each.length - max(n for n in fit.constants if n <= each.length)) // 8
    sent = _sent(each, replace(fit.conventions, skip=skip))
    missed: np.ndarray = _left_over(sent, fit.poly | 1 << fit.width) != fit.constants[sent.length]
    return missed


def _fitted(
    batches: Sequence[Messages],
    sent: Sequence[Messages],
    generator: int,
    conventions: Conventions,
) -> CrcFit:
    width, fitting = sent[0].width, 0
    constants: dict[int, int] = {}
    for each in sent:
        left = _left_over(each, generator)
        constant, count = commonest(left)
        constants[each.length] = constant
        fitting += count
    poly = generator ^ (1 << width)
    init, xorout, freedom = _constants(generator, width, constants)
    if conventions.refout:
        xorout = reflect(xorout, width)
    agreeing, skip = _agreeing(batches, poly, conventions)
    if agreeing:
        init, xorout = agreeing[0].init, agreeing[0].xorout
    return CrcFit(
        width,
        poly,
        replace(conventions, skip=skip),
        constants,
        init,
        xorout,
        freedom,
        tuple(named.name for named in agreeing),
        fitting,
        total(batches),
    )


def _constants(generator: int, width: int, constants: dict[int, int]) -> tuple[int, int, int]:
    """Start value and final XOR in register order, and how many bits of them are free.

    A length of n bits leaves init·x^n + xorout; two lengths leave init·(x^n + x^m), which is one
    init where that factor has no divisor in common with the generator.
    """
    lengths = sorted(constants)
    first, rows, sides = lengths[0], [], []
    base = power_of_x(first, generator)
    if len(lengths) == 1:
        return 0, constants[first], width
    for length in lengths[1:]:
        factor = power_of_x(length, generator) ^ base
        images = [remainder(product(factor, 1 << bit), generator) for bit in range(width)]
        rows.append([[image >> out & 1 for image in images] for out in range(width)])
        gap = constants[length] ^ constants[first]
        sides.append([gap >> out & 1 for out in range(width)])
    system = np.array(rows, np.uint8).reshape(-1, width)
    found = affine_solutions(system, np.array(sides, np.uint8).reshape(-1, 1))
    init = sum(int(bit) << at for at, bit in enumerate(found.solutions[0]))
    if not found.consistent[0]:
        return 0, constants[first], width
    xorout = constants[first] ^ remainder(product(init, base), generator)
    return init, xorout, len(found.basis)


def _agreeing(
    batches: Sequence[Messages], poly: int, conventions: Conventions
) -> tuple[list[Named], int]:
    """Entries of the catalogue that explain the constants, and how many leading bytes they skip.

    Leading bytes that never change only add to the constant, so they may be outside.
    """
    width, most = batches[0].width, conventions.skip
    alike = [
        named
        for named in CATALOGUE
        if (named.width, named.poly) == (width, poly)
        and (named.refin, named.refout) == (conventions.refin, conventions.refout)
    ]
    if alike and all(each.length % 8 == 0 for each in batches):
        most = max(most, min(MOST_SKIPPED, min(each.length for each in batches) // 8 - 1))
    for skip in range(conventions.skip, most + 1):
        agreeing = [named for named in alike if _agrees(named, batches, skip, conventions)]
        if agreeing:
            return agreeing, skip
        heads = [each.bits[:, : 8 * skip + 8] for each in batches]
        if any((head != head[:1]).any() for head in heads):
            break
    return [], conventions.skip


def _agrees(named: Named, batches: Sequence[Messages], skip: int, conventions: Conventions) -> bool:
    """Whether a CRC of the catalogue gives the check value of a row that fits, at each length."""
    for each in batches:
        target = swapped(each.target) if conventions.little else each.target
        data, values = each.bytes, numbers(target)
        if data is None:
            return False
        tried = range(min(each.rows, 5))
        right = sum(crc(data[row, skip:].tobytes(), named) == int(values[row]) for row in tried)
        if right <= len(tried) // 2:
            return False
    return True

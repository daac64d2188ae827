"""One field, one answer: is it affine, what is it called, what is left open, what to measure."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from xorfind.answer import Answer, Conclusion
from xorfind.fields.crc import CrcFit, find_crc
from xorfind.fields.equations import (
    AffineFit,
    Equations,
    affine_fit,
    joined,
    proof_against,
    same_inputs,
)
from xorfind.fields.matrix import XorMatrix
from xorfind.fields.reading import Fields
from xorfind.fields.shapes import shape_name
from xorfind.fields.sums import SumFit, find_sums
from xorfind.gf2 import reduced
from xorfind.solvers.solving import solve

#: Seconds a search may take where nothing else is said.
BUDGET = 30.0
#: Share of rows from which on a family that fits them names the field, and not a part of it.
MOSTLY = 0.6
#: Rows beyond the rank from which on some may be wrong and the others still say what is right.
SPARE = 20
#: Chance that a field without a relation to the inputs gets formulas that most rows fit.
ALPHA = 0.01
#: Seconds that a search among wrong rows of one bit has at least.
SHORTEST = 0.05


class Outcome(StrEnum):
    """What came out, as a sentence."""

    CONSTANT = "the field never changes"
    LINEAR = "every bit is an XOR of input bits"
    NOISY = "every bit is an XOR of input bits, but for some wrong rows"
    NAMED = "the field is a known checksum"
    PARTLY = "some bits are XORs of input bits"
    TOO_FEW = "an XOR fits, but so few rows would fit anything"
    NOTHING = "no XOR of input bits and no known checksum explains it"


class Flip(NamedTuple):
    """A row to measure: a row that is known (its line), with one bit turned."""

    line: int
    bit: str


@dataclass(frozen=True)
class Finding:
    """The answer for one field.

    rows: in the file. system, fit: the equations of the distinct rows, and what they allow.
    reading: what a matrix needs to read such rows. matrix: of all outputs that are XORs. noisy:
    answers for those (by their numbers) that only most rows fit. crc, sums: families that fit.
    shape: a name for the matrix. wrong: lines that do not fit what was found.
    """

    target: str
    outcome: Outcome
    rows: int
    system: Equations
    fit: AffineFit
    reading: dict[str, Any]
    matrix: XorMatrix | None = None
    noisy: dict[int, Answer] = field(default_factory=dict)
    crc: CrcFit | None = None
    sums: tuple[SumFit, ...] = ()
    shape: str | None = None
    wrong: tuple[int, ...] = ()

    @cached_property
    def supported(self) -> np.ndarray:
        """Flags of the outputs that are XORs beyond luck."""
        return self.fit.supported(self.system.target)

    @cached_property
    def proof(self) -> tuple[int, tuple[int, ...]] | None:
        """An output that is not affine, by its number, and lines that together prove it."""
        if self.fit.holds.all():
            return None
        bit = int(np.flatnonzero(~self.fit.holds)[-1])
        lines = proof_against(self.system, bit)
        return (bit, lines) if lines else None

    @cached_property
    def clash(self) -> tuple[int, int] | None:
        """Two lines with the same inputs and different targets."""
        return same_inputs(self.system)

    @cached_property
    def flips(self) -> tuple[Flip, ...]:
        """One bit to turn for every direction that is open; together they settle all of them.

        A direction is a set of inputs whose XOR has been the same in all rows; turning one of them
        in a known row breaks that.
        """
        columns = self.system.size - self.system.lengths
        pivots = reduced(self.fit.free[:, :columns]).argmax(axis=1)
        # The last row is one of the longest, so it has every byte.
        return tuple(Flip(int(self.system.lines[-1]), self.system.inputs[at]) for at in pivots)

    @property
    def named(self) -> SumFit | CrcFit | None:
        """The family that fits most rows; of equals the simpler."""
        families: list[SumFit | CrcFit] = [*self.sums[:1], *([self.crc] if self.crc else [])]
        return max(families, key=lambda fit: fit.fitting, default=None)

    @property
    def found(self) -> bool:
        """Whether the whole field is explained."""
        return self.outcome in (Outcome.LINEAR, Outcome.NOISY, Outcome.NAMED)

    @property
    def usable_matrix(self) -> XorMatrix | None:
        """A matrix that serves new rows.

        None for frames of several lengths, where every row was needed to fix the entries, so that
        nothing shows that they are right, and where a CRC settles what the rows leave open: its
        code serves new rows.
        """
        crc_says_more = self.crc is not None and not self.sums and len(self.fit.free)
        unsure = self.system.lengths or not self.fit.spare or crc_says_more
        return None if unsure else self.matrix


def hunt(
    fields: Fields,
    target: str,
    bits: Sequence[str] = (),
    ignore: Sequence[str] = (),
    *,
    budget: float = BUDGET,
) -> Finding:
    """Explain a field by other bits.

    target: slices as text. bits: what may explain it, all columns if absent. ignore: what may not.
    budget: seconds for a search among wrong rows.

    >>> from xorfind.fields.reading import read_fields
    >>> lines = [f"{a:02x}{b:02x}{a ^ b:02x}" for a in range(40) for b in (3, 77, a)]
    >>> hunt(read_fields(lines), "frame[-1]").sums[0].name
    'XOR of all bytes'
    """
    parts = fields.equations(target, bits, ignore)
    if not parts[0].width or not all(part.size for part in parts):
        raise ValueError("nothing explains the target: no input bits are left")
    if len({part.width for part in parts}) > 1:
        raise ValueError(f"{target} has not the same width in frames of all lengths")
    parts = tuple(part.without_repeats() for part in parts)
    system = joined(parts)
    fit = affine_fit(system.bits, system.target)
    reading = {"target": target, "bits": [*bits], "ignore": [*ignore], "hex": [*fields.hex_columns]}
    base = Finding(target, Outcome.NOTHING, fields.rows, system, fit, reading)
    if (system.target == system.target[:1]).all():
        return replace(base, outcome=Outcome.CONSTANT)
    return _judged(_named(base, parts), budget)


def _named(base: Finding, parts: Sequence[Equations]) -> Finding:
    """With the simplest name: the shape of the matrix, a sum, a CRC; and the rows it misses."""
    system, clean = base.system, bool(base.supported.all())
    if clean and not system.lengths:
        # The matrix of all inputs, or of those that change.
        rows, constants = base.fit.solutions[:, :-1], base.fit.solutions[:, -1]
        varies = (system.bits != system.bits[:1]).any(axis=0)
        shape = shape_name(rows, constants) or shape_name(rows[:, varies], constants)
        if shape is not None:
            return replace(base, shape=shape)
    base = replace(base, sums=tuple(find_sums(parts)))
    if base.named is None or base.named.fitting < base.named.rows:
        base = replace(base, crc=find_crc(parts, clean))
    if base.named is None:
        return base
    missed = np.concatenate([base.named.misfits(part) for part in parts])
    return replace(base, wrong=_sorted(system.lines[missed]))


def _sorted(lines: np.ndarray) -> tuple[int, ...]:
    return tuple(sorted(lines.tolist()))


def _judged(base: Finding, budget: float) -> Finding:
    """With the outcome, the matrix, and the rows that are wrong."""
    fit, linear = base.fit, base.supported.all()
    named = base.named is not None and base.named.fitting >= MOSTLY * base.named.rows
    if fit.holds.all():
        base = replace(base, matrix=_matrix(base, fit.solutions, fit.holds))
        # Rows that all fit a matrix beyond luck are not explained by a family that some do not.
        if not named or (linear and base.wrong):
            return replace(base, outcome=Outcome.LINEAR if linear else Outcome.TOO_FEW, wrong=())
    if named:
        return replace(base, outcome=Outcome.NAMED)
    # Rows that a family fits and others make two kinds of rows, not one kind with wrong ones.
    return _noisy(base, budget) if base.named is None else base


def _noisy(base: Finding, budget: float) -> Finding:
    """A matrix for the bits that all rows allow and for those that most rows vote for."""
    system, fit, noisy = base.system, base.fit, dict[int, Answer]()
    found, solutions = fit.holds & base.supported, fit.solutions.copy()
    if system.rows > fit.rank + SPARE:
        noisy = consensus(system.bits, system.target, ~fit.holds, budget)
    for bit, answer in noisy.items():
        assert answer.subset is not None
        solutions[bit], found[bit] = 0, True
        solutions[bit, [*answer.subset]] = 1
        solutions[bit, -1] = answer.sign < 0
    if not found.any():
        return base
    matrix = _matrix(base, solutions, found)
    outcome = Outcome.NOISY if found.all() else Outcome.PARTLY
    missed = (matrix.apply(system.bits) != system.target[:, found]).any(axis=1)
    wrong = _sorted(system.lines[missed])
    return replace(base, noisy=noisy, matrix=matrix, outcome=outcome, wrong=wrong)


def _matrix(base: Finding, solutions: np.ndarray, found: np.ndarray) -> XorMatrix:
    names = tuple(name for name, there in zip(base.system.outputs, found, strict=True) if there)
    chosen = solutions[found]
    return XorMatrix(names, base.system.inputs, chosen[:, :-1], chosen[:, -1], base.reading)


def consensus(
    inputs: np.ndarray, target: np.ndarray, wanted: np.ndarray, budget: float
) -> dict[int, Answer]:
    """For wanted target bits the parities that most rows fit, by the solvers for one label.

    inputs: (N, n). target: (N, w). wanted: flags, (w,). budget: seconds for all of them.
    """
    found, end = dict[int, Answer](), time.perf_counter() + budget
    bits = [bit for bit in np.flatnonzero(wanted).tolist() if np.ptp(target[:, bit])]
    for at, bit in enumerate(bits):
        room, alpha = (end - time.perf_counter()) / (len(bits) - at), ALPHA / 2 / len(wanted)
        # Random rows see little noise and any map at once; what they leave open may be sparse.
        for method in ("elimination", "auto"):
            share = max(room / 2, SHORTEST)
            answer = solve(inputs, target[:, bit], alpha=alpha, budget=share, method=method)
            if answer.subset is not None and answer.conclusion is Conclusion.EXPLAINS:
                found[bit] = answer
                break
    return found

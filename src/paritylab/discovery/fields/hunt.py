"""One field, one answer: is it affine, what is it called, what is left open, what to measure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from paritylab.discovery.fields.affine import AffineFit, misfits, proof_against, same_inputs
from paritylab.discovery.fields.batches import FieldTable, Selection
from paritylab.discovery.fields.consensus import CHECKS, NoisyFit, Tell, consensus
from paritylab.discovery.fields.crc import CrcFit, crc_misfits, find_crc
from paritylab.discovery.fields.matrix import XorMatrix
from paritylab.discovery.fields.messages import Messages, messages_of, total, without_repeats
from paritylab.discovery.fields.shapes import shape_name
from paritylab.discovery.fields.sums import SumFit, find_sums, left_over
from paritylab.discovery.fields.systems import Alignment, System, common_value, one_system
from paritylab.solvers.gf2 import echelon
from paritylab.solvers.labelled_rows import packed

#: Seconds a search may take where nothing else is said.
BUDGET = 30.0
#: Share of rows from which on a family that fits them names the field, and not a part of it.
MOSTLY = 0.6


class Outcome(StrEnum):
    """What came out, as a sentence."""

    CONSTANT = "the field never changes"
    LINEAR = "every bit is an XOR of input bits"
    NOISY = "every bit is an XOR of input bits, but for some wrong rows"
    NAMED = "the field is a known checksum"
    TWO = "two formulas, each for some of the rows"
    PARTLY = "some bits are XORs of input bits"
    TOO_FEW = "an XOR fits, but so few rows would fit anything"
    NOTHING = "no XOR of input bits and no known checksum"


@dataclass(frozen=True)
class Flip:
    """A row to measure: a row that is known (its line), with one bit turned."""

    line: int
    bit: str


@dataclass(frozen=True)
class Finding:
    """The answer for one field.

    rows: in the file; distinct: that differ. system, fit: the equations, and what they allow.
    supported: flags of the outputs that are XORs beyond luck. matrix: of all outputs that are.
    noisy: where some rows are wrong. crc, sums: families that fit. shape: a name for the matrix.
    proof: lines that together prove that an output (its number) is not affine. clash: two lines
    with the same inputs and different targets. flips: rows that settle what is open. wrong: lines
    that do not fit what was found. suspect: what those lines have in common, if anything.
    """

    target: str
    outcome: Outcome
    rows: int
    distinct: int
    system: System
    fit: AffineFit
    supported: np.ndarray
    matrix: XorMatrix | None = None
    noisy: NoisyFit | None = None
    crc: CrcFit | None = None
    sums: tuple[SumFit, ...] = ()
    shape: str | None = None
    proof: tuple[int, tuple[int, ...]] | None = None
    clash: tuple[int, int] | None = None
    flips: tuple[Flip, ...] = ()
    wrong: tuple[int, ...] = ()
    suspect: str | None = None

    @property
    def named(self) -> SumFit | CrcFit | None:
        """The family that fits most rows; of equals the simpler."""
        crc = self.crc
        if self.sums and (crc is None or self.sums[0].fitting >= crc.fitting):
            return self.sums[0]
        return crc

    @property
    def found(self) -> bool:
        """Whether the whole field is explained."""
        return self.outcome in (Outcome.LINEAR, Outcome.NOISY, Outcome.NAMED, Outcome.TWO)


def hunt(
    table: FieldTable,
    selection: Selection,
    *,
    target: str = "",
    budget: float = BUDGET,
    reading: dict[str, Any] | None = None,
    tell: Tell = lambda text: None,
) -> Finding:
    """Explain the target of a selection by its inputs.

    >>> from paritylab.discovery.fields.reading import read_fields
    >>> lines = [f"{a:02x}{b:02x}{a ^ b:02x}" for a in range(40) for b in (3, 77, a)]
    >>> table = read_fields(lines)
    >>> hunt(table, table.select("frame[-1]")).sums[0].name
    'XOR of all bytes'
    """
    messages = messages_of(table, selection)
    if not messages[0].width or not all(each.length for each in messages):
        raise ValueError("nothing explains the target: no input bits are left")
    if len({each.width for each in messages}) > 1:
        raise ValueError(f"{target} has not the same width in frames of all lengths")
    distinct = without_repeats(messages)
    system, fit = _best_system(table, selection, distinct)
    base = Finding(
        target or ", ".join(map(str, selection.targets)),
        Outcome.NOTHING,
        total(messages),
        total(distinct),
        system,
        fit,
        system.supported(fit),
    )
    if (system.target == system.target[:1]).all():
        return replace(base, outcome=Outcome.CONSTANT)
    base = _named_families(replace(base, shape=_shape(base, code=False)), distinct)
    base = replace(base, wrong=_wrong(distinct, base.named))
    found = _judged(base, budget, reading or {}, tell)
    if found.wrong:
        if system.alignment == "end":
            system = one_system(table, selection, distinct, "start")
        missed = np.isin(system.lines, np.array(found.wrong))
        found = replace(found, suspect=common_value(system, missed))
    return found


def _named_families(base: Finding, messages: Sequence[Messages]) -> Finding:
    """The simplest name: the shape of the matrix, a sum, a CRC, an error correcting code."""
    if base.shape is not None:
        return base
    sums = tuple(find_sums(messages))
    if sums and sums[0].fitting == sums[0].rows:
        return replace(base, sums=sums)
    crc = find_crc(messages, clean=bool(base.supported.all()))
    if crc is not None:
        return replace(base, sums=sums, crc=crc)
    return replace(base, sums=sums, shape=_shape(base, code=True))


def _best_system(
    table: FieldTable, selection: Selection, messages: Sequence[Messages]
) -> tuple[System, AffineFit]:
    """The layout of lengths under which most bits are affine."""
    if len(messages) == 1:
        system = one_system(table, selection, messages, "one length")
        return system, system.fit()
    layouts: tuple[Alignment, ...] = ("end", "start")
    made = [one_system(table, selection, messages, layout) for layout in layouts]
    return max(
        ((system, system.fit()) for system in made),
        key=lambda pair: (int(pair[0].supported(pair[1]).sum()), pair[1].spare),
    )


def _judged(base: Finding, budget: float, reading: dict[str, Any], tell: Tell) -> Finding:
    system, fit = base.system, base.fit
    clash = same_inputs(system.bits, system.target)
    lines = None if clash is None else (int(system.lines[clash[0]]), int(system.lines[clash[1]]))
    base = replace(base, clash=lines, flips=flips_of(system, fit))
    if fit.holds.all():
        base = replace(base, matrix=_matrix(system, fit.solutions, fit.holds, reading))
        # Rows that all fit a matrix beyond luck are not explained by a family that some do not.
        linear = base.supported.all()
        if _named(base) and not (linear and base.wrong):
            return replace(base, outcome=Outcome.NAMED)
        return replace(base, outcome=Outcome.LINEAR if linear else Outcome.TOO_FEW, wrong=())
    base = replace(base, proof=_proof(system, fit))
    if _named(base):
        return replace(base, outcome=Outcome.NAMED)
    if (two := _two_formulas(base, reading)) is not None:
        return two
    noisy = None
    if len(system.bits) > fit.rank + 2 * CHECKS:
        noisy = consensus(system.bits, system.target, ~fit.holds, budget, tell)
    found = fit.holds & base.supported
    if noisy is None or not noisy.found.any():
        matrix = _matrix(system, fit.solutions, found, reading) if found.any() else None
        outcome = Outcome.PARTLY if found.any() else Outcome.NOTHING
        return replace(base, matrix=matrix, outcome=outcome)
    solutions = np.where(noisy.found[:, None], noisy.solutions, fit.solutions)
    found = found | noisy.found
    outcome = Outcome.NOISY if found.all() else Outcome.PARTLY
    matrix = _matrix(system, solutions, found, reading)
    missed = misfits(solutions, system.bits, system.target)[:, found].any(axis=1)
    wrong = tuple(sorted(system.lines[missed].tolist()))
    return replace(base, noisy=noisy, matrix=matrix, outcome=outcome, wrong=wrong)


def _wrong(messages: Sequence[Messages], best: SumFit | CrcFit | None) -> tuple[int, ...]:
    """Lines that do not fit the best family."""
    if best is None or best.fitting == best.rows:
        return ()
    lines: list[int] = []
    for each in messages:
        if isinstance(best, SumFit):
            missed = left_over(each, best.family, best.little, best.skip) != best.constant
        else:
            missed = crc_misfits(each, best)
        lines += each.lines[missed].tolist()
    return tuple(sorted(lines))


def _two_formulas(base: Finding, reading: dict[str, Any]) -> Finding | None:
    """If a family fits some rows and an XOR matrix all the others, both."""
    if base.named is None:
        return None
    system = base.system
    rest = system.chosen(np.isin(system.lines, np.array(base.wrong)))
    fit = rest.fit()
    if not rest.supported(fit).all():
        return None
    matrix = _matrix(rest, fit.solutions, fit.holds, reading)
    return replace(base, outcome=Outcome.TWO, matrix=matrix)


def _named(base: Finding) -> bool:
    return base.named is not None and base.named.fitting >= MOSTLY * base.named.rows


def _shape(base: Finding, code: bool) -> str | None:
    system = base.system
    if system.lengths or not base.supported.all():
        return None
    rows, constants = base.fit.solutions[:, :-1], base.fit.solutions[:, -1]
    varies = (system.bits != system.bits[:1]).any(axis=0)
    return shape_name(rows, constants, code) or shape_name(rows[:, varies], constants, code)


def _matrix(
    system: System, solutions: np.ndarray, found: np.ndarray, reading: dict[str, Any]
) -> XorMatrix:
    names = tuple(name for name, there in zip(system.outputs, found, strict=True) if there)
    chosen = solutions[found]
    return XorMatrix(names, system.inputs, chosen[:, :-1], chosen[:, -1], reading)


def _proof(system: System, fit: AffineFit) -> tuple[int, tuple[int, ...]] | None:
    bit = int(np.flatnonzero(~fit.holds)[-1])
    rows = proof_against(system.bits, system.target[:, bit])
    return None if rows is None else (bit, tuple(sorted(system.lines[rows].tolist())))


def flips_of(system: System, fit: AffineFit) -> tuple[Flip, ...]:
    """One bit to turn for every direction that is open; together they settle all of them.

    A direction is a set of inputs whose XOR has been the same in all rows; turning one of them in a
    known row breaks that.
    """
    if not len(fit.free):
        return ()
    columns = system.bits.shape[1] - system.lengths
    pivots = echelon(packed(fit.free[:, :columns]), columns).pivots
    # The last row is one of the longest, so it has every byte.
    return tuple(Flip(int(system.lines[-1]), system.inputs[at]) for at in pivots)

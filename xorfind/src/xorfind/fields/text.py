"""What was found, in words and as JSON; every number from the finding."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from xorfind.codec import to_json
from xorfind.fields.crc import MOST_READINGS, CrcFit
from xorfind.fields.groups import Functions
from xorfind.fields.hunt import Finding, Outcome
from xorfind.fields.sums import SumFit
from xorfind.statistics import share_text
from xorfind.words import counted, listed

#: Share of the pairs that agree in all functions that must be slow.
ENOUGH_SLOW = 0.7
#: Formulas, flips and lines that are shown before "and … more".
MOST_SHOWN = 32


def lines_of(finding: Finding) -> list[str]:
    """The answer for one field."""
    parts = [_rows_lines, _family_lines, _wrong_lines, _linear_lines, _formulas, _open_lines]
    if finding.outcome == Outcome.CONSTANT:
        parts = []
    return [_headline(finding), *(f"  {line}" for part in parts for line in part(finding))]


def name_of(finding: Finding) -> str | None:
    """The best name: of the matrix, of a simple checksum, of a CRC; whichever fits most rows."""
    if finding.shape is None and finding.outcome == Outcome.NAMED and finding.named is not None:
        return _family_name(finding.named)
    return finding.shape


def _family_name(fit: SumFit | CrcFit) -> str:
    """A checksum with how it is sent."""
    order = ", stored least significant byte first" if fit.how.little else ""
    return fit.name + order


def _headline(finding: Finding) -> str:
    target, outcome, system = finding.target, finding.outcome, finding.system
    if outcome == Outcome.CONSTANT:
        value = "".join(map(str, system.target[0]))
        return f"{target} never changes: it is {value} (binary) in every row"
    if outcome != Outcome.TOO_FEW and (name := name_of(finding)) is not None:
        return f"{target} is {name}"
    framed = any("]." in name for name in system.inputs) and system.width > 2
    linear = outcome in (Outcome.LINEAR, Outcome.NOISY)
    return f"{target}: {outcome.value}" + "; no CRC fits" * (framed and linear)


def _rows_lines(finding: Finding) -> list[str]:
    text, system = counted(finding.rows, "row"), finding.system
    if system.rows < finding.rows:
        text += f", {system.rows:,} of them different"
    if system.lengths:
        text += f", {system.lengths + 1} lengths, bytes counted from the end"
    return [text]


def _family_lines(finding: Finding) -> list[str]:
    """How well a checksum fits, and what else would fit as well."""
    best, outcome = finding.named, finding.outcome
    if best is None:
        return []
    share = f"{best.fitting:,} of {best.rows:,} different rows"
    if outcome == Outcome.NOTHING:
        return [f"one formula fits {share}: {_family_name(best)}"]
    if outcome != Outcome.NAMED:
        return []
    luck = f"2^-{best.evidence:.0f}"
    lines = [f"it fits {share}; unrelated check values would do so with a chance of about {luck}"]
    if isinstance(best, CrcFit):
        return lines + _crc_lines(best)
    equal = [fit for fit in finding.sums if fit.fitting == best.fitting][1:MOST_READINGS]
    others = ", ".join(map(_family_name, equal))
    return [*lines, f"fits equally well: {others}"] if others else lines


def _crc_lines(fit: CrcFit) -> list[str]:
    """What frames cannot tell apart: constants after the message, pairs of init and xorout."""
    lines, spare = [], 8 * fit.how.after - fit.width
    if spare > 0:
        size = counted(fit.how.after, "byte")
        lines.append(
            f"{_power(spare)} constants of {size} after the message give the same check values; "
            "shown is the smallest"
        )
    if fit.how.after and len(fit.names) > 1:
        others = zip(fit.names[1:MOST_READINGS], fit.tails[1:], strict=False)
        same = ", ".join(f"{name} with 0x{tail}" for name, tail in others)
        lines.append(f"equivalent to {same} after the message")
    if not fit.names and fit.alike:
        lines.append(
            "a constant before the message (an address, a data ID) would look like another init"
        )
    if fit.freedom:
        which = f"the published pair of {fit.names[0]}" if fit.names else "one of them"
        lines.append(
            f"{_power(fit.freedom)} pairs of init and xorout give the same check values at "
            f"{'this length' if len(fit.constants) == 1 else 'these lengths'}; shown is {which}; "
            "frames of another length rule out others"
        )
    return lines


def _power(exponent: int) -> str:
    """A power of two, written out where people can still read it."""
    return f"{1 << exponent:,}" if exponent <= 16 else f"2^{exponent}"


def _line_numbers(lines: Sequence[int]) -> str:
    return listed([f"{line:,}" for line in lines], MOST_SHOWN)


def _wrong_lines(finding: Finding) -> list[str]:
    """Rows that speak against the answer, and what they have in common."""
    lines = []
    if finding.clash is not None:
        a, b = finding.clash
        lines.append(f"lines {a:,} and {b:,} have the same inputs and different values")
    if finding.wrong:
        lines.append(f"lines that do not fit: {_line_numbers(finding.wrong)}")
    return lines


def _linear_lines(finding: Finding) -> list[str]:
    """Whether the rows allow XORs, with rows that prove it where they do not."""
    fit, system = finding.fit, finding.system
    if finding.outcome == Outcome.NAMED and not (fit.spare and fit.holds.all()):
        return []
    if not fit.spare:
        return [
            f"too few rows to test for XORs: {counted(fit.rank, 'independent row')} for "
            f"{fit.inputs + 1} unknowns a bit"
        ]
    held = [name for name, flag in zip(system.outputs, fit.holds, strict=True) if flag]
    bits = f"{len(held)} of {counted(system.width, 'bit')}"
    if len(held) == system.width > 1:
        bits = f"all {system.width} bits"
    elif held and system.width > 1:
        bits += f" ({listed(held)})"
    lines = [
        f"test for XORs: {bits} passed; {counted(fit.spare, 'row')} beyond the {fit.rank} that "
        "fix the formulas"
    ]
    if finding.proof is not None:
        name, where = system.outputs[finding.proof[0]], finding.proof[1]
        lines.append(
            f"rows that contradict an XOR for {name}: lines {_line_numbers(where)} (in them every "
            f"input is 1 an even number of times, {name} an odd number)"
        )
    return lines


def _formulas(finding: Finding) -> list[str]:
    matrix, noisy = finding.matrix, finding.noisy
    if matrix is None or finding.outcome == Outcome.TOO_FEW:
        return []
    count = len(matrix.outputs)
    if name_of(finding) is not None and finding.found and count > 4:
        return []
    independent = "all" if matrix.rank == count else f"{matrix.rank} of them"
    lines = [f"{count} formulas, {independent} independent"] if count > 1 else []
    for at, name in enumerate(matrix.outputs[:MOST_SHOWN]):
        answer = noisy.get(finding.system.outputs.index(name))
        share = answer and share_text(answer.best.fitting, finding.system.rows)
        lines.append(matrix.formula(at) + (f"   ({share} of rows)" if share else ""))
    return lines + ([f"and {count - MOST_SHOWN} more"] if count > MOST_SHOWN else [])


def _open_lines(finding: Finding) -> list[str]:
    """What is undetermined, and which rows would settle it."""
    fit, system, flips = finding.fit, finding.system, finding.flips
    named = finding.outcome == Outcome.NAMED and finding.shape is None
    if named or not flips or not fit.holds.any():
        return []
    missing = len(fit.free)
    varies = (system.bits != system.bits[:1]).any(axis=0)
    lines = [
        f"not settled: {_power(missing)} formulas a bit fit these rows; "
        f"{counted(missing, 'more independent row')} would leave one",
        *_never_changed(system.inputs, ~varies),
        f"measure next: line {flips[0].line:,} with the bit {flips[0].bit} flipped; it halves what "
        "is left for every bit",
    ]
    if len(flips) > 1:
        every = listed([flip.bit for flip in flips], MOST_SHOWN)
        lines.append(f"all is settled by flipping, one at a time: {every}")
    return lines


def _never_changed(names: Sequence[str], never: np.ndarray) -> list[str]:
    bits = [name for name, flag in zip(names, never, strict=True) if flag]
    return [f"never changed, so nothing is known of them: {listed(bits)}"] if bits else []


def function_lines(found: Functions) -> list[str]:
    """Functions of groups without labels."""
    count, matrix = len(found.basis), found.matrix
    lines = [f"{counted(found.differences, 'pair')} within groups"]
    title = "no function found"
    if count:
        title = f"{counted(count, 'function')}, so 2^{count} = {1 << count} groups"
        lines[0] += f"; {share_text(found.joint, 1)} of them agree in all functions"
    for at in range(count):
        within, across = (share_text(each[at], 1) for each in (found.fits, found.across))
        shares = f"(equal in {within} of pairs within groups, {across} across)"
        lines.append(f"{matrix.formula(at)}   {shares}")
    lines += _never_changed(found.names, found.never)
    if (bit := found.next_bit()) is not None:
        lines.append(
            f"{counted(len(found.unproven), 'more function')} would fit every pair, but luck "
            f"explains that; measure next: two rows of one group that differ in {bit}"
        )
    return [f"shared functions: {title}", *(f"  {line}" for line in lines)]


def timing_lines(found: Functions, within: np.ndarray, across: np.ndarray) -> list[str]:
    """Nothing if slow pairs are those on which the functions agree; else what does not fit."""
    agreeing, count = found.share_within(within, across), len(found.basis)
    if agreeing >= ENOUGH_SLOW or not count:
        return []
    slow = share_text(len(within), len(within) + len(across))
    return [
        f"  functions are missing: of the pairs that agree in these only {share_text(agreeing, 1)} "
        f"are slow; {1 << count} groups would make {share_text(1, 1 << count)} of random pairs "
        f"slow, but {slow} are",
        "  bits outside --bits may matter, or an offset that is added to the address (a carry is "
        "not an XOR)",
    ]


def as_json(finding: Finding) -> dict[str, Any]:
    """The finding for other programs; docs/checksums.md says what each entry means."""
    fit, system = finding.fit, finding.system
    flags = zip(system.outputs, fit.holds, strict=True)
    usable = finding.usable_matrix
    return {
        "target": finding.target,
        "outcome": finding.outcome.name.lower(),
        "found": finding.found,
        "name": name_of(finding),
        "rows": finding.rows,
        "distinct": system.rows,
        "affine": {
            "rank": fit.rank,
            "inputs": fit.inputs,
            "spare": fit.spare,
            "bits": [name for name, flag in flags if flag and fit.spare],
        },
        "undetermined": len(fit.free),
        "measure_next": to_json(finding.flips),
        "contradicting_lines": None if finding.proof is None else finding.proof[1],
        "wrong_lines": finding.wrong,
        "same_inputs_lines": finding.clash,
        "matrix": None if usable is None else usable.to_json(),
        "sums": to_json(finding.sums),
        "crc": to_json(finding.crc),
    }

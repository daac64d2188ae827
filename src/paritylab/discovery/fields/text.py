"""What was found, in words; every number from the finding."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from paritylab.discovery.fields.consistency import MOST_GROUPS, Group
from paritylab.discovery.fields.emit_checksums import crc_text
from paritylab.discovery.fields.groups import Functions
from paritylab.discovery.fields.hunt import Finding, Outcome
from paritylab.discovery.fields.sums import SumFit
from paritylab.discovery.words import counted, listed
from paritylab.statistics import Rate, share_text

#: Formulas, flips and lines that are shown before "and … more".
MOST_SHOWN = 32


def lines_of(finding: Finding) -> list[str]:
    """The answer for one field."""
    return [_headline(finding), *(f"  {line}" for line in _details(finding))]


def name_of(finding: Finding) -> str | None:
    """The best name: of the matrix, of a simple checksum, of a CRC; whichever fits most rows."""
    if finding.shape is not None:
        return finding.shape
    return family_name(finding) if finding.outcome == Outcome.NAMED else None


def family_name(finding: Finding) -> str | None:
    """The name of the family that fits most rows, perhaps not all."""
    best = finding.named
    if isinstance(best, SumFit):
        tail = ", stored least significant byte first" if best.little else ""
        if best.skip:
            tail += f", without the first {counted(best.skip, 'byte')}"
        return f"{best.name}{tail}"
    if best is not None:
        title = " or ".join(best.names) if best.names else "a CRC that is not in the catalogue"
        return f"{title}: {crc_text(best)}"
    return None


def _headline(finding: Finding) -> str:
    name, width = name_of(finding), len(finding.system.outputs)
    if finding.outcome == Outcome.CONSTANT:
        value = "".join(map(str, finding.system.target[0]))
        return f"{finding.target} never changes: it is {value} (binary) in every row"
    if finding.outcome == Outcome.NOTHING:
        return f"{finding.target}: {finding.outcome.value} explains it"
    if finding.outcome == Outcome.PARTLY:
        found = 0 if finding.matrix is None else len(finding.matrix.outputs)
        return f"{finding.target}: {found} of {counted(width, 'bit')} are XORs of input bits"
    if finding.outcome in (Outcome.TOO_FEW, Outcome.TWO):
        return f"{finding.target}: {finding.outcome.value}"
    if name is not None:
        return f"{finding.target} is {name}"
    framed = any("]." in name for name in finding.system.inputs)
    tail = "; linear, no CRC" if framed and width > 2 else ""
    return f"{finding.target}: {finding.outcome.value}{tail}"


def _details(finding: Finding) -> list[str]:
    if finding.outcome == Outcome.CONSTANT:
        return []
    lines = [_rows_text(finding)]
    lines += _family_lines(finding)
    if finding.clash is not None:
        a, b = finding.clash
        lines.append(f"lines {a:,} and {b:,} have the same inputs and different values")
    if finding.wrong:
        shown = ", ".join(f"{line:,}" for line in finding.wrong[:MOST_SHOWN])
        more = len(finding.wrong) - MOST_SHOWN
        tail = f" and {more:,} more" if more > 0 else ""
        lines.append(f"lines that do not fit: {shown}{tail}")
    if finding.suspect is not None:
        other = (
            "the XORs below hold" if finding.outcome == Outcome.TWO else "another formula may hold"
        )
        lines.append(f"these lines have {finding.suspect}: {other} there")
    lines += _linear_lines(finding)
    lines += _formulas(finding)
    lines += _open_lines(finding)
    return lines


def _rows_text(finding: Finding) -> str:
    text = counted(finding.rows, "row")
    if finding.distinct < finding.rows:
        text += f", {finding.distinct:,} of them different"
    if finding.system.lengths:
        side = finding.system.alignment
        text += f", {finding.system.lengths + 1} lengths, bytes counted from the {side}"
    return text


def _family_lines(finding: Finding) -> list[str]:
    best, lines = finding.named, []
    if best is None or finding.shape is not None:
        return []
    if finding.outcome in (Outcome.NOTHING, Outcome.PARTLY, Outcome.TWO):
        part = Rate(best.fitting, best.rows)
        return [f"a part of the rows, {part}, fits {family_name(finding)}"]
    if finding.outcome != Outcome.NAMED:
        return []
    lines.append(
        f"fits {Rate(best.fitting, best.rows)} of the different rows; chance for unrelated values "
        f"about 2^-{best.evidence:.0f}"
    )
    if isinstance(best, SumFit):
        others = [fit.name for fit in finding.sums if fit.fitting == best.fitting][1:4]
        if others:
            lines.append(f"fits equally well: {', '.join(others)}")
    elif best.freedom:
        which = "the catalogue's pair is shown" if best.names else "one of them is shown"
        lines.append(
            f"init and xorout: 2^{best.freedom} pairs give the same on these lengths, {which}; "
            "frames of other lengths tell more of them apart"
        )
    return lines


def _linear_lines(finding: Finding) -> list[str]:
    fit, system = finding.fit, finding.system
    if not fit.spare:
        return [f"affine test: silent, no row beyond the rank {fit.rank} of {fit.inputs + 1}"]
    if fit.holds.all():
        return [
            f"affine test: {counted(fit.spare, 'row')} beyond the rank {fit.rank} of "
            f"{fit.inputs + 1}; all agree in all {counted(len(fit.holds), 'bit')}"
        ]
    held = [name for name, flag in zip(system.outputs, fit.holds, strict=True) if flag]
    lines = [
        f"affine test: {counted(fit.spare, 'row')} beyond the rank {fit.rank}; "
        f"{len(held)} of {counted(len(fit.holds), 'bit')} agree"
        + (f" ({listed(held)})" if held else "")
    ]
    if finding.proof is not None and finding.outcome != Outcome.NAMED:
        bit, where = finding.proof
        shown = ", ".join(f"{line:,}" for line in where[:MOST_SHOWN])
        more = f" and {len(where) - MOST_SHOWN} more" if len(where) > MOST_SHOWN else ""
        lines.append(
            f"rows that contradict for {system.outputs[bit]}: lines {shown}{more} (over them every "
            "input sums to 0, the bit to 1)"
        )
    if held and not fit.holds[0] and fit.holds[-1] and finding.noisy is None:
        lines.append("the lowest bit is an XOR and the highest is not: it may be a sum")
    return lines


def _formulas(finding: Finding) -> list[str]:
    matrix = finding.matrix
    if matrix is None or finding.outcome == Outcome.TOO_FEW:
        return []
    if name_of(finding) is not None and finding.found and len(matrix.outputs) > 4:
        return []
    lines = [f"rank {matrix.rank} of {counted(len(matrix.outputs), 'output')}"]
    for at in range(min(len(matrix.outputs), MOST_SHOWN)):
        tail = ""
        if finding.noisy is not None:
            place = finding.system.outputs.index(matrix.outputs[at])
            if finding.noisy.found[place]:
                right = int(finding.noisy.fitting[place])
                tail = f"   ({share_text(right, finding.distinct)} of rows)"
        lines.append(f"{matrix.formula(at)}{tail}")
    if len(matrix.outputs) > MOST_SHOWN:
        lines.append(f"and {len(matrix.outputs) - MOST_SHOWN} more")
    return lines


def _open_lines(finding: Finding) -> list[str]:
    """What is undetermined, and which rows would settle it."""
    fit, system = finding.fit, finding.system
    if finding.outcome == Outcome.NAMED and finding.shape is None:
        return []
    if not finding.flips or not fit.holds.any():
        return []
    never = [
        name
        for name, column in zip(system.inputs, system.bits.T, strict=True)
        if column.min() == column.max()
    ]
    lines = [
        f"undetermined: {counted(fit.missing, 'direction')}, so {counted(fit.missing, 'row')} short"
    ]
    if never:
        lines.append(f"never changed, so nothing is known of them: {listed(never)}")
    flips = [flip.bit for flip in finding.flips]
    lines.append(
        f"measure next: line {finding.flips[0].line:,} with one bit turned, {flips[0]}; it halves "
        "what is left for every bit"
    )
    if len(flips) > 1:
        lines.append(f"all is settled by turning one by one: {listed(flips, MOST_SHOWN)}")
    return lines


def group_lines(groups: Sequence[Group], together: Sequence[str]) -> list[str]:
    """The table by group. together: keys of the groups that one XOR matrix fits."""
    width = max([len(group.key) for group in groups] + [5])
    lines = [f"  {'group':<{width}}  {'rows':>6}  {'rank':>5}  by itself"]
    lines += [
        f"  {group.key:<{width}}  {group.rows:>6,}  {group.rank:>5}  {group.verdict}"
        for group in groups[:MOST_GROUPS]
    ]
    if len(groups) > MOST_GROUPS:
        lines.append(f"  and {len(groups) - MOST_GROUPS} more groups")
    if together:
        lines.append(f"  one XOR matrix fits these together: {listed(together, MOST_GROUPS)}")
    return lines


def function_lines(found: Functions, what: str) -> list[str]:
    """Functions of groups without labels."""
    count = len(found.basis)
    matrix = found.matrix
    if count:
        lines = [
            f"{what}: {counted(count, 'function')}, so 2^{count} = {1 << count} groups",
            f"  {counted(found.differences, 'difference')} within groups; "
            f"{share_text(found.joint, 1)} fit all functions",
        ]
        for at in range(count):
            within, across = share_text(found.fits[at], 1), share_text(found.across[at], 1)
            lines.append(f"  {matrix.formula(at)}   ({within} within, {across} across)")
    else:
        lines = [
            f"{what}: no function found",
            f"  {counted(found.differences, 'difference')} within groups",
        ]
    never = [name for name, flag in zip(found.names, found.never, strict=True) if flag]
    if never:
        lines.append(f"  never changed, so nothing is known of them: {listed(never)}")
    if (bit := found.next_bit()) is not None:
        lines.append(
            f"  {counted(len(found.unproven), 'more function')} would fit every difference, but "
            f"luck explains that; measure next: two rows of one group that differ in {bit}"
        )
    return lines


def as_json(finding: Finding) -> dict[str, Any]:
    """The finding for other programs; docs/howto/checksums.md says what each entry means."""
    fit, crc = finding.fit, finding.crc
    held = [n for n, flag in zip(finding.system.outputs, fit.holds, strict=True) if flag]
    made: dict[str, Any] = {
        "target": finding.target,
        "outcome": finding.outcome.name.lower(),
        "found": finding.found,
        "name": name_of(finding),
        "rows": finding.rows,
        "distinct": finding.distinct,
        "affine": {"rank": fit.rank, "inputs": fit.inputs, "spare": fit.spare, "bits": held},
        "undetermined": fit.missing,
        "measure_next": [{"line": flip.line, "flip": flip.bit} for flip in finding.flips],
        "contradicting_lines": None if finding.proof is None else list(finding.proof[1]),
        "wrong_lines": list(finding.wrong),
        "same_inputs_lines": None if finding.clash is None else list(finding.clash),
        "matrix": None if finding.matrix is None else finding.matrix.to_json(),
        "sums": [
            {"family": s.family, "constant": s.constant, "skip": s.skip, "fitting": s.fitting}
            for s in finding.sums
        ],
        "crc": None,
    }
    if crc is not None:
        how = crc.conventions
        made["crc"] = {
            **{name: getattr(crc, name) for name in ("width", "poly", "init", "xorout")},
            "refin": how.refin,
            "refout": how.refout,
            "little_endian": how.little,
            "skip": how.skip,
            "free_bits": crc.freedom,
            "names": list(crc.names),
            "fitting": crc.fitting,
        }
    if finding.noisy is not None:
        made["fitting"] = np.asarray(finding.noisy.fitting).tolist()
    return made

"""What was found, in words and as JSON; every number from the finding."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from xorfind.fields.crc import CrcFit
from xorfind.fields.groups import Functions
from xorfind.fields.hunt import Finding, Group, Outcome
from xorfind.fields.sums import SumFit
from xorfind.statistics import Rate, share_text
from xorfind.words import counted, listed

#: Share of the pairs that agree in all functions that must be slow.
ENOUGH_SLOW = 0.7
#: Formulas, flips and lines that are shown before "and … more", and groups.
MOST_SHOWN, MOST_GROUPS = 32, 40


def lines_of(finding: Finding) -> list[str]:
    """The answer for one field."""
    lines = [_headline(finding)]
    if finding.outcome != Outcome.CONSTANT:
        details = [_rows_text(finding), *_family_lines(finding), *_wrong_lines(finding)]
        details += [*_linear_lines(finding), *_formulas(finding), *_open_lines(finding)]
        lines += [f"  {line}" for line in details]
    return lines


def name_of(finding: Finding) -> str | None:
    """The best name: of the matrix, of a simple checksum, of a CRC; whichever fits most rows."""
    if finding.shape is not None:
        return finding.shape
    return _family_name(finding) if finding.outcome == Outcome.NAMED else None


def _family_name(finding: Finding) -> str | None:
    """The name of the family that fits most rows, perhaps not all."""
    best = finding.named
    if best is None:
        return None
    if isinstance(best, SumFit):
        parts, little = [best.name], best.little
    else:
        title = " or ".join(best.names[:4]) if best.names else "a CRC that is not in our list"
        parts, little = [f"{title}: {_parameters(best)}"], best.how.little
        if best.appended:
            same = " (or what does the same)" * (8 * len(best.appended) >= best.width)
            parts.append(f"with 0x{best.appended.hex()}{same} after the message, which is not sent")
        if best.how.swap > 1:
            parts.append(f"with the bytes of {8 * best.how.swap}-bit words in the other order")
    if little:
        parts.append("stored least significant byte first")
    if best.skip:
        parts.append(f"without the first {counted(best.skip, 'byte')}")
    return ", ".join(parts)


def _parameters(fit: CrcFit) -> str:
    digits = -(-fit.width // 4)
    reflected = ["no", "yes"][fit.how.refin], ["no", "yes"][fit.how.refout]
    return (
        f"width {fit.width}, polynomial 0x{fit.poly:0{digits}x}, "
        f"reflected in {reflected[0]}, out {reflected[1]}, "
        f"init 0x{fit.init:0{digits}x}, xorout 0x{fit.xorout:0{digits}x}"
    )


def _headline(finding: Finding) -> str:
    name, width, outcome = name_of(finding), finding.system.width, finding.outcome
    if outcome == Outcome.CONSTANT:
        value = "".join(map(str, finding.system.target[0]))
        return f"{finding.target} never changes: it is {value} (binary) in every row"
    if outcome == Outcome.NOTHING:
        return f"{finding.target}: {outcome.value} explains it"
    if outcome == Outcome.PARTLY:
        found = 0 if finding.matrix is None else len(finding.matrix.outputs)
        return f"{finding.target}: {found} of {counted(width, 'bit')} are XORs of input bits"
    if name is not None and outcome not in (Outcome.TOO_FEW, Outcome.TWO):
        return f"{finding.target} is {name}"
    framed = any("]." in name for name in finding.system.inputs) and width > 2
    linear = outcome in (Outcome.LINEAR, Outcome.NOISY)
    return f"{finding.target}: {outcome.value}" + "; linear, no CRC" * (framed and linear)


def _rows_text(finding: Finding) -> str:
    text, system = counted(finding.rows, "row"), finding.system
    if system.rows < finding.rows:
        text += f", {system.rows:,} of them different"
    if system.lengths:
        text += f", {system.lengths + 1} lengths, bytes counted from the {system.side}"
    return text


def _family_lines(finding: Finding) -> list[str]:
    best = finding.named
    if best is None or finding.shape is not None:
        return []
    share = Rate(best.fitting, best.rows)
    if finding.outcome in (Outcome.NOTHING, Outcome.PARTLY, Outcome.TWO):
        return [f"a part of the rows, {share}, fits {_family_name(finding)}"]
    if finding.outcome != Outcome.NAMED:
        return []
    luck = f"chance for unrelated values about 2^-{best.evidence:.0f}"
    lines = [f"fits {share} of the different rows; {luck}"]
    if isinstance(best, SumFit):
        equal = [fit for fit in finding.sums if fit.fitting == best.fitting][1:4]
        others = [fit.name + _left_out(fit.skip) for fit in equal]
        if others:
            lines.append(f"fits equally well: {', '.join(others)}")
    elif best.freedom:
        which = "the catalogue's pair is shown" if best.names else "one of them is shown"
        lines.append(
            f"init and xorout: 2^{best.freedom} pairs give the same on these lengths, {which}; "
            "frames of other lengths tell more of them apart"
        )
    return lines


def _left_out(skip: int) -> str:
    return f" without the first {counted(skip, 'byte')}" if skip else ""


def _line_numbers(lines: Sequence[int]) -> str:
    shown = ", ".join(f"{line:,}" for line in lines[:MOST_SHOWN])
    more = len(lines) - MOST_SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown


def _wrong_lines(finding: Finding) -> list[str]:
    """Rows that speak against the answer, and what they have in common."""
    lines = []
    if finding.clash is not None:
        a, b = finding.clash
        lines.append(f"lines {a:,} and {b:,} have the same inputs and different values")
    if finding.wrong:
        lines.append(f"lines that do not fit: {_line_numbers(finding.wrong)}")
    if finding.suspect is not None:
        two = finding.outcome == Outcome.TWO
        other = "the XORs below hold" if two else "another formula may hold"
        lines.append(f"these lines have {finding.suspect}: {other} there")
    return lines


def _linear_lines(finding: Finding) -> list[str]:
    fit, system = finding.fit, finding.system
    if not fit.spare:
        return [f"affine test: silent, no row beyond the rank {fit.rank} of {fit.inputs + 1}"]
    head = f"affine test: {counted(fit.spare, 'row')} beyond the rank {fit.rank}"
    if fit.holds.all():
        return [f"{head} of {fit.inputs + 1}; all agree in all {counted(system.width, 'bit')}"]
    held = [name for name, flag in zip(system.outputs, fit.holds, strict=True) if flag]
    named = f" ({listed(held)})" if held else ""
    lines = [f"{head}; {len(held)} of {counted(system.width, 'bit')} agree{named}"]
    if finding.proof is not None and finding.outcome != Outcome.NAMED:
        bit, where = finding.proof
        lines.append(
            f"rows that contradict for {system.outputs[bit]}: lines {_line_numbers(where)} "
            "(over them every input sums to 0, the bit to 1)"
        )
    if held and not fit.holds[0] and fit.holds[-1] and finding.noisy is None:
        lines.append("the lowest bit is an XOR and the highest is not: it may be a sum")
    return lines


def _formulas(finding: Finding) -> list[str]:
    matrix, noisy = finding.matrix, finding.noisy
    if matrix is None or finding.outcome == Outcome.TOO_FEW:
        return []
    count = len(matrix.outputs)
    if name_of(finding) is not None and finding.found and count > 4:
        return []
    lines = [f"rank {matrix.rank} of {counted(count, 'output')}"]
    for at in range(min(count, MOST_SHOWN)):
        place, tail = finding.system.outputs.index(matrix.outputs[at]), ""
        if noisy is not None and noisy.found[place]:
            share = share_text(int(noisy.fitting[place]), finding.system.rows)
            tail = f"   ({share} of rows)"
        lines.append(f"{matrix.formula(at)}{tail}")
    return lines + ([f"and {count - MOST_SHOWN} more"] if count > MOST_SHOWN else [])


def _open_lines(finding: Finding) -> list[str]:
    """What is undetermined, and which rows would settle it."""
    fit, system = finding.fit, finding.system
    named = finding.outcome == Outcome.NAMED and finding.shape is None
    if named or not finding.flips or not fit.holds.any():
        return []
    missing = len(fit.free)
    lines = [f"undetermined: {counted(missing, 'direction')}, so {counted(missing, 'row')} short"]
    columns = zip(system.inputs, system.bits.T, strict=True)
    never = [name for name, column in columns if column.min() == column.max()]
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


def group_lines(groups: Sequence[Group]) -> list[str]:
    """The table by group."""
    width = max([len(group.key) for group in groups] + [5])
    lines = [f"  {'group':<{width}}  {'rows':>6}  {'rank':>5}  by itself"]
    lines += [
        f"  {group.key:<{width}}  {group.rows:>6,}  {group.rank:>5}  {group.verdict}"
        for group in groups[:MOST_GROUPS]
    ]
    more = len(groups) - MOST_GROUPS
    return lines + ([f"  and {more} more groups"] if more > 0 else [])


def function_lines(found: Functions) -> list[str]:
    """Functions of groups without labels."""
    count, matrix = len(found.basis), found.matrix
    within = f"  {counted(found.differences, 'difference')} within groups"
    if count:
        lines = [
            f"shared functions: {counted(count, 'function')}, so 2^{count} = {1 << count} groups",
            f"{within}; {share_text(found.joint, 1)} fit all functions",
        ]
        for at in range(count):
            shares = share_text(found.fits[at], 1), share_text(found.across[at], 1)
            lines.append(f"  {matrix.formula(at)}   ({shares[0]} within, {shares[1]} across)")
    else:
        lines = ["shared functions: no function found", within]
    never = [name for name, flag in zip(found.names, found.never, strict=True) if flag]
    if never:
        lines.append(f"  never changed, so nothing is known of them: {listed(never)}")
    if (bit := found.next_bit()) is not None:
        lines.append(
            f"  {counted(len(found.unproven), 'more function')} would fit every difference, but "
            f"luck explains that; measure next: two rows of one group that differ in {bit}"
        )
    return lines


def timing_lines(found: Functions, within: np.ndarray, across: np.ndarray) -> list[str]:
    """Nothing if slow pairs are those on which the functions agree; else what does not fit."""
    agreeing, count = found.share_within(within, across), len(found.basis)
    if agreeing >= ENOUGH_SLOW or not count:
        return []
    slow = share_text(len(within), len(within) + len(across))
    return [
        f"  these functions are not all: of the pairs that agree in them {share_text(agreeing, 1)} "
        f"are slow; {1 << count} groups would make {share_text(1, 1 << count)} of random pairs "
        f"slow, and {slow} are",
        "  bits outside --bits may matter, or an offset that is added to the address (a carry is "
        "not an XOR)",
    ]


def as_json(finding: Finding) -> dict[str, Any]:
    """The finding for other programs; docs/checksums.md says what each entry means."""
    fit, crc, system = finding.fit, finding.crc, finding.system
    flags = zip(system.outputs, fit.holds, strict=True)
    held = [name for name, flag in flags if flag and fit.spare]
    usable = finding.usable_matrix
    made: dict[str, Any] = {
        "target": finding.target,
        "outcome": finding.outcome.name.lower(),
        "found": finding.found,
        "name": name_of(finding),
        "rows": finding.rows,
        "distinct": system.rows,
        "affine": {"rank": fit.rank, "inputs": fit.inputs, "spare": fit.spare, "bits": held},
        "undetermined": len(fit.free),
        "measure_next": [{"line": flip.line, "flip": flip.bit} for flip in finding.flips],
        "contradicting_lines": None if finding.proof is None else list(finding.proof[1]),
        "wrong_lines": list(finding.wrong),
        "same_inputs_lines": None if finding.clash is None else list(finding.clash),
        "matrix": None if usable is None else usable.to_json(),
        "sums": [
            {"family": s.family, "constant": s.constant, "skip": s.skip, "fitting": s.fitting}
            for s in finding.sums
        ],
        "crc": None,
    }
    if crc is not None:
        made["crc"] = {
            **{name: getattr(crc, name) for name in ("width", "poly", "init", "xorout", "skip")},
            "refin": crc.how.refin,
            "refout": crc.how.refout,
            "little_endian": crc.how.little,
            "appended": crc.appended.hex(),
            "swapped_bytes": crc.how.swap,
            "free_bits": crc.freedom,
            "names": list(crc.names),
            "fitting": crc.fitting,
        }
    if finding.noisy is not None:
        made["fitting"] = np.asarray(finding.noisy.fitting).tolist()
    return made

"""Rows of one or of several lengths as one system of equations over GF(2)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from paritylab.discovery.fields.affine import AffineFit, affine_fit
from paritylab.discovery.fields.batches import Batch, FieldTable, Selection
from paritylab.discovery.fields.messages import Messages, numbers
from paritylab.discovery.fields.slices import Bit, labels_of, place_of

#: How frames of several lengths are laid over each other.
Alignment = Literal["one length", "end", "start"]

#: Bits of evidence that one output bit needs by itself, and all bits of a field together.
OWN_EVIDENCE, JOINT_EVIDENCE = 7.0, 20.0
#: Bits of a field whose values may tell rows apart, and share of rows that they must tell.
MOST_TELLING, SHARED = 16, 0.9
#: Rows that a value must have on average to tell anything.
ROWS_PER_VALUE = 8


@dataclass(frozen=True)
class System:
    """Inputs and target of all rows under common names.

    inputs: names of the columns of bits (N, n). outputs: of target (N, w). lines: of the rows.
    lengths: how many columns at the end say which length a row has. alignment: how lengths lie.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    bits: np.ndarray
    target: np.ndarray
    lines: np.ndarray
    lengths: int = 0
    alignment: Alignment = "one length"

    def fit(self) -> AffineFit:
        """The affine maps that all rows allow."""
        return affine_fit(self.bits, self.target)

    def chosen(self, rows: np.ndarray) -> "System":
        """Some of the rows. rows: flags."""
        bits, target = self.bits[rows], self.target[rows]
        return replace(self, bits=bits, target=target, lines=self.lines[rows])

    def evidence(self, fit: AffineFit) -> np.ndarray:
        """Bits of evidence for each output that holds: -log2 of the chance of a fit by luck.

        At most 2^rank of the 2^N label columns fit; labels with a share p of ones have at most
        max(p, 1-p)^N each. The share is taken at its end nearer to a half.
        """
        count = fit.distinct
        share = self.target.mean(axis=0)
        least = np.maximum(share, 1 - share) - 1.5 / np.sqrt(count)
        per_row = -np.log2(np.clip(least, 0.5, 1.0))
        return np.where(fit.holds, count * per_row - fit.rank, -np.inf)

    def supported(self, fit: AffineFit) -> np.ndarray:
        """Flags of the outputs whose fit luck does not explain."""
        evidence = self.evidence(fit)
        together = fit.holds.all() and evidence.clip(0).sum() >= JOINT_EVIDENCE
        flags: np.ndarray = fit.holds & ((evidence >= OWN_EVIDENCE) | together)
        return flags


def one_system(
    table: FieldTable, selection: Selection, messages: Sequence[Messages], alignment: Alignment
) -> System:
    """All rows as one system. messages: of each batch, repeats left out."""
    outputs = _outputs(table.batches[0], selection)
    if alignment == "one length":
        (batch,), (only,) = table.batches, messages
        named = labels_of(selection.input_bits(batch, bytewise=True))
        return System(named, outputs, only.bits, only.target, only.lines)
    own = [_named(batch, selection, alignment) for batch in table]
    longest = max(own, key=len)
    names = list(dict.fromkeys([*longest, *(name for each in own for name in each)]))
    place = {name: at for at, name in enumerate(names)}
    rows = sum(each.rows for each in messages)
    count = len(messages)
    bits = np.zeros((rows, len(names) + count - 1), np.uint8)
    start = 0
    for at, (each, labels) in enumerate(zip(messages, own, strict=True)):
        part = slice(start, start + each.rows)
        bits[part, [place[name] for name in labels]] = each.bits
        if at:
            bits[part, len(names) + at - 1] = 1
        start += each.rows
    lengths = tuple(f"length = {_bytes(batch)}" for batch in table.batches[1:])
    return System(
        (*names, *lengths),
        outputs,
        bits,
        np.concatenate([each.target for each in messages]),
        np.concatenate([each.lines for each in messages]),
        count - 1,
        alignment,
    )


def _bytes(batch: Batch) -> str:
    width = next(shape.width for shape in batch.shapes.values() if shape.frame)
    return f"{width // 8} bytes" if width % 8 == 0 else f"{width} bits"


def _outputs(batch: Batch, selection: Selection) -> tuple[str, ...]:
    """Names of the target's bits; bytes counted from the end where they were asked for so."""
    made: list[str] = []
    for each in selection.targets:
        bits = batch.resolved([each])
        from_end = each.ends is not None and each.ends[0] < 0
        made += [_label(batch, bit, from_end) for bit in bits]
    return tuple(made)


def _named(batch: Batch, selection: Selection, alignment: Alignment) -> list[str]:
    bits = selection.input_bits(batch, bytewise=True)
    return [_label(batch, bit, alignment == "end") for bit in bits]


def _label(batch: Batch, bit: Bit, from_end: bool) -> str:
    shape = batch.shapes[bit.columns[0]]
    if not (from_end and shape.frame):
        return bit.label
    unit = bit.place // 8 - shape.units
    return f"{'^'.join(bit.columns)}[{unit}].{7 - bit.place % 8}"


def common_value(system: System, flags: np.ndarray) -> str | None:
    """A byte or small field whose value tells the flagged rows from the others, in words."""
    places: dict[str, list[int]] = {}
    for at, label in enumerate(system.inputs[: len(system.inputs) - system.lengths]):
        place = place_of(label)
        if place is not None:
            unit = place.name if place.bit is None else f"{place.name}[{place.unit}]"
            places.setdefault(unit, []).append(at)
    for unit, columns in places.items():
        if len(columns) > MOST_TELLING:
            continue
        values = numbers(system.bits[:, columns])
        if len(np.unique(values)) > len(values) / ROWS_PER_VALUE:
            continue
        telling = [value for value in np.unique(values) if flags[values == value].mean() > SHARED]
        inside = np.isin(values, np.array(telling, np.uint64))
        if telling and not inside.all() and inside[flags].mean() > SHARED:
            digits = -(-len(columns) // 4)
            return f"{unit} = {' or '.join(f'0x{int(v):0{digits}x}' for v in telling[:8])}"
    return None

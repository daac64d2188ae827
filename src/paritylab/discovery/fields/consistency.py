"""Where one formula does not fit all frames: a table by group (an opcode, a length, both)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paritylab.discovery.fields.affine import affine_fit
from paritylab.discovery.fields.batches import FieldTable, Selection
from paritylab.discovery.fields.crc import find_crc
from paritylab.discovery.fields.messages import Messages, messages_of, numbers, without_repeats
from paritylab.discovery.fields.slices import Slice
from paritylab.discovery.fields.sums import find_sums

#: Rows of the table that are shown.
MOST_GROUPS = 40


@dataclass(frozen=True)
class Group:
    """One group. key: its values. rows: distinct rows. rank: of inputs and the constant. affine:
    how many of the target's bits no row contradicts. name: of a family that fits all its rows."""

    key: str
    rows: int
    rank: int
    affine: int
    width: int
    name: str | None

    @property
    def verdict(self) -> str:
        """In words: whether its rows say anything, and what."""
        if self.name is not None:
            return self.name
        if self.affine < self.width:
            return f"not linear: {self.width - self.affine} of {self.width} bits contradict"
        if self.rows == self.rank:
            return "too few rows to say"
        return f"linear, {self.rows - self.rank} rows to spare"


def consistency(table: FieldTable, selection: Selection, by: Sequence[Slice]) -> tuple[Group, ...]:
    """Every group by itself. by: slices whose values make a group; lengths always do."""
    made: list[Group] = []
    lengths = len(table.batches) > 1
    for batch, messages in zip(table, messages_of(table, selection), strict=True):
        keys = numbers(batch.taken(batch.resolved(by))) if by else np.zeros(batch.rows, np.uint64)
        digits = -(-len(batch.resolved(by)) // 4)
        for key in np.unique(keys):
            rows = keys == key
            part = Messages(messages.bits[rows], messages.target[rows], messages.lines[rows])
            name = f"{int(key):0{digits}x}" if by else ""
            if lengths:
                name += f"{' ' if by else ''}{messages.length} bits"
            made.append(_group(name, part))
    return tuple(made)


def _group(key: str, part: Messages) -> Group:
    (distinct,) = without_repeats([part])
    fit = affine_fit(distinct.bits, distinct.target)
    name = None
    sums = [each for each in find_sums([distinct]) if each.fitting == each.rows]
    if sums:
        name = sums[0].name
    else:
        crc = find_crc([distinct])
        if crc is not None and crc.fitting == crc.rows:
            name = crc.names[0] if crc.names else f"CRC-{crc.width}, polynomial 0x{crc.poly:x}"
    return Group(key, distinct.rows, fit.rank, int(fit.holds.sum()), distinct.width, name)

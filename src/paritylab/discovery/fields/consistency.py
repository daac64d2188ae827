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
from paritylab.discovery.fields.systems import OWN_EVIDENCE, System

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


def together(
    table: FieldTable, system: System, by: Sequence[Slice], most: int = 40
) -> tuple[str, ...]:
    """Keys of groups whose rows one XOR matrix fits, as many rows as a greedy search finds.

    Empty where that says nothing: no group contradicts another, or too few rows would show it.
    """
    keys = np.concatenate([numbers(batch.taken(batch.resolved(by))) for batch in table])
    lines = np.concatenate([batch.lines for batch in table])
    of_line = dict(zip(lines.tolist(), keys.tolist(), strict=True))
    own = np.array([of_line[line] for line in system.lines.tolist()], np.uint64)
    found, counts = np.unique(own, return_counts=True)
    order = found[np.argsort(-counts, kind="stable")][:most]
    best: list[int] = []
    for first in order[:4]:
        chosen = [int(first)]
        for key in [*order[order != first]]:
            rows = np.isin(own, np.array([*chosen, int(key)], np.uint64))
            if affine_fit(system.bits[rows], system.target[rows]).holds.all():
                chosen.append(int(key))
        if np.isin(own, chosen).sum() > np.isin(own, best).sum():
            best = chosen
    rows = np.isin(own, np.array(best, np.uint64))
    fit = affine_fit(system.bits[rows], system.target[rows])
    if len(best) in (1, len(found)) or not fit.holds.all() or fit.spare < OWN_EVIDENCE:
        return ()
    digits = -(-len(table.batches[0].resolved(by)) // 4)
    return tuple(f"{key:0{digits}x}" for key in sorted(best))


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

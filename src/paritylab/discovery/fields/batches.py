"""A table of fields: rows of one shape together, every cell as bytes.

Frames of several lengths make several batches; integers share one width. Bits are taken out when
they are asked for, so a million frames cost what their bytes cost.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from paritylab.discovery.fields.slices import Bit, Shape, Slice, parse


@dataclass(frozen=True)
class Batch:
    """Rows of one shape.

    lines: where each row stands in the file, (N,). shapes: of the columns. cells: bytes of each
    column, (N, bytes): a frame from the left, an integer big-endian and right-aligned.
    """

    lines: np.ndarray
    shapes: dict[str, Shape]
    cells: dict[str, np.ndarray]

    @property
    def rows(self) -> int:
        """How many rows."""
        return len(self.lines)

    def taken(self, bits: Sequence[Bit]) -> np.ndarray:
        """Some bits of every row, (N, bits) of 0/1."""
        made = np.zeros((self.rows, len(bits)), np.uint8)
        for at, bit in enumerate(bits):
            for column in bit.columns:
                made[:, at] ^= self._bit(column, bit.place)
        return made

    def _bit(self, column: str, place: int) -> np.ndarray:
        cells = self.cells[column]
        if not self.shapes[column].frame:
            place += 8 * cells.shape[1]
        if place < 0:  # above the widest value seen: always 0
            return np.zeros(self.rows, np.uint8)
        found: np.ndarray = (cells[:, place // 8] >> np.uint8(7 - place % 8)) & np.uint8(1)
        return found

    def resolved(self, slices: Sequence[Slice], bytewise: bool = False) -> list[Bit]:
        """The bits that slices name here."""
        return [bit for each in slices for bit in each.within(self._shape(each), bytewise)]

    def _shape(self, each: Slice) -> Shape:
        shapes = [self.shapes[column] for column in each.columns]
        if len({shape.frame for shape in shapes}) > 1:
            raise ValueError(f"{each} XORs a frame with an integer")
        return max(shapes, key=lambda shape: shape.width)

    def chosen(self, rows: np.ndarray) -> "Batch":
        """Some of the rows. rows: their numbers or flags."""
        return Batch(
            self.lines[rows],
            self.shapes,
            {name: cells[rows] for name, cells in self.cells.items()},
        )


class Selection(NamedTuple):
    """What explains, what is explained, what is left out; as slices."""

    inputs: tuple[Slice, ...]
    targets: tuple[Slice, ...]
    ignored: tuple[Slice, ...] = ()

    def input_bits(self, batch: Batch, bytewise: bool = False) -> list[Bit]:
        """Bits that explain: never those of a target, unless they were asked for."""
        bits = batch.resolved(self.inputs, bytewise)
        out = set(batch.resolved(self.ignored, bytewise))
        return [bit for bit in dict.fromkeys(bits) if bit not in out]

    def target_bits(self, batch: Batch) -> list[Bit]:
        """Bits to explain."""
        return batch.resolved(self.targets)


@dataclass(frozen=True)
class FieldTable:
    """A table of fields. names: its columns. batches: rows by shape. readings: how each column
    was read, in words."""

    names: tuple[str, ...]
    batches: tuple[Batch, ...]
    readings: dict[str, str]

    @property
    def rows(self) -> int:
        """Of all batches."""
        return sum(batch.rows for batch in self.batches)

    def __iter__(self) -> Iterator[Batch]:
        return iter(self.batches)

    @cached_property
    def lengths(self) -> str:
        """The lengths of the frames in words, "" without frames."""
        widths = [s.width for b in self.batches for s in b.shapes.values() if s.frame]
        if not widths:
            return ""
        least, most = min(widths), max(widths)
        if least == most:
            return f"{least // 8} bytes" if least % 8 == 0 else f"{least} bits"
        return f"{least // 8} to {most // 8} bytes"

    def select(
        self,
        target: str | None,
        inputs: Sequence[str] = (),
        ignore: Sequence[str] = (),
        also: Sequence[str] = (),
    ) -> Selection:
        """Slices by their texts. also: further targets, which explain nothing.

        Without inputs all columns explain, but for the target, what is ignored and `also`.
        """
        wanted = () if target is None else parse(target, self.names)
        if inputs:
            chosen = tuple(parse_all(inputs, self.names))
            return Selection(chosen, wanted, self._known(ignore))
        chosen = tuple(Slice((name,)) for name in self.names if name in self.readings)
        return Selection(chosen, wanted, (*self._known([*ignore, *also]), *wanted))

    def _known(self, texts: Sequence[str]) -> tuple[Slice, ...]:
        """The slices of columns that were read."""
        slices = parse_all(texts, self.names)
        return tuple(each for each in slices if set(each.columns) <= set(self.readings))


def parse_all(texts: Sequence[str], names: Sequence[str]) -> list[Slice]:
    """The slices of several texts."""
    return [each for text in texts for each in parse(text, names)]

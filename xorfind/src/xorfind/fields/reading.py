"""Files of frames and tables of fields: every cell as bytes, bits when they are asked for.

A million frames cost what their bytes cost. Rows whose frames have the same lengths make a part;
bits are taken from one part at a time, so that a slice means the same in all of its rows.
"""

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from xorfind.fields.cells import Cells, cells_of, frame_of, is_frame, stacked
from xorfind.fields.equations import Equations
from xorfind.fields.slices import Bit, Shape, Slice, parse
from xorfind.table.delimited import as_utf8, text_table
from xorfind.table.reading import WORKBOOK, file_bytes, read_table, unpacked
from xorfind.table.table import Table
from xorfind.words import shown

#: The column of a file that holds one frame per line.
FRAME = "frame"
#: Bytes that are looked at to tell frames from a table.
LOOK = 1 << 16

Wanted = Callable[[Sequence[str]], Iterable[str]]


@dataclass(frozen=True)
class Fields:
    """Rows of a file.

    names: all columns. lines: where each row is, (N,). columns: those that were read. hex_columns:
    columns whose digits were said to be hexadecimal.
    """

    names: tuple[str, ...]
    lines: np.ndarray
    columns: dict[str, Cells]
    hex_columns: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.lines)

    @property
    def _frame_widths(self) -> list[np.ndarray]:
        """Bits of every frame, for each column of frames."""
        widths = [each.widths for each in self.columns.values()]
        return [each for each in widths if isinstance(each, np.ndarray)]

    @cached_property
    def parts(self) -> tuple["Fields", ...]:
        """Rows whose frames have the same lengths, the shortest first."""
        if not self._frame_widths:
            return (self,)
        widths = np.stack(self._frame_widths, axis=1)
        keys, which = np.unique(widths, axis=0, return_inverse=True)
        return tuple(self._chosen(np.flatnonzero(which.ravel() == at)) for at in range(len(keys)))

    def _chosen(self, rows: np.ndarray) -> "Fields":
        columns = {name: each.chosen(rows) for name, each in self.columns.items()}
        return replace(self, lines=self.lines[rows], columns=columns)

    @property
    def lengths(self) -> str:
        """The lengths of the frames in words, "" without frames."""
        if not self._frame_widths:
            return ""
        least, most = int(np.min(self._frame_widths)), int(np.max(self._frame_widths))
        if least == most:
            return f"{least // 8} bytes" if least % 8 == 0 else f"{least} bits"
        return f"{least // 8} to {most // 8} bytes"

    def framed(self, slices: str | Sequence[str]) -> "Fields":
        """Columns of hex digits as frames where slices count their bytes from the end or take bits
        of them: `data[-1]`, `data[2].7`."""
        bytewise = [
            each for each in parse(slices, self.names) if each.bits or min(each.ends or (0,)) < 0
        ]
        names = {name for each in bytewise for name in each.columns if name in self.columns}
        frames = {name: self.columns[name].as_frames() for name in names}
        return replace(self, columns={**self.columns, **frames})

    def shape(self, columns: Sequence[str]) -> Shape:
        """What slices need to know of a column of a part, or of some that are XORed."""
        widths = [self.columns[name].widths for name in columns]
        shapes = {Shape(isinstance(each, np.ndarray), int(np.max(each))) for each in widths}
        if len({shape.frame for shape in shapes}) > 1:
            raise ValueError(f"{'^'.join(columns)} XORs a frame with an integer")
        return max(shapes)

    def bits(self, slices: Iterable[Slice], bytewise: bool = False) -> list[Bit]:
        """The bits that slices name in a part."""
        return [bit for each in slices for bit in each.within(self.shape(each.columns), bytewise)]

    def taken(self, bits: Sequence[Bit]) -> np.ndarray:
        """Some bits of every row of a part, (N, bits) of 0/1."""
        made = np.zeros((self.rows, len(bits)), np.uint8)
        for at, bit in enumerate(bits):
            for cells in (self.columns[column].data for column in bit.columns):
                place = bit.place if bit.place >= 0 else bit.place + 8 * cells.shape[1]
                if place >= 0:  # above the widest value seen a bit is always 0
                    made[:, at] ^= (cells[:, place // 8] >> np.uint8(7 - place % 8)) & np.uint8(1)
        return made

    def inputs(
        self, bits: Sequence[str], ignore: Sequence[str], bytewise: bool = False
    ) -> list[Bit]:
        """Bits of a part that may explain something: all columns unless some are named."""
        slices = parse(bits, self.names) or tuple(Slice(name, (name,)) for name in self.columns)
        known = [
            each for each in parse(ignore, self.names) if set(each.columns) <= set(self.columns)
        ]
        out = set(self.bits(known, bytewise))
        return [bit for bit in dict.fromkeys(self.bits(slices, bytewise)) if bit not in out]

    def equations(
        self, target: str, bits: Sequence[str] = (), ignore: Sequence[str] = ()
    ) -> tuple[Equations, ...]:
        """Inputs and target of every row, one entry for each part.

        target, bits, ignore: slices as text. Without bits all columns explain, but for the target
        and what is ignored.
        """
        ignore = ignore if bits else [*ignore, target]
        made = []
        for part in self.parts:
            inputs = part.inputs(bits, ignore, bytewise=True)
            wanted = part.bits(parse(target, self.names))
            made.append(
                Equations(
                    part.taken(inputs),
                    part.taken(wanted),
                    part.lines,
                    tuple(bit.label() for bit in inputs),
                    part._outputs(target),
                    tuple(part._from_end(bit) for bit in inputs),
                    part.lengths,
                )
            )
        return tuple(made)

    def _from_end(self, bit: Bit) -> str:
        shape = self.shape(bit.columns)
        return bit.label(shape.units) if shape.frame else bit.label()

    def _outputs(self, target: str) -> tuple[str, ...]:
        """Names of the target's bits; bytes counted from the end where they were asked for so."""
        made: list[str] = []
        for each in parse(target, self.names):
            from_end = each.ends is not None and each.ends[0] < 0
            bits = self.bits([each])
            made += [self._from_end(bit) if from_end else bit.label() for bit in bits]
        return tuple(made)


def read_fields(
    source: Any, wanted: Wanted | None = None, hex_columns: Sequence[str] = ()
) -> Fields:
    """Fields of a file of hex frames, or of any table that `discover` reads.

    source: a path, "-", a mapping of columns, a data frame, or a list of lines with a frame each.
    wanted: says, given the names of the columns, which are needed; the others are not looked at.
    hex_columns: columns whose digits are hexadecimal although they might be decimal.

    >>> read_fields(["01 02 03  # a frame", "0405 09"]).lengths
    '3 bytes'
    """
    if isinstance(source, list | tuple):
        return _of_frames(map(str, source), "the list")
    header = False
    if isinstance(source, str | Path):
        name = shown(str(source)) if str(source) != "-" else "standard input"
        data = sys.stdin.buffer.read() if str(source) == "-" else file_bytes(Path(source), name)
        text = unpacked(data, name)
        is_text = data[:2] != b"PK" and data[:4] != b"PAR1"
        header = is_text or WORKBOOK in data
        text = as_utf8(text, name) if is_text else text
        if _looks_like_frames(text):
            return _of_frames(text.decode("utf-8", "replace").splitlines(), name)
        source = text_table(text, name) if str(source) == "-" else source
    table = read_table(source)
    chosen = table.names if wanted is None else set(wanted(table.names))
    return _of_table(table, chosen, hex_columns, header=header)


def _looks_like_frames(data: bytes) -> bool:
    """Whether the first line that is not a comment is a frame; `c0;y` is a line of names."""
    for line in data[:LOOK].decode("utf-8", "replace").splitlines():
        bare = line.strip().lstrip("\ufeff")
        if bare and not bare.startswith(("#", "//", ";")):
            return is_frame(bare) and not re.search(r"\S;\S", bare)
    return False


def _of_frames(texts: Iterable[str], what: str) -> Fields:
    made = [frame_of(text.strip(), line) for line, text in enumerate(texts, 1)]
    frames = [frame for frame in made if frame is not None]
    if not frames:
        raise ValueError(f"{what} holds no frames")
    lines = np.array([frame.line for frame in frames])
    return Fields((FRAME,), lines, {FRAME: stacked(frames)})


def _of_table(
    table: Table, wanted: Iterable[str], hex_columns: Sequence[str], *, header: bool
) -> Fields:
    """header: whether the rows come after a line of names, so that row 1 is line 2 of the file."""
    if not table.rows:
        raise ValueError("the table has column names but no rows")
    for name in hex_columns:
        if name not in table.names:
            raise ValueError(f"--hex: no column {shown(name)!r}")
    made = {
        name: cells_of(column, name, name in hex_columns)
        for name, column in table.columns.items()
        if name in wanted
    }
    lines = np.arange(1, table.rows + 1) + header
    return Fields(tuple(table.names), lines, made, tuple(hex_columns))

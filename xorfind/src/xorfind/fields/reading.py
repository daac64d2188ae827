"""Files of frames and tables of fields: every cell as bytes, bits when they are asked for.

A million frames cost what their bytes cost. Rows whose frames have the same lengths make a part;
bits are taken from one part at a time, so that a slice means the same in all of its rows.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xorfind.fields.cells import Cells, cells_of, frames_of, is_frame, length_text, stacked
from xorfind.fields.equations import Equations
from xorfind.fields.slices import Bit, Slice, parse
from xorfind.table.delimited import as_utf8
from xorfind.table.reading import file_bytes, kind_of, read_table, table_of_bytes
from xorfind.table.table import Table
from xorfind.words import shown

#: The column of a file that holds one frame per line.
FRAME = "frame"
#: Bytes that are looked at to tell frames from a table.
LOOK = 1 << 16


@dataclass(frozen=True)
class Part:
    """Rows whose frames have the same lengths. lines: where each is, (N,). columns: as bytes."""

    lines: np.ndarray
    columns: dict[str, Cells]

    @property
    def length(self) -> str:
        """The length of the frames in words, "" without frames."""
        widths = [each.widths for each in self.columns.values()]
        return ", ".join(length_text(each) for each in widths if isinstance(each, np.ndarray))

    def bits(self, slices: Iterable[Slice], bytewise: bool = False) -> list[Bit]:
        """The bits that slices name."""
        return [bit for each in slices for bit in each.within(*self._shape(each.columns), bytewise)]

    def left(self, slices: Iterable[Slice], ignored: Iterable[Slice]) -> list[Bit]:
        """The bits that slices name, each once, without those that are ignored; bytewise."""
        out = set(self.bits(ignored, bytewise=True))
        return [bit for bit in dict.fromkeys(self.bits(slices, bytewise=True)) if bit not in out]

    def _shape(self, columns: Sequence[str]) -> tuple[int, bool]:
        """The width of a column, or of some that are XORed, and whether it holds frames."""
        widths = [self.columns[name].widths for name in columns]
        kinds = {isinstance(each, np.ndarray) for each in widths}
        if len(kinds) > 1:
            raise ValueError(f"{'^'.join(columns)} XORs a frame with an integer")
        return max(int(np.max(each)) for each in widths), kinds.pop()

    def taken(self, bits: Sequence[Bit]) -> np.ndarray:
        """Some bits of every row, (N, bits) of 0/1."""
        made = np.zeros((len(self.lines), len(bits)), np.uint8)
        for at, bit in enumerate(bits):
            for cells in (self.columns[column].data for column in bit.columns):
                place = bit.place if bit.place >= 0 else bit.place + 8 * cells.shape[1]
                if place >= 0:  # above the widest value seen a bit is always 0
                    made[:, at] ^= (cells[:, place // 8] >> np.uint8(7 - place % 8)) & np.uint8(1)
        return made

    def label(self, bit: Bit, from_end: bool) -> str:
        """The name of a bit; in frames, with bytes counted from the start or from the end."""
        width, is_frame = self._shape(bit.columns)
        return bit.label(-(-width // 8) if from_end and is_frame else 0)


@dataclass(frozen=True)
class Fields:
    """Rows of a file. A column becomes bytes when a slice names it.

    names: all columns. lines: where each row is, (N,). table: the rows; None for lines of frames.
    columns: those that were read last. hex_columns: those whose digits were said to be hexadecimal.
    """

    names: tuple[str, ...]
    lines: np.ndarray
    table: Table | None
    columns: dict[str, Cells]
    hex_columns: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.lines)

    def explaining(
        self, own: Sequence[Slice], bits: Sequence[str] = (), ignore: Sequence[str] = ()
    ) -> list[tuple[Part, list[Bit]]]:
        """Every part with the bits that may explain something.

        own: slices of what is explained. bits, ignore: slices as text; without bits all columns
        explain, but for own slices and what is ignored.
        """
        ignored = parse(ignore, self.names)
        out = {each.columns[0] for each in ignored if not each.ends}
        every = [Slice(name, (name,)) for name in self.names if name not in out]
        inputs, partly = parse(bits, self.names) or every, [each for each in ignored if each.ends]
        parts = self.parts([*own, *inputs, *partly])
        return [(part, part.left(inputs, partly if bits else [*partly, *own])) for part in parts]

    def parts(self, slices: Sequence[Slice]) -> tuple[Part, ...]:
        """The rows with the columns of some slices, those with the shortest frames first.

        Hex digits are frames where a slice counts their bytes from the end or takes bits of them.
        """
        names = dict.fromkeys(name for each in slices for name in each.columns)
        if self.table is not None:
            bytewise = [each for each in slices if each.bits or min(each.ends or (0,)) < 0]
            framed = {name for each in bytewise for name in each.columns}
            for name in names:
                cells = cells_of(self.table.column(name), name, name in self.hex_columns)
                self.columns[name] = cells.as_frames() if name in framed else cells
        used = {name: self.columns[name] for name in names}
        widths = [each.widths for each in used.values() if isinstance(each.widths, np.ndarray)]
        if not widths:
            return (Part(self.lines, used),)
        keys, which = np.unique(np.stack(widths, axis=1), axis=0, return_inverse=True)
        places = [np.flatnonzero(which.ravel() == at) for at in range(len(keys))]
        return tuple(
            Part(self.lines[rows], {name: each.chosen(rows) for name, each in used.items()})
            for rows in places
        )

    def equations(
        self, target: str, bits: Sequence[str] = (), ignore: Sequence[str] = ()
    ) -> tuple[Equations, ...]:
        """Inputs and target of every row, one entry for each part.

        target, bits, ignore: slices as text, as for `explaining`. In frames of several lengths
        bytes are counted from the end.
        """
        wanted = parse(target, self.names)
        parts, made = self.explaining(wanted, bits, ignore), []
        for part, kept in parts:
            outputs = [
                part.label(bit, from_end=each.ends is not None and each.ends[0] < 0)
                for each in wanted
                for bit in part.bits([each])
            ]
            made.append(
                Equations(
                    part.taken(kept),
                    part.taken(part.bits(wanted)),
                    part.lines,
                    tuple(part.label(bit, from_end=len(parts) > 1) for bit in kept),
                    tuple(outputs),
                    part.length,
                )
            )
        return tuple(made)


def read_fields(source: Any, hex_columns: Sequence[str] = ()) -> Fields:
    """Fields of a file of hex frames, or of any table that `discover` reads.

    source: a path, "-", a mapping of columns, a data frame, or a list of lines with a frame each.
    hex_columns: columns whose digits are hexadecimal although they might be decimal.

    >>> read_fields(["01 02 03  # a frame", "", "0405 09"]).lines.tolist()
    [1, 3]
    """
    if isinstance(source, list | tuple):
        return _of_frames(map(str, source), "the list")
    header = False
    if isinstance(source, str | Path):
        data, name = file_bytes(source)
        kind = kind_of(data)
        header = kind != "parquet"  # so that row 1 is line 2 of the file
        if kind == "text" and _looks_like_frames(text := as_utf8(data, name)):
            return _of_frames(text.decode("utf-8", "replace").splitlines(), name)
        source = table_of_bytes(data, name)
    table = read_table(source)
    if not table.rows:
        raise ValueError("the table has column names but no rows")
    if strange := set(hex_columns) - set(table.names):
        raise ValueError(f"--hex: no column {shown(min(strange))!r}")
    lines = np.arange(1, table.rows + 1) + header
    return Fields(tuple(table.names), lines, table, {}, tuple(hex_columns))


def _looks_like_frames(data: bytes) -> bool:
    """Whether the first line that is not a comment is a frame; `c0;y` is a line of names."""
    for line in data[:LOOK].decode("utf-8", "replace").splitlines():
        bare = line.strip().lstrip("\ufeff")
        if bare and not bare.startswith(("#", "//", ";")):
            return is_frame(bare) and not re.search(r"\S;\S", bare)
    return False


def _of_frames(texts: Iterable[str], what: str) -> Fields:
    frames = frames_of(texts, "line")
    if not frames:
        raise ValueError(f"{what} holds no frames")
    return Fields((FRAME,), np.array([*frames]), None, {FRAME: stacked([*frames.values()])})

"""Files of frames and tables of fields, told apart by their first line."""

import gzip
import io
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paritylab.discovery.blocks import Cells, DelimitedText
from paritylab.discovery.fields.batches import Batch, FieldTable
from paritylab.discovery.fields.hex_lines import Frame, frame_of, frames, is_frame
from paritylab.discovery.fields.slices import Shape
from paritylab.discovery.fields.whole_numbers import numbers_of
from paritylab.discovery.reading import open_table
from paritylab.discovery.words import shown
from paritylab.untrusted import refuse_bomb

#: The column of a file that holds one frame per line.
FRAME = "frame"
#: Hex digits without 0x from which on a cell of a table is a frame, not an integer.
_LONG_HEX = 17
#: Bytes that are looked at to tell frames from a table.
LOOK = 1 << 16

Wanted = Callable[[Sequence[str]], Iterable[str]]
_SEPARATED = re.compile(r"\{\d+\}.*|[0-9a-fA-F]{2}([\s:-]+[0-9a-fA-F]{2})+")


def read_fields(
    source: Any, wanted: Wanted | None = None, hex_columns: Sequence[str] = ()
) -> FieldTable:
    """A table of fields from a file of hex frames or any table that `discover` reads.

    source: a path, "-", a mapping of columns, a data frame, or a list of lines with a frame each.
    wanted: says, given the names of the columns, which are needed; the others are not read.
    hex_columns: columns whose digits are hexadecimal although they might be decimal.

    >>> read_fields(["01 02 03  # a frame", "0405 09"]).lengths
    '3 bytes'
    """
    if isinstance(source, list | tuple):
        return _of_frames(frames(map(str, source)), "the list")
    if isinstance(source, str | Path):
        name = shown(str(source)) if str(source) != "-" else "standard input"
        raw, source = _peek(source)
        if raw is not None:
            return _of_frames(frames(_lines(raw, name)), name)
    with open_table(source) as table:
        names = [name for name in table.names if wanted is None or name in set(wanted(table.names))]
        parts: dict[str, list[Cells]] = {name: [] for name in names}
        for block in table.blocks():
            for name in names:
                parts[name].append(block.column(table.names.index(name)))
        return _of_columns(parts, table.names, hex_columns)


def _peek(source: str | Path) -> tuple[bytes | None, Any]:
    """All bytes if the source is a file of frames; else None, and what to read as a table."""
    if str(source) == "-":
        data = _unpacked(sys.stdin.buffer.read())
        return (data, None) if _looks_like_frames(data) else (None, _table_of(data))
    path = Path(source)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None, source  # `open_table` says what is wrong with it
        with path.open("rb") as stream:
            start = stream.read(LOOK)
            if start[:2] == b"\x1f\x8b":
                data = _unpacked(start + stream.read())
                return (data, None) if _looks_like_frames(data) else (None, source)
            return (start + stream.read(), None) if _looks_like_frames(start) else (None, source)
    except OSError as error:
        raise ValueError(f"cannot read {shown(str(path))}: {error.strerror or error}") from None


def _table_of(data: bytes) -> Mapping[str, Any]:
    """The table of a text that has been read."""
    table = DelimitedText(io.BytesIO(data), "standard input")
    parts: dict[str, list[str]] = {name: [] for name in table.names}
    for block in table.blocks():
        for at, name in enumerate(table.names):
            cells = block.column(at)
            parts[name] += map(str, cells.tolist() if isinstance(cells, np.ndarray) else cells)
    return parts


def _unpacked(data: bytes) -> bytes:
    if data[:2] != b"\x1f\x8b":
        return data
    made, stream = io.BytesIO(), gzip.GzipFile(fileobj=io.BytesIO(data))
    try:
        while piece := stream.read(1 << 22):
            made.write(piece)
            refuse_bomb(made.tell(), len(data), "the file")
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"the file cannot be unpacked: {error}") from None
    return made.getvalue()


def _looks_like_frames(data: bytes) -> bool:
    """Whether the first line that is no comment is a frame."""
    text = data[:LOOK].decode("utf-8", "replace")
    for line in text.splitlines():
        bare = line.strip().lstrip("\ufeff")
        if bare and not bare.startswith(("#", "//", ";")):
            return is_frame(bare)
    return False


def _lines(data: bytes, what: str) -> list[str]:
    try:
        return data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{what} is not UTF-8 (line {line:,}); save it as UTF-8") from None


def _of_frames(made: list[Frame], what: str) -> FieldTable:
    if not made:
        raise ValueError(f"{what} holds no frames")
    by_width: dict[int, list[Frame]] = {}
    for frame in made:
        by_width.setdefault(frame.width, []).append(frame)
    batches = [
        Batch(
            np.array([frame.line for frame in same]),
            {FRAME: Shape(True, width)},
            {FRAME: _stacked([frame.data for frame in same])},
        )
        for width, same in sorted(by_width.items())
    ]
    return FieldTable((FRAME,), tuple(batches), {FRAME: "frames"})


def _stacked(data: Sequence[bytes]) -> np.ndarray:
    return np.frombuffer(b"".join(data), np.uint8).reshape(len(data), -1)


def _of_columns(
    parts: Mapping[str, list[Cells]], names: Sequence[str], hex_columns: Sequence[str]
) -> FieldTable:
    cells = {name: _joined(blocks) for name, blocks in parts.items()}
    rows = {len(each) for each in cells.values()}
    if not rows or rows == {0}:
        raise ValueError("the table has column names but no rows")
    for name in hex_columns:
        if name not in names:
            raise ValueError(f"--hex: no column {shown(name)!r}")
    count = rows.pop()
    shapes, packed, readings = {}, {}, {}
    widths: dict[str, np.ndarray] = {}
    for name, column in cells.items():
        if _are_frames(column):
            made = [_cell_frame(cell, name, at) for at, cell in enumerate(column, 1)]
            widths[name] = np.array([frame.width for frame in made])
            size = max(len(frame.data) for frame in made)
            packed[name] = _stacked([frame.data.ljust(size, b"\0") for frame in made])
            readings[name] = "frames"
        else:
            numbers = numbers_of(column, name, name in hex_columns)
            packed[name], readings[name] = numbers.cells, numbers.reading
            shapes[name] = Shape(False, numbers.width)
    return FieldTable(tuple(names), tuple(_split(count, shapes, packed, widths)), readings)


def _split(
    count: int,
    shapes: dict[str, Shape],
    packed: dict[str, np.ndarray],
    widths: dict[str, np.ndarray],
) -> list[Batch]:
    """Batches of rows whose frames have the same lengths."""
    lines = np.arange(1, count + 1)
    if not widths:
        return [Batch(lines, shapes, packed)]
    keys, which = np.unique(np.stack(list(widths.values()), axis=1), axis=0, return_inverse=True)
    made = []
    for at, key in enumerate(keys):
        same = np.flatnonzero(which.ravel() == at)
        own = dict(zip(widths, (Shape(True, int(width)) for width in key), strict=True))
        cells = {
            name: each[same][:, : own[name].units] if name in own else each[same]
            for name, each in packed.items()
        }
        made.append(Batch(lines[same], {**shapes, **own}, cells))
    return made


def _joined(blocks: list[Cells]) -> Cells:
    if len(blocks) == 1:
        return blocks[0]
    if all(isinstance(block, np.ndarray) for block in blocks):
        return np.concatenate(blocks) if blocks else np.zeros(0, np.uint8)
    return [
        str(cell)
        for block in blocks
        for cell in (block.tolist() if isinstance(block, np.ndarray) else block)
    ]


def _are_frames(column: Cells) -> bool:
    if isinstance(column, np.ndarray) or not len(column):
        return False
    first = column[0].strip()
    if _SEPARATED.fullmatch(first):
        return True
    long = len(first) >= _LONG_HEX and first[:2] not in ("0x", "0X", "0b", "0B")
    return long and any(not cell.strip().isdigit() for cell in column[:100])


def _cell_frame(cell: str, name: str, row: int) -> Frame:
    try:
        made = frame_of(cell.strip(), row)
    except ValueError as error:
        raise ValueError(f"column {shown(name)!r}, {error}") from None
    if made is None:
        raise ValueError(f"column {shown(name)!r}, row {row:,} holds no frame")
    return made

"""Delimited text with a line of names: commas, tabs, semicolons or vertical bars.

Three routes. If every cell is the character 0 or 1, the text is a matrix of bytes. Otherwise
pyarrow reads it where that is installed, in a tenth of the time; and the csv module where it is
not, or where pyarrow finds fault with the text: its errors say which line.
"""

import csv
import io

import numpy as np

from xorfind.table.table import Column, Table, codes_of, distinct_names, narrowed
from xorfind.words import counted, shown

#: Rows that the csv module reads at a time, and bytes from which on pyarrow is worth its import.
TOGETHER, LONG = 1 << 13, 1 << 21
#: First bytes of Excel's files: a ZIP archive, and what came before it.
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


def text_table(data: bytes, what: str, *, tab: bool = False) -> Table:
    """A table of text with a line of names, in UTF-8, or in UTF-16 with its mark."""
    data = as_utf8(data, what)
    if not data.strip():
        raise ValueError(f"{what} is empty; expected a line of column names, then rows")
    end = _first_row_end(data)
    header = _decoded(data[:end], what).strip("\r\n")
    outside = "".join(header.split('"')[0::2])
    delimiter = "\t" if tab else max(",\t;|", key=outside.count)
    names, body = _names(header, delimiter, what), data[end:]
    for read in (_by_characters, _by_arrow):
        columns = read(body, len(names), delimiter)
        if columns is not None:
            return Table(dict(zip(names, columns, strict=True)), what)
    return Table(dict(zip(names, _by_csv(data, len(names), delimiter, what), strict=True)), what)


def as_utf8(data: bytes, what: str) -> bytes:
    """Text in UTF-8 without a mark. Spreadsheets save UTF-16 with one; files that are not text are
    refused, workbooks in words of their own."""
    if data[:4] in WORKBOOKS:
        raise ValueError(f"{what} is a workbook or an archive; save the sheet as CSV")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return data.decode("utf-16").encode()
        except UnicodeDecodeError as error:
            raise ValueError(f"{what} cannot be read as UTF-16: {error.reason}") from None
    if b"\0" in data:
        raise ValueError(
            f"{what} holds NUL bytes: it is not text, or UTF-16 without its mark; save it as UTF-8"
        )
    return data.removeprefix(b"\xef\xbb\xbf")


def _first_row_end(data: bytes) -> int:
    """Where the first row ends, one past its line end; quoted line ends do not count."""
    at = -1
    while (at := data.find(b"\n", at + 1)) >= 0:
        if data.count(b'"', 0, at) % 2 == 0:
            return at + 1
    return data.index(b"\r") + 1 if b"\r" in data else len(data)


def _decoded(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{what}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8; save it as UTF-8"
        ) from None


def _names(header: str, delimiter: str, what: str) -> list[str]:
    try:
        cells = next(csv.reader([header], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        raise ValueError(
            f"{what}: the line of column names cannot be read: {shown(str(error))}"
        ) from None
    if not cells:
        raise ValueError(f"{what} begins with an empty line; expected column names")
    if not {cell.strip() for cell in cells} - {"0", "1", "-1", "true", "false"}:
        raise ValueError(f"{what} begins with values; put a line of column names before them")
    return distinct_names([cell.strip() or f"unnamed_{at}" for at, cell in enumerate(cells)], what)


def _by_characters(body: bytes, width: int, delimiter: str) -> list[Column] | None:
    """The columns if every cell is the one character 0 or 1, else None."""
    body = body if body.endswith(b"\n") else body + b"\n"
    if len(body) % (2 * width):
        return None
    characters = np.frombuffer(body, dtype=np.uint8).reshape(-1, 2 * width)
    ends = characters[:, -1] == ord("\n")
    if not ends.all() or not (characters[:, 1:-1:2] == ord(delimiter)).all():
        return None
    cells = characters[:, 0::2]
    if not ((cells & 0xFE) == ord("0")).all():
        return None
    return [Column(codes=column, levels=("0", "1")) for column in np.ascontiguousarray(cells.T & 1)]


def _by_arrow(body: bytes, width: int, delimiter: str) -> list[Column] | None:
    """The columns by pyarrow; None if it is not installed or finds fault with the text."""
    if len(body) < LONG:
        return None
    try:
        import pyarrow
        from pyarrow import csv as reader
    except ImportError:
        return None
    names, kind = [str(at) for at in range(width)], pyarrow.dictionary(pyarrow.int32(), "string")
    try:
        batches = reader.open_csv(
            pyarrow.BufferReader(body),
            reader.ReadOptions(column_names=names, block_size=1 << 24),
            reader.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in body),
            reader.ConvertOptions(
                column_types=dict.fromkeys(names, kind), null_values=[], strings_can_be_null=False
            ),
        )
        parts: list[list[np.ndarray]] = [[] for _ in names]
        numbered: list[dict[str, int]] = [{} for _ in names]
        for batch in batches:
            for own, known, column in zip(parts, numbered, batch.columns, strict=True):
                places = codes_of(column.dictionary.to_pylist(), known)
                # Not by to_numpy, which would import pandas.
                where = np.frombuffer(column.indices.buffers()[1], np.int32)
                codes = places[where[column.offset : column.offset + len(column)]]
                own.append(narrowed(codes, len(known)))
    except (pyarrow.ArrowException, OSError):
        return None
    return [
        Column(codes=np.concatenate(own), levels=tuple(known))
        for own, known in zip(parts, numbered, strict=True)
    ]


def _by_csv(data: bytes, width: int, delimiter: str, what: str) -> list[Column]:
    """The columns by the csv module, which says what is wrong with a text, and in which line of the
    file. data: all of it, with the line of names."""
    text = _decoded(data, what)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    numbered: list[dict[str, int]] = [{} for _ in range(width)]
    parts: list[list[np.ndarray]] = [[np.zeros(0, np.uint8)] for _ in range(width)]
    some = list[list[str]]()
    try:
        next(rows)
        for row in filter(None, rows):
            if len(row) != width:
                raise ValueError(
                    f"{what}, line {rows.line_num}: {counted(len(row), 'cell')}, the line of names "
                    f"has {width:,}"
                )
            some.append(row)
            if len(some) == TOGETHER:
                _keep(some, parts, numbered)
                some = []
    except csv.Error as error:
        raise ValueError(f"{what}, line {rows.line_num}: {shown(str(error))}") from None
    if some:
        _keep(some, parts, numbered)
    return [
        Column(codes=np.concatenate(own), levels=tuple(known))
        for own, known in zip(parts, numbered, strict=True)
    ]


def _keep(
    rows: list[list[str]], parts: list[list[np.ndarray]], numbered: list[dict[str, int]]
) -> None:
    """Add some rows to the columns."""
    for own, known, cells in zip(parts, numbered, zip(*rows, strict=True), strict=True):
        codes = codes_of(cells, known)
        own.append(narrowed(codes, len(known)))

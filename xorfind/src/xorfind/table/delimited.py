"""Delimited text with a line of names: commas, tabs, semicolons or vertical bars.

If every cell is the character 0 or 1, the text is a matrix of bytes. Otherwise the csv module reads
it, some thousand rows at a time; its errors say which line.
"""

import csv
import io
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from xorfind.table.table import Column, Table, codes_of, distinct_names, narrowed
from xorfind.words import counted, shown

#: Rows that the csv module reads at a time.
TOGETHER = 1 << 13
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
    columns = _by_characters(body, len(names), delimiter)
    if columns is None:
        columns = _by_csv(data, len(names), delimiter, what)
    return Table(dict(zip(names, columns, strict=True)), what)


def as_utf8(data: bytes, what: str) -> bytes:
    """Text in UTF-8 without a mark. Spreadsheets save UTF-16 with one; files that are not text are
    refused, workbooks in words of their own."""
    if data[:4] in WORKBOOKS:
        raise ValueError(f"{what} is a workbook or an archive; save the sheet as CSV")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace").encode()
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


def _by_csv(data: bytes, width: int, delimiter: str, what: str) -> list[Column]:
    """The columns by the csv module, which says what is wrong with a text, and in which line of the
    file. data: all of it, with the line of names."""
    text = io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    numbered: list[dict[str, int]] = [{} for _ in range(width)]
    parts: list[list[np.ndarray]] = [[np.zeros(0, np.uint8)] for _ in range(width)]
    try:
        next(reader)
        rows = filter(None, reader)
        while some := list(itertools.islice(_checked(rows, reader, width, what), TOGETHER)):
            for own, known, cells in zip(parts, numbered, zip(*some, strict=True), strict=True):
                codes = codes_of(cells, known)
                own.append(narrowed(codes, len(known)))
    except csv.Error as error:
        raise ValueError(f"{what}, line {reader.line_num}: {shown(str(error))}") from None
    except UnicodeDecodeError:
        _decoded(data, what)
        raise
    return [
        Column(codes=np.concatenate(own), levels=tuple(known))
        for own, known in zip(parts, numbered, strict=True)
    ]


def _checked(rows: Iterator[list[str]], reader: Any, width: int, what: str) -> Iterator[list[str]]:
    """Rows that have as many cells as the line of names."""
    for row in rows:
        if len(row) != width:
            cells = counted(len(row), "cell")
            raise ValueError(
                f"{what}, line {reader.line_num}: {cells}, the line of names has {width:,}"
            )
        yield row

"""Delimited text, a block of rows at a time.

Three routes from text to columns. If every cell is the single character 0 or 1, the block is a
matrix of bytes and is read without looking at a cell. Without quotes cells are spans of bytes.
Otherwise the csv module reads it.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from paritylab.discovery.spans import Spans, spans_of
from paritylab.discovery.words import shown

#: Bytes read at a time, and the longest row that is still taken for one.
BLOCK, LONGEST_ROW = 1 << 23, 1 << 28

Cells = Sequence[str] | np.ndarray


class Block(NamedTuple):
    """Some rows of a table in one of three forms.

    rows: how many. matrix: (rows, n) of 0/1. spans: where in a text the cells lie. columns: the
    cells of every column.
    """

    rows: int
    matrix: np.ndarray | None = None
    spans: Spans | None = None
    columns: list[Cells] | None = None

    def column(self, index: int) -> Cells:
        """The cells of one column."""
        if self.columns is not None:
            return self.columns[index]
        if self.spans is not None:
            return self.spans.column(index)
        assert self.matrix is not None
        return self.matrix[:, index]


class Readable(Protocol):
    """What a stream of bytes must offer."""

    def read(self, size: int = -1, /) -> bytes: ...


class DelimitedText:
    """A CSV, TSV or semicolon-separated table. names: of the columns. blocks(): its rows."""

    def __init__(self, stream: Readable, what: str, tab: bool = False) -> None:
        self._what = what
        self._pieces = self._cut(stream)
        first = next(self._pieces, b"")
        if not first.strip():
            raise ValueError(f"{what} is empty; expected a line of column names, then rows")
        end = _first_row_end(first)
        header = self._decoded(first[:end], 0).strip("\r\n")
        self._rest = first[end:]
        self._delimiter = "\t" if tab else _delimiter_of(header)
        self.names = _names(header, self._delimiter, what)

    def blocks(self) -> Iterator[Block]:
        """The rows after the header, once."""
        done = 0
        for piece in self._all_pieces():
            block = self._parsed(piece, done)
            if block.rows:
                yield block
            done += block.rows

    def _all_pieces(self) -> Iterator[bytes]:
        first, self._rest = self._rest, b""
        if first:
            yield first
        del first
        yield from self._pieces

    def _cut(self, stream: Readable) -> Iterator[bytes]:
        """Pieces of the stream that end where a row ends, quoted line ends apart."""
        held = b""
        start = True
        while data := stream.read(BLOCK):
            held += data
            if start and held.startswith(b"\xef\xbb\xbf"):
                held = held[3:]
            start = False
            end = _last_row_end(held)
            if end:
                yield held[:end]
                held = held[end:]
            elif len(held) > LONGEST_ROW:
                raise ValueError(
                    f"{self._what} has no end of a row within {LONGEST_ROW >> 20} MiB; "
                    "is a quote never closed?"
                )
        if held:
            yield held

    def _decoded(self, piece: bytes, done: int) -> str:
        if b"\0" in piece:
            raise ValueError(f"{self._what} holds NUL bytes; expected text in UTF-8")
        try:
            return piece.decode("utf-8")
        except UnicodeDecodeError as error:
            row = done + piece.count(b"\n", 0, error.start)
            raise ValueError(
                f"{self._what} is not UTF-8 (byte 0x{piece[error.start]:02x} about row {row}); "
                "save it as UTF-8"
            ) from None

    def _parsed(self, piece: bytes, done: int) -> Block:
        quoted = b'"' in piece
        if b"\r" in piece:
            piece = piece.replace(b"\r\n", b"\n")
            piece = piece if quoted else piece.replace(b"\r", b"\n")
        if not piece.endswith(b"\n"):
            piece += b"\n"
        if quoted:
            piece = _without_idle_quotes(piece, ord(self._delimiter))
            quoted = b'"' in piece
        matrix = _character_matrix(piece, len(self.names), ord(self._delimiter))
        if matrix is not None:
            return Block(len(matrix), matrix=matrix)
        text = self._decoded(piece, done)
        return self._quoted(text, done) if quoted else self._split(piece, done)

    def _split(self, piece: bytes, done: int) -> Block:
        if b"\n\n" in piece or piece.startswith(b"\n"):
            piece = b"".join(line + b"\n" for line in piece.split(b"\n") if line)
        spans = spans_of(piece, len(self.names), ord(self._delimiter))
        if spans is None:
            counts = [line.count(self._delimiter.encode()) + 1 for line in piece.splitlines()]
            self._refuse_ragged(np.array(counts), done)
            raise AssertionError("rows of the right length are spans")
        return Block(len(spans.starts), spans=spans)

    def _quoted(self, text: str, done: int) -> Block:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self._delimiter, strict=True)
        try:
            rows = [row for row in reader if row]
        except csv.Error as error:
            raise ValueError(f"{self._what}, after row {done}: {shown(str(error))}") from None
        self._refuse_ragged(np.array([len(row) for row in rows]), done)
        return Block(len(rows), columns=list(zip(*rows, strict=True)))

    def _refuse_ragged(self, counts: np.ndarray, done: int) -> None:
        wrong = np.flatnonzero(counts != len(self.names))
        if wrong.size:
            at = int(wrong[0])
            raise ValueError(
                f"{self._what}: row {done + at + 1} has {counts[at]:,} cells, "
                f"the header has {len(self.names):,}"
            )


def _first_row_end(piece: bytes) -> int:
    """Where the first row ends, one past its line end; quoted line ends do not count."""
    at = -1
    while (at := piece.find(b"\n", at + 1)) >= 0:
        if piece.count(b'"', 0, at) % 2 == 0:
            return at + 1
    if b"\r" in piece and b'"' not in piece:
        return piece.index(b"\r") + 1
    return len(piece)


def _last_row_end(held: bytes) -> int:
    """One past the last line end outside quotes, 0 if there is none."""
    if b'"' not in held:
        return held.rfind(b"\n") + 1
    characters = np.frombuffer(held, dtype=np.uint8)
    inside = np.bitwise_xor.accumulate((characters == ord('"')).view(np.uint8))
    ends = np.flatnonzero((characters == 10) & (inside == 0))
    return int(ends[-1]) + 1 if ends.size else 0


def _without_idle_quotes(piece: bytes, delimiter: int) -> bytes:
    """The rows without quotes, if these only stand around whole cells and protect nothing."""
    text = np.frombuffer(piece, dtype=np.uint8)
    quote, between = text == ord('"'), (text == delimiter) | (text == 10)
    inside = np.bitwise_xor.accumulate(quote.view(np.uint8)).view(bool)
    opening, closing = np.flatnonzero(quote & inside), np.flatnonzero(quote & ~inside)
    idle = (
        not inside[between].any()
        and len(opening) == len(closing)
        and between[opening[opening > 0] - 1].all()
        and between[np.minimum(closing + 1, len(text) - 1)].all()
    )
    return piece.replace(b'"', b"") if idle else piece


def _character_matrix(piece: bytes, width: int, delimiter: int) -> np.ndarray | None:
    """The rows as a matrix of 0/1 if every cell is one of these characters, else None."""
    if len(piece) % (2 * width):
        return None
    characters = np.frombuffer(piece, dtype=np.uint8).reshape(-1, 2 * width)
    if not (characters[:, -1] == 10).all() or not (characters[:, 1:-1:2] == delimiter).all():
        return None
    cells = characters[:, 0::2]
    bits: np.ndarray = cells & 1
    return bits if ((cells & 0xFE) == ord("0")).all() else None


def _delimiter_of(header: str) -> str:
    """The most frequent of comma, tab and semicolon outside quotes; the comma if there is none."""
    outside = "".join(header.split('"')[0::2])
    return max(",\t;", key=outside.count)


def _names(header: str, delimiter: str, what: str) -> list[str]:
    try:
        cells = next(csv.reader([header], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        raise ValueError(
            f"{what}: the line of column names cannot be read: {shown(str(error))}"
        ) from None
    if not cells:
        raise ValueError(f"{what} begins with an empty line; expected column names")
    return distinct([cell.strip() or f"unnamed_{at}" for at, cell in enumerate(cells)], what)


def distinct(names: list[str], what: str) -> list[str]:
    """The names, unless two are equal."""
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"{what} has two columns named {shown(twice)!r}; names must differ")
    return names

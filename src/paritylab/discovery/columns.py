"""Columns of cells, and how each becomes a bit.

While a table is read every block of a column is kept small: one bit per cell where it has at most
two levels, a number per cell where it has more. The meaning of a column is settled at the end.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from paritylab.discovery.blocks import Block, Cells
from paritylab.discovery.spans import Spans, key_text
from paritylab.discovery.words import canonical, is_plain, ordered, shown

#: More distinct cells than this in one block are no spellings of two levels.
_SPELLINGS = 16


class Chunk(NamedTuple):
    """One block of a column.

    levels: up to two texts; codes: packed bits that number them. numbers: where there are more
    levels and all are numbers (NaN: missing). Neither: text of three levels or more, some of them
    in `levels`. missing: packed flags, None if nothing is missing.
    """

    rows: int
    levels: tuple[str, ...]
    codes: np.ndarray | None = None
    numbers: np.ndarray | None = None
    missing: np.ndarray | None = None


@dataclass(frozen=True)
class Column:
    """A whole column: levels with a code per row, or numbers, or (neither) text.

    missing: flags per row, None if nothing is missing.
    """

    name: str
    levels: tuple[str, ...] = ()
    codes: np.ndarray | None = None
    numbers: np.ndarray | None = None
    missing: np.ndarray | None = None

    @property
    def is_text(self) -> bool:
        """Whether it holds text of three levels or more, so that it cannot become a bit."""
        return self.codes is None and self.numbers is None


def encode(cells: Cells) -> Chunk:
    """One block of cells, kept small."""
    if isinstance(cells, np.ndarray):
        return _encode_numbers(cells)
    return _encode_text(cells)


def _encode_numbers(values: np.ndarray) -> Chunk:
    if values.dtype == bool:
        return Chunk(len(values), ("false", "true"), np.packbits(values))
    absent = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    known = values[~absent] if absent.any() else values
    missing = np.packbits(absent) if absent.any() else None
    if not len(known):
        return Chunk(len(values), (), np.packbits(absent), missing=missing)
    low, high = known.min(), known.max()
    is_high = values == high
    if (is_high | (values == low) | absent).all():
        levels = (number_text(low),) if low == high else (number_text(low), number_text(high))
        return Chunk(len(values), levels, np.packbits(is_high & (low < high)), missing=missing)
    return Chunk(len(values), (), numbers=values.astype(np.float64), missing=missing)


def number_text(value: float) -> str:
    """A number as a level: 1 for 1.0.

    >>> number_text(1.0), number_text(0.5)
    ('1', '0.5')
    """
    number = float(value)
    return str(int(value)) if number.is_integer() else repr(number)


def _encode_text(cells: Sequence[str]) -> Chunk:
    rows, spelled = len(cells), set(cells)
    if len(spelled) <= _SPELLINGS:
        meaning = {raw: canonical(raw) for raw in spelled}
        levels = tuple(sorted({level for level in meaning.values() if level is not None}))
        if len(levels) <= 2:
            number = {raw: 2 if m is None else levels.index(m) for raw, m in meaning.items()}
            codes = np.fromiter(map(number.__getitem__, cells), np.uint8, rows)
            missing = np.packbits(codes == 2) if None in meaning.values() else None
            return Chunk(rows, levels, np.packbits(codes == 1), missing=missing)
    try:
        numbers = np.array(cells, dtype=np.float64)
    except ValueError:
        return _encode_gaps(cells, spelled)
    absent = np.isnan(numbers)
    return Chunk(rows, (), numbers=numbers, missing=np.packbits(absent) if absent.any() else None)


def _encode_gaps(cells: Sequence[str], spelled: set[str]) -> Chunk:
    """Numbers among missing cells, or text."""
    try:
        value = {raw: np.nan if canonical(raw) is None else float(raw) for raw in spelled}
    except ValueError:
        some = tuple(sorted(s for s in spelled if canonical(s) is not None)[:4])
        absent = np.fromiter((canonical(raw) is None for raw in cells), bool, len(cells))
        return Chunk(len(cells), some, missing=np.packbits(absent) if absent.any() else None)
    numbers = np.fromiter(map(value.__getitem__, cells), np.float64, len(cells))
    absent = np.isnan(numbers)
    return Chunk(len(cells), (), numbers=numbers, missing=np.packbits(absent))


def encode_spans(spans: Spans, names: list[str], whole_numbers: set[str]) -> list[Chunk]:
    """All columns of a block of text: those of two levels together, the others one by one."""
    keys, short = spans.keys(), spans.lengths.max(axis=0) <= 8
    low, high = keys.min(axis=0), keys.max(axis=0)
    is_high = keys == high
    two = (is_high | (keys == low)).all(axis=0) & short
    codes = np.ascontiguousarray(np.packbits(is_high & (low < high), axis=0).T)
    chunks = []
    for at, name in enumerate(names):
        if name in whole_numbers:
            chunks.append(encode_whole(spans.column(at), name))
            continue
        levels = [canonical(key_text(int(key))) for key in {low[at], high[at]}] if two[at] else []
        if levels and None not in levels and len(set(levels)) == len(levels):
            ends = dict.fromkeys((int(low[at]), int(high[at])))
            known = tuple(str(canonical(key_text(key))) for key in ends)
            chunks.append(Chunk(len(keys), known, codes[at]))
        else:
            chunks.append(_encode_span(spans, at, keys[:, at]))
    return chunks


def _encode_span(spans: Spans, at: int, keys: np.ndarray) -> Chunk:
    """One column: numbers if it looks like many of them, else whatever its text says."""
    fixed = spans.fixed(at) if len(np.unique(keys[:64])) > _SPELLINGS else None
    if fixed is not None:
        try:
            numbers = fixed.astype(np.float64)
        except ValueError:
            return _encode_text(spans.column(at))
        absent = np.isnan(numbers)
        missing = np.packbits(absent) if absent.any() else None
        return Chunk(len(numbers), (), numbers=numbers, missing=missing)
    return _encode_text(spans.column(at))


def encode_whole(cells: Cells, name: str) -> Chunk:
    """One block of whole numbers to be taken apart into bits, exact up to 64 of them."""
    texts = cells.tolist() if isinstance(cells, np.ndarray) else cells
    absent = np.fromiter((isinstance(c, str) and canonical(c) is None for c in texts), bool)
    numbers = np.array(
        [0 if gone else whole(c, name) for c, gone in zip(texts, absent, strict=True)]
    )
    missing = np.packbits(absent) if absent.any() else None
    return Chunk(len(texts), (), numbers=numbers.astype(np.uint64), missing=missing)


def whole(cell: Any, name: str) -> int:
    """A whole number from 0 to 2⁶⁴-1, decimal or hexadecimal with 0x."""
    try:
        if isinstance(cell, str):
            cell = cell.strip()
            number = int(cell, 16) if cell[:2].lower() == "0x" else int(cell)
        else:
            number = int(cell)
            if number != cell:
                raise ValueError
    except (ValueError, OverflowError):
        raise ValueError(
            f"--bits: column {shown(name)!r} holds {shown(str(cell))!r}, expected whole numbers, "
            "hexadecimal ones with 0x"
        ) from None
    if not 0 <= number < 2**64:
        raise ValueError(
            f"--bits: column {shown(name)!r} holds {shown(str(cell))}, expected 0 to 2^64 - 1"
        )
    return number


def joined(name: str, chunks: Iterable[Chunk]) -> Column:
    """The column of its chunks, in order."""
    chunks = list(chunks)
    missing = None
    if any(chunk.missing is not None for chunk in chunks):
        missing = np.concatenate([_flags(chunk.missing, chunk.rows) for chunk in chunks])
    levels = {level for chunk in chunks for level in chunk.levels}
    numbers = [chunk.numbers for chunk in chunks]
    text = any(chunk.codes is None and chunk.numbers is None for chunk in chunks)
    if all(each is None for each in numbers) and len(levels) <= 2 and not text:
        order = ordered(levels)
        codes = np.concatenate([_recoded(chunk, order) for chunk in chunks])
        return Column(name, order, codes, missing=missing)
    if text or not all(_is_number(level) for level in levels):
        return Column(name, tuple(sorted(levels)), missing=missing)
    values = np.concatenate([_as_numbers(chunk) for chunk in chunks])
    return _few_numbers(Column(name, numbers=values, missing=missing))


def _few_numbers(column: Column) -> Column:
    """Numbers that take one or two values after all are levels (1 and 1.0 are one value)."""
    values = column.numbers
    assert values is not None
    if values.dtype != np.float64:
        return column
    known = values[~np.isnan(values)]
    if not len(known):
        return column
    low, high = known.min(), known.max()
    if not ((known == low) | (known == high)).all():
        return column
    levels = tuple(dict.fromkeys([number_text(low), number_text(high)]))
    codes = ((values == high) & (low < high)).astype(np.uint8)
    return Column(column.name, levels, codes, missing=column.missing)


def _flags(packed: np.ndarray | None, rows: int) -> np.ndarray:
    if packed is None:
        return np.zeros(rows, dtype=bool)
    return np.unpackbits(packed, count=rows).view(bool)


def _recoded(chunk: Chunk, order: tuple[str, ...]) -> np.ndarray:
    assert chunk.codes is not None
    codes = np.unpackbits(chunk.codes, count=chunk.rows)
    new = np.array([order.index(level) for level in chunk.levels] + [0, 0], dtype=np.uint8)
    return new[codes]


def _as_numbers(chunk: Chunk) -> np.ndarray:
    if chunk.numbers is not None:
        return chunk.numbers
    assert chunk.codes is not None
    values = np.array([float(level) for level in chunk.levels] + [np.nan] * 2)
    numbers = values[np.unpackbits(chunk.codes, count=chunk.rows)]
    numbers[_flags(chunk.missing, chunk.rows)] = np.nan
    return numbers


def _is_number(level: str) -> bool:
    try:
        float(level)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Coding:
    """How one column becomes a bit: by two levels, by a threshold, or as one bit of a number.

    false, true: the levels that mean 0 and 1. above: 1 if the value is larger. bit: its number.
    """

    column: str
    false: str = ""
    true: str = ""
    above: float | None = None
    bit: int | None = None

    @property
    def name(self) -> str:
        """The column, with the number of the bit: `address.6`."""
        return self.column if self.bit is None else f"{self.column}.{self.bit}"

    @property
    def phrase(self) -> str:
        """What it means that the bit is 1, in words."""
        if self.bit is not None:
            return shown(self.name)
        if self.above is not None:
            return f"{shown(self.column)} > {self.above:.6g}"
        if is_plain(self.false, self.true):
            return shown(self.column)
        return f"{shown(self.column)} = {shown(self.true)}"

    def read(self, cells: Cells, first: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Bits of the cells and flags of those known. first: row number of the first cell."""
        if self.bit is not None:
            chunk = encode_whole(cells, self.column)
            assert chunk.numbers is not None
            bits = (chunk.numbers >> np.uint64(self.bit) & np.uint64(1)).astype(np.uint8)
            return bits, ~_flags(chunk.missing, chunk.rows)
        column = joined(self.column, [encode(cells)])
        known = ~_flags(None, len(cells)) if column.missing is None else ~column.missing
        if self.above is not None:
            return (self._values(column) > self.above).astype(np.uint8), known
        wanted = {self._folded(self.false): 0, self._folded(self.true): 1}
        if set(wanted) in ({"0", "1"}, {"false", "true"}):
            wanted = {"0": 0, "1": 1, "false": 0, "true": 1}
        if column.codes is None:
            self._refuse(next(c for c in cells if self._folded(str(c)) not in {*wanted, ""}))
        for level in column.levels:
            if self._folded(level) not in wanted:
                self._refuse(level)
        new = np.array([wanted[self._folded(level)] for level in column.levels] + [0, 0], np.uint8)
        return new[column.codes], known

    def _values(self, column: Column) -> np.ndarray:
        if column.numbers is not None:
            return column.numbers
        if not all(_is_number(level) for level in column.levels) or column.codes is None:
            raise ValueError(f"column {shown(self.column)!r} must hold numbers for this rule")
        values = np.array([float(level) for level in column.levels] + [0.0, 0.0])
        return np.asarray(values[column.codes])

    @staticmethod
    def _folded(level: str) -> str:
        text = canonical(level)
        if text is None:
            return ""
        return number_text(float(text)) if _is_number(text) else text

    def _refuse(self, level: object) -> NoReturn:
        raise ValueError(
            f"column {shown(self.column)!r} holds {shown(str(level))!r}; the rule knows "
            f"{shown(self.false)!r} and {shown(self.true)!r}"
        )


class Cut(Coding):
    """One of several thresholds of a column, named with it: `snp > 1`."""

    @property
    def name(self) -> str:
        return f"{self.column} > {self.above:g}"


class Kept:
    """All blocks of a table, kept small. names: of the columns. rows: read so far.

    whole_numbers: columns whose cells are whole numbers to be taken apart into bits.
    """

    def __init__(self, names: list[str], whole_numbers: Iterable[str] = ()) -> None:
        self.names, self.rows = names, 0
        self._whole = set(whole_numbers)
        self._parts: list[tuple[int, np.ndarray | list[Chunk]]] = []

    def add(self, block: Block) -> None:
        """Keep one more block."""
        self.rows += block.rows
        if block.matrix is not None:
            self._parts.append((block.rows, np.packbits(block.matrix, axis=0)))
            return
        if block.spans is not None:
            self._parts.append((block.rows, encode_spans(block.spans, self.names, self._whole)))
            return
        chunks = []
        for at, name in enumerate(self.names):
            cells = block.column(at)
            chunks.append(encode_whole(cells, name) if name in self._whole else encode(cells))
        self._parts.append((block.rows, chunks))

    @property
    def is_matrix(self) -> bool:
        """Whether every cell was the character 0 or 1."""
        return not self._whole and all(isinstance(part, np.ndarray) for _, part in self._parts)

    def matrix(self, columns: np.ndarray) -> np.ndarray:
        """Some columns as an (N, n) matrix, if `is_matrix`."""
        bits, at = np.empty((self.rows, len(columns)), dtype=np.uint8), 0
        for rows, part in self._parts:
            assert isinstance(part, np.ndarray)
            for first in range(0, rows, 512):
                few = part[first // 8 : first // 8 + 64]
                last = min(first + 512, rows)
                unpacked = np.unpackbits(few, axis=0, count=last - first)
                bits[at + first : at + last] = unpacked[:, columns]
            at += rows
        return bits

    def may_miss(self) -> bool:
        """Whether any cell may be missing."""
        chunks = (part for _, part in self._parts if isinstance(part, list))
        return any(chunk.missing is not None for each in chunks for chunk in each)

    def column(self, at: int) -> Column:
        """One whole column."""
        chunks = []
        for rows, part in self._parts:
            if isinstance(part, list):
                chunks.append(part[at])
                continue
            bits = np.ascontiguousarray(part[:, at])
            if self.names[at] in self._whole:
                numbers = np.unpackbits(bits, count=rows).astype(np.uint64)
                chunks.append(Chunk(rows, (), numbers=numbers))
            else:
                chunks.append(Chunk(rows, ("0", "1"), bits))
        return joined(self.names[at], chunks)

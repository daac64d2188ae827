"""What cells mean, and how a column becomes a bit."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from xorfind.codec import from_json
from xorfind.table.table import Column
from xorfind.words import canonical, is_plain, ordered, shown


@dataclass(frozen=True)
class Values:
    """A column that has been understood: two levels with a code per row, or numbers, or text.

    levels: at most two, the false one first; of text, some of its levels. codes: 0 or 1, (N,).
    numbers: (N,), NaN where missing. missing: flags per row, None if nothing is missing.
    """

    levels: tuple[str, ...] = ()
    codes: np.ndarray | None = None
    numbers: np.ndarray | None = None
    missing: np.ndarray | None = None

    @property
    def is_text(self) -> bool:
        """Whether it holds text of three levels or more, so that it cannot become a bit."""
        return self.codes is None and self.numbers is None

    def at(self, rows: np.ndarray | None) -> "Values":
        """The rows that stay, of which none is missing."""
        if rows is None:
            return self
        codes = None if self.codes is None else self.codes[rows]
        return Values(self.levels, codes, None if self.numbers is None else self.numbers[rows])

    def as_numbers(self) -> np.ndarray | None:
        """The numbers, also those of two levels; None if it is text."""
        if self.numbers is not None or self.codes is None:
            return self.numbers
        try:
            levels = np.array([*map(float, self.levels), 0.0, 0.0])
        except ValueError:
            return None
        return np.asarray(levels[self.codes])


def values_of(column: Column) -> Values:
    """The meaning of a column."""
    if column.numbers is not None:
        return _of_numbers(column.numbers)
    assert column.codes is not None
    meaning = [canonical(level) for level in column.levels]
    gone = np.array([level is None for level in meaning], dtype=bool)
    missing = gone[column.codes] if gone.any() else None
    known = {level for level in meaning if level is not None}
    if len(known) <= 2:
        order = ordered(known)
        places = [order.index(level) if level is not None else 0 for level in meaning]
        return Values(order, np.array([*places, 0], np.uint8)[column.codes], missing=missing)
    try:
        numbers = [np.nan if level is None else float(level) for level in meaning]
    except ValueError:
        return Values(tuple(sorted(known)), missing=missing)
    return _of_numbers(np.array(numbers)[column.codes])


def _of_numbers(values: np.ndarray) -> Values:
    """Numbers of one or two values are levels (1 and 1.0 are one value)."""
    if values.dtype == bool:
        return Values(("false", "true"), values.astype(np.uint8))
    absent = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    missing = absent if absent.any() else None
    known = values if missing is None else values[~absent]
    if not len(known):
        return Values((), np.zeros(len(values), np.uint8), missing=missing)
    low, high = known.min(), known.max()
    if ((known == low) | (known == high)).all():
        levels = tuple(dict.fromkeys([number_text(low), number_text(high)]))
        codes = ((values == high) & (low < high)).astype(np.uint8)
        return Values(levels, codes, missing=missing)
    return Values((), numbers=values.astype(np.float64), missing=missing)


def number_text(value: float) -> str:
    """A number as a level: 1 for 1.0.

    >>> number_text(1.0), number_text(0.5)
    ('1', '0.5')
    """
    number = float(value)
    return str(int(value)) if number.is_integer() else repr(number)


def whole_numbers(column: Column, name: str) -> Values:
    """Whole numbers to be taken apart into bits, exact up to 64 of them."""
    if column.numbers is not None:
        cells = column.numbers.tolist()
        return Values(numbers=np.array([_whole(each, name) for each in cells], np.uint64))
    assert column.codes is not None
    gone = np.array([canonical(level) is None for level in column.levels], bool)
    values = [0 if g else _whole(v, name) for g, v in zip(gone, column.levels, strict=True)]
    missing = gone[column.codes] if gone.any() else None
    return Values(numbers=np.array(values, np.uint64)[column.codes], missing=missing)


def _whole(cell: Any, name: str) -> int:
    """A whole number from 0 to 2⁶⁴-1, decimal or hexadecimal with 0x."""
    try:
        number = int(cell, 16 if cell.strip()[:2].lower() == "0x" else 10)
    except AttributeError:
        number = int(cell) if cell == cell // 1 else -1
    except ValueError:
        number = -1
    if not 0 <= number < 2**64:
        raise ValueError(
            f"--bits: column {shown(name)!r} holds {shown(str(cell))!r}, expected whole numbers "
            "from 0 to 2^64 - 1, hexadecimal ones with 0x"
        )
    return number


@dataclass(frozen=True)
class Coding:
    """How one column becomes a bit: by two levels, by a threshold, or as one bit of a number.

    false, true: the levels that mean 0 and 1. above: 1 if the value is larger. bit: its number.
    cut: one of several thresholds of a column, so that its name has the threshold in it.
    """

    column: str
    false: str = ""
    true: str = ""
    above: float | None = None
    bit: int | None = None
    cut: bool = False

    @property
    def name(self) -> str:
        """The column, with the number of the bit (`address.6`) or the cut (`snp > 1`)."""
        if self.cut:
            return f"{self.column} > {self.above:g}"
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

    @property
    def meaning(self) -> str:
        """The same for a target, whose value is always named."""
        if self.above is not None or self.bit is not None:
            return self.phrase
        return f"{shown(self.column)} is {shown(self.true)}"

    def read(self, cells: Column) -> tuple[np.ndarray, np.ndarray]:
        """Bits of the cells and flags of those known."""
        if self.bit is None and self.above is None:
            return self._read_levels(cells)
        values = values_of(cells) if self.bit is None else whole_numbers(cells, self.column)
        numbers = values.as_numbers()
        if numbers is None:
            raise ValueError(f"column {shown(self.column)!r} must hold numbers for this rule")
        known = np.ones(len(cells), bool) if values.missing is None else ~values.missing
        return self.of_numbers(numbers), known

    def of_numbers(self, numbers: np.ndarray) -> np.ndarray:
        """Bits of numbers, by the threshold or by the number of the bit."""
        if self.bit is None:
            return (numbers > self.above).astype(np.uint8)
        shifted: np.ndarray = numbers >> np.uint64(self.bit)
        return (shifted & np.uint64(1)).astype(np.uint8)

    def _read_levels(self, cells: Column) -> tuple[np.ndarray, np.ndarray]:
        """By the two levels, however they are spelled; a third one is refused."""
        wanted = {_folded(self.false): 0, _folded(self.true): 1}
        if set(wanted) in ({"0", "1"}, {"false", "true"}):
            wanted = {"0": 0, "1": 1, "false": 0, "true": 1}
        meaning, missing = {**wanted, "": 2}, 2
        texts, codes = cells.distinct()
        for text in texts:
            if _folded(text) not in meaning:
                raise ValueError(
                    f"column {shown(self.column)!r} holds {shown(text)!r}; the rule knows "
                    f"{shown(self.false)!r} and {shown(self.true)!r}"
                )
        found = np.array([meaning[_folded(text)] for text in texts], np.uint8)[codes]
        return found & 1, found != missing

    def to_json(self) -> dict[str, Any]:
        """A column with its levels, its threshold or its bit; nothing that does not apply."""
        entry = {k: v for k, v in asdict(self).items() if v is not None and v is not False}
        if self.above is not None or self.bit is not None:
            del entry["false"], entry["true"]
        return entry

    @classmethod
    def from_json(cls, entry: Any) -> "Coding":
        """The coding of `to_json`; anything else is one clear ValueError."""
        made = from_json(cls, entry, "a column")
        kinds = ({"false", "true"} <= entry.keys(), made.above is not None, made.bit is not None)
        if sum(kinds) != 1 or not 0 <= (made.bit or 0) < 64:
            raise ValueError(
                f'{shown(made.column)!r} needs "false" and "true", "above", or a "bit" from 0 to 63'
            )
        return made


def _folded(level: str) -> str:
    """A level without its spelling: 1 for 1.0, yes for Yes; empty if it is missing."""
    text = canonical(level) or ""
    try:
        return number_text(float(text))
    except (ValueError, OverflowError):
        return text

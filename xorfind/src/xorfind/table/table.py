"""One container of rows: names, and for each column its cells.

A column is kept as its distinct texts and a number per cell, or as the numbers it came in: one byte
a cell for a column of few values. Rows are numbered from 1, without the line of names.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xorfind.words import shown


@dataclass(frozen=True)
class Column:
    """Cells of one column: numbers (N,) as they came, or texts by their number.

    codes: for each cell its place in `levels`, (N,). levels: the distinct texts.
    """

    numbers: np.ndarray | None = None
    codes: np.ndarray | None = None
    levels: tuple[str, ...] = ()

    def __len__(self) -> int:
        cells = self.codes if self.numbers is None else self.numbers
        assert cells is not None
        return len(cells)

    def distinct(self) -> tuple[list[str], np.ndarray]:
        """The distinct cells as text, and the number of each cell among them."""
        if self.codes is not None:
            return list(self.levels), self.codes
        values, codes = np.unique(np.asarray(self.numbers), return_inverse=True)
        return [str(each) for each in values.tolist()], codes

    def texts(self) -> list[str]:
        """The cells as text."""
        texts, codes = self.distinct()
        return [texts[at] for at in codes.tolist()]


@dataclass(frozen=True)
class Table:
    """Columns by name, all of one length. what: its name in errors."""

    columns: dict[str, Column]
    what: str = "the table"

    @property
    def names(self) -> list[str]:
        """Of the columns, in order."""
        return list(self.columns)

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(next(iter(self.columns.values()), ()))

    def column(self, name: str) -> Column:
        """One column."""
        return self.columns[name]


def table_of(names: Sequence[str], values: Iterable[Any], what: str = "the table") -> Table:
    names = distinct_names(list(names), what)
    made = dict(zip(names, map(_of_values, values), strict=True))
    lengths = {len(column) for column in made.values()}
    if len(lengths) > 1:
        raise ValueError(f"{what} has columns of different lengths: {sorted(lengths)[:5]}")
    return Table(made, what)


def _of_values(values: Any) -> Column:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"a column needs one value per row, got an array of shape {array.shape}")
    if array.dtype.kind in "biuf":
        return Column(numbers=array)
    if array.dtype.kind == "S":
        return texts_column([each.decode("utf-8", "replace") for each in array.tolist()])
    gone = {None, "nan", "NaT", "<NA>"}
    return texts_column(["" if e is None or str(e) in gone else str(e) for e in array.tolist()])


def texts_column(cells: Sequence[str]) -> Column:
    numbered: dict[str, int] = {}
    codes = codes_of(cells, numbered)
    return Column(codes=narrowed(codes, len(numbered)), levels=tuple(numbered))


def codes_of(cells: Sequence[str], numbered: dict[str, int]) -> np.ndarray:
    """The number of every cell; new texts get the next ones."""
    for text in set(cells) - numbered.keys():
        numbered[text] = len(numbered)
    return np.fromiter(map(numbered.__getitem__, cells), np.int32, len(cells))


def narrowed(codes: np.ndarray, levels: int) -> np.ndarray:
    return codes.astype(np.uint8) if levels <= 256 else codes


def distinct_names(names: list[str], what: str) -> list[str]:
    """The names, unless two are equal."""
    (twice, times), *_ = [*Counter(names).most_common(1), ("", 1)]
    if times > 1:
        raise ValueError(f"{what} has two columns named {shown(twice)!r}; names must differ")
    return names

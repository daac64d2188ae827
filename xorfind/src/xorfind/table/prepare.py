"""From a table to a matrix of bits, with notes on what happened to its columns."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from xorfind.evidence.form import Finer
from xorfind.rows import LabelledRows
from xorfind.table.columns import Coding, Values, values_of, whole_numbers
from xorfind.table.table import Table, distinct_names
from xorfind.words import counted, listed, nearest, shown

#: What a user may give: one for all columns of numbers, "V", "COLUMN=V", or numbers by column.
Threshold = float | str | Sequence[str] | Mapping[str, float] | None
#: Values of columns such as genotypes, and the cuts that make bits of them.
_GENOTYPE, _CUTS = (0, 1, 2), (0.0, 1.0)
#: Columns of numbers that are also cut elsewhere, to see whether one cut says it all.
MOST_FINER = 200


class Choices(NamedTuple):
    """How columns are to be read.

    bits: columns of whole numbers with their highest (None: all that occur) and lowest bit.
    thresholds: by column; that of "" is for columns of numbers without one of their own. missing:
    "refuse" rows with missing cells, or "drop" them. group: the column that names rows which
    belong together.
    """

    bits: dict[str, tuple[int | None, int]]
    thresholds: dict[str, float]
    missing: str = "refuse"
    group: str | None = None

    def threshold(self, name: str) -> float | None:
        """The one asked for a column, if any."""
        return self.thresholds.get(name, self.thresholds.get(""))


@dataclass
class Notes:
    """What was found while reading.

    rows: used. dropped: rows left out for a missing cell. constant: columns with one value.
    twins: for a column that is used, others that equal it on every row, or (True) always differ.
    ignored: columns of text with three levels or more. thresholds: how numbers became bits.
    cut: columns of 0, 1, 2, read at both thresholds.
    """

    rows: int = 0
    dropped: int = 0
    constant: list[str] = field(default_factory=list)
    twins: dict[str, list[tuple[str, bool]]] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    thresholds: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The notes as sentences."""
        lines = []
        if self.dropped:
            lines.append(f"{counted(self.dropped, 'row')} with missing values left out")
        if self.thresholds:
            lines.append(f"numbers read as true above a threshold: {listed(self.thresholds, 4)}")
        twins = [
            (f"{other} = {'not ' * flip}{name}", flip)
            for name, others in self.twins.items()
            for other, flip in others
        ]
        for names, kind, text in (
            (self.cut, "column", " of 0, 1, 2, read as two bits each, above 0 and above 1"),
            (self.constant, "column", " with one value only, left out"),
            (self.ignored, "column", " of text with more than two levels, left out"),
            ([each for each, flip in twins if not flip], "duplicate column", ""),
            ([each for each, flip in twins if flip], "complementary column", ""),
        ):
            if names:
                lines.append(f"{counted(len(names), kind)}{text}: {listed(names, 4)}")
        return lines


@dataclass(frozen=True)
class Prepared:
    """Bits to search. codings: what the columns of `bits` (N, n) mean. targets: each with bits.
    groups: a number per row that rows of one group share, if a column for that was named.
    finer: other cuts of the columns of numbers that are used."""

    codings: list[Coding]
    bits: np.ndarray
    targets: list[tuple[Coding, np.ndarray]]
    notes: Notes
    groups: np.ndarray | None
    finer: Finer | None


def prepare(table: Table, targets: Sequence[str], choices: Choices) -> Prepared:
    """Turn a whole table into bits; what cannot be used is noted or refused."""
    _check_names(table.names, targets, choices)
    if not table.rows:
        raise ValueError("the table has column names but no rows")
    read = {
        name: whole_numbers(column, name) if name in choices.bits else values_of(column)
        for name, column in table.columns.items()
        if name != choices.group
    }
    notes = Notes()
    rows = _complete_rows(read, table.rows, choices, notes, set(targets))
    notes.rows = table.rows if rows is None else int(rows.sum())
    features = {name: each.at(rows) for name, each in read.items() if name not in targets}
    codings, bits = _coded(features, choices, notes)
    own = [_target(name, read[name].at(rows), choices) for name in targets]
    keep = _distinct(bits, own[0][1], codings, notes)
    if not keep:
        raise ValueError(
            "no column but the target takes two values; "
            + (notes.lines()[-1] if notes.lines() else "nothing to search")
        )
    if len(keep) < len(codings):
        codings, bits = [codings[at] for at in keep], bits[:, keep]
    groups = None
    if choices.group is not None:
        texts = np.array([each.strip() for each in table.column(choices.group).texts()])
        groups = np.unique(texts, return_inverse=True)[1]
        groups = groups if rows is None else groups[rows]
    return Prepared(codings, bits, own, notes, groups, _finer_cuts(codings, features))


def _check_names(names: list[str], targets: Sequence[str], choices: Choices) -> None:
    """One clear error for columns that are not there, and for targets in another role."""
    if not targets or len(set(targets)) < len(targets):
        raise ValueError(f"name each target once, got {listed(targets) or 'none'}")
    group = [] if choices.group is None else [choices.group]
    cut = [name for name in choices.thresholds if name]
    roles = {"": targets, "--threshold: ": cut}
    for option, asked in {**roles, "--group: ": group, "--bits: ": choices.bits}.items():
        for name in asked:
            if name not in names:
                raise ValueError(f"{option}no column {shown(name)!r}{nearest(name, names)}")
            if option not in roles and name in targets:
                raise ValueError(f"{option}{shown(name)!r} is a target")
    if len(names) == len(targets):
        raise ValueError("the table has no columns beside the target")


def _complete_rows(
    read: dict[str, Values], count: int, choices: Choices, notes: Notes, targets: set[str]
) -> np.ndarray | None:
    """Flags of the rows without a missing cell in a column that is used; None for all."""
    holes = {
        name: values.missing
        for name, values in read.items()
        if values.missing is not None and (not values.is_text or name in targets)
    }
    if not holes:
        return None
    gone = np.logical_or.reduce(list(holes.values()))
    notes.dropped = int(gone.sum())
    if choices.missing == "refuse":
        some = [f"{shown(name)} {each.sum():,}" for name, each in list(holes.items())[:4]]
        raise ValueError(
            f"{counted(notes.dropped, 'row')} of {count:,} with missing values "
            f"({', '.join(some)}); --missing drop leaves them out"
        )
    if gone.all():
        raise ValueError("every row has a missing value; nothing is left")
    kept: np.ndarray = ~gone
    return kept


def _coded(
    features: dict[str, Values], choices: Choices, notes: Notes
) -> tuple[list[Coding], np.ndarray]:
    """Every column as bits: the codings, and the bits (N, n)."""
    made: list[tuple[Coding, np.ndarray]] = []
    for name, values in features.items():
        numbers = values.numbers
        if values.is_text:
            notes.ignored.append(name)
            continue
        if name in choices.bits:
            assert numbers is not None
            high, low = choices.bits[name]
            if high is None:
                high = max(int(numbers.max()).bit_length() - 1, low)
            cuts = [Coding(name, bit=bit) for bit in range(low, high + 1)]
        elif choices.threshold(name) is None and _is_genotype(numbers):
            notes.cut.append(name)
            cuts = [Coding(name, above=at, cut=True) for at in _CUTS]
        else:
            coding, bits = _one_bit(name, values, choices)
            if coding.above is not None:
                notes.thresholds.append(coding.phrase)
            made.append((coding, bits))
            continue
        made += [(cut, cut.of_numbers(np.asarray(numbers))) for cut in cuts]
    distinct_names([coding.name for coding, _ in made], "the table with the bits asked for")
    matrix = np.array([bits for _, bits in made], np.uint8).reshape(len(made), notes.rows).T
    return [coding for coding, _ in made], np.ascontiguousarray(matrix)


def _is_genotype(numbers: np.ndarray | None) -> bool:
    return numbers is not None and np.array_equal(np.unique(numbers), _GENOTYPE)


def _one_bit(name: str, values: Values, choices: Choices) -> tuple[Coding, np.ndarray]:
    """Levels as they are; numbers above the threshold given, or above their median."""
    if values.codes is not None and name not in choices.thresholds:
        false, true = (*values.levels, "", "")[:2]
        return Coding(name, false, true), values.codes
    numbers, given = values.as_numbers(), choices.threshold(name)
    if numbers is None:
        raise ValueError(f"--threshold: {shown(name)!r} holds no numbers")
    coding = Coding(name, above=median_threshold(numbers) if given is None else given)
    return coding, coding.of_numbers(numbers)


def median_threshold(values: np.ndarray) -> float:
    """The median; if no value lies above it, the largest value below the maximum.

    >>> median_threshold(np.array([1.0, 2.0, 3.0])), median_threshold(np.array([0.0, 5.0, 5.0]))
    (2.0, 0.0)
    """
    median, highest = float(np.median(values)), values.max()
    if median < highest or (values == highest).all():
        return median
    return float(values[values < highest].max())


def finer_cuts(cut: Iterable[tuple[int, np.ndarray, float]]) -> Finer | None:
    """Cuts of numbers at their quartiles and median other than the ones made; None if none is cut.

    cut: the number of a column, its values (N,) and the threshold it was cut at.
    """
    bits, columns = list[np.ndarray](), list[int]()
    for at, values, above in cut:
        for other in np.unique(np.quantile(values, (0.25, 0.5, 0.75))):
            made = values > other
            if made.any() and (made != (values > above)).any():
                bits.append(made.astype(np.uint8))
                columns.append(at)
    return Finer(np.stack(bits, axis=1), np.array(columns)) if bits else None


def _finer_cuts(codings: list[Coding], features: dict[str, Values]) -> Finer | None:
    cut = []
    for at, coding in enumerate(codings):
        numbers = features[coding.column].numbers
        if numbers is not None and coding.above is not None and not coding.cut:
            cut.append((at, numbers, coding.above))
    return finer_cuts(cut[:MOST_FINER])


def _target(name: str, values: Values, choices: Choices) -> tuple[Coding, np.ndarray]:
    if values.is_text:
        raise ValueError(
            f"target {shown(name)!r} has {len(values.levels)} levels "
            f"({listed(values.levels, 4)}); a parity needs two"
        )
    if values.codes is None and choices.threshold(name) is None:
        raise ValueError(
            f"target {shown(name)!r} holds numbers of more than two values; "
            f"--threshold {shown(name)}=V makes it one bit"
        )
    coding, bits = _one_bit(name, values, choices)
    if bits.min() == bits.max():
        level = coding.true if bits[0] else coding.false
        only = coding.phrase if coding.above is not None else level
        raise ValueError(
            f"target {shown(name)!r} has one value only ({shown(only)}); nothing to explain"
        )
    return coding, bits


def _distinct(
    bits: np.ndarray, target: np.ndarray, codings: list[Coding], notes: Notes
) -> list[int]:
    """Columns that vary, one of each group of equal or complementary ones."""
    if len(bits) < 2 or not codings:
        return []
    table, varies = LabelledRows(bits, target), (bits != bits[:1]).any(axis=0)
    notes.constant += [codings[at].name for at in np.flatnonzero(~varies)]
    kept: list[int] = table.kept.tolist()
    for at in kept:
        same, opposite = table.twins(at)
        others = sorted([*((each, False) for each in same), *((each, True) for each in opposite)])
        if others:
            notes.twins[codings[at].name] = [(codings[each].name, flip) for each, flip in others]
    return kept


def as_choices(
    bits: str | Iterable[str], threshold: Threshold, missing: str, group: str | None = None
) -> Choices:
    """Choices from what a user typed: "address:25-6", 220, "cycles=220"."""
    if missing not in ("refuse", "drop"):
        raise ValueError(f"missing must be refuse or drop, got {missing!r}")
    asked = dict(map(_parsed_bits, [bits] if isinstance(bits, str) else bits))
    if isinstance(threshold, Mapping):
        return Choices(asked, {str(k): float(v) for k, v in threshold.items()}, missing, group)
    given = [threshold] if isinstance(threshold, str | int | float) else threshold or ()
    return Choices(asked, dict(map(_parsed_threshold, given)), missing, group)


def _parsed_bits(text: str) -> tuple[str, tuple[int | None, int]]:
    """The column, its highest bit, None for all, and its lowest."""
    column, colon, ends = text.rpartition(":")
    if not colon:
        return text, (None, 0)
    if not re.fullmatch(r"\d+(-\d+)?", ends, re.ASCII):
        raise ValueError(f"--bits takes COLUMN or COLUMN:HI-LO such as address:25-6, got {text!r}")
    top, *rest = map(int, ends.split("-"))
    bottom = rest[0] if rest else top
    if not bottom <= top < 64:
        raise ValueError(f"--bits: HI-LO must be within 63-0, the higher first, got {ends!r}")
    return column, (top, bottom)


def _parsed_threshold(text: object) -> tuple[str, float]:
    """The column, "" for all, and the threshold."""
    column, _, number = str(text).rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise ValueError(f"--threshold takes V once, or COLUMN=V for each column, got {text!r}")
    return column, value

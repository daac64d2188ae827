"""From a table to a matrix of bits, with notes on what happened to its columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from xorfind.rows import LabelledRows
from xorfind.table.columns import Coding, Values, bits_of_number, values_of, whole_numbers
from xorfind.table.table import Table
from xorfind.words import counted, hint_for, listed, nearest, shown

#: What a user may give: one for all columns of numbers, "V", "COLUMN=V", or numbers by column.
Threshold = float | str | Sequence[str] | Mapping[str, float] | None
#: Values of columns such as genotypes, and the cuts that make bits of them.
_GENOTYPE, _CUTS = (0, 1, 2), (0.0, 1.0)
#: Columns of numbers that are also cut elsewhere, to see whether one cut says it all.
_FINER = 200
#: Other levels of a column of 0 and 1 that are named, so that a reader may mend them.
MOST_ODD = 3


class Choices(NamedTuple):
    """How columns are to be read.

    bits: columns of whole numbers with their highest (None: all that occur) and lowest bit.
    threshold: one for all numbers, or by column. missing: "refuse" rows with missing cells, or
    "drop" them. group: the column that names rows which belong together.
    """

    bits: dict[str, tuple[int | None, int]]
    threshold: float | dict[str, float] | None = None
    missing: str = "refuse"
    group: str | None = None

    def threshold_of(self, name: str) -> float | None:
        """The threshold given for a column of numbers, if any."""
        if isinstance(self.threshold, dict):
            return self.threshold.get(name)
        return self.threshold


@dataclass
class Notes:
    """What was found while reading.

    rows: used. dropped: rows left out for a missing cell. constant: columns with one value.
    twins: for a column that is used, others that equal it on every row, or (True) always differ.
    ignored: columns of text with three levels or more. thresholds: how numbers became bits.
    cut: columns of 0, 1, 2, read at both thresholds. hints: what text that looks like numbers may
    be meant as.
    """

    rows: int = 0
    dropped: int = 0
    constant: list[str] = field(default_factory=list)
    twins: dict[str, list[tuple[str, bool]]] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    thresholds: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The notes as sentences."""
        lines = []
        if self.dropped:
            lines.append(f"{counted(self.dropped, 'row')} with missing values left out")
        if self.thresholds:
            lines.append(f"numbers read as true above a threshold: {listed(self.thresholds, 4)}")
        same, opposite = (
            [
                f"{other} = {'not ' * flip}{name}"
                for name, twins in self.twins.items()
                for other, flip in twins
                if flip == wanted
            ]
            for wanted in (False, True)
        )
        for names, kind, text in (
            (self.cut, "column", "of 0, 1, 2, read as two bits each, above 0 and above 1"),
            (self.constant, "column", "with one value only, left out"),
            (self.ignored, "column", "of text with more than two levels, left out"),
            (same, "duplicate column", ""),
            (opposite, "complementary column", ""),
        ):
            if names:
                what = f"{counted(len(names), kind)} {text}".rstrip()
                lines.append(f"{what}: {listed(names, 4)}")
        return [*lines, *self.hints]


@dataclass(frozen=True)
class Prepared:
    """Bits to search. codings: what the columns of `bits` (N, n) mean. targets: each with bits.
    groups: a number per row that rows of one group share, if a column for that was named.
    finer: for columns of numbers, by name, other cuts of them, (N, cuts)."""

    codings: list[Coding]
    bits: np.ndarray
    targets: list[tuple[Coding, np.ndarray]]
    notes: Notes
    groups: np.ndarray | None
    finer: dict[str, np.ndarray]


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
    codings, bits, finer = _coded(features, choices, notes)
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
    return Prepared(codings, bits, own, notes, groups, finer)


def _check_names(names: list[str], targets: Sequence[str], choices: Choices) -> None:
    if not targets:
        raise ValueError("name at least one target column")
    for name in targets:
        if name not in names:
            raise ValueError(f"no column {shown(name)!r}{nearest(name, names)}")
    if len(set(targets)) < len(targets):
        raise ValueError(f"a target is named twice: {listed(targets)}")
    if len(names) == len(targets):
        raise ValueError("the table has no columns beside the target")
    if choices.group is not None and choices.group in targets:
        raise ValueError(f"--group: {shown(choices.group)!r} is a target")
    for option, asked in (
        ("--group", [] if choices.group is None else [choices.group]),
        ("--bits", list(choices.bits)),
        ("--threshold", list(choices.threshold) if isinstance(choices.threshold, dict) else []),
    ):
        for name in asked:
            if name not in names:
                raise ValueError(f"{option}: no column {shown(name)!r}; there are {listed(names)}")
            if name in targets and option == "--bits":
                raise ValueError(f"--bits: {shown(name)!r} is a target; a target is one bit")


def _complete_rows(
    read: dict[str, Values], count: int, choices: Choices, notes: Notes, targets: set[str]
) -> np.ndarray | None:
    """Flags of the rows without a missing cell in a column that is used; None for all."""
    rows, holes = np.ones(count, dtype=bool), {}
    for name, values in read.items():
        if values.missing is not None and (not values.is_text or name in targets):
            rows &= ~values.missing
            holes[name] = int(values.missing.sum())
    if rows.all():
        return None
    gone = int((~rows).sum())
    if choices.missing == "refuse":
        where = ", ".join(f"{shown(name)} {count:,}" for name, count in list(holes.items())[:4])
        raise ValueError(
            f"{counted(gone, 'row')} of {count:,} with missing values ({where}); "
            "--missing drop leaves them out"
        )
    if not rows.any():
        raise ValueError("every row has a missing value; nothing is left")
    notes.dropped = gone
    return rows


def _beside_bits(levels: Sequence[str]) -> str:
    """The few other levels of a column of 0 and 1, such as "?"; empty if it is not one."""
    odd = [each for each in levels if each.strip() not in ("0", "1")]
    return listed(odd) if len(odd) == len(levels) - 2 and len(odd) <= MOST_ODD else ""


def _coded(
    features: dict[str, Values], choices: Choices, notes: Notes
) -> tuple[list[Coding], np.ndarray, dict[str, np.ndarray]]:
    """Every column as bits: the codings, the bits (N, n), and finer cuts."""
    made: list[tuple[Coding, np.ndarray]] = []
    finer: dict[str, np.ndarray] = {}
    for name, values in features.items():
        numbers, given = values.numbers, choices.threshold_of(name)
        if values.is_text:
            notes.ignored.append(name)
            if hint := hint_for(values.levels):
                notes.hints.append(f"{shown(name)} looks like {hint}")
            elif odd := _beside_bits(values.levels):
                notes.hints.append(f"{shown(name)} is 0 or 1 but for {odd}: mend those cells")
        elif name in choices.bits:
            high, low = choices.bits[name]
            made += bits_of_number(values, name, low, high)
        elif (
            numbers is not None and given is None and np.array_equal(np.unique(numbers), _GENOTYPE)
        ):
            notes.cut.append(name)
            cuts = [Coding(name, above=at, cut=True) for at in _CUTS]
            made += [(cut, (numbers > cut.above).astype(np.uint8)) for cut in cuts]
        else:
            coding, bits = _one_bit(name, values, choices)
            if coding.above is not None:
                if numbers is not None and len(finer) < _FINER:
                    finer[coding.name] = quartile_bits(numbers, coding.above)
                notes.thresholds.append(coding.phrase)
            made.append((coding, bits))
    codings = [coding for coding, _ in made]
    names = [coding.name for coding in codings]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"--bits makes a column {shown(twice)!r} that the table already has")
    matrix = np.array([bits for _, bits in made], np.uint8).reshape(len(made), notes.rows).T
    return codings, np.ascontiguousarray(matrix), finer


def _one_bit(name: str, values: Values, choices: Choices) -> tuple[Coding, np.ndarray]:
    """Levels as they are; numbers above the threshold given, or above their median."""
    given = choices.threshold_of(name)
    named = isinstance(choices.threshold, dict) and given is not None
    if values.codes is not None and not named:
        false, true = (*values.levels, "", "")[:2]
        return Coding(name, false, true), values.codes
    numbers = values.numbers
    if numbers is None:
        try:
            levels = np.array([float(level) for level in values.levels] + [0.0])
        except ValueError:
            raise ValueError(f"--threshold: {shown(name)!r} holds no numbers") from None
        numbers = levels[values.codes]
    above = median_threshold(numbers) if given is None else given
    return Coding(name, above=above), (numbers > above).astype(np.uint8)


def quartile_bits(values: np.ndarray, above: float) -> np.ndarray:
    """Cuts of numbers at their quartiles and median other than the one that was made, (N, cuts)."""
    cuts = [cut for cut in np.unique(np.quantile(values, (0.25, 0.5, 0.75))) if cut < values.max()]
    made = [(values > cut).astype(np.uint8) for cut in cuts]
    other = [each for each in made if (each != (values > above)).any()]
    return np.array(other, np.uint8).reshape(-1, len(values)).T


def median_threshold(values: np.ndarray) -> float:
    """The median; if no value lies above it, the largest value below the maximum.

    >>> median_threshold(np.array([1.0, 2.0, 3.0])), median_threshold(np.array([0.0, 5.0, 5.0]))
    (2.0, 0.0)
    """
    median, highest = float(np.median(values)), values.max()
    if median < highest or (values == highest).all():
        return median
    return float(values[values < highest].max())


def _target(name: str, values: Values, choices: Choices) -> tuple[Coding, np.ndarray]:
    if values.is_text:
        hint = hint_for(values.levels)
        raise ValueError(
            f"target {shown(name)!r} has {len(values.levels)} levels "
            f"({listed(values.levels, 4)}); a parity needs two" + (f"; {hint}" if hint else "")
        )
    if values.codes is None and choices.threshold_of(name) is None:
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
    for at in table.kept.tolist():
        same, opposite = table.twins(at)
        others = sorted([*((each, False) for each in same), *((each, True) for each in opposite)])
        if others:
            notes.twins[codings[at].name] = [(codings[each].name, flip) for each, flip in others]
    return [int(at) for at in table.kept]


def as_choices(bits: str | Iterable[str], threshold: Threshold, missing: str) -> Choices:
    """Choices from what a user typed: "address:25-6", 220, "cycles=220"."""
    if missing not in ("refuse", "drop"):
        raise ValueError(f"missing must be refuse or drop, got {missing!r}")
    asked = [bits] if isinstance(bits, str) else list(bits)
    return Choices(dict(map(_parsed_bits, asked)), _parsed_threshold(threshold), missing)


def _parsed_bits(text: str) -> tuple[str, tuple[int | None, int]]:
    column, colon, ends = text.rpartition(":")
    if not colon:
        return text, (None, 0)
    high, dash, low = ends.partition("-")
    if not (high.isdecimal() and (low.isdecimal() if dash else True)):
        raise ValueError(f"--bits takes COLUMN or COLUMN:HI-LO such as address:25-6, got {text!r}")
    top, bottom = int(high), int(low) if dash else int(high)
    if not 0 <= bottom <= top < 64:
        raise ValueError(f"--bits: HI-LO must be within 63-0, the higher first, got {ends!r}")
    return column, (top, bottom)


def _parsed_threshold(given: Threshold) -> float | dict[str, float] | None:
    if given is None or isinstance(given, Mapping):
        return None if given is None else {str(k): float(v) for k, v in given.items()}
    texts = [given] if isinstance(given, str | int | float) else list(given)
    named: dict[str, float] = {}
    for text in texts:
        column, equals, number = str(text).rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = np.nan
        if not np.isfinite(value) or (not equals and len(texts) > 1):
            raise ValueError(f"--threshold takes V once, or COLUMN=V for each column, got {text!r}")
        if not equals:
            return value
        named[column] = value
    return named or None

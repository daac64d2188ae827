"""From a table to a matrix of bits, with notes on what happened to its columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal, NamedTuple

import numpy as np

from paritylab.discovery.columns import Coding, Column, Cut, Kept
from paritylab.discovery.genotypes import CUTS, Genotypes, is_genotype
from paritylab.discovery.notes import Notes
from paritylab.discovery.reading import TableReader
from paritylab.discovery.words import counted, hint_for, listed, shown

#: What a user may give: one for all columns of numbers, "V", "COLUMN=V", or numbers by column.
Threshold = float | str | Sequence[str] | Mapping[str, float] | None
#: Rows packed at a time.
_TOGETHER = 512
#: Columns of numbers that are also cut elsewhere, to see whether one cut says it all.
_FINER = 200


class Bits(NamedTuple):
    """A column to be read as bits: those from `low` to `high`, None for all that occur."""

    column: str
    high: int | None = None
    low: int = 0


class Choices(NamedTuple):
    """How columns are to be read.

    bits: columns of whole numbers. threshold: one for all numbers, or by column. missing: refuse
    rows with missing cells, or drop them. group: the column that names rows which belong together.
    """

    bits: Sequence[Bits] = ()
    threshold: float | Mapping[str, float] | None = None
    missing: Literal["refuse", "drop"] = "refuse"
    group: str | None = None

    def threshold_of(self, name: str) -> float | None:
        """The threshold given for a column of numbers, if any."""
        if isinstance(self.threshold, Mapping):
            return self.threshold.get(name)
        return self.threshold


@dataclass(frozen=True)
class Prepared:
    """Bits to search. codings: what the columns of `bits` (N, n) mean. targets: each with bits.
    groups: a number per row that rows of one group share, if a column for that was named.
    finer: for columns of numbers, by name, other cuts of them, (N, cuts).
    genotypes: columns of 0, 1, 2 as they are, if there are two or more."""

    codings: list[Coding]
    bits: np.ndarray
    targets: list[tuple[Coding, np.ndarray]]
    notes: Notes
    groups: np.ndarray | None = None
    finer: dict[str, np.ndarray] = field(default_factory=dict)
    genotypes: Genotypes | None = None


def prepare(table: TableReader, targets: Sequence[str], choices: Choices) -> Prepared:
    """Read the whole table and turn it into bits; what cannot be used is noted or refused."""
    _check_names(table.names, targets, choices)
    kept = Kept(table.names, [each.column for each in choices.bits])
    known: dict[object, int] = {}
    groups = list[int]()
    for block in table.blocks():
        kept.add(block)
        if choices.group is not None:
            cells = block.column(table.names.index(choices.group))
            groups += [known.setdefault(str(cell).strip(), len(known)) for cell in cells]
    if not kept.rows:
        raise ValueError("the table has column names but no rows")
    notes = Notes()
    rows = _complete_rows(kept, choices, notes, set(targets))
    notes.rows = kept.rows if rows is None else int(rows.sum())
    finer: dict[str, np.ndarray] = {}
    numbers = {name: at for at, name in enumerate(table.names)}
    aside = {*targets, *([] if choices.group is None else [choices.group])}
    features = [at for name, at in numbers.items() if name not in aside]
    if kept.is_matrix and rows is None and not isinstance(choices.threshold, Mapping):
        codings = [Coding(table.names[at], "0", "1") for at in features]
        bits, genotypes = kept.matrix(np.array(features, dtype=int)), None
    else:
        codings, bits, genotypes, finer = _coded(kept, features, rows, choices, notes)
    keep = _distinct(bits, codings, notes)
    if not keep:
        raise ValueError(
            "no column but the target takes two values; "
            + (notes.lines()[-1] if notes.lines() else "nothing to search")
        )
    if len(keep) < len(codings):
        codings, bits = [codings[at] for at in keep], bits[:, keep]
    read = [_target(kept.column(numbers[name]), rows, choices) for name in targets]
    together = None if choices.group is None else np.array(groups)
    if together is not None and rows is not None:
        together = together[rows]
    return Prepared(codings, bits, read, notes, together, finer, genotypes)


def _check_names(names: list[str], targets: Sequence[str], choices: Choices) -> None:
    if not targets:
        raise ValueError("name at least one target column")
    for name in targets:
        if name not in names:
            raise ValueError(f"no column {shown(name)!r}; the table has {listed(names)}")
    if len(set(targets)) < len(targets):
        raise ValueError(f"a target is named twice: {listed(targets)}")
    if len(names) == len(targets):
        raise ValueError("the table has no columns beside the target")
    thresholds = choices.threshold if isinstance(choices.threshold, Mapping) else {}
    if choices.group is not None and choices.group in targets:
        raise ValueError(f"--group: {shown(choices.group)!r} is a target")
    for option, asked in (
        ("--group", [] if choices.group is None else [choices.group]),
        ("--bits", [each.column for each in choices.bits]),
        ("--threshold", list(thresholds)),
    ):
        for name in asked:
            if name not in names:
                raise ValueError(f"{option}: no column {shown(name)!r}; there are {listed(names)}")
            if name in targets and option == "--bits":
                raise ValueError(f"--bits: {shown(name)!r} is a target; a target is one bit")


def _complete_rows(
    kept: Kept, choices: Choices, notes: Notes, targets: set[str]
) -> np.ndarray | None:
    """Flags of the rows without a missing cell in a column that is used; None for all."""
    if not kept.may_miss():
        return None
    rows, holes = np.ones(kept.rows, dtype=bool), {}
    for at, name in enumerate(kept.names):
        column = kept.column(at)
        if column.missing is None or (column.is_text and name not in targets):
            continue
        rows &= ~column.missing
        holes[name] = int(column.missing.sum())
    if rows.all():
        return None
    gone = int((~rows).sum())
    if choices.missing == "refuse":
        where = ", ".join(f"{shown(name)} {count:,}" for name, count in list(holes.items())[:4])
        raise ValueError(
            f"{counted(gone, 'row')} of {kept.rows:,} with missing values ({where}); "
            "--missing drop leaves them out"
        )
    if not rows.any():
        raise ValueError("every row has a missing value; nothing is left")
    notes.dropped = gone
    return rows


def _coded(
    kept: Kept, features: list[int], rows: np.ndarray | None, choices: Choices, notes: Notes
) -> tuple[list[Coding], np.ndarray, Genotypes | None, dict[str, np.ndarray]]:
    codings: list[Coding] = []
    packed: list[np.ndarray] = []
    finer: dict[str, np.ndarray] = {}
    whole: list[np.ndarray] = []
    asked = {each.column: each for each in choices.bits}
    for at in features:
        column = _chosen(kept.column(at), rows)
        if column.is_text:
            notes.ignored.append(column.name)
            hint = hint_for(column.levels)
            if hint:
                notes.hints.append(f"{shown(column.name)} looks like {hint}")
            continue
        made = _bits_of(column, asked[column.name]) if column.name in asked else None
        values, chosen = column.numbers, choices.threshold_of(column.name)
        if made is None and values is not None and chosen is None and is_genotype(values):
            notes.cut.append(column.name)
            whole.append(values.astype(np.uint8))
            made = [(Cut(column.name, above=at), (values > at).astype(np.uint8)) for at in CUTS]
        if made is None:
            coding, bits = _one_bit(column, choices.threshold_of(column.name), choices)
            if coding.above is not None:
                if column.numbers is not None and len(finer) < _FINER:
                    finer[coding.name] = quartile_bits(column.numbers, coding.above)
                notes.thresholds.append(coding.phrase)
            made = [(coding, bits)]
        for coding, bits in made:
            codings.append(coding)
            packed.append(np.packbits(bits))
    matrix = np.empty((notes.rows, len(codings)), dtype=np.uint8)
    for at, each in enumerate(packed):
        matrix[:, at] = np.unpackbits(each, count=notes.rows)
    names = [coding.name for coding in codings]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"--bits makes a column {shown(twice)!r} that the table already has")
    genotypes = Genotypes(list(notes.cut), np.stack(whole, axis=1)) if len(whole) > 1 else None
    return codings, matrix, genotypes, finer


def _chosen(column: Column, rows: np.ndarray | None) -> Column:
    """The column at the rows that stay."""
    if rows is None:
        return column
    codes = None if column.codes is None else column.codes[rows]
    numbers = None if column.numbers is None else column.numbers[rows]
    return Column(column.name, column.levels, codes, numbers)


def _bits_of(column: Column, wanted: Bits) -> list[tuple[Coding, np.ndarray]]:
    assert column.numbers is not None
    high = wanted.high
    if high is None:
        high = max(int(column.numbers.max()).bit_length() - 1, wanted.low)
    return [
        (
            Coding(column.name, bit=b),
            (column.numbers >> np.uint64(b) & np.uint64(1)).astype(np.uint8),
        )
        for b in range(wanted.low, high + 1)
    ]


def _one_bit(
    column: Column, threshold: float | None, choices: Choices
) -> tuple[Coding, np.ndarray]:
    """Levels as they are; numbers above the threshold given, or above their median."""
    named = isinstance(choices.threshold, Mapping) and threshold is not None
    if column.codes is not None and not named:
        false, true = (*column.levels, "", "")[:2]
        return Coding(column.name, false, true), column.codes
    values = column.numbers
    if values is None:
        try:
            values = np.array([float(level) for level in column.levels] + [0.0])[column.codes]
        except ValueError:
            raise ValueError(f"--threshold: {shown(column.name)!r} holds no numbers") from None
    above = median_threshold(values) if threshold is None else threshold
    return Coding(column.name, above=above), (values > above).astype(np.uint8)


def quartile_bits(values: np.ndarray, above: float) -> np.ndarray:
    """Cuts of numbers at their quartiles and median other than the one that was made, (N, cuts)."""
    cuts = [cut for cut in np.unique(np.quantile(values, (0.25, 0.5, 0.75))) if cut < values.max()]
    made = [(values > cut).astype(np.uint8) for cut in cuts]
    taken = values > above
    return (
        np.array([each for each in made if (each != taken).any()], np.uint8)
        .reshape(-1, len(values))
        .T
    )


def median_threshold(values: np.ndarray) -> float:
    """The median; if no value lies above it, the largest value below the maximum.

    >>> median_threshold(np.array([1.0, 2.0, 3.0])), median_threshold(np.array([0.0, 5.0, 5.0]))
    (2.0, 0.0)
    """
    median, highest = float(np.median(values)), values.max()
    if median < highest or (values == highest).all():
        return median
    return float(values[values < highest].max())


def _target(column: Column, rows: np.ndarray | None, choices: Choices) -> tuple[Coding, np.ndarray]:
    column = _chosen(column, rows)
    threshold = choices.threshold_of(column.name)
    if column.is_text:
        raise ValueError(
            f"target {shown(column.name)!r} has {len(column.levels)} levels or more "
            f"({listed(column.levels, 4)}); a parity needs two" + _asked(hint_for(column.levels))
        )
    if column.codes is None and threshold is None:
        raise ValueError(
            f"target {shown(column.name)!r} holds numbers of more than two values; "
            f"--threshold {shown(column.name)}=V makes it one bit"
        )
    coding, bits = _one_bit(column, threshold, choices)
    if bits.min() == bits.max():
        only = (
            coding.phrase
            if coding.above is not None
            else (coding.true if bits[0] else coding.false)
        )
        raise ValueError(
            f"target {shown(column.name)!r} has one value only ({shown(only)}); nothing to explain"
        )
    return coding, bits


def _asked(hint: str) -> str:
    return f"; {hint}" if hint else ""


def _distinct(bits: np.ndarray, codings: list[Coding], notes: Notes) -> list[int]:
    """Columns that vary, one of each group of equal or complementary ones."""
    first: dict[bytes, tuple[int, bool]] = {}
    keep: list[int] = []
    packed = _packed(bits)
    flipped = bits[0].astype(bool)
    packed[flipped] ^= np.packbits(np.ones(len(bits), dtype=np.uint8))
    for at, (row, flip) in enumerate(zip(packed, flipped.tolist(), strict=True)):
        if not row.any():
            notes.constant.append(codings[at].name)
            continue
        digest = blake2b(row.tobytes(), digest_size=16).digest()
        if digest not in first:
            first[digest] = (at, flip)
            keep.append(at)
            continue
        twin, twin_flip = first[digest]
        notes.twins.setdefault(codings[twin].name, []).append((codings[at].name, flip != twin_flip))
    return keep


def _packed(bits: np.ndarray) -> np.ndarray:
    """Columns as packed rows; few rows at a time, so that they stay in the processor's cache."""
    rows, n = bits.shape
    packed = np.empty((n, -(-rows // 8)), dtype=np.uint8)
    for at in range(0, rows, _TOGETHER):
        packed[:, at // 8 : (at + _TOGETHER) // 8] = np.packbits(
            bits[at : at + _TOGETHER], axis=0
        ).T
    return packed


def as_choices(bits: str | Iterable[str | Bits], threshold: Threshold, missing: str) -> Choices:
    """Choices from what a user typed: "address:25-6", 220, "cycles=220"."""
    if missing not in ("refuse", "drop"):
        raise ValueError(f"missing must be refuse or drop, got {missing!r}")
    asked = [bits] if isinstance(bits, str) else list(bits)
    made = [each if isinstance(each, Bits) else _parsed_bits(each) for each in asked]
    return Choices(made, _parsed_threshold(threshold), missing)  # type: ignore[arg-type]


def _parsed_bits(text: str) -> Bits:
    column, colon, ends = text.rpartition(":")
    if not colon:
        return Bits(text)
    high, dash, low = ends.partition("-")
    if not (high.isdecimal() and (low.isdecimal() if dash else True)):
        raise ValueError(f"--bits takes COLUMN or COLUMN:HI-LO such as address:25-6, got {text!r}")
    top, bottom = int(high), int(low) if dash else int(high)
    if not 0 <= bottom <= top < 64:
        raise ValueError(f"--bits: HI-LO must be within 63-0, the higher first, got {ends!r}")
    return Bits(column, top, bottom)


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

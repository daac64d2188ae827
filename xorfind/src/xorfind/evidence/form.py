"""Is it the parity alone? What else the labels depend on, given the parity.

If a parity explains the labels up to noise, each of its two sides has one rate of labels, and
within a side labels depend on nothing. So on each side they are tested against other parities of
columns, given both margins as everywhere: parts of the parity, single further columns, pairs of
columns, and what else the search found; and against how many of its columns are true, and other
cuts of the numbers they come from. The two rates may differ from each other in any way: a rare
label is explained by sides of 12 % and 2 %. An AND of two columns is not: where one is true, the
label is the other.

What the labels depend on is named, and the more frequent answer to each combination of those
columns is compared with the parity and with always saying the same.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from xorfind.evidence.levels import Columns, Fit, log_dependence, log_family
from xorfind.rows import LabelledRows, packed
from xorfind.solvers.correlation import weighted_product
from xorfind.statistics import Rate

#: Parts of a subset are all looked at up to this size, pairs and single columns beyond.
MOST_PARTS, MOST_HALVED = 10, 100
#: Other candidates of the search, and columns of which all pairs are looked at.
MOST_OTHERS, MOST_PAIRED = 40, 400
#: Columns that are named, and columns whose combinations are tabulated.
MOST_NAMED, MOST_TABULATED = 4, 8
#: |Correlation| of two columns from which one is the other's twin, and twins that are named.
TWIN, MOST_NEAR = 0.5, 10
#: Of parities with plain noise at most this share is called related only; a fifth at most for each
#: of parts and columns, pairs, other candidates, and other cuts of numbers.
DOUBT = 0.05
LEVEL = math.log(DOUBT / 5)

#: Bits to test, the columns they are made of, and the logarithm of how many such tests there are.
Tested = tuple[np.ndarray, Columns, float]


class Better(NamedTuple):
    """A function of few columns that fits better than the parity and than a constant.

    columns: that it depends on. fits: rows that the more frequent answer of the other rows with the
    same combination predicts. parity, constant: rows that these fit.
    """

    columns: Columns
    fits: Rate
    parity: Rate
    constant: Rate


class Rest(NamedTuple):
    """What labels depend on besides the parity.

    columns: named, the clearest first. xor: the parity of columns that shows it, empty if another
    cut or a count of columns does. off, on: rows that do not fit, of those where that is 0, and 1.
    log_p: of such a dependence by luck, after correction.
    """

    columns: Columns
    xor: Columns
    off: Rate
    on: Rate
    log_p: float


class Finer(NamedTuple):
    """Other cuts of the numbers that columns were cut from: bits (N, m), and whose each is (m,)."""

    bits: np.ndarray
    columns: np.ndarray


class Form(NamedTuple):
    """What labels depend on besides a parity, and a function that fits better; None: nothing."""

    rest: Rest | None = None
    better: Better | None = None


def form(
    table: LabelledRows, found: Fit, others: list[tuple[int, ...]], finer: Finer | None = None
) -> Form:
    """What speaks against a parity alone. others: subsets that the search also found."""
    if not found.subset or found.fitting == table.rows:
        return Form()
    predicted = table.predicted(found.subset, found.sign)
    errors = predicted ^ table.label_bits
    sides = [side for side in (np.flatnonzero(predicted == at) for at in (0, 1)) if len(side)]
    xor: Columns = ()
    off = on = Rate(0, 0)
    if clear := _clear(_parities(table, found, others, errors, sides), errors, sides):
        xor = clear[0][1]
        odd = table.parity(xor).astype(bool)
        off, on = Rate.of(errors[~odd]), Rate.of(errors[odd])
    elif not (clear := _clear(_cuts(table, found, finer), errors, sides)):
        return Form()
    # All columns of the clearest dependence and a few of the others.
    named = tuple(dict.fromkeys(column for _, each in clear for column in each))
    named = named[: max(MOST_NAMED, len(clear[0][1]))]
    rest = Rest(named, xor, off, on, clear[0][0])
    return Form(rest, _better(table, found, rest))


def _clear(
    tests: Iterable[Tested], errors: np.ndarray, sides: list[np.ndarray]
) -> list[tuple[float, Columns]]:
    """What errors depend on within a side beyond luck, with its log p-value, the clearest first."""
    judged = [(_on_each_side(bits, errors, sides) + price, of) for bits, of, price in tests]
    return sorted(each for each in judged if each[0] <= LEVEL)


def _on_each_side(column: np.ndarray, errors: np.ndarray, sides: list[np.ndarray]) -> float:
    """Log p-value of "on neither side do errors depend on the column"."""
    logs = [log_dependence(column[side], errors[side]) for side in sides if len(side)]
    return min(0.0, min(logs, default=0.0) + math.log(2))


# What is tested.


def _parities(
    table: LabelledRows,
    found: Fit,
    others: list[tuple[int, ...]],
    errors: np.ndarray,
    sides: list[np.ndarray],
) -> Iterator[Tested]:
    """Other parities of columns, of each kind those that look clearest."""
    centred = errors.astype(np.float64)
    for side in sides:
        centred[side] -= centred[side].mean()
    yield from _singles(table, found, centred)
    yield from _pairs(table, found, centred)
    for other in others[:MOST_OTHERS]:
        if other and other != found.subset:
            # Each is priced for all subsets of its size.
            size = min(len(other), table.distinct)
            yield table.parity(other), other, log_family(table.distinct, size, False)


def _singles(table: LabelledRows, found: Fit, centred: np.ndarray) -> Iterator[Tested]:
    """Parts of the parity and single further columns: the clearest, priced for all of them."""
    own = set(found.subset)
    sizes = (
        range(1, len(own)) if len(own) <= MOST_PARTS else (1, 2)[: 1 + (len(own) <= MOST_HALVED)]
    )
    parts = [part for size in sizes for part in combinations(found.subset, size)]
    parts += [(column,) for column in table.kept.tolist() if column not in own]
    # By counting bits: millions of rows and thousands of parts stay a matter of a second.
    values, which = np.unique(centred, return_inverse=True)
    masks = packed(np.equal(np.arange(len(values))[:, None], which).view(np.uint8))
    scores = np.empty(len(parts))
    for at, part in enumerate(parts):
        counts = np.bitwise_count(masks & table.packed_parity(part)).sum(axis=1, dtype=np.int64)
        ones = counts.sum() / table.rows
        scores[at] = (values @ counts) ** 2 / max(ones * (1 - ones), 1e-12)
    for at in np.argsort(-scores, kind="stable")[:MOST_NAMED].tolist():
        yield table.parity(parts[at]), parts[at], math.log(len(parts))


def _pairs(table: LabelledRows, found: Fit, centred: np.ndarray) -> Iterator[Tested]:
    """The clearest pairs of columns, priced for all pairs."""
    columns = table.distinct
    if not 2 <= columns <= MOST_PAIRED:
        return
    scores = np.abs(weighted_product(table.signs, table.signs, centred.astype(np.float32)))
    scores[np.tril_indices(columns)] = -1
    for at in np.argsort(-scores, axis=None)[: 2 * MOST_NAMED].tolist():
        pair = table.named(divmod(at, columns))
        if scores.flat[at] >= 0 and pair != found.subset:
            yield table.parity(pair), pair, math.log(math.comb(columns, 2))


def _cuts(table: LabelledRows, found: Fit, finer: Finer | None) -> list[Tested]:
    """Other cuts of numbers; and whether c or more of the parity's own columns are true, for every
    c in between. Each is priced for all of these."""
    made = list[tuple[np.ndarray, Columns]]()
    if finer is not None:
        made += [(bits, (int(of),)) for bits, of in zip(finer.bits.T, finer.columns, strict=True)]
    count = table.bits[:, found.subset].sum(axis=1)
    for least in range(2, len(found.subset)):
        bits = (count >= least).astype(np.uint8)
        made += [(bits, found.subset)] if bits.min() < bits.max() else []
    return [(bits, columns, math.log(len(made))) for bits, columns in made]


# What fits better.


def _better(table: LabelledRows, found: Fit, rest: Rest) -> Better | None:
    """The table of the parity's columns and the named ones, where it predicts more rows."""
    constant = max(table.minus, table.rows - table.minus)
    best: tuple[int, tuple[int, ...]] = (max(found.fitting, constant), ())
    for more in (rest.xor, rest.columns):
        columns = tuple(sorted({*found.subset, *more}))
        if len(columns) <= MOST_TABULATED:
            best = max(best, (_predicted(table, columns), columns), key=lambda each: each[0])
    if not best[1]:
        return None
    fits, parity, always = (Rate(each, table.rows) for each in (best[0], found.fitting, constant))
    return Better(best[1], fits, parity, always)


def _predicted(table: LabelledRows, columns: tuple[int, ...]) -> int:
    """Rows that the majority of the other rows with the same combination predicts."""
    cells = table.bits[:, columns].astype(np.int64) @ (1 << np.arange(len(columns)))
    count = np.bincount(cells)
    minus = np.bincount(cells, weights=table.label_bits).astype(np.int64)
    fits = 0
    for one, other in ((minus, count - minus), (count - minus, minus)):
        fits += int(one[one - 1 > other].sum())
    return fits


def beats(table: LabelledRows, larger: Fit, smaller: Fit, alpha: float) -> bool:
    """Whether a larger subset fits so much better than a smaller one that it is worth its size.

    If the smaller one is right, its errors are noise and do not depend on where the two differ,
    on either of its sides; that test is corrected for all ways to exchange that many columns.
    """
    first, second = (table.predicted(each.subset, each.sign) for each in (larger, smaller))
    differ, errors = first ^ second, second ^ table.label_bits
    if 2 * np.count_nonzero(differ & errors) <= np.count_nonzero(differ):
        return False
    sides = [np.flatnonzero(second == side) for side in (0, 1)]
    apart = min(len(set(larger.subset) ^ set(smaller.subset)), table.distinct)
    price = log_family(table.distinct, apart, False)
    return _on_each_side(differ, errors, sides) + price <= math.log(alpha)


def near_ties(table: LabelledRows, best: Fit) -> tuple[tuple[int, ...], ...]:
    """Subsets with one column exchanged that fit as well but for luck, the nearest first.

    The other column is a twin: the two agree, or disagree, on three rows of four or more, and where
    the two parities differ neither is right clearly more often (a sign test at 5 %).
    """
    if len(best.subset) > MOST_TABULATED:
        return ()
    from scipy.special import bdtr

    own, found = set(best.subset), []
    right = table.predicted(best.subset, best.sign) == table.label_bits
    for column in best.subset:
        unlike = np.bitwise_count(table.packed_columns ^ table.packed_parity((column,)))
        alike = 1 - 2 * unlike.sum(axis=1, dtype=np.int64) / table.rows
        for at in np.flatnonzero((np.abs(alike) >= TWIN) & (np.abs(alike) < 1)).tolist():
            other = int(table.kept[at])
            if other in own:
                continue
            differ = table.predicted((column, other), 1 if alike[at] > 0 else -1).astype(bool)
            lost, apart = int(np.count_nonzero(right & differ)), int(np.count_nonzero(differ))
            if 2 * float(bdtr(apart - lost, apart, 0.5)) > 0.05:
                found.append((2 * lost - apart, tuple(sorted((own - {column}) | {other}))))
    return tuple(each for _, each in sorted(found)[:MOST_NEAR])

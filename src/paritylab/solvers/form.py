"""Is it a parity at all? What else the labels depend on, given the parity.

A parity with noise below one half is the more frequent answer to every combination of its columns
and of any others. A combination in which most rows say otherwise, beyond luck among all that could
have been looked at, shows that the parity is only a part of another function. Of an AND of two
columns each alone fits 3 rows in 4 and looks like a noisy parity of one column; so does each
column of a majority of three.

Where the parity stays the best guess, its errors may still depend on something. If they are plain
noise they are, on each side of the parity, a random draw of rows; so on each side they are tested
against other parities of columns, given both margins as everywhere: its own parts, single further
columns, and what else the search found. Errors that depend on none of them but differ between the
two sides are uneven noise.
"""

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from paritylab.solvers.evidence import Fit, log_dependence, log_family
from paritylab.solvers.labelled_rows import LabelledRows, packed
from paritylab.statistics import Rate, share_text

#: Parts of a subset are all looked at up to this size, then pairs and single columns up to the
#: second, then single columns.
MOST_PARTS, MOST_PAIRED = 10, 100
#: Other candidates of the search that are looked at.
MOST_OTHERS = 40
#: Columns of a parity whose combinations are tabulated at most, columns added to them at most, and
#: columns tried for that.
MOST_COLUMNS, MOST_MORE, CANDIDATES = 8, 2, 4


class Better(NamedTuple):
    """A function that fits better than a parity. columns: that it depends on. fits, parity: rows
    that each of the two fits. p_value: of a contradiction this strong if the parity held more often
    than not."""

    columns: tuple[int, ...]
    fits: Rate
    parity: Rate
    p_value: float

    def __str__(self) -> str:
        return (
            f"not a parity: the more frequent answer to each combination of columns "
            f"{_names(self.columns)} fits {share_text(self.fits.successes, self.fits.runs)} of the "
            f"rows, the parity {share_text(self.parity.successes, self.parity.runs)} "
            f"({p_text(math.log(self.p_value) if self.p_value else -math.inf)})"
        )


class Uneven(NamedTuple):
    """What the rows that do not fit a parity depend on.

    columns: on the xor of these; none: on what the parity itself says. off, on: rows that do not
    fit, of those where that is 0 (the parity says +1), and where it is 1. log_p: of the difference.
    """

    columns: tuple[int, ...]
    off: Rate
    on: Rate
    log_p: float

    def __str__(self) -> str:
        off, on = (share_text(each.successes, each.runs) for each in (self.off, self.on))
        if not self.columns:
            return (
                f"uneven noise: it fails on {off} of the rows it calls +1 and on {on} of those it "
                f"calls -1 ({p_text(self.log_p)})"
            )
        one = len(self.columns) == 1
        what = f"column {_names(self.columns)}" if one else f"xor of columns {_names(self.columns)}"
        return (
            f"not plain noise: it fails on {off} of the rows where the {what} is 0 and on {on} "
            f"where it is 1 ({p_text(self.log_p)})"
        )


class Form(NamedTuple):
    """How a parity fails. better: another function that fits better. uneven: what its errors
    depend on. None: nothing significant."""

    better: Better | None
    uneven: Uneven | None


def form(table: LabelledRows, found: Fit, others: list[tuple[int, ...]], alpha: float) -> Form:
    """What speaks against a plain parity. others: subsets that the search also found.

    Of noisy parities at most a share alpha is called anything else: one half for a better function,
    one quarter for errors that depend on columns, one for noise that differs between the sides.
    """
    if not found.subset or found.fitting == table.rows:
        return Form(None, None)
    predicted = table.parity(found.subset) ^ np.uint8(found.sign < 0)
    errors = (predicted != table.label_bits).astype(np.uint8)
    return Form(
        _better(table, found, errors, alpha / 2),
        _uneven(table, found, others, predicted, errors, math.log(alpha / 4)),
    )


def _better(table: LabelledRows, found: Fit, errors: np.ndarray, alpha: float) -> Better | None:
    """A table of the parity's columns and up to two more that contradicts it significantly."""
    own = list(found.subset)
    if len(own) > MOST_COLUMNS:
        return None
    cells = table.bits[:, own].astype(np.int64) @ (1 << np.arange(len(own)))
    leading = _dependent(table, errors, cells, own)
    best: tuple[float, tuple[int, ...]] = (math.log(alpha), ())
    tables = [more for size in range(MOST_MORE + 1) for more in combinations(leading, size)]
    for more in tables:
        count, missed = _counts(cells, errors, table.bits, more, len(own))
        # Bonferroni over all tables of this size, their combinations, and the three sizes.
        looked = math.comb(table.distinct, len(more)) * len(count) * (MOST_MORE + 1)
        tail = _contradiction(count, missed) + math.log(looked)
        if tail < best[0]:
            best = (tail, (*own, *more))
    if not best[1]:
        return None
    count, missed = _counts(cells, errors, table.bits, best[1][len(own) :], len(own))
    fits = int(np.maximum(missed, count - missed).sum())
    return Better(
        tuple(sorted(best[1])),
        Rate(fits, table.rows),
        Rate(found.fitting, table.rows),
        math.exp(best[0]),
    )


def _dependent(
    table: LabelledRows, errors: np.ndarray, cells: np.ndarray, own: list[int]
) -> list[int]:
    """The columns on which it depends most, within the cells, whether a row fits the parity."""
    bits, kept = table.distinct_bits, table.kept
    score = np.zeros(len(kept))
    for cell in np.unique(cells):
        rows = cells == cell
        wrong, here = errors[rows].astype(np.float32), bits[rows]
        share, ones = float(wrong.mean()), here.mean(axis=0)
        if not 0 < share < 1:
            continue
        covariance = (wrong - share) @ here.astype(np.float32)
        spread = len(wrong) * share * (1 - share) * ones * (1 - ones)
        score += np.divide(covariance**2, spread, out=np.zeros_like(score), where=spread > 0)
    score[np.isin(kept, own)] = -1
    return [int(kept[at]) for at in np.argsort(-score)[:CANDIDATES] if score[at] > 0]


def _counts(
    cells: np.ndarray, errors: np.ndarray, bits: np.ndarray, more: tuple[int, ...], size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows, and rows that contradict the parity, in every combination of the columns."""
    place = cells
    for at, column in enumerate(more):
        place = place + (bits[:, column].astype(np.int64) << (size + at))
    count = np.bincount(place, minlength=1 << (size + len(more)))
    missed = np.bincount(place, weights=errors, minlength=len(count)).astype(np.int64)
    return count, missed


def _contradiction(count: np.ndarray, missed: np.ndarray) -> float:
    """Log chance of the strongest majority against the parity in one combination."""
    from scipy.stats import binom

    against = np.flatnonzero(2 * missed > count)
    if not against.size:
        return 0.0
    return float(binom.logsf(missed[against] - 1, count[against], 0.5).min())


def _uneven(
    table: LabelledRows,
    found: Fit,
    others: list[tuple[int, ...]],
    predicted: np.ndarray,
    errors: np.ndarray,
    level: float,
) -> Uneven | None:
    """What the errors depend on. Two tests, each at the level."""
    sides = [np.flatnonzero(predicted == side) for side in (0, 1)]
    more = _further(table, found, others, errors, sides, level)
    if more:
        log_p, first = more[0]
        odd = table.parity(first).astype(bool)
        return Uneven(first, Rate.of(errors[~odd]), Rate.of(errors[odd]), log_p)
    log_p = log_dependence(predicted, errors)
    if log_p > level:
        return None
    off, on = (Rate.of(errors[side]) for side in sides)
    return Uneven((), off, on, log_p)


def _further(
    table: LabelledRows,
    found: Fit,
    others: list[tuple[int, ...]],
    errors: np.ndarray,
    sides: list[np.ndarray],
    level: float,
) -> list[tuple[float, tuple[int, ...]]]:
    """Parities that the errors depend on, with corrected log p-values, most significant first."""
    own = set(found.subset)
    sizes = (
        range(1, len(own)) if len(own) <= MOST_PARTS else (1, 2)[: 1 + (len(own) <= MOST_PAIRED)]
    )
    parts = [part for size in sizes for part in combinations(found.subset, size)]
    parts += [(column,) for column in table.kept.tolist() if column not in own]
    strongest = _strongest(table, parts, errors, sides)
    tested = [(parts[at], math.log(len(parts))) for at in strongest]
    for other in others[:MOST_OTHERS]:
        rest = tuple(sorted(own ^ set(other)))
        if rest and other:
            size = min(len(other), table.distinct)
            tested.append((rest, log_family(table.distinct, size, False)))
    # Each half of the level is for one kind of parity: parts and columns, and other candidates.
    judged = [
        (_on_each_side(table.parity(each), errors, sides) + price + math.log(2), each)
        for each, price in tested
    ]
    return sorted(pair for pair in judged if pair[0] <= level)


def _on_each_side(column: np.ndarray, errors: np.ndarray, sides: list[np.ndarray]) -> float:
    """Log p-value of "on neither side do errors depend on the column"."""
    logs = [log_dependence(column[side], errors[side]) for side in sides if len(side)]
    return min(0.0, min(logs) + math.log(2))


def _strongest(
    table: LabelledRows, parts: list[tuple[int, ...]], errors: np.ndarray, sides: list[np.ndarray]
) -> list[int]:
    """The three parts whose parity goes most with the errors, sides apart."""
    # By counting bits: millions of rows and thousands of parts stay a matter of a second.
    masks = np.zeros((1 + len(sides), table.rows), np.uint8)
    masks[0] = errors
    for at, side in enumerate(sides, 1):
        masks[at, side] = 1
    words = packed(masks)
    shares = [float(errors[side].mean()) if len(side) else 0.0 for side in sides]
    scores = np.empty(len(parts))
    for at, part in enumerate(parts):
        counts = np.bitwise_count(words & table.packed_parity(part)).sum(axis=1, dtype=np.int64)
        missed, *inside = counts.tolist()
        ones = sum(inside) / table.rows
        covariance = missed - sum(x * y for x, y in zip(shares, inside, strict=True))
        scores[at] = covariance**2 / max(ones * (1 - ones), 1e-12)
    return [int(at) for at in np.argsort(-scores, kind="stable")[:3]]


def _names(columns: tuple[int, ...]) -> str:
    return ", ".join(str(each) for each in columns)


def p_text(log_p: float) -> str:
    """A p-value in words, however small."""
    return f"p = {math.exp(min(0.0, log_p)):.1g}" if log_p > -690 else "p < 1e-299"


def beats(table: LabelledRows, larger: Fit, smaller: Fit, alpha: float) -> bool:
    """Whether a larger subset fits so much better than a smaller one that it is worth its size.

    If the smaller one is right, its errors are noise and do not depend on where the two differ,
    on either of its sides; that test is corrected for all ways to exchange that many columns.
    """
    first, second = (
        table.parity(each.subset) ^ np.uint8(each.sign < 0) for each in (larger, smaller)
    )
    differ = first ^ second
    errors = second ^ table.label_bits
    if 2 * np.count_nonzero(differ & errors) <= np.count_nonzero(differ):
        return False
    sides = [np.flatnonzero(second == side) for side in (0, 1)]
    apart = min(len(set(larger.subset) ^ set(smaller.subset)), table.distinct)
    price = log_family(table.distinct, apart, False)
    return _on_each_side(differ, errors, sides) + price <= math.log(alpha)

"""Is it a parity at all? What else the labels depend on, given the parity.

If a label is a parity with noise, the rows where the two differ are, on each side of the parity, a
random draw of rows. So on each side the errors of the parity are tested against other parities of
columns, given both margins as everywhere: its own parts, single further columns, and what else the
search found. Errors that depend on none of them but differ between the two sides are uneven noise.
"""

import math
from itertools import combinations

import numpy as np

from paritylab.solvers.evidence import Fit, log_dependence, log_family
from paritylab.solvers.table import Table

#: Parts of a subset are all looked at up to this size, pairs and single columns beyond; cells of
#: up to so many columns make a table.
MOST_PARTS, MOST_COLUMNS = 10, 6
#: Other candidates of the search that are looked at.
MOST_OTHERS = 40


def better_table(
    table: Table, found: Fit, others: list[tuple[int, ...]], alpha: float
) -> str | None:
    """One sentence if another function of the columns fits significantly better, else None.

    others: subsets that the search also found. Two tests, each at alpha/2.
    """
    if not found.subset or found.fitting == table.rows:
        return None
    predicted = table.parity(found.subset) ^ np.uint8(found.sign < 0)
    errors = (predicted != table.label_bits).astype(np.uint8)
    sides = [np.flatnonzero(predicted == side) for side in (0, 1)]
    more = _further(table, found, others, errors, sides, math.log(alpha / 2))
    if more:
        return _sentence(table, found, errors, more)
    log_p = log_dependence(predicted, errors)
    if log_p > math.log(alpha / 2):
        return None
    return (
        f"uneven noise: it fails on {errors[sides[0]].mean():.1%} of the rows it calls +1 and on "
        f"{errors[sides[1]].mean():.1%} of those it calls -1 ({p_text(log_p)})"
    )


def _further(
    table: Table,
    found: Fit,
    others: list[tuple[int, ...]],
    errors: np.ndarray,
    sides: list[np.ndarray],
    level: float,
) -> list[tuple[float, tuple[int, ...]]]:
    """Parities that the errors depend on, with corrected log p-values, most significant first."""
    own = set(found.subset)
    sizes = range(1, len(own)) if len(own) <= MOST_PARTS else (1, 2)
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
    table: Table, parts: list[tuple[int, ...]], errors: np.ndarray, sides: list[np.ndarray]
) -> list[int]:
    """The three parts whose parity goes most with the errors, sides apart."""
    centred = errors.astype(np.float64)
    for side in sides:
        centred[side] -= centred[side].mean() if len(side) else 0.0
    scores = np.empty(len(parts))
    for start in range(0, len(parts), 256):
        some = np.array([table.parity(part) for part in parts[start : start + 256]], np.float64)
        spread = np.maximum(some.var(axis=1), 1e-12)
        scores[start : start + len(some)] = (some @ centred) ** 2 / spread
    return np.argsort(-scores, kind="stable")[:3].tolist()


def _sentence(
    table: Table, found: Fit, errors: np.ndarray, more: list[tuple[float, tuple[int, ...]]]
) -> str:
    log_p, first = more[0]
    odd = table.parity(first).astype(bool)
    what = f"column {first[0]}" if len(first) == 1 else f"xor of columns {_names(first)}"
    text = (
        f"not a plain parity: it fails on {errors[~odd].mean():.1%} of the rows where the {what} "
        f"is 0 and on {errors[odd].mean():.1%} where it is 1 ({p_text(log_p)})"
    )
    columns = set(found.subset)
    for _, each in more:
        if len(columns | set(each)) <= MOST_COLUMNS:
            columns |= set(each)
    if len(columns) > MOST_COLUMNS or 5 << len(columns) > table.rows:
        return text
    chosen = sorted(columns)
    cells = table.bits[:, chosen].astype(np.int64) @ (1 << np.arange(len(chosen)))
    count = np.bincount(cells)
    minus = np.bincount(cells, weights=table.label_bits).astype(np.int64)
    fitting = int(np.maximum(minus, count - minus).sum())
    return (
        f"{text}; the best function of columns {_names(tuple(chosen))} fits "
        f"{fitting / table.rows:.1%} of the rows, the parity {found.fitting / table.rows:.1%}"
    )


def _names(columns: tuple[int, ...]) -> str:
    return ", ".join(str(each) for each in columns)


def p_text(log_p: float) -> str:
    """A p-value in words, however small."""
    return f"p = {math.exp(log_p):.1g}" if log_p > -690 else "p < 1e-299"


def beats(table: Table, larger: Fit, smaller: Fit, alpha: float) -> bool:
    """Whether a larger subset fits so much better than a smaller one that it is worth its size.

    On rows where the two differ the smaller one, if right, wins at least every second time; the
    exact sign test is corrected for all ways to exchange that many columns.
    """
    first, second = (
        table.parity(each.subset) ^ np.uint8(each.sign < 0) for each in (larger, smaller)
    )
    differ = first != second
    wins = int(np.count_nonzero(first[differ] == table.label_bits[differ]))
    rows = int(np.count_nonzero(differ))
    if 2 * wins <= rows:
        return False
    apart = min(len(set(larger.subset) ^ set(smaller.subset)), table.distinct)
    price = log_family(table.distinct, apart, False)
    return _log_wins(wins, rows) + price <= math.log(alpha)


def _log_wins(wins: int, rows: int) -> float:
    """log P(at least so many heads in so many throws)."""
    from scipy.stats import binom

    return float(binom.logsf(wins - 1, rows, 0.5))

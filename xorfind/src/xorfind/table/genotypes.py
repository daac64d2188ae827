"""Columns of 0, 1, 2 such as genotypes: both cuts for parities, nine cells for pairs.

A pair of loci may decide a label in ways that are no parity of cuts. So all pairs are tested as
they are: a χ² test of the label on the nine cells, corrected for the number of pairs. Its statistic
is referred to the gamma law with its exact mean and variance given both margins, and cells in which
few of a kind are expected are joined, because plain χ² lies there in either direction. Pairs get
nine tenths of the level, parities of cuts the rest, so that the choice between them is paid for.
"""

import math
from typing import NamedTuple

import numpy as np

from xorfind.evidence.levels import Columns, log_gamma_tail
from xorfind.words import chance, shown

#: Values of such a column, and the cuts that make bits of it.
VALUES, CUTS = (0, 1, 2), (0.0, 1.0)
#: The share of the level that pairs get; parities get the rest.
PAIRS_SHARE = 0.9
#: Fewest rows of either label expected in a cell of the test, where labels are about even and where
#: they are not: so many that chances of 10⁻⁴ were right to a fifth in a million draws.
EXPECTED, EXPECTED_UNEVEN = 1.0, 10.0
#: Columns worked on at a time, and pairs looked at closely.
_TOGETHER, _KEEP = 512, 32


class Genotypes(NamedTuple):
    """Columns of 0, 1, 2. names: of the columns. values: (N, columns)."""

    names: list[str]
    values: np.ndarray


class Pair(NamedTuple):
    """Two columns on whose nine combinations the label depends.

    columns: their numbers or names. log_p: corrected for all pairs. rows, true: how many rows each
    combination has, and in how many of them the label is true; three rows of three.
    """

    columns: Columns
    log_p: float
    rows: tuple[tuple[int, ...], ...]
    true: tuple[tuple[int, ...], ...]


def is_genotype(values: np.ndarray) -> bool:
    """Whether numbers are 0, 1 and 2, each at least once."""
    return np.array_equal(np.unique(values), VALUES)


def strongest_pair(values: np.ndarray, label: np.ndarray) -> Pair | None:
    """The pair of columns on which the label depends most. values: (N, columns). label: bits, (N,).

    >>> generator = np.random.default_rng(0)
    >>> values = generator.integers(0, 3, (600, 5))
    >>> label = (values[:, 1] == values[:, 3]).astype(np.uint8)
    >>> pair = strongest_pair(values, label)
    >>> pair.columns, pair.log_p < -100
    ((1, 3), True)
    """
    columns = values.shape[1]
    if columns < 2 or not 0 < label.sum() < len(label):
        return None
    made = []
    for pair in _screened(values, label):
        cells = values[:, pair[0]].astype(np.int64) * 3 + values[:, pair[1]]
        rows, true = (np.bincount(cells[label >= least], minlength=9) for least in (0, 1))
        log_p = _log_p(rows, true) + math.log(math.comb(columns, 2))
        made.append(Pair(pair, log_p, *(_threes(each) for each in (rows, true))))
    return min(made, key=lambda each: (each.log_p, each.columns))


def _threes(cells: np.ndarray) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in cells.reshape(3, 3).tolist())


def _screened(values: np.ndarray, label: np.ndarray) -> list[tuple[int, int]]:
    """The pairs with the largest plain χ², by products of indicators."""
    columns, share = values.shape[1], float(label.mean())
    kinds = [(values == value).astype(np.float32) for value in VALUES]
    centred = (label - share).astype(np.float32)[:, None]
    best: list[tuple[float, int, int]] = []
    for first in range(0, columns, _TOGETHER):
        some = slice(first, first + _TOGETHER)
        score = np.zeros((min(columns - first, _TOGETHER), columns), np.float32)
        for one in kinds:
            weighted = one[:, some] * centred
            for other in kinds:
                rows, excess = one[:, some].T @ other, weighted.T @ other
                score += excess**2 / np.maximum(rows, 1)
        score[np.tril_indices(len(score), first, columns)] = -1
        order = np.argpartition(score.ravel(), -min(_KEEP, score.size))[-_KEEP:]
        best += [
            (float(score.flat[at]), first + int(at) // columns, int(at) % columns) for at in order
        ]
    return [(i, j) for value, i, j in sorted(best, reverse=True)[:_KEEP] if value >= 0]


def _log_p(rows: np.ndarray, true: np.ndarray) -> float:
    """Log p-value of the χ² test given both margins, cells of few rows joined."""
    share = true.sum() / rows.sum()
    rare = min(share, 1 - share)
    enough = EXPECTED if rare >= 0.4 else EXPECTED_UNEVEN
    groups, open_group = list[list[int]](), list[int]()
    for cell in np.argsort(rows, kind="stable").tolist():
        open_group.append(cell)
        if rows[open_group].sum() * rare >= enough:
            groups.append(open_group)
            open_group = []
    if len(groups) < 2:
        return 0.0
    count, hits = (
        np.array([each[group].sum() for group in groups], float) for each in (rows, true)
    )
    statistic = float(((hits - count * share) ** 2 / (count * share * (1 - share))).sum())
    mean, variance = _moments(count, share)
    shape, scale = mean**2 / variance, variance / mean
    return log_gamma_tail(shape, statistic / scale)


def _moments(count: np.ndarray, share: float) -> tuple[float, float]:
    """Mean and variance of the χ² statistic given how many rows each group and label has.

    Haldane's formula for a table of K × 2 with fixed margins, in Dawson's form.
    """
    rows, groups = float(count.sum()), len(count)

    def part(kinds: int, inverse: float) -> tuple[float, float]:
        free = (kinds - 1) * (rows - kinds) / (rows - 1)
        return free, (inverse - kinds**2) / (rows - 2)

    first, uneven = part(groups, float((rows / count).sum()))
    second, skew = part(2, 1 / share + 1 / (1 - share))
    variance = 2 * rows / (rows - 3) * (first - uneven) * (second - skew)
    return (groups - 1) * rows / (rows - 1), variance + rows**2 / (rows - 1) * uneven * skew


def pair_lines(pair: Pair, target: str) -> list[str]:
    """The pair in words; the nine cells are in the record."""
    first, second = (shown(str(name)) for name in pair.columns)
    luck = chance(math.exp(min(0.0, pair.log_p)))
    return [
        f"  pair: whether {target} depends on {first} and {second} together (nine cells, all pairs "
        f"tested; chance of seeing this by luck {luck})"
    ]

"""From candidates to an answer: the same evidence whatever found them."""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np

from xorfind.answer import Answer, Search, Step, Stop
from xorfind.evidence.dependence import Dependence, RowsUsed, inflation
from xorfind.evidence.form import Finer, Form, beats, form, near_ties
from xorfind.evidence.levels import Fit, fits, log_dependence, log_family, widened
from xorfind.evidence.power import detectable_noise, rows_about
from xorfind.gf2 import affine_of
from xorfind.rows import LabelledRows
from xorfind.statistics import Rate

#: By how much, as a logarithm, a p-value must be below the level not to be only just supported.
ONLY_JUST = math.log(1000)
#: Equivalent subsets are listed up to this number.
MOST_EQUIVALENTS = 1000
#: Columns up to which relations among them are looked for.
MOST_RELATED = 500


@dataclass
class Task:
    """What a solver is asked: rows, the size if known, the level, and how long it may take.

    ordered: whether the order of the rows may say something, so that evidence is discounted for it.
    used: which rows of a larger table these are, None if nobody looked. lambdas: by how much the
    order widens the chance distribution of a set, where that was looked at.
    """

    table: LabelledRows
    k: int | None
    alpha: float
    deadline: float
    generator: np.random.Generator
    progress: Callable[[float, str], None] | None = None
    used: RowsUsed | None = None
    finer: Finer | None = None
    ordered: bool = False
    fits: dict[tuple[int, ...], Fit] = field(default_factory=dict)
    lambdas: dict[tuple[int, ...], float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.deadline - time.perf_counter()

    def evidence(self, subsets: Iterable[tuple[int, ...]]) -> list[Fit]:
        """The evidence for subsets that are not empty, each computed once."""
        asked = [each for each in dict.fromkeys(subsets) if each]
        new = [each for each in asked if each not in self.fits]
        for made in fits(self.table, new, self.k is not None):
            self.fits[made.subset] = self._discounted(made) if self.ordered else made
        return [self.fits[each] for each in asked]

    def _discounted(self, fit: Fit) -> Fit:
        """A fit beyond luck, with the p-value of as many independent rows as its rows are worth."""
        if fit.log_p > math.log(self.alpha):
            return fit
        wide = inflation(self.table.parity(fit.subset), self.table.label_bits)
        if wide == 1:
            return fit
        self.lambdas[fit.subset] = wide
        columns = max(self.table.distinct, len(fit.subset))
        price = log_family(columns, len(fit.subset), self.k is not None)
        return fit._replace(log_p=widened(fit.log_p - price, wide) + price)

    def tell(self, fraction: float, text: str) -> None:
        if self.progress is not None:
            self.progress(fraction, text)


class Candidates(NamedTuple):
    """What a search found: sets as column numbers, and what it did.

    unseen: rows to judge by where the search has seen only the others, else None. covered: noise
    up to which a parity of any size would most likely have been found.
    """

    subsets: list[tuple[int, ...]]
    steps: tuple[Step, ...]
    unseen: np.ndarray | None = None
    covered: float = 0.0


def answer_for(task: Task, candidates: Candidates) -> Answer:
    """The best candidate with its evidence, or nothing if none reaches the level."""
    table = task.table
    ranked = sorted(
        task.evidence(candidates.subsets),
        key=lambda each: (each.log_p, len(each.subset), each.subset),
    )
    if candidates.unseen is not None and ranked:
        ranked = _held_out(table, ranked, candidates.unseen)
    elif task.k is None:
        ranked = _simplest_first(task, ranked)
    best = ranked[0] if ranked else Fit((), 1, int(np.count_nonzero(table.labels > 0)), 0.0)
    used = _used(task, best)
    reached = bool(best.subset) and best.log_p <= math.log(task.alpha)
    supported = reached and not used.too_few
    others = [each.subset for each in ranked[1:]]
    says = table.parity(best.subset) ^ np.uint8(best.sign < 0) if best.subset else None
    on, off = (
        Rate(0, 0) if says is None else Rate.of(table.label_bits[says == side]) for side in (1, 0)
    )
    return Answer(
        best=best,
        equivalents=_equivalents(table, best, ranked, supported),
        near=near_ties(table, best) if supported else (),
        form=form(table, best, others, task.finer) if supported else Form(),
        on=on,
        off=off,
        used=used,
        rows_needed=None if supported else _needed(task, best),
        detectable=None if supported else _detectable(task, best),
        search=_search(task, candidates.steps, supported),
    )


def _used(task: Task, best: Fit) -> RowsUsed:
    """The rows, and what they are worth for this set."""
    rows = task.table.rows
    used = RowsUsed(rows, rows, checked=False) if task.used is None else task.used
    wide = task.lambdas.get(best.subset, 1.0)
    if wide == 1:
        return used
    return used._replace(why=(*used.why, Dependence.ORDER), effective=max(1, round(rows / wide)))


def _search(task: Task, steps: tuple[Step, ...], supported: bool) -> Search:
    """The record of all steps; `imbalance` for the sizes that one of them may have searched."""
    table, unfinished = task.table, any(not step.complete for step in steps)
    stops = {step.stop for step in steps} - {Stop.FOUND}
    if supported:
        stop = Stop.FOUND
    elif unfinished:
        stop = Stop.BUDGET if task.left <= 0 else Stop.TOO_MANY
    else:
        stop = stops.pop() if len(stops) == 1 else Stop.EXHAUSTED
    return Search(
        rows=table.rows,
        minus=int(table.label_bits.sum(dtype=np.int64)),
        columns=table.distinct,
        k=task.k,
        alpha=task.alpha,
        imbalance=() if supported else _imbalance(table, steps),
        steps=steps,
        stop=stop,
        seconds=time.perf_counter() - task.started,
    )


def _imbalance(table: LabelledRows, steps: tuple[Step, ...]) -> tuple[tuple[float, float], ...]:
    """For k = 1, 2, … the least and the largest |mean| of a product of k columns ±1.

    Products of the k smallest and of the k largest |means|, from two columns on give or take two
    standard errors: so much do these rows differ from what the columns' means say.
    """
    most = max((step.largest for step in steps if not step.clean), default=0)
    if any(step.every_size and not step.clean for step in steps):
        most = table.distinct
    means = np.sort(np.abs(1 - 2 * table.distinct_bits.mean(axis=0)))
    least, largest = (np.cumprod(each[:most]) for each in (means, means[::-1]))
    error = 2 * np.sqrt((1 - largest**2) / table.rows)
    error[:1] = 0
    least, largest = np.maximum(least - error, 0), np.minimum(largest + error, 1)
    # Of all columns both are one product, but for its last digit.
    return tuple(zip(least.tolist(), np.maximum(least, largest).tolist(), strict=True))


def _simplest_first(task: Task, fits: list[Fit]) -> list[Fit]:
    """A smaller supported subset comes first unless the best one is worth its size, or the smaller
    one is only just supported and the best one a thousand times less likely by luck."""
    level = math.log(task.alpha)
    for smaller in sorted(fits, key=lambda each: (len(each.subset), each.log_p)):
        best = fits[0]
        if smaller.log_p > level or len(smaller.subset) >= len(best.subset):
            continue
        if smaller.log_p > level - ONLY_JUST and smaller.log_p > best.log_p + ONLY_JUST:
            continue
        if not beats(task.table, best, smaller, task.alpha):
            return [smaller, *(each for each in fits if each is not smaller)]
    return fits


def _held_out(table: LabelledRows, fits: list[Fit], rows: np.ndarray) -> list[Fit]:
    """The same subsets with p-values from rows the search has not seen."""
    unseen = LabelledRows(table.bits[rows], table.labels[rows])
    judged = []
    for each in fits:
        log_p = log_dependence(unseen.parity(each.subset), unseen.label_bits)
        judged.append(each._replace(log_p=log_p + math.log(len(fits))))
    return sorted(judged, key=lambda each: (each.log_p, len(each.subset), each.subset))


def _equivalents(
    table: LabelledRows, best: Fit, fits: list[Fit], supported: bool
) -> tuple[tuple[int, ...], ...]:
    """Other subsets that say the same on every row: candidates, and columns that may be swapped.

    Where nothing is supported but something fits every row, all candidates that do.
    """
    if not best.subset or not (supported or best.fitting == table.rows):
        return ()
    said = table.parity(best.subset)
    same = {best.subset}
    for each in fits:
        other = table.parity(each.subset)
        if np.array_equal(other, said) or not np.any(other == said):
            same.add(each.subset)
    for relation in _relations(table):
        related = tuple(sorted(set(best.subset) ^ relation))
        if related and len(related) <= len(best.subset) + len(relation) - 2:
            same.add(related)
    for subset in sorted(same, key=len):
        groups = [_interchangeable(table, column) for column in subset]
        if all(len(group) == 1 for group in groups):
            continue
        for choice in product(*groups):
            if len(set(choice)) == len(choice):
                same.add(tuple(sorted(choice)))
            if len(same) > MOST_EQUIVALENTS:
                break
    listed = sorted(same - {best.subset}, key=lambda each: (len(each), each))
    return tuple(listed[:MOST_EQUIVALENTS])


def _relations(table: LabelledRows) -> list[set[int]]:
    """Sets of distinct columns whose parity is the same on all rows: a basis of them.

    Only where rows outnumber columns, or such relations mean nothing, and the search is short.
    """
    columns = table.distinct
    if table.rows <= columns + 1 or columns > MOST_RELATED:
        return []
    system = np.ones((min(table.rows, columns + 65), columns + 1), np.uint8)
    system[:, :-1] = table.distinct_bits[: len(system)]
    found = []
    for relation in affine_of(system, columns + 1).basis:
        members = table.kept[np.flatnonzero(relation[:-1])].tolist()
        if not np.any(table.parity(members) != relation[-1]):
            found.append(set(members))
    return found


def _interchangeable(table: LabelledRows, column: int) -> tuple[int, ...]:
    try:
        twins = table.twins(column)
    except KeyError:
        return (column,)
    return (column, *twins.same, *twins.opposite)


def _needed(task: Task, best: Fit) -> int | None:
    """About how many rows would support the best candidate if it were real; None if none would."""
    table, size = task.table, len(best.subset) or task.k or 1
    noise = 1 - best.fitting / table.rows if best.subset else 0.0
    if noise >= 0.49 or size > table.distinct:
        return None
    needed = rows_about(table.distinct, size, noise, task.alpha, known=task.k is not None)
    return max(needed, table.rows + 1)


def _detectable(task: Task, best: Fit) -> float | None:
    """The noise up to which these rows show a parity of the best candidate's size; None if none."""
    table = task.table
    if not best.subset:
        return None
    size = min(len(best.subset), table.distinct)
    return detectable_noise(table.distinct, size, table.rows, task.alpha, known=task.k is not None)

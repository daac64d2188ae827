"""From candidates to an answer: the same evidence whatever found them."""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from xorfind.answer import Answer, Search, Step, Stop
from xorfind.evidence.dependence import Dependence, RowsUsed, inflation
from xorfind.evidence.form import Finer, Form, beats, form, near_ties
from xorfind.evidence.levels import Fit, fits, log_family, widened
from xorfind.evidence.power import rows_about
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

    used: which rows of a larger table these are. finer: other cuts of the numbers that columns were
    cut from. ordered: whether the order of the rows may say something, so that evidence is
    discounted for it. lambdas: by how much the order widens the chance distribution of a set, where
    that was looked at.
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

    def of_rows(self, chosen: np.ndarray) -> "Task":
        """The same task for some of the rows."""
        finer = None if self.finer is None else self.finer._replace(bits=self.finer.bits[chosen])
        return replace(self, table=self.table.at(chosen), finer=finer, fits={}, lambdas={})

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

    covered: noise up to which a parity of any size would most likely have been found.
    """

    subsets: list[tuple[int, ...]]
    steps: tuple[Step, ...]
    covered: float = 0.0


def supported(task: Task, candidates: list[tuple[int, ...]]) -> Fit | None:
    """The best candidate if it reaches the level."""
    best = min(task.evidence(candidates), key=lambda each: each.log_p, default=None)
    return best if best is not None and best.log_p <= math.log(task.alpha) else None


def answer_for(task: Task, candidates: Candidates) -> Answer:
    """The best candidate with its evidence, or nothing if none reaches the level."""
    table = task.table
    ranked = sorted(
        task.evidence(candidates.subsets),
        key=lambda each: (each.log_p, len(each.subset), each.subset),
    )
    if task.k is None:
        ranked = _simplest_first(task, ranked)
    best = ranked[0] if ranked else Fit((), 1, table.rows - table.minus, 0.0)
    used = _used(task, best)
    reached = bool(best.subset) and best.log_p <= math.log(task.alpha)
    found = reached and not used.too_few
    others = [each.subset for each in ranked[1:]]
    on = off = Rate(0, 0)
    if best.subset:
        says = table.predicted(best.subset, best.sign)
        on, off = (Rate.of(table.label_bits[says == side]) for side in (1, 0))
    return Answer(
        best=best,
        equivalents=_equivalents(table, best, others, found),
        near=near_ties(table, best) if found else (),
        form=form(table, best, others, task.finer) if found else Form(),
        on=on,
        off=off,
        used=used,
        rows_needed=None if found else _needed(task, best),
        search=_search(task, candidates.steps, found),
    )


def _used(task: Task, best: Fit) -> RowsUsed:
    """The rows, and what they are worth for this set."""
    rows = task.table.rows
    used = RowsUsed(rows, rows, checked=False) if task.used is None else task.used
    wide = task.lambdas.get(best.subset, 1.0)
    if wide == 1:
        return used
    return used._replace(why=(*used.why, Dependence.ORDER), effective=max(1, round(rows / wide)))


def _search(task: Task, steps: tuple[Step, ...], found: bool) -> Search:
    """The record of all steps; `imbalance` for the sizes that one of them may have searched."""
    table = task.table
    stops = {step.stop for step in steps} - {Stop.FOUND}
    if found:
        stop = Stop.FOUND
    elif not all(step.complete for step in steps):
        stop = Stop.BUDGET if task.left <= 0 else Stop.TOO_MANY
    else:
        stop = stops.pop() if len(stops) == 1 else Stop.EXHAUSTED
    return Search(
        rows=table.rows,
        minus=table.minus,
        columns=table.distinct,
        k=task.k,
        alpha=task.alpha,
        imbalance=() if found else _imbalance(table, steps),
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


def _equivalents(
    table: LabelledRows, best: Fit, others: list[tuple[int, ...]], found: bool
) -> tuple[tuple[int, ...], ...]:
    """Other subsets that say the same on every row: candidates, columns whose sum never changes
    exchanged for each other, and twins.

    Where nothing is supported but something fits every row, all candidates that do.
    """
    if not best.subset or not (found or best.fitting == table.rows):
        return ()
    said = table.parity(best.subset)
    same = {best.subset}
    same.update(each for each in others if len(np.unique(said ^ table.parity(each))) == 1)
    for relation in _relations(table):
        related = tuple(sorted(set(best.subset) ^ relation))
        if related and len(related) <= len(best.subset) + len(relation) - 2:
            same.add(related)
    for subset in sorted(same, key=len):
        choices = product(*map(table.interchangeable, subset))
        room = max(0, MOST_EQUIVALENTS + 1 - len(same))
        same.update(tuple(sorted(each)) for each in islice(choices, room))
    listed = sorted(same - {best.subset}, key=lambda each: (len(each), each))
    return tuple(listed[:MOST_EQUIVALENTS])


def _relations(table: LabelledRows) -> list[set[int]]:
    """Sets of distinct columns whose parity is the same on all rows: a basis of them.

    Only where rows outnumber columns, or such relations mean nothing, and the search is short.
    """
    columns = table.distinct
    if table.rows <= columns + 1 or columns > MOST_RELATED:
        return []
    fixed = []
    system = table.system(slice(columns + 65))[:, :-1]
    for relation in affine_of(system, columns + 1).basis:
        members = set(table.named(np.flatnonzero(relation[:-1])))
        if not np.any(table.parity(members) != relation[-1]):
            fixed.append(members)
    return fixed


def _needed(task: Task, best: Fit) -> int | None:
    """About how many rows would support the best candidate if it were real; None if none would."""
    table, size = task.table, len(best.subset) or task.k or 1
    noise = 1 - best.fitting / table.rows if best.subset else 0.0
    if noise >= 0.49 or size > table.distinct:
        return None
    needed = rows_about(table.distinct, size, noise, task.alpha, known=task.k is not None)
    return max(needed, table.rows + 1)

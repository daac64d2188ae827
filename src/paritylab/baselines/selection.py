"""From candidates to an answer: the same evidence whatever method named them."""

import math
import time
from itertools import islice, product

import numpy as np

from paritylab.baselines.answer import Answer, Search, Step, Stop
from paritylab.baselines.gf2 import solve_augmented
from paritylab.baselines.labelled_rows import LabelledRows
from paritylab.baselines.power import approximate_rows_needed
from paritylab.baselines.significance import Fit, log_dependence, log_family
from paritylab.baselines.task import Candidates, Task

#: The factor, as a logarithm, by which a p-value must be below the level to be more than
#: barely supported.
CLEAR_MARGIN = math.log(1000)
#: Equivalent subsets are listed up to this number.
MAX_EQUIVALENTS = 1000
#: Columns up to which linear relations among them are looked for.
MAX_RELATION_COLUMNS = 500


def answer_from(task: Task, candidates: Candidates) -> Answer:
    """The best candidate with its evidence; it is supported if it reaches the level."""
    table = task.table
    fits = sorted(
        task.evidence(candidates.subsets),
        key=lambda fit: (fit.log_p, len(fit.subset), fit.subset),
    )
    if task.k is None:
        fits = prefer_simple(task, fits)
    best = fits[0] if fits else Fit((), 1, table.rows - table.minus, 0.0)
    supported = bool(best.subset) and best.log_p <= math.log(task.alpha)
    listed = bool(best.subset) and (supported or best.agreeing == table.rows)
    return Answer(
        best=best,
        equivalents=equivalent_subsets(table, best, fits[1:]) if listed else (),
        rows_needed=None if supported else _rows_needed(task, best),
        search=_search_record(task, candidates.steps, supported),
    )


def _search_record(task: Task, steps: tuple[Step, ...], supported: bool) -> Search:
    stops = {step.stop for step in steps} - {Stop.FOUND}
    if supported:
        stop = Stop.FOUND
    elif not all(step.complete for step in steps):
        stop = Stop.BUDGET if task.seconds_left <= 0 else Stop.TOO_MANY
    else:
        stop = stops.pop() if len(stops) == 1 else Stop.EXHAUSTED
    return Search(
        rows=task.table.rows,
        minus=task.table.minus,
        columns=task.table.distinct,
        k=task.k,
        alpha=task.alpha,
        steps=steps,
        stop=stop,
        seconds=time.perf_counter() - task.start,
    )


def prefer_simple(task: Task, fits: list[Fit]) -> list[Fit]:
    """A smaller supported subset comes first unless the best one is worth its size, or the smaller
    one is barely supported and the best one a thousand times less likely by chance."""
    level = math.log(task.alpha)
    for smaller in sorted(fits, key=lambda fit: (len(fit.subset), fit.log_p)):
        best = fits[0]
        if smaller.log_p > level or len(smaller.subset) >= len(best.subset):
            continue
        if smaller.log_p > level - CLEAR_MARGIN and smaller.log_p > best.log_p + CLEAR_MARGIN:
            continue
        if not is_worth_its_size(task.table, best, smaller, task.alpha):
            return [smaller, *(fit for fit in fits if fit is not smaller)]
    return fits


def is_worth_its_size(table: LabelledRows, larger: Fit, smaller: Fit, alpha: float) -> bool:
    """Whether a larger subset fits so much better than a smaller one that it is worth its size.

    If the smaller one is right, its errors are noise and do not depend on where the two differ,
    neither where it predicts -1 nor where it predicts +1; that test is corrected for all ways to
    exchange that many columns.
    """
    first, second = (table.predict(fit.subset, fit.sign) for fit in (larger, smaller))
    differ, errors = first ^ second, second ^ table.label_bits
    if 2 * np.count_nonzero(differ & errors) <= np.count_nonzero(differ):
        return False
    sides = [side for side in (np.flatnonzero(second == bit) for bit in (0, 1)) if len(side)]
    log_p = min(log_dependence(differ[side], errors[side]) for side in sides) + math.log(2)
    exchanged = min(len(set(larger.subset) ^ set(smaller.subset)), table.distinct)
    factor = log_family(table.distinct, exchanged, False)
    return min(0.0, log_p) + factor <= math.log(alpha)


def equivalent_subsets(
    table: LabelledRows, best: Fit, others: list[Fit]
) -> tuple[tuple[int, ...], ...]:
    """Other subsets with the same parity on every row, or the opposite one: candidates, columns
    exchanged along a linear relation, and columns that are equal or opposite."""
    parity = table.parity(best.subset)
    subsets = {best.subset}
    subsets.update(
        fit.subset for fit in others if len(np.unique(parity ^ table.parity(fit.subset))) == 1
    )
    for relation in linear_relations(table):
        exchanged = tuple(sorted(set(best.subset) ^ relation))
        if exchanged and len(exchanged) <= len(best.subset) + len(relation) - 2:
            subsets.add(exchanged)
    for subset in sorted(subsets, key=len):
        choices = product(*map(table.interchangeable, subset))
        room = max(0, MAX_EQUIVALENTS + 1 - len(subsets))
        subsets.update(tuple(sorted(choice)) for choice in islice(choices, room))
    ordered = sorted(subsets - {best.subset}, key=lambda subset: (len(subset), subset))
    return tuple(ordered[:MAX_EQUIVALENTS])


def linear_relations(table: LabelledRows) -> list[set[int]]:
    """Sets of distinct columns whose parity is the same on all rows: a basis of them.

    Only where rows outnumber columns, or such relations mean nothing, and the search is short.
    """
    columns = table.distinct
    if table.rows <= columns + 1 or columns > MAX_RELATION_COLUMNS:
        return []
    relations = []
    system = table.system(slice(columns + 65))[:, :-1]
    for relation in solve_augmented(system, columns + 1).basis:
        members = set(table.columns_of(np.flatnonzero(relation[:-1])))
        if not np.any(table.parity(members) != relation[-1]):
            relations.append(members)
    return relations


def _rows_needed(task: Task, best: Fit) -> int | None:
    """About how many rows would support the best candidate if it were real; None if none would."""
    table, size = task.table, len(best.subset) or task.k or 1
    noise = 1 - best.agreeing / table.rows if best.subset else 0.0
    if noise >= 0.49 or size > table.distinct:
        return None
    known_size = task.k is not None
    rows = approximate_rows_needed(table.distinct, size, noise, task.alpha, known_size=known_size)
    return max(rows, table.rows + 1)

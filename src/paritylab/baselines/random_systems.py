"""Random parts of the rows or of the columns, solved by elimination until one is right.

Rows: a choice of n + 9 of N rows without a wrong label gives the parity, and all rows vote on the
outcome; at noise ν that takes about (1-ν)^-(n+9) trials. Columns: N rows without noise solve for
about N of n columns; a choice with all k members gives the parity, one in C(n, k)/C(N, k).
"""

import math
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from paritylab.baselines.answer import Step, Stop
from paritylab.baselines.gf2 import pack_bits, solve_augmented, solve_systems
from paritylab.baselines.growing_sizes import typical_noise
from paritylab.baselines.task import Candidates, Task

#: Rows beyond the unknowns: a wrong system passes with chance 2^-SPARE.
SPARE = 8
#: Rows left over for the vote when columns are drawn, so that a fit is no accident.
SLACK = 20
#: Columns up to which many small systems at once are quicker than one at a time, and how many of
#: them there are at most.
MAX_BATCH_COLUMNS, MAX_BATCH = 1000, 64
#: Sets of columns. A draw solves a batch of systems: the sets that result, and the trials made.
Subsets = list[tuple[int, ...]]
Draw = Callable[[], tuple[Subsets, int]]


def _elimination_seconds(rows: int, columns: int) -> float:
    """Seconds of one elimination, about: word operations; of many columns their cube."""
    if columns > MAX_BATCH_COLUMNS:
        return 0.004 + columns * 1e-4 + columns**3 / 1e11
    return rows * columns * (1 + columns // 64) / 1.5e8


def row_trials(columns: int, noise: float) -> float:
    """Expected trials until random rows have no wrong label: (1-ν)^-(columns + 1 + spare).

    >>> round(row_trials(100, 0.05))
    268
    """
    return math.exp(min(600.0, -(columns + 1 + SPARE) * math.log1p(-noise)))


def column_trials(columns: int, drawn: int, k: int) -> float:
    """Expected trials until random columns include all of a subset: C(n, k)/C(drawn, k)."""
    if k > drawn:
        return math.inf
    return math.exp(sum(math.log(columns - i) - math.log(drawn - i) for i in range(k)))


def affordable_noise(task: Task, seconds: float) -> float:
    """The noise at which random rows would be right within the time, three times over."""
    rows = task.table.distinct + 1 + SPARE
    trials = min(seconds, 1e9) / _elimination_seconds(rows, task.table.distinct + 1) / 3
    return min(0.5, -math.expm1(-math.log(trials) / rows)) if trials > 1 else 0.0


def random_rows(task: Task, seconds: float = math.inf, k: int | None = None) -> Candidates:
    """Elimination on random rows, all rows voting on the outcome: for little noise.

    k: the smallest size that is looked for; trials end where more noise would hide it anyway.
    """
    table, columns, seconds = task.table, task.table.distinct, min(seconds, task.seconds_left)
    drawn, tolerated = columns + 1 + SPARE, typical_noise(task, k or task.k or 1)
    if table.rows < drawn or tolerated < 0:
        return Candidates([], (Step("elimination", Stop.TOO_FEW_ROWS),))
    noise = min(affordable_noise(task, seconds), tolerated)
    expected = row_trials(columns, noise)
    task.report(0.0, f"random rows: about {expected:,.0f} trials at {noise:.1%} noise")
    limit = max(1, int(3 * expected))
    draw = partial(_solve_random_rows, task, drawn, limit)
    subsets, trials = _repeat(task, draw, limit, seconds, "rows")
    step = Step("elimination", _stop(task, trials >= limit, subsets), trials=trials)
    return Candidates(subsets, (step,), covered_noise=noise if trials >= limit else 0.0)


def restarts(task: Task, seconds: float = math.inf) -> Candidates:
    """Elimination on random columns: for few rows without noise and many members.

    Rows solve for fewer columns than there are rows; a choice with the whole subset fits all.
    """
    table, columns, seconds = task.table, task.table.distinct, min(seconds, task.seconds_left)
    drawn = min(columns, table.rows - 1 - SLACK)
    if drawn < (task.k or 1):
        return Candidates([], (Step("restarts", Stop.TOO_FEW_ROWS, clean=True),))
    affordable = seconds / _elimination_seconds(table.rows, drawn + 1)
    k = task.k if task.k is not None else _largest_findable_size(columns, drawn, affordable)
    expected = column_trials(columns, drawn, k)
    task.report(0.0, f"random columns: about {expected:,.0f} trials for {k} members")
    limit = 1 if drawn == columns else math.ceil(min(5 * expected, 1e15))
    draw = partial(_solve_random_columns, task, drawn, limit)
    subsets, trials = _repeat(task, draw, limit, seconds, "columns")
    step = Step("restarts", _stop(task, trials >= limit, subsets), clean=True, trials=trials)
    return Candidates([s for s in subsets if task.k in (None, len(s))], (step,))


def _repeat(task: Task, draw: Draw, limit: int, seconds: float, unit: str) -> tuple[Subsets, int]:
    """Draws until a set is supported, `limit` trials were made or the time is up.

    Returns the sets, as column numbers of the table, and the number of trials.
    """
    trials, end, subsets = 0, time.perf_counter() + seconds, Subsets()
    while trials < limit and time.perf_counter() < end:
        sets, count = draw()
        trials += count
        subsets += [task.table.columns_of(subset) for subset in sets]
        task.report(min(1.0, trials / limit), f"random {unit}: {trials:,} trials")
        if task.best_supported(subsets) is not None:
            break
    return subsets, trials


def _solve_random_rows(task: Task, drawn: int, limit: int) -> tuple[Subsets, int]:
    """Random rows solved for all columns: one large system, or many small ones at a time."""
    columns = task.table.distinct + 1
    if columns > MAX_BATCH_COLUMNS:
        return _solve_one_system(task, _draw_rows(task, drawn)), 1
    batch = _batch_size(columns + 1, drawn, limit)
    rows = np.concatenate([_draw_rows(task, drawn) for _ in range(batch)])
    systems = pack_bits(task.table.system(rows)).reshape(batch, drawn, -1)
    solutions, consistent = solve_systems(systems, columns)
    return [_solution_columns(row[:-1]) for row in solutions[consistent]], batch


def _solve_one_system(task: Task, rows: np.ndarray) -> Subsets:
    """The solution of some rows if it exists, and if there is time."""
    system = task.table.system(rows)
    try:
        affine = solve_augmented(system, system.shape[1] - 1, basis_size=0, deadline=task.deadline)
    except TimeoutError:
        return []
    return [_solution_columns(row[:-1]) for row in affine.solutions[affine.consistent]]


def _solve_random_columns(task: Task, drawn: int, limit: int) -> tuple[Subsets, int]:
    """All rows solved for a few columns, many choices of these at a time."""
    table = task.table
    system = table.system(slice(None))
    choices = [
        np.sort(task.generator.choice(table.distinct, drawn, replace=False))
        for _ in range(_batch_size(drawn + 2, table.rows, limit))
    ]
    systems = np.stack([pack_bits(system[:, [*choice, -2, -1]]) for choice in choices])
    solutions, consistent = solve_systems(systems, drawn + 1)
    subsets = [
        _solution_columns(solutions[at, :-1], choices[at]) for at in np.flatnonzero(consistent)
    ]
    return subsets, len(choices)


def _batch_size(columns: int, rows: int, limit: int) -> int:
    """How many systems are solved at once: few enough to stay in the cache, 1 MB."""
    return max(1, min(MAX_BATCH, limit, (1 << 17) // (-(-columns // 64) * rows)))


def _draw_rows(task: Task, count: int) -> np.ndarray:
    """Random rows, each at most once, without a list of all of a large table."""
    return task.generator.choice(task.table.rows, count, replace=False, shuffle=False)


def _stop(task: Task, finished: bool, subsets: Subsets) -> Stop:
    """Why drawing ended. finished: whether all trials were made."""
    if task.best_supported(subsets) is not None:
        return Stop.FOUND
    if finished:
        return Stop.EXHAUSTED
    return Stop.BUDGET if task.seconds_left <= 0 else Stop.TOO_MANY


def _largest_findable_size(columns: int, drawn: int, trials: float) -> int:
    """The most members for which five times the expected trials can be made."""
    k = 1
    while k < drawn and 5 * column_trials(columns, drawn, k + 1) <= trials:
        k += 1
    return k


def _solution_columns(solution: np.ndarray, columns: np.ndarray | None = None) -> tuple[int, ...]:
    """Numbers of the columns in a solution. columns: the number that each entry stands for."""
    ones = np.flatnonzero(solution)
    return tuple((ones if columns is None else columns[ones]).tolist())

"""Random parts of the rows or of the columns, solved by elimination until one is right.

Rows: a choice of n + 9 of N rows without a wrong label gives the parity, and all rows vote on what
comes out; at noise ν that takes about (1-ν)^-(n+9) tries. Columns: N rows without noise solve for
about N of n columns; a choice that holds all k members gives the parity, one in C(n, k)/C(N, k).
"""

import math
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from xorfind.answer import Step, Stop
from xorfind.gf2 import affine_of, solve_many
from xorfind.rows import packed
from xorfind.solvers.growth import visible_noise
from xorfind.solvers.judge import Candidates, Task, supported
from xorfind.statistics import share_text
from xorfind.words import counted

#: Rows beyond the unknowns: a wrong system passes with chance 2^-SPARE.
SPARE = 8
#: Rows kept for the vote when columns are drawn, so that a fit is no accident.
SLACK = 20
#: Columns up to which many small systems at once are quicker than one at a time, and how many of
#: them there are at most.
SMALL, MANY = 1000, 64
#: Sets of kept columns. A draw solves some systems: the sets that come out, and how many tries.
Subsets = list[tuple[int, ...]]
Draw = Callable[[], tuple[Subsets, int]]


def _seconds(rows: int, columns: int) -> float:
    """Seconds of one elimination, about: word operations; of many columns their cube."""
    if columns > SMALL:
        return 0.004 + columns * 1e-4 + columns**3 / 1e11
    return rows * columns * (1 + columns // 64) / 1.5e8


def row_tries(columns: int, noise: float) -> float:
    """Expected tries until random rows have no wrong label: (1-ν)^-(columns + 1 + spare).

    >>> round(row_tries(100, 0.05))
    268
    """
    return math.exp(min(600.0, -(columns + 1 + SPARE) * math.log1p(-noise)))


def column_tries(columns: int, drawn: int, size: int) -> float:
    """Expected tries until random columns hold all of a subset: C(n, k)/C(drawn, k)."""
    if size > drawn:
        return math.inf
    return math.exp(sum(math.log(columns - i) - math.log(drawn - i) for i in range(size)))


def affordable_noise(task: Task, seconds: float) -> float:
    """The noise at which random rows would be right within the time, three times over."""
    rows = task.table.distinct + 1 + SPARE
    tries = min(seconds, 1e9) / _seconds(rows, task.table.distinct + 1) / 3
    return min(0.5, -math.expm1(-math.log(tries) / rows)) if tries > 1 else 0.0


def random_rows(task: Task, seconds: float = math.inf, size: int | None = None) -> Candidates:
    """Elimination on random rows, all rows voting on what comes out: for little noise.

    size: the smallest that is looked for; tries end where more noise would hide it anyway.
    """
    table, columns, seconds = task.table, task.table.distinct, min(seconds, task.left)
    drawn, visible = columns + 1 + SPARE, visible_noise(task, size or task.k or 1)
    if table.rows < drawn or visible < 0:
        return Candidates([], (Step("elimination", Stop.TOO_FEW_ROWS),))
    noise = min(affordable_noise(task, seconds), visible)
    expected = row_tries(columns, noise)
    task.tell(0.0, f"random rows: about {expected:,.0f} tries at {noise:.1%} noise")
    most = max(1, int(3 * expected))
    found, made = _drawn(task, partial(_some_rows, task, drawn, most), most, seconds, "rows")
    words = f"{counted(made, 'random draw')} of {drawn} rows, solved as if no label were wrong, "
    words += f"enough for {share_text(noise, 1)} noise"
    step = Step("elimination", _ended(task, made >= most, found), words=words)
    return Candidates(found, (step,), covered=noise if made >= most else 0.0)


def restarts(task: Task, seconds: float = math.inf) -> Candidates:
    """Elimination on random columns: for few rows without noise and many members.

    Rows solve for fewer columns than there are rows; a choice that holds the whole subset fits all.
    """
    table, columns, seconds = task.table, task.table.distinct, min(seconds, task.left)
    drawn = min(columns, table.rows - 1 - SLACK)
    if drawn < (task.k or 1):
        return Candidates([], (Step("restarts", Stop.TOO_FEW_ROWS, clean=True),))
    affordable = seconds / _seconds(table.rows, drawn + 1)
    size = task.k if task.k is not None else _reach(columns, drawn, affordable)
    expected = column_tries(columns, drawn, size)
    task.tell(0.0, f"random columns: about {expected:,.0f} tries for {size} members")
    most = 1 if drawn == columns else math.ceil(min(5 * expected, 1e15))
    found, made = _drawn(task, partial(_some_columns, task, drawn, most), most, seconds, "columns")
    words = f"{counted(made, 'random draw')} of {drawn} of {columns} columns that fit every row, "
    words += f"about {expected:,.0f} needed for a set of {size}"
    step = Step("restarts", _ended(task, made >= most, found), clean=True, words=words)
    return Candidates([each for each in found if task.k in (None, len(each))], (step,))


def _drawn(
    task: Task, draw_some: Draw, most: int, seconds: float, what: str
) -> tuple[Subsets, int]:
    """Draws until a set is supported, `most` tries were made or the time is up.

    Returns the sets that came out, as column numbers of the table, and the number of tries.
    """
    made, end, found = 0, time.perf_counter() + seconds, Subsets()
    while made < most and time.perf_counter() < end:
        sets, count = draw_some()
        made += count
        found += [task.table.named(each) for each in sets]
        task.tell(min(1.0, made / most), f"random {what}: {made:,} tries")
        if supported(task, found) is not None:
            break
    return found, made


def _some_rows(task: Task, drawn: int, most: int) -> tuple[Subsets, int]:
    """Random rows solved for all columns: one large system, or many small ones at a time."""
    columns = task.table.distinct + 1
    if columns > SMALL:
        return _one_system(task, _choice(task, drawn)), 1
    batch = _batch(columns + 1, drawn, most)
    rows = np.concatenate([_choice(task, drawn) for _ in range(batch)])
    systems = packed(task.table.system(rows)).reshape(batch, drawn, -1)
    solutions, fits = solve_many(systems, columns)
    return [_members(each[:-1]) for each in solutions[fits]], batch


def _one_system(task: Task, rows: np.ndarray) -> Subsets:
    """The solution of some rows if there is one, and time for it."""
    system = task.table.system(rows)
    try:
        found = affine_of(system, system.shape[1] - 1, most=0, deadline=task.deadline)
    except TimeoutError:
        return []
    return [_members(each[:-1]) for each in found.solutions[found.consistent]]


def _some_columns(task: Task, drawn: int, most: int) -> tuple[Subsets, int]:
    """All rows solved for a few columns, many choices of these at a time."""
    table = task.table
    every = table.system(slice(None))
    chosen = [
        np.sort(task.generator.choice(table.distinct, drawn, replace=False))
        for _ in range(_batch(drawn + 2, table.rows, most))
    ]
    systems = np.stack([packed(every[:, [*each, -2, -1]]) for each in chosen])
    solutions, fits = solve_many(systems, drawn + 1)
    return [_members(solutions[at, :-1], chosen[at]) for at in np.flatnonzero(fits)], len(chosen)


def _batch(columns: int, rows: int, most: int) -> int:
    """How many systems are solved at once: few enough to stay in the cache, 1 MB."""
    return max(1, min(MANY, most, (1 << 17) // (-(-columns // 64) * rows)))


def _choice(task: Task, count: int) -> np.ndarray:
    """Random rows, each at most once, without a list of all where there are many."""
    return task.generator.choice(task.table.rows, count, replace=False, shuffle=False)


def _ended(task: Task, enough: bool, found: Subsets) -> Stop:
    """Why drawing ended. enough: whether all tries were made."""
    if supported(task, found) is not None:
        return Stop.FOUND
    if enough:
        return Stop.EXHAUSTED
    return Stop.BUDGET if task.left <= 0 else Stop.TOO_MANY


def _reach(columns: int, drawn: int, tries: float) -> int:
    """The most members for which five times the expected tries can be made."""
    size = 1
    while size < drawn and 5 * column_tries(columns, drawn, size + 1) <= tries:
        size += 1
    return size


def _members(solution: np.ndarray, columns: np.ndarray | None = None) -> tuple[int, ...]:
    """Numbers of the columns that a solution holds; columns: what its entries stand for."""
    held = np.flatnonzero(solution)
    return tuple((held if columns is None else columns[held]).tolist())

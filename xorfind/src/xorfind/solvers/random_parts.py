"""Random parts of the rows or of the columns, solved by elimination until one is right."""

import math
import time
from functools import partial

import numpy as np

from xorfind.answer import Step, Stop
from xorfind.gf2 import solve_many
from xorfind.rows import packed
from xorfind.solvers.growth import named, supported, visible_noise
from xorfind.solvers.judge import Candidates, Task
from xorfind.statistics import share_text
from xorfind.words import counted

#: Rows beyond the unknowns: a wrong system passes with chance 2^-SPARE.
SPARE = 8
#: Rows kept for the vote when columns are drawn, so that a fit is no accident.
SLACK = 20
#: Word operations per second assumed when a search is planned.
RATE = 1.5e8


def system_seconds(rows: int, columns: int) -> float:
    """Seconds of one small elimination."""
    return rows * columns * (1 + columns // 64) / RATE


def row_tries(columns: int, noise: float) -> float:
    """Expected tries until a random choice of rows has no wrong label: (1-ν)^-(columns + spare).

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
    columns = task.table.distinct
    tries = min(seconds, 1e9) / system_seconds(columns + SPARE + 1, columns + 1) / 3
    if tries <= 1:
        return 0.0
    # row_tries(columns, ν) = tries, solved for ν.
    return min(-math.expm1(-math.log(tries) / (columns + 1 + SPARE)), 0.5)


def random_rows(task: Task, seconds: float = math.inf, size: int | None = None) -> Candidates:
    """Elimination on random rows, all rows voting on what comes out: for little noise.

    Each try draws a few rows more than columns. size: the smallest that is looked for; tries end
    where more noise would hide it anyway.
    """
    table = task.table
    columns, seconds = table.distinct, min(seconds, task.left)
    visible = visible_noise(task, size or task.k or 1)
    if table.rows < columns + 1 + SPARE or visible < 0:
        return Candidates([], (Step("elimination", Stop.TOO_FEW_ROWS),))
    noise = min(affordable_noise(task, seconds), visible)
    expected = row_tries(columns, noise)
    task.tell(0.0, f"random rows: about {expected:,.0f} tries at {noise:.1%} noise")
    most = max(1, int(3 * expected))
    drawn = columns + 1 + SPARE
    batch = max(1, min(64, most, (1 << 22) // ((columns // 64 + 1) * drawn)))
    made, end, found = 0, time.perf_counter() + seconds, list[tuple[int, ...]]()
    while made < most and time.perf_counter() < end:
        found += _subsets(task, _solved(task, batch, drawn))
        made += batch
        task.tell(made / most, f"random rows: {made:,} tries")
        if supported(task, found) is not None:
            break
    words = f"{counted(made, 'random choice')} of {drawn} rows"
    words += f", enough for {share_text(noise, 1)} noise"
    step = Step("elimination", _ended(task, made >= most, found), words=words)
    return Candidates(found, (step,), covered=noise if made >= most else 0.0)


def _solved(task: Task, batch: int, drawn: int) -> np.ndarray:
    """Solutions, without the constant, of so many systems of random rows that have one.

    A system has the distinct columns, the constant and the labels of its rows side by side.
    """
    table, columns = task.table, task.table.distinct + 1
    # Without a list of all rows where there are many.
    draw = partial(task.generator.choice, table.rows, drawn, replace=False, shuffle=False)
    rows = np.concatenate([draw() for _ in range(batch)])
    systems = np.ones((len(rows), columns + 1), np.uint8)
    systems[:, :-2] = table.distinct_bits[rows]
    systems[:, -1] = table.label_bits[rows]
    solutions, fits = solve_many(packed(systems).reshape(batch, drawn, -1), columns)
    return solutions[fits, :-1]


def restarts(task: Task, seconds: float = math.inf) -> Candidates:
    """Elimination on random columns: for few rows without noise and many members.

    Rows solve for fewer columns than there are rows; a choice that holds the whole subset fits all.
    """
    table = task.table
    columns, seconds = table.distinct, min(seconds, task.left)
    drawn = min(columns, table.rows - 1 - SLACK)
    if drawn < (task.k or 1):
        return Candidates([], (Step("restarts", Stop.TOO_FEW_ROWS, clean=True),))
    cost = system_seconds(table.rows, drawn + 1)
    size = task.k if task.k is not None else _reach(columns, drawn, seconds / cost)
    expected = column_tries(columns, drawn, size)
    task.tell(0.0, f"random columns: about {expected:,.0f} tries for {size} members")
    tries, most = 0, 1 if drawn == columns else math.ceil(min(5 * expected, 1e15))
    words = -(-(drawn + 2) // 64)
    batch = max(1, min(64, most, (1 << 22) // (words * table.rows)))
    end, found = time.perf_counter() + seconds, list[tuple[int, ...]]()
    extra = np.stack([np.ones(table.rows, np.uint8), table.label_bits], axis=1)
    while tries < most and time.perf_counter() < end:
        chosen = [
            np.sort(task.generator.choice(columns, drawn, replace=False)) for _ in range(batch)
        ]
        systems = np.stack(
            [
                packed(np.concatenate([table.distinct_bits[:, each], extra], axis=1))
                for each in chosen
            ]
        )
        solutions, fits = solve_many(systems, drawn + 1)
        tries += batch
        for at in np.flatnonzero(fits):
            members = chosen[at][solutions[at, :-1].astype(bool)]
            found.append(named(task, tuple(members.tolist())))
        task.tell(min(1.0, tries / most), f"random columns: {tries:,} tries")
        if supported(task, found) is not None:
            break
    said = f"{counted(tries, 'random choice')} of {drawn} of {columns} columns"
    said += f", about {expected:,.0f} needed for {counted(size, 'member')}"
    step = Step("restarts", _ended(task, tries >= most, found), clean=True, words=said)
    return Candidates([each for each in found if task.k is None or len(each) == task.k], (step,))


def _ended(task: Task, enough: bool, found: list[tuple[int, ...]]) -> Stop:
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


def _subsets(task: Task, solutions: np.ndarray) -> list[tuple[int, ...]]:
    return [named(task, tuple(np.flatnonzero(each).tolist())) for each in solutions]

"""Random parts of the rows or of the columns, solved by elimination until one is right."""

import math
import time

import numpy as np

from paritylab.solvers.gf2 import solve_many
from paritylab.solvers.growth import named, supported, visible_noise
from paritylab.solvers.judge import Candidates, Task
from paritylab.solvers.labelled_rows import packed
from paritylab.solvers.outcome import Draws, Step, Stop

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
    return math.pow(1 - noise, -(columns + 1.0 + SPARE))


def column_tries(columns: int, drawn: int, size: int) -> float:
    """Expected tries until random columns hold all of a subset: C(n, k)/C(drawn, k)."""
    if size > drawn:
        return math.inf
    return math.exp(sum(math.log(columns - i) - math.log(drawn - i) for i in range(size)))


def affordable_noise(task: Task, seconds: float) -> float:
    """The noise at which random rows would be right within the time, three times over."""
    columns = task.table.distinct
    tries = seconds / system_seconds(columns + SPARE + 1, columns + 1) / 3
    return 1 - tries ** (-1 / (columns + 1.0 + SPARE)) if tries > 1 else 0.0


def random_rows(task: Task, seconds: float = math.inf, size: int | None = None) -> Candidates:
    """Elimination on random rows, all rows voting on what comes out: for little noise.

    Each try draws a few rows more than columns; one without a wrong label gives the parity. size:
    the smallest that is looked for; tries end where more noise would hide it anyway.
    """
    table = task.table
    columns, seconds = table.distinct, min(seconds, task.left)
    if table.rows < columns + 1 + SPARE:
        return Candidates([], (Step("elimination", Stop.TOO_FEW_ROWS),))
    visible = visible_noise(task, size or task.k or 1)
    if visible < 0:
        return Candidates([], (Step("elimination", Stop.TOO_FEW_ROWS),))
    noise = min(affordable_noise(task, seconds), visible)
    expected = row_tries(columns, noise)
    task.tell(0.0, f"random rows: about {expected:,.0f} tries at {noise:.1%} noise")
    whole = packed(
        np.concatenate(
            [
                table.distinct_bits,
                np.ones((table.rows, 1), np.uint8),
                table.label_bits[:, None],
            ],
            axis=1,
        )
    )
    tries, most = 0, max(1, int(3 * expected))
    batch = max(1, min(64, most, (1 << 22) // (whole.shape[1] * (columns + SPARE + 1))))
    end, found = time.perf_counter() + seconds, list[tuple[int, ...]]()
    while tries < most and time.perf_counter() < end:
        rows = np.stack(
            [
                task.generator.choice(table.rows, columns + 1 + SPARE, replace=False)
                for _ in range(batch)
            ]
        )
        solutions, fits = solve_many(whole[rows], columns + 1)
        tries += batch
        found += _subsets(task, solutions[fits, :-1])
        task.tell(tries / most, f"random rows: {tries:,} tries")
        if supported(task, found) is not None:
            break
    draws = Draws("rows", tries, columns + 1 + SPARE, expected, noise=noise)
    step = Step("elimination", _ended(task, tries >= most, found), draws=draws)
    return Candidates(found, (step,), covered=noise if tries >= most else 0.0)


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
    draws = Draws("columns", tries, drawn, expected, members=size)
    step = Step("restarts", _ended(task, tries >= most, found), clean=True, draws=draws)
    return Candidates([each for each in found if task.k is None or len(each) == task.k], (step,))


def _ended(task: Task, enough: bool, found: list[tuple[int, ...]]) -> Stop:
    """Why drawing ended. enough: whether all tries were made."""
    if supported(task, found) is not None:
        return Stop.FOUND
    return Stop.EXHAUSTED if enough else Stop.BUDGET


def _reach(columns: int, drawn: int, tries: float) -> int:
    """The most members for which five times the expected tries can be made."""
    size = 1
    while size < drawn and 5 * column_tries(columns, drawn, size + 1) <= tries:
        size += 1
    return size


def _subsets(task: Task, solutions: np.ndarray) -> list[tuple[int, ...]]:
    return [named(task, tuple(np.flatnonzero(each).tolist())) for each in solutions]

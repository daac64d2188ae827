"""Random parts of the rows or of the columns, solved by elimination until one is right."""

import math
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from xorfind.answer import Step, Stop
from xorfind.gf2 import affine_of, solve_many
from xorfind.rows import packed
from xorfind.solvers.growth import named, supported, visible_noise
from xorfind.solvers.judge import Candidates, Task
from xorfind.solvers.syndrome import CHECKS, WRONG, corrected
from xorfind.statistics import share_text
from xorfind.words import counted

#: Rows beyond the unknowns: a wrong system passes with chance 2^-SPARE.
SPARE = 8
#: Rows kept for the vote when columns are drawn, so that a fit is no accident.
SLACK = 20
#: Word operations per second assumed when a search is planned.
RATE = 1.5e8
#: Cubed columns per second, likewise, of large systems one at a time.
SYNDROME_RATE = 1e11
#: Columns up to which many small systems at once are quicker than one at a time by strips of eight.
SMALL = 1000
#: Sets of kept columns. A draw solves some systems: the sets that come out, and how many tries.
Subsets = list[tuple[int, ...]]
Draw = Callable[[], tuple[Subsets, int]]


def system_seconds(rows: int, columns: int) -> float:
    """Seconds of one elimination."""
    if columns > SMALL:
        return syndrome_seconds(columns)
    return rows * columns * (1 + columns // 64) / RATE


def syndrome_seconds(columns: int) -> float:
    """Seconds to name one or two wrong labels among a few more rows than columns."""
    return 0.004 + columns * 1e-4 + columns**3 / SYNDROME_RATE


def row_tries(columns: int, noise: float, wrong: int = 0) -> float:
    """Expected tries until a random choice of rows has no wrong label, or one that is corrected.

    Without correction (1-ν)^-(columns + spare); with it, at most `wrong` labels among the columns
    and the rows for the checks may be wrong.

    >>> round(row_tries(100, 0.05)), round(row_tries(100, 0.05, wrong=2))
    (268, 100)
    """
    rows = columns + 1 + (CHECKS if wrong else SPARE)
    odds = noise / (1 - noise)
    inside = sum(math.comb(rows, each) * odds**each for each in range(wrong + 1))
    return math.exp(min(600.0, -rows * math.log1p(-noise) - math.log(inside)))


def column_tries(columns: int, drawn: int, size: int) -> float:
    """Expected tries until random columns hold all of a subset: C(n, k)/C(drawn, k)."""
    if size > drawn:
        return math.inf
    return math.exp(sum(math.log(columns - i) - math.log(drawn - i) for i in range(size)))


def affordable_noise(task: Task, seconds: float, wrong: int = 0) -> float:
    """The noise at which random rows would be right within the time, three times over."""
    columns = task.table.distinct
    each = syndrome_seconds(columns) if wrong else system_seconds(columns + SPARE + 1, columns + 1)
    tries = min(seconds, 1e9) / each / 3
    if tries <= 1:
        return 0.0
    low, high = 0.0, 0.5
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if row_tries(columns, middle, wrong) <= tries else (low, middle)
    return low


def random_rows(
    task: Task, seconds: float = math.inf, size: int | None = None, tries: int | None = None
) -> Candidates:
    """Elimination on random rows, all rows voting on what comes out: for little noise.

    Each try draws a few rows more than columns. Many small systems without a wrong label, or larger
    ones of which up to two wrong labels are corrected: whichever stands more noise in the time.
    size: the smallest that is looked for; tries end where more noise would hide it anyway. tries:
    at most so many, with correction.
    """
    table = task.table
    columns, seconds = table.distinct, min(seconds, task.left)
    visible = visible_noise(task, size or task.k or 1)
    if table.rows < columns + 1 + SPARE or visible < 0:
        return Candidates([], (Step("elimination", Stop.TOO_FEW_ROWS),))
    corrects = table.rows >= columns + 1 + CHECKS
    wrong = max((0, WRONG) if corrects else (0,), key=lambda w: affordable_noise(task, seconds, w))
    wrong = WRONG if tries is not None else wrong
    noise = min(affordable_noise(task, seconds, wrong), visible)
    expected = row_tries(columns, noise, wrong)
    task.tell(0.0, f"random rows: about {expected:,.0f} tries at {noise:.1%} noise")
    most = max(1, int(3 * expected)) if tries is None else tries
    drawn = columns + 1 + (CHECKS if wrong else SPARE)
    draw_some: Draw = partial(_batch, task, drawn, most)
    if wrong or columns > SMALL:
        draw_some = partial(_single, task, drawn, wrong)
    found, made = _drawn(task, draw_some, most, seconds, "rows")
    words = f"{counted(made, 'random draw')} of {drawn} rows, "
    words += f"solved as if {f'up to {wrong} labels' if wrong else 'no label'} were wrong, "
    words += f"enough for {share_text(noise, 1)} noise"
    step = Step("elimination", _ended(task, made >= most, found), words=words)
    return Candidates(found, (step,), covered=noise if made >= most else 0.0)


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
        found += [named(task, each) for each in sets]
        task.tell(min(1.0, made / most), f"random {what}: {made:,} tries")
        if supported(task, found) is not None:
            break
    return found, made


def _batch(task: Task, drawn: int, most: int) -> tuple[Subsets, int]:
    """Many small systems at a time, none of whose labels may be wrong."""
    columns = task.table.distinct + 1
    room = (1 << 22) // ((columns // 64 + 1) * drawn)
    batch = max(1, min(64, most, room))
    rows = [_choice(task, drawn) for _ in range(batch)]
    systems = packed(_whole(task, np.concatenate(rows))).reshape(batch, drawn, -1)
    solutions, fits = solve_many(systems, columns)
    return [_members(each[:-1]) for each in solutions[fits]], batch


def _single(task: Task, drawn: int, wrong: int) -> tuple[Subsets, int]:
    """One system of which up to so many labels, none or two, may be wrong; it minds the clock."""
    system = _whole(task, _choice(task, drawn))
    try:
        if wrong:
            solutions = corrected(system[:, :-1], system[:, -1], task.deadline)
        else:
            found = affine_of(system, system.shape[1] - 1, most=0, deadline=task.deadline)
            solutions = list(found.solutions[found.consistent])
    except TimeoutError:
        solutions = []
    return [_members(each[:-1]) for each in solutions], 1


def _choice(task: Task, count: int) -> np.ndarray:
    """Random rows, each at most once, without a list of all where there are many."""
    return task.generator.choice(task.table.rows, count, replace=False, shuffle=False)


def _whole(task: Task, rows: np.ndarray) -> np.ndarray:
    """Distinct columns, the constant and the labels of some rows, side by side."""
    made = np.ones((len(rows), task.table.distinct + 2), np.uint8)
    made[:, :-2] = task.table.distinct_bits[rows]
    made[:, -1] = task.table.label_bits[rows]
    return made


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
    most = 1 if drawn == columns else math.ceil(min(5 * expected, 1e15))
    found, tries = _drawn(task, partial(_some_columns, task, drawn, most), most, seconds, "columns")
    said = f"{counted(tries, 'random draw')} of {drawn} of {columns} columns that fit every row, "
    said += f"about {expected:,.0f} needed for a set of {size}"
    step = Step("restarts", _ended(task, tries >= most, found), clean=True, words=said)
    return Candidates([each for each in found if task.k is None or len(each) == task.k], (step,))


def _some_columns(task: Task, drawn: int, most: int) -> tuple[Subsets, int]:
    """All rows solved for a few columns, many choices of these at a time."""
    table = task.table
    batch = max(1, min(64, most, (1 << 22) // (-(-(drawn + 2) // 64) * table.rows)))
    every = _whole(task, np.arange(table.rows))
    chosen = [
        np.sort(task.generator.choice(table.distinct, drawn, replace=False)) for _ in range(batch)
    ]
    systems = np.stack([packed(every[:, [*each, -2, -1]]) for each in chosen])
    solutions, fits = solve_many(systems, drawn + 1)
    return [_members(solutions[at, :-1], chosen[at]) for at in np.flatnonzero(fits)], batch


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


def _members(solution: np.ndarray, columns: np.ndarray | None = None) -> tuple[int, ...]:
    """Numbers of the columns that a solution holds; columns: what its entries stand for."""
    held = np.flatnonzero(solution)
    return tuple((held if columns is None else columns[held]).tolist())

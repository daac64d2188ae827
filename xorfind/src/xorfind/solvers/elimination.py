"""The parities that all rows fit: their whole space, its sparsest member, or a contradiction."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from xorfind.answer import Step, Stop
from xorfind.gf2 import Affine, affine_of, affine_solutions, contradiction
from xorfind.rows import LabelledRows
from xorfind.solvers.growth import named
from xorfind.solvers.judge import Candidates, Task
from xorfind.solvers.random_parts import random_rows

#: Dimensions up to which every solution is looked at for the sparsest.
EVERY_DIMENSIONS = 16
#: Rows beyond the columns that a first look takes.
MORE_ROWS = 64
#: Members of a basis that are written down: those of 40,000 columns would take a gigabyte.
MOST_BASIS = 2000


class Solutions(NamedTuple):
    """All subsets that fit every row.

    subset, sign: one of them. basis: the subsets, and whether each flips the sign, that may be
    added to it in any combination. sparsest: the smallest of the `looked` that were looked at.
    """

    subset: tuple[int, ...]
    sign: int
    basis: tuple[tuple[tuple[int, ...], bool], ...]
    sparsest: tuple[int, ...]
    looked: int


def solution_spaces(bits: Any, labels: Any) -> list[Solutions | None]:
    """All parities that fit every row, for one column of labels ±1 or several at once.

    bits: (N, n). labels: (N,) or (N, sides). None where no parity fits; `contradicting_rows` says
    why. One elimination serves all sides.

    >>> rows = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 1]])
    >>> solution_spaces(rows, [1, -1, -1, 1])[0].subset
    (0, 1)
    """
    sides = np.asarray(labels)
    sides = sides[:, None] if sides.ndim == 1 else sides
    if sides.ndim != 2 or not sides.shape[1]:
        raise ValueError(f"labels must have shape (N,) or (N, sides), got {sides.shape}")
    table = LabelledRows(bits, sides[:, 0])
    with_one = _with_constant(table.bits)
    found = affine_solutions(with_one, (sides < 0).astype(np.uint8))
    answers: list[Solutions | None] = []
    for solution, fits in zip(found.solutions, found.consistent, strict=True):
        if not fits:
            answers.append(None)
            continue
        sparsest, looked = sparsest_member(solution, found.basis)
        basis = tuple((_members(each), bool(each[-1])) for each in found.basis)
        sign = -1 if solution[-1] else 1
        answers.append(Solutions(_members(solution), sign, basis, _members(sparsest), looked))
    return answers


def contradicting_rows(bits: Any, labels: Any) -> tuple[int, ...] | None:
    """Rows that prove that no parity fits: an even number of them, every column sums to an even
    number over them, and an odd number of labels is -1. None if some parity fits all rows."""
    table = LabelledRows(bits, labels)
    rows = contradiction(_with_constant(table.bits), table.label_bits)
    return None if rows is None else tuple(rows.tolist())


def sparsest_member(solution: np.ndarray, basis: np.ndarray) -> tuple[np.ndarray, int]:
    """The member with the fewest columns of solution + span(basis), and of how many looked at.

    The last entry is the constant and does not count.
    """
    dimensions = len(basis)
    if dimensions <= EVERY_DIMENSIONS:
        every = solution[None]
        for each in basis:
            every = np.concatenate([every, every ^ each])
    else:
        most = 2 if dimensions <= 1500 else 1
        parts = [solution[None], basis ^ solution]
        if most == 2:
            pairs = np.array(list(combinations(range(min(dimensions, 300)), 2)))
            parts.append(basis[pairs[:, 0]] ^ basis[pairs[:, 1]] ^ solution)
        every = np.concatenate(parts)
    return every[every[:, :-1].sum(axis=1, dtype=np.int64).argmin()], len(every)


def elimination(task: Task) -> Candidates:
    """The parity that all rows fit; if none does, random rows, all rows voting on the outcome."""
    fitting = clean(task)
    if fitting.subsets or task.left <= 0:
        return fitting
    drawn = random_rows(task)
    return drawn._replace(steps=fitting.steps + drawn.steps)


def clean(task: Task) -> Candidates:
    """The sparsest parities that all rows fit, if there are any."""
    task.tell(0.0, "elimination")
    n = task.table.distinct
    words = f"all sets of {n} columns for one that fits every row"
    try:
        found = _fitting(task)
    except TimeoutError:
        return Candidates([], (Step("elimination", Stop.BUDGET, clean=True),))
    if found is None:
        words += " (none does)"
        step = Step("elimination", Stop.CONTRADICTION, every_size=True, clean=True, words=words)
        return Candidates([], (step,))
    sparsest, looked = sparsest_member(found.solutions[0], found.basis)
    members = [sparsest, *_relatives(sparsest, found.basis)]
    subsets = [named(task, _members(each)) for each in members]
    if task.k is not None:
        subsets = [each for each in subsets if len(each) == task.k]
    if found.dimensions:
        whole = looked == 2**found.dimensions
        of = "" if whole else f" of 2^{found.dimensions}"
        words += f" (the smallest of {looked:,}{of} that do)"
    step = Step("elimination", Stop.EXHAUSTED, every_size=True, clean=True, words=words)
    return Candidates([each for each in subsets if each], (step,))


def _fitting(task: Task) -> Affine | None:
    """The parities that fit all rows, None if there are none."""
    table, columns = task.table, task.table.distinct + 1
    some = min(table.rows, columns + MORE_ROWS)
    # A few more rows than columns show a contradiction as well as all of them.
    found = affine_of(_system(table, some), columns, most=MOST_BASIS, deadline=task.deadline)
    if found.consistent[0] and some < table.rows and _misfits(task, found.solutions[0]):
        if not found.dimensions:
            return None
        system = _system(table, table.rows)
        found = affine_of(system, columns, most=MOST_BASIS, deadline=task.deadline)
    return found if found.consistent[0] else None


def _relatives(solution: np.ndarray, basis: np.ndarray) -> list[np.ndarray]:
    """Other solutions that are about as sparse: one relation of the columns away."""
    others = basis ^ solution
    order = others[:, :-1].sum(axis=1, dtype=np.int64).argsort(kind="stable")
    return list(others[order[:50]])


def _misfits(task: Task, solution: np.ndarray) -> int:
    subset = named(task, _members(solution))
    return int(np.count_nonzero(task.table.parity(subset) ^ solution[-1] ^ task.table.label_bits))


def _members(solution: np.ndarray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(solution[:-1]).tolist())


def _system(table: LabelledRows, rows: int) -> np.ndarray:
    """Distinct columns, the constant and the labels of the first rows, side by side."""
    made = np.ones((rows, table.distinct + 2), np.uint8)
    made[:, :-2] = table.distinct_bits[:rows]
    made[:, -1] = table.label_bits[:rows]
    return made


def _with_constant(bits: np.ndarray) -> np.ndarray:
    return np.concatenate([bits, np.ones((len(bits), 1), np.uint8)], axis=1)

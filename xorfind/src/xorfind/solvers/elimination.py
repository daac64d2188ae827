"""The parities that all rows fit: the sparsest member of their space, or a contradiction."""

import numpy as np

from xorfind.answer import Step, Stop
from xorfind.gf2 import Affine, affine_of
from xorfind.solvers.judge import Candidates, Task
from xorfind.solvers.random_parts import random_rows

#: Dimensions up to which every solution is looked at for the sparsest; up to which sums of two
#: members of the basis are, and of how many members.
EVERY_DIMENSIONS, SOME_DIMENSIONS, PAIRED = 16, 1500, 300
#: Rows beyond the columns that a first look takes.
MORE_ROWS = 64
#: Members of a basis that are written down: those of 40,000 columns would take a gigabyte.
MOST_BASIS = 2000


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
    table = task.table
    words = f"all sets of {table.distinct} columns for one that fits every row"
    try:
        found = _fitting(task)
    except TimeoutError:
        return Candidates([], (Step("elimination", Stop.BUDGET, clean=True),))
    if found is None:
        words += " (none does)"
        step = Step("elimination", Stop.CONTRADICTION, every_size=True, clean=True, words=words)
        return Candidates([], (step,))
    sparsest, looked = sparsest_member(found.solutions[0], found.basis)
    # Others that are about as sparse are one relation of the columns away.
    others = found.basis ^ sparsest
    others = others[others[:, :-1].sum(axis=1, dtype=np.int64).argsort(kind="stable")[:50]]
    subsets = [table.named(np.flatnonzero(each[:-1])) for each in (sparsest, *others)]
    if found.dimensions:
        whole = looked == 2**found.dimensions
        of = "" if whole else f" of 2^{found.dimensions}"
        words += f" (the smallest of {looked:,}{of} that do)"
    step = Step("elimination", Stop.EXHAUSTED, every_size=True, clean=True, words=words)
    return Candidates([each for each in subsets if each and task.k in (None, len(each))], (step,))


def sparsest_member(solution: np.ndarray, basis: np.ndarray) -> tuple[np.ndarray, int]:
    """The member with the fewest columns of solution + span(basis), and of how many looked at.

    The last entry is the constant and does not count.
    """
    every = solution[None]
    if len(basis) <= EVERY_DIMENSIONS:
        for each in basis:
            every = np.concatenate([every, every ^ each])
    else:
        paired = min(len(basis), PAIRED) if len(basis) <= SOME_DIMENSIONS else 0
        first, second = np.triu_indices(paired, 1)
        pairs = basis[first] ^ basis[second]
        every = np.concatenate([every, basis ^ solution, pairs ^ solution])
    return every[every[:, :-1].sum(axis=1, dtype=np.int64).argmin()], len(every)


def _fitting(task: Task) -> Affine | None:
    """The parities that fit all rows, None if there are none."""
    table, columns = task.table, task.table.distinct + 1
    # A few more rows than columns show a contradiction as well as all of them.
    for rows in (columns + MORE_ROWS, table.rows):
        system = table.system(slice(rows))
        found = affine_of(system, columns, most=MOST_BASIS, deadline=task.deadline)
        if not found.consistent[0]:
            return None
        solution = found.solutions[0]
        subset = table.named(np.flatnonzero(solution[:-1]))
        if np.array_equal(table.predicted(subset, 1 - 2 * int(solution[-1])), table.label_bits):
            return found
        if not found.dimensions:
            return None
    return None

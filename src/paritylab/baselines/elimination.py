"""The parities that fit all rows: the sparsest of them, or a contradiction."""

import numpy as np

from paritylab.baselines.answer import Step, Stop
from paritylab.baselines.gf2 import Affine, solve_augmented
from paritylab.baselines.random_systems import random_rows
from paritylab.baselines.task import Candidates, Task

#: Dimension up to which every solution is enumerated for the sparsest; up to which sums of two
#: members of the basis are, and of how many members.
MAX_ENUMERATED, MAX_PAIR_DIMENSION, PAIRED_MEMBERS = 16, 1500, 300
#: Rows beyond the columns of the first elimination.
EXTRA_ROWS = 64
#: Members of a basis that are kept: those of 40,000 columns would take a gigabyte.
BASIS_SIZE = 2000


def elimination(task: Task) -> Candidates:
    """The parity that fits all rows; if none does, random rows, all rows voting on the outcome."""
    noiseless = noiseless_elimination(task)
    if noiseless.subsets or task.seconds_left <= 0:
        return noiseless
    random = random_rows(task)
    return random._replace(steps=noiseless.steps + random.steps)


def noiseless_elimination(task: Task) -> Candidates:
    """The sparsest parities that fit all rows, if there are any."""
    task.report(0.0, "elimination")
    table = task.table
    try:
        solutions = _fitting_parities(task)
    except TimeoutError:
        return Candidates([], (Step("elimination", Stop.BUDGET, clean=True),))
    stop = Stop.CONTRADICTION if solutions is None else Stop.EXHAUSTED
    step = Step("elimination", stop, every_size=True, clean=True)
    if solutions is None:
        return Candidates([], (step,))
    sparsest, _ = sparsest_member(solutions.solutions[0], solutions.basis)
    # Alternatives that are about as sparse are one relation of the columns away.
    alternatives = solutions.basis ^ sparsest
    order = alternatives[:, :-1].sum(axis=1, dtype=np.int64).argsort(kind="stable")
    subsets = [
        table.columns_of(np.flatnonzero(row[:-1])) for row in (sparsest, *alternatives[order[:50]])
    ]
    return Candidates([s for s in subsets if s and task.k in (None, len(s))], (step,))


def sparsest_member(solution: np.ndarray, basis: np.ndarray) -> tuple[np.ndarray, int]:
    """The member with the fewest columns of solution + span(basis), and how many were examined.

    The last entry is the constant and does not count.
    """
    members = solution[None]
    if len(basis) <= MAX_ENUMERATED:
        for row in basis:
            members = np.concatenate([members, members ^ row])
    else:
        paired = min(len(basis), PAIRED_MEMBERS) if len(basis) <= MAX_PAIR_DIMENSION else 0
        first, second = np.triu_indices(paired, 1)
        pairs = basis[first] ^ basis[second]
        members = np.concatenate([members, basis ^ solution, pairs ^ solution])
    return members[members[:, :-1].sum(axis=1, dtype=np.int64).argmin()], len(members)


def _fitting_parities(task: Task) -> Affine | None:
    """The parities that fit all rows, None if there are none."""
    table, columns = task.table, task.table.distinct + 1
    # A few more rows than columns show a contradiction as well as all of them.
    for rows in (columns + EXTRA_ROWS, table.rows):
        system = table.system(slice(rows))
        affine = solve_augmented(system, columns, basis_size=BASIS_SIZE, deadline=task.deadline)
        if not affine.consistent[0]:
            return None
        solution = affine.solutions[0]
        subset = table.columns_of(np.flatnonzero(solution[:-1]))
        if np.array_equal(table.predict(subset, 1 - 2 * int(solution[-1])), table.label_bits):
            return affine
        if not affine.dimension:
            return None
    return None

"""One verb for all solvers: rows in, an answer out."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from xorfind.answer import Answer, Step, Stop
from xorfind.checks import shortened, whole
from xorfind.evidence.dependence import (
    MOST_IN_ORDER,
    Dependence,
    RowsUsed,
    is_sorted,
    one_of_each,
    rows_apart,
)
from xorfind.evidence.form import Finer
from xorfind.rows import LabelledRows
from xorfind.solvers.auto import auto
from xorfind.solvers.elimination import elimination
from xorfind.solvers.growth import correlation
from xorfind.solvers.judge import Candidates, Task, answer_for
from xorfind.solvers.meeting import meeting
from xorfind.solvers.random_parts import restarts
from xorfind.solvers.reduction import reduction
from xorfind.solvers.walsh import walsh

#: Each looks at a task and names candidates.
SOLVERS: dict[str, Callable[[Task], Candidates]] = {
    "auto": auto,
    "elimination": elimination,
    "walsh": walsh,
    "reduction": reduction,
    "meeting": meeting,
    "restarts": restarts,
    "correlation": correlation,
}
METHODS: tuple[str, ...] = tuple(SOLVERS)
#: What may be said of rows.
ROWS = ("independent", "check")
#: Seconds a search may take where nothing else is said.
BUDGET = 30.0
#: How often similar rows are left out before the answer is given as it is.
MOST_ROUNDS = 5


def solve(
    bits: Any,
    labels: Any,
    *,
    k: int | None = None,
    method: str = "auto",
    alpha: float = 0.01,
    budget: float | None = None,
    key: Any = 0,
    progress: Callable[[float, str], None] | None = None,
    rows: str = "independent",
    groups: Any = None,
    finer: Finer | None = None,
) -> Answer:
    """The subset of columns whose parity the labels are, with its evidence, or an abstention.

    bits: 0/1, (N, n). labels: ±1 or 0/1 (where 1 counts as -1), (N,). k: the subset's size where
    it is known. method: a name in METHODS. alpha: chance that labels without any relation to the
    columns get an answer. budget: seconds, 30 if None. key: seed of searches that draw. progress:
    called with a fraction and a text. rows: "independent" takes them as such, which p-values
    assume; "check" looks first and leaves out what depends on other rows. groups: one value per
    row; one row of each group is used. finer: other cuts of the numbers that columns were cut from;
    if labels depend on those as well, a parity is only related to them.

    >>> bits = np.random.default_rng(0).integers(0, 2, (200, 30))
    >>> solve(bits, bits[:, 4] ^ bits[:, 11] ^ bits[:, 17]).subset
    (4, 11, 17)
    """
    if rows not in ROWS:
        raise ValueError(f"rows must be one of {', '.join(ROWS)}, got {shortened(rows)}")
    table = LabelledRows(bits, labels)
    check_search(method, alpha, budget, k, table.n)
    end = time.perf_counter() + (BUDGET if budget is None else float(budget))
    used = None if rows == "independent" else RowsUsed(table.rows, table.rows)
    task = Task(table, k, alpha, end, np.random.default_rng(key), progress, used, finer)
    if groups is not None:
        return _run(_one_per_group(task, groups), method)
    task.ordered = rows == "check" and not _in_counting_order(table)
    answer = _run(task, method)
    for _ in range(MOST_ROUNDS if rows == "check" else 0):
        smaller = _apart(task, answer)
        if smaller is None:
            break
        task, answer = smaller, _run(smaller, method)
    return answer


def check_search(
    method: str, alpha: float, budget: float | None, k: int | None, columns: int | None = None
) -> None:
    """One clear error for what a search cannot be asked with. columns: that there are, if known."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {shortened(method)}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {shortened(alpha)}")
    if budget is not None and not budget > 0:
        raise ValueError(f"budget must be a number of seconds above 0, got {shortened(budget)}")
    if k is not None:
        whole("k", k, 1, columns)


def _run(task: Task, method: str) -> Answer:
    """One search and its answer; where nothing can depend on anything nothing is searched."""
    table = task.table
    if table.distinct and 0 < table.minus < table.rows:
        return answer_for(task, SOLVERS[method](task))
    return answer_for(task, Candidates([], (Step(method, Stop.NOT_APPLICABLE),)))


def _in_counting_order(table: LabelledRows) -> bool:
    some = table.bits[:MOST_IN_ORDER]
    return is_sorted(some) or is_sorted(some[:, ::-1])


def _apart(task: Task, answer: Answer) -> Task | None:
    """The same task for rows far enough apart, if what the answer leaves open is shared by similar
    rows; None if it is not. Where the order of rows left nothing supported, copies are looked for:
    one of each says more than the order of all."""
    if not answer.supported and Dependence.ORDER not in answer.used.why:
        return None
    rest = answer.form.rest
    suspected = bool({Dependence.ORDER, Dependence.FAMILIES} & set(answer.used.why))
    found = rows_apart(
        task.table.bits,
        task.table.label_bits,
        tuple(dict.fromkeys((*answer.best.subset, *(rest.columns if rest is not None else ())))),
        related=rest is not None,
        suspected=suspected,
    )
    if found is None or not (answer.supported or found[1] is Dependence.REPEATED):
        return None
    chosen, why = found
    whys = tuple(dict.fromkeys((*(answer.used.why if answer.supported else ()), why)))
    return replace(
        task.of_rows(chosen),
        # Rows far apart may still be a little alike: a tenth of the level makes up for that.
        alpha=task.alpha / 10 if why is Dependence.FAMILIES and not suspected else task.alpha,
        used=answer.used._replace(used=len(chosen), why=whys, effective=None),
    )


def _one_per_group(task: Task, groups: Any) -> Task:
    """The same task for a random row of each group that the user names."""
    rows = task.table.rows
    if len(groups) != rows:
        raise ValueError(f"groups need one value per row, {rows}, got {len(groups)}")
    chosen = one_of_each(groups)
    if len(chosen) < 2:
        raise ValueError("all rows are of one group; a parity needs rows of several")
    used = RowsUsed(rows, len(chosen), (Dependence.GROUPS,))
    return replace(task.of_rows(chosen), used=used)

"""One verb for all solvers: rows in, an answer out."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from paritylab.checks import told
from paritylab.solvers.answer import Answer
from paritylab.solvers.attention import attention
from paritylab.solvers.auto import auto
from paritylab.solvers.elimination import elimination
from paritylab.solvers.form import Finer
from paritylab.solvers.growth import correlation
from paritylab.solvers.independent_rows import RowsUsed, independent_rows
from paritylab.solvers.judge import Candidates, Task, answer_for
from paritylab.solvers.labelled_rows import LabelledRows
from paritylab.solvers.meet_in_the_middle import meeting
from paritylab.solvers.outcome import Step, Stop
from paritylab.solvers.random_parts import restarts
from paritylab.solvers.walsh import walsh

SOLVERS: dict[str, Callable[[Task], Candidates]] = {
    "auto": auto,
    "elimination": elimination,
    "walsh": walsh,
    "meeting": meeting,
    "restarts": restarts,
    "correlation": correlation,
    "attention": attention,
}
#: What may be said of rows.
ROWS = ("independent", "check")
METHODS: tuple[str, ...] = tuple(SOLVERS)

#: Seconds a search may take where nothing else is said.
BUDGET = 30.0


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

    bits: 0/1, (N, n). labels: ±1, (N,). k: the subset's size where it is known. alpha: chance that
    labels without any relation to the columns get an answer. budget: seconds, 30 if None. progress:
    called with a fraction and a text. rows: "independent" takes them as such, which p-values
    assume; "check" looks first and leaves out what depends on other rows. groups: one value per
    row; one row of each group is used. finer: other cuts of the numbers that columns
    were cut from; if labels depend on those as well, a parity is only related to them.

    >>> from paritylab.problem import Parity, sample
    >>> rows = sample(Parity(30, (4, 11, 17), noise=0.1), key=0, size=200)
    >>> solve(rows.bits, rows.labels).subset
    (4, 11, 17)
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {told(method)}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {told(alpha)}")
    if budget is not None and not budget > 0:
        raise ValueError(f"budget must be a number of seconds above 0, got {told(budget)}")
    if rows not in ROWS:
        raise ValueError(f"rows must be one of {', '.join(ROWS)}, got {told(rows)}")
    table = LabelledRows(bits, labels)
    used: RowsUsed | None = None
    if rows == "check" or groups is not None:
        table, used, chosen = _independent(table, groups)
        finer = None if finer is None else finer._replace(bits=finer.bits[chosen])
    if k is not None and not 1 <= k <= table.n:
        raise ValueError(f"k must be between 1 and n={table.n}, got {told(k)}")
    limit = BUDGET if budget is None else float(budget)
    task = Task(
        table,
        k,
        alpha,
        time.perf_counter() + limit,
        np.random.default_rng(_words(key)),
        progress,
        used,
        finer,
    )
    if not table.distinct or abs(int(table.labels.sum(dtype=np.int64))) == table.rows:
        return answer_for(task, Candidates([], (Step(method, Stop.NOT_APPLICABLE),)))
    return answer_for(task, SOLVERS[method](task))


def _independent(table: LabelledRows, groups: Any) -> tuple[LabelledRows, RowsUsed, np.ndarray]:
    """The rows that may be called independent; columns that only follow their order are blanked."""
    if groups is not None and len(groups) != table.rows:
        raise ValueError(f"groups need one value per row, {table.rows}, got {len(groups)}")
    chosen, used = independent_rows(table.bits, table.labels, groups)
    if len(chosen) < 2:
        raise ValueError("all rows are of one group; a parity needs rows of several")
    if used.used == used.total and not used.left_out:
        return table, used, chosen
    bits = table.bits[chosen]
    bits[:, list(used.left_out)] = 0
    return LabelledRows(bits, table.labels[chosen]), used, chosen


def _words(key: Any) -> list[int]:
    if isinstance(key, int | np.integer):
        return [int(key)]
    import jax

    return [int(word) for word in np.asarray(jax.random.key_data(key)).ravel()]

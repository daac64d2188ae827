"""One function for all solvers: rows in, an answer out."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from paritylab._support.checks import shortened, whole
from paritylab.baselines.answer import Answer, Step, Stop
from paritylab.baselines.auto import auto
from paritylab.baselines.elimination import elimination
from paritylab.baselines.growing_sizes import correlation
from paritylab.baselines.labelled_rows import LabelledRows
from paritylab.baselines.meet_in_the_middle import meeting
from paritylab.baselines.pair_reduction import reduction
from paritylab.baselines.random_systems import restarts
from paritylab.baselines.selection import answer_from
from paritylab.baselines.task import Candidates, Task
from paritylab.baselines.walsh import walsh

#: Each searches for a task's parity and returns candidates.
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
#: Default seconds of a search.
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
) -> Answer:
    """The subset of columns whose parity the labels are, with its evidence, or an abstention.

    The p-value assumes that rows are independent draws; the columns may be biased or dependent.

    bits: 0/1, (N, n). labels: ±1 or 0/1 (where 1 counts as -1), (N,). k: the subset's size where
    it is known. method: a name in METHODS:

    - "elimination": labels without noise, any size; a little noise by random systems of rows
    - "restarts": labels without noise, fewer rows than columns; random systems of columns
    - "meeting": labels without noise, meet in the middle, C(n, k/2) steps
    - "walsh": up to 26 columns, every subset at once, any noise that the rows support
    - "reduction": 27 to 48 columns and many rows, one step of Blum, Kalai and Wasserman
    - "correlation": every subset of sizes 1, 2, …, any noise that the rows support
    - "auto": cheap methods first, expensive ones while budget is left

    alpha: chance that labels without any relation to the columns get an answer. budget: seconds,
    30 if None. key: seed of searches that draw. progress: called with a fraction and a text.

    >>> bits = np.random.default_rng(0).integers(0, 2, (200, 30))
    >>> solve(bits, bits[:, 4] ^ bits[:, 11] ^ bits[:, 17]).subset
    (4, 11, 17)
    """
    table = LabelledRows(bits, labels)
    _check_options(method, alpha, budget, k, table.n)
    deadline = time.perf_counter() + (BUDGET if budget is None else float(budget))
    task = Task(table, k, alpha, deadline, np.random.default_rng(key), progress)
    if table.distinct and 0 < table.minus < table.rows:
        return answer_from(task, SOLVERS[method](task))
    return answer_from(task, Candidates([], (Step(method, Stop.NOT_APPLICABLE),)))


def _check_options(
    method: str, alpha: float, budget: float | None, k: int | None, columns: int
) -> None:
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {shortened(method)}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {shortened(alpha)}")
    if budget is not None and not budget > 0:
        raise ValueError(f"budget must be a number of seconds above 0, got {shortened(budget)}")
    if k is not None:
        whole("k", k, 1, columns)

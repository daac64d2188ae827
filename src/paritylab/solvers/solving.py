"""One verb for all solvers: rows in, an answer out."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from paritylab.solvers.answer import Answer
from paritylab.solvers.attention import attention
from paritylab.solvers.auto import auto
from paritylab.solvers.elimination import elimination
from paritylab.solvers.growth import correlation
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
) -> Answer:
    """The subset of columns whose parity the labels are, with its evidence, or an abstention.

    bits: 0/1, (N, n). labels: ±1, (N,). k: the subset's size where it is known. alpha: chance that
    labels without any relation to the columns get an answer. budget: seconds, 30 if None. progress:
    called with a fraction and a text.

    >>> from paritylab.problem import Parity, sample
    >>> rows = sample(Parity(30, (4, 11, 17), noise=0.1), key=0, size=200)
    >>> solve(rows.bits, rows.labels).subset
    (4, 11, 17)
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha!r}")
    if budget is not None and not budget > 0:
        raise ValueError(f"budget must be a number of seconds above 0, got {budget!r}")
    table = LabelledRows(bits, labels)
    if k is not None and not 1 <= k <= table.n:
        raise ValueError(f"k must be between 1 and n={table.n}, got {k!r}")
    limit = BUDGET if budget is None else float(budget)
    task = Task(
        table, k, alpha, time.perf_counter() + limit, np.random.default_rng(_words(key)), progress
    )
    if not table.distinct or abs(int(table.labels.sum(dtype=np.int64))) == table.rows:
        return answer_for(task, Candidates([], (Step(method, Stop.NOT_APPLICABLE),)))
    return answer_for(task, SOLVERS[method](task))


def _words(key: Any) -> list[int]:
    if isinstance(key, int | np.integer):
        return [int(key)]
    import jax

    return [int(word) for word in np.asarray(jax.random.key_data(key)).ravel()]

"""Attention on rows: one gradient step for two columns, annealed heads for more.

Three quarters of the rows train, the others are the evidence: one subset is named before they are
looked at, so nothing but its own two signs needs correction.
"""

import jax
import numpy as np

from paritylab.learning.data import Rows
from paritylab.learning.heads.anneal import Annealed
from paritylab.learning.runs import learn
from xorfind.answer import Step, Stop
from xorfind.solvers.judge import Candidates, Task

#: Sizes tried where none is given.
SIZES = (2, 3, 4)
HELD_OUT = 0.25


def attention(task: Task) -> Candidates:
    """What attention names, judged by rows it has not seen."""
    table = task.table
    order = task.generator.permutation(table.rows)
    held = min(max(1, round(HELD_OUT * table.rows)), table.rows - 1)
    train, unseen = np.sort(order[held:]), np.sort(order[:held])
    sizes = SIZES if task.k is None else (task.k,)
    subsets = []
    for number, size in enumerate(sizes):
        if number and task.left <= 0:
            break
        task.tell(number / len(sizes), f"{size} heads")
        found = _one_step(task, train) if size == 2 else _annealed(task, train, size)
        if len(found) == size:
            subsets.append(found)
    whole = len(sizes) == 1 or task.left > 0
    what = "one step of two heads" if sizes == (2,) else "annealed heads"
    words = f"{what} on {len(train)} rows, sizes {', '.join(map(str, sizes))}"
    step = Step("attention", Stop.EXHAUSTED if whole else Stop.BUDGET, words=words)
    return Candidates(subsets, (step,), unseen=unseen)


def _one_step(task: Task, train: np.ndarray) -> tuple[int, ...]:
    """The two columns whose attention one gradient step from equal weights raises most.

    With z the mean of the signs s, the prediction ŷ = 1 - 2z² and the loss -yŷ, the step raises the
    weight of column l by a multiple of -mean(y z s_l); the squared loss would add the pull of ŷ on
    itself, which is alike for all columns but for its noise. The label of a pair is minus its sign
    product, so the step is made for labels and for their opposites, and the pair that fits its own
    rows better is named.
    """
    table = task.table
    # Rows that do not train have no weight, so that the columns need not be copied.
    labels = np.zeros(table.rows, np.float32)
    labels[train] = table.labels[train]
    order = np.argsort(table.signs @ (labels * table.signs.mean(axis=0)), kind="stable")
    pairs = (order[:2], order[-2:])
    best = max(pairs, key=lambda pair: abs(labels @ table.signs[pair].prod(axis=0)))
    return tuple(sorted(table.kept[best].tolist()))


def _annealed(task: Task, train: np.ndarray, size: int) -> tuple[int, ...]:
    """The columns that annealed heads end on; the run with the best fit on its own rows of four."""
    table = task.table
    bits, labels = table.distinct_bits[train], table.labels[train]
    data = Rows(bits, labels, held_out=HELD_OUT)
    key = jax.random.key(int(task.generator.integers(1 << 31)))
    runs = learn(Annealed(k=size, steps=600, restarts=1), data, runs=4, key=key)
    best = int(np.argmax(np.nan_to_num(runs.stats["correlation"])))
    found = runs.subset[best] or ()
    return tuple(table.kept[list(found)].tolist())

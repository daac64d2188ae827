"""What a block of runs will cost, from its sizes alone: memory and time before anything starts.

The figures are rough, within a factor of a few of what was measured; they are there to refuse what
no machine at hand can do and to say when a wait is long.
"""

import os
from typing import NamedTuple

from paritylab.sweep.spec import Spec

#: Seconds of one block beyond which it is refused: a week.
MOST_SECONDS = 7 * 24 * 3600.0
#: Numbers held per head and position while gradients are taken.
_KEPT = 24
#: Simple operations a second, one core.
_SPEED = 4e8
#: Operations per head, position and exact step: by half sums up to 20 bits, by series beyond.
_SMALL, _WORK_SMALL, _WORK = 20, 500, 4000
#: Learners that draw their rows in batches, so that memory does not grow with them.
_STREAMING = {"xor", "teacher", "levels", "layers", "full-batch", "hiding-oracle"}
#: Solvers take one run at a time.
_SOLVERS = {
    "auto",
    "elimination",
    "walsh",
    "meeting",
    "restarts",
    "correlation",
    "attention-on-rows",
}
#: Learners with weights from every position to as many units as their width.
_NETWORKS = {"feedforward": "width", "frozen": "heads", "recurrent": "width"}


class Cost(NamedTuple):
    """Of one block: bytes of memory held at once, and seconds."""

    memory: float
    seconds: float

    def __str__(self) -> str:
        return f"about {_bytes(self.memory)} and {_time(self.seconds)} a block"


def cost_of(spec: Spec, learner: object) -> Cost:
    """A rough estimate; a learner of one's own is charged for its rows only.

    >>> from paritylab.sweep.blocks import learner_of
    >>> spec = Spec.make("heads", {"n": 12, "k": 2}, {"preset": "code"}, block=20)
    >>> print(cost_of(spec, learner_of(spec)))
    about 0.1 MB and 1.2 s a block
    """
    problem = dict(spec.problem)
    n, k = problem.get("n", 1), problem.get("k") or 2
    rows, steps = problem.get("samples", 0), getattr(learner, "steps", None) or 1
    units = _units(spec.learner, learner, k)
    held = rows * n * (1 if spec.learner in _SOLVERS else 8)
    if spec.learner in _STREAMING:
        held = min(rows, 4096) * (n + k) * 8
    elif spec.learner not in _SOLVERS:
        held *= spec.block
    weights = spec.block * units * n * 8 * _KEPT
    work = spec.block * units * n * steps * (_WORK_SMALL if n <= _SMALL else _WORK)
    if rows:
        visits = 1 if spec.learner in _SOLVERS | {"teacher"} else steps
        work = spec.block * rows * n * visits
    return Cost(float(held + weights), work / _SPEED)


def check_cost(spec: Spec, learner: object) -> Cost:
    """The cost of a block; a ValueError where this machine cannot bear it."""
    cost, there = cost_of(spec, learner), machine_memory()
    if cost.memory > there:
        raise ValueError(
            f"a block of {spec.block} runs needs about {_bytes(cost.memory)} of memory, this "
            f"machine has {_bytes(there)}: {_advice(spec)}"
        )
    if cost.seconds > MOST_SECONDS:
        raise ValueError(
            f"a block of {spec.block} runs would take about {_time(cost.seconds)}: {_advice(spec)}"
        )
    return cost


def machine_memory() -> float:
    """Bytes of main memory; no limit where the system does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return float("inf")


def _units(name: str, learner: object, k: int) -> float:
    """Heads, or neurons, that look at every position; 0 for learners of one's own."""
    if name in ("heads", "anneal", "one-step"):
        return float(getattr(learner, "heads", None) or k)
    if name in _NETWORKS:
        return float(getattr(learner, _NETWORKS[name], 1))
    if name in _STREAMING - {"xor"}:
        return k / 16
    return 0.1 if name in _SOLVERS | {"xor"} else 0


def _advice(spec: Spec) -> str:
    given = {**dict(spec.problem), **dict(spec.settings)}
    sizes = [name for name in ("n", "samples", "heads", "width", "steps") if name in given]
    return f"give a smaller {', '.join(sizes)} or fewer runs a block"


def _bytes(size: float) -> str:
    if size < 2**30:
        return f"{size / 2**20:.1f} MB"
    return f"{size / 2**30:,.0f} GB" if size < 2**40 else f"{size / 2**40:,.0f} TB"


def _time(seconds: float) -> str:
    for unit, length in (("years", 365 * 86400), ("days", 86400), ("hours", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.1f} s"

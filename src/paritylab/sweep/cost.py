"""What a block of runs will cost, from its sizes alone: memory and time before anything starts.

The figures are rough, within a factor of a few of what was measured; they are there to refuse what
no machine at hand can do and to say when a wait is long. A learner that is not the lab's own may
take any time: that is said, not guessed.
"""

import math
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from paritylab.sweep.spec import Spec

#: Seconds of one block beyond which it is refused: a week.
MOST_SECONDS = 7 * 24 * 3600.0
#: Numbers held per head and position while gradients are taken.
_KEPT = 24
#: Simple operations a second, one core.
_SPEED = 4e8
#: Seconds of a block that has nothing to do.
_CALL = 0.04
#: Operations per head, position and exact step: by half sums up to 20 bits, by series beyond.
_SMALL, _WORK_SMALL, _WORK = 20, 300, 4000
#: Operations, measured by benchmarks/costs.py: of networks per weight, row and step; of learners on
#: strings per row, position and step, for two of them also per thought; of "xor" per position and
#: column of its code.
_TRAINED = {"feedforward": 0.33, "frozen": 2.0, "recurrent": 18.0, "hinge-net": 0.08}
_TRAINED["sign-descent"] = 1.5
_READ = {"teacher": 3.0, "levels": 2.6, "layers": 4.6, "full-batch": 3.5, "hiding-oracle": 0.38}
_JUDGED = 16
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
#: Learners with weights from every position to as many units as this setting says.
_NETWORKS = {
    "feedforward": "width",
    "frozen": "heads",
    "recurrent": "width",
    "hinge-net": "width",
    "sign-descent": "width",
}
#: What makes a block large, and may be made smaller.
_SIZES = ("n", "samples", "heads", "width", "steps", "strings", "restarts", "budget")
#: What such a setting stands for where it is left open.
_USUAL_WIDTH = 1000


class Cost(NamedTuple):
    """Of one block: bytes of memory held at once, and seconds of one core, its compiling left out;
    not a number if nobody knows. at_most: it may end sooner, once it has found what it looks for.
    """

    memory: float
    seconds: float
    at_most: bool = False

    def __str__(self) -> str:
        if math.isnan(self.seconds):
            return f"{_bytes(self.memory)} or more and an unknown time a block"
        most = "at most " if self.at_most else ""
        return f"about {_bytes(self.memory)} and {most}{_time(self.seconds)} a block"


class _Sizes(NamedTuple):
    """What the estimate of a learner is made from."""

    block: int
    n: int
    k: int
    rows: int
    setting: Callable[[str, float], float]

    @property
    def inputs(self) -> float:
        """Rows of a step: those given, or all inputs."""
        return float(self.rows or 2 ** min(self.n, 1000))


def cost_of(spec: Spec, learner: object) -> Cost:
    """A rough estimate; of a learner of one's own only the memory for its rows is known.

    >>> from paritylab.sweep.blocks import learner_of
    >>> spec = Spec.make("heads", {"n": 12, "k": 2}, {"preset": "code"}, block=20)
    >>> print(cost_of(spec, learner_of(spec)))
    about 0.1 MB and 0.8 s a block
    """
    problem = dict(spec.problem)

    def setting(name: str, usual: float) -> float:
        value = getattr(learner, name, None)
        return float(value) if isinstance(value, int | float) else usual

    n, k, rows = problem.get("n", 1), problem.get("k") or 2, problem.get("samples", 0)
    sizes = _Sizes(spec.block, n, k, rows, setting)
    units = _units(spec.learner, learner, sizes)
    held = rows * n * (1 if spec.learner in _SOLVERS else 8)
    if spec.learner in _STREAMING:
        held = min(rows, 4096) * (n + k) * 8
    elif spec.learner not in _SOLVERS:
        held *= spec.block
    weights = spec.block * units * n * 8 * _KEPT
    seconds = _seconds(spec.learner, sizes, units)
    return Cost(float(held + weights), seconds, spec.learner in {*_SOLVERS, "anneal"})


def _seconds(name: str, of: _Sizes, units: float) -> float:
    """Seconds of a block of this learner."""
    steps, exact = of.setting("steps", 1), _WORK_SMALL if of.n <= _SMALL else _WORK
    if name in _SOLVERS:
        return of.block * of.setting("budget", math.nan)
    if name == "levels":
        read = of.rows * max(of.k - 1, 1) * _READ[name]
        work = of.block * (read + of.setting("strings", 0) * of.n) * of.n * steps
    elif name in _READ:
        thoughts = of.k if name == "hiding-oracle" else 1
        work = of.block * of.rows * of.n * thoughts * _READ[name] * steps
    elif name == "xor":
        width = of.setting("width", 12 * math.log(max(of.n, 2)))
        work = of.block * (of.rows * (of.n + width) * steps + of.n * width * _JUDGED)
    elif name == "sign-descent" and not of.rows:
        work = of.block * of.n * units * _TRAINED[name] * steps
    elif name in _NETWORKS:
        work = of.block * of.inputs * of.n * units * _TRAINED[name] * steps
    elif name in ("heads", "anneal", "one-step") and of.rows:
        work = 0.6 * of.block * of.rows * of.n * max(units, 1) * steps
    elif name in ("heads", "anneal", "one-step"):
        work = of.block * units * of.n * steps * exact
    else:
        return math.nan
    return _CALL + float(work) * (1 + of.setting("restarts", 0)) / _SPEED


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


def _units(name: str, learner: Any, of: _Sizes) -> float:
    """Heads, or neurons, that look at every position; 0 for learners of one's own."""
    if name in ("heads", "anneal", "one-step"):
        return float(getattr(learner, "heads", None) or of.k)
    if name in _NETWORKS:
        return of.setting(_NETWORKS[name], _USUAL_WIDTH)
    if name == "xor":
        return max(0.1, of.setting("width", 1) / _KEPT)
    if name in _STREAMING:
        return of.k / 16
    return 0.1 if name in _SOLVERS else 0


def _advice(spec: Spec) -> str:
    given = {**dict(spec.problem), **dict(spec.settings)}
    sizes = [name for name in _SIZES if name in given]
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

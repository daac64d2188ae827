"""Where training starts."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims.engine.figures import Line, Lines, Mark
from paritylab.claims.engine.registry import Efforts, claim
from paritylab.claims.engine.running import Trial
from paritylab.claims.engine.sources import HG1
from paritylab.claims.engine.verdict import Judged, holds, refuted, undecided
from paritylab.learning import Heads, Population, learn
from paritylab.problem import random_parities
from paritylab.statistics import mean_interval

#: Temperatures the paper allows (0 < tau ≤ 1): the one of its proof and the softest.
TEMPERATURES = ("1/n", "1")


class Starts(NamedTuple):
    """Exact risks of random heads on random targets, one entry per cell.

    tau: "1/n" or "1". n, k: sizes. mean, low, high: mean risk over the runs with its 95 % interval.
    least: the smallest single risk. runs: runs per cell.
    """

    tau: list[str]
    n: np.ndarray
    k: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    least: np.ndarray
    runs: int


@claim(
    "hg1-start-risk",
    source=HG1("Theorem 5"),
    title="The risk at the start is 1",
    statement="Since the loss at initialisation is 1: with heads at random angles the mean "
    "squared-hinge risk before the first step is 1.",
    efforts=Efforts(
        quick={"sizes": (8, 12), "runs": 32},
        default={"sizes": (8, 20), "runs": 64},
        full={"sizes": (8, 12, 16, 20, 24), "runs": 400},
    ),
    settings={"k": (1, 2, 3), "tau": TEMPERATURES, "loss": "squared_hinge"},
    seconds=(9, 8, 150),
)
def start_risk(trial: Trial, sizes: Sequence[int], runs: int) -> Starts:
    cells = [(tau, n, k) for tau in TEMPERATURES for k in (1, 2, 3) for n in sizes]
    risks = np.array([_starts(trial.seed, runs, *cell) for cell in trial.track(cells)])
    low, high = np.transpose([mean_interval(row) for row in risks])
    tau, n, k = zip(*cells, strict=True)
    shape = (list(tau), np.array(n), np.array(k))
    return Starts(*shape, risks.mean(axis=1), low, high, risks.min(axis=1), runs)


def _starts(seed: int, runs: int, tau: str, n: int, k: int) -> np.ndarray:
    """Exact risks of random heads on random targets."""
    data = Population(random_parities(n, k, runs, key=seed))
    return learn(Heads.paper(tau=tau, steps=0), data, key=seed).risk


@start_risk.judge
def _start_risk(s: Starts) -> Judged:
    gap = np.maximum(s.low - 1, 1 - s.high)  # positive where the interval excludes 1
    at = int(gap.argmin())
    cell = f"n = {s.n[at]}, k = {s.k[at]}, tau = {s.tau[at]}"
    mean = f"{s.mean[at]:.2f} [{s.low[at]:.2f}, {s.high[at]:.2f}]"
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "interval": (float(s.low[at]), float(s.high[at])),
        "runs": s.runs * len(s.n),
        "measured": _start_numbers(s),
        "predicted": {"mean risk at every size": 1},
    }
    if gap[at] > 0:
        return refuted(
            f"The mean risk over {s.runs} random starts and sets is {s.mean.min():.2f} to "
            f"{s.mean.max():.2f} in the {len(s.n)} cells tried, and every 95 % interval excludes "
            f"1; nearest is {mean} at {cell}. The smallest single risk is {s.least.min():.2f}.",
            instead=f"The mean risk at the start is at least {s.low.min():.2f} at every size and "
            "temperature tried.",
            margin=float(gap[at]),
            counterexample=_START_COUNTEREXAMPLE,
            **shared,
        )
    widest = float((s.high - s.low).max())
    if gap.max() <= 0 and widest <= 0.25:
        return holds(
            f"Every 95 % interval of the mean risk contains 1 and is at most {widest:.2f} wide.",
            margin=0.25 - widest,
            **shared,
        )
    return undecided(f"1 is not excluded at {cell}: {mean}.", **shared)


def _start_numbers(s: Starts) -> dict[str, Any]:
    """Numbers of a record by the names a reader knows."""
    cells = zip(s.tau, s.n, s.k, s.mean, s.low, s.high, strict=True)
    return {
        f"mean risk at tau = {tau}, n = {n}, k = {k}": f"{mean:.2f} [{low:.2f}, {high:.2f}]"
        for tau, n, k, mean, low, high in cells
    }


@start_risk.figure
def _start_figure(s: Starts) -> Lines:
    lines = []
    for tau in TEMPERATURES:
        for k in np.unique(s.k):
            cell = (s.k == k) & (np.array(s.tau) == tau)
            parts = (s.n[cell], s.mean[cell], s.low[cell], s.high[cell])
            lines.append(Line(f"k = {k}, tau = {tau}", *parts))
    return Lines(
        lines,
        x="n",
        y="risk at the start",
        marks=[Mark(1, "claimed")],
        caption="Mean exact risk at random starts with 95 % intervals.",
    )


_START_COUNTEREXAMPLE = """\
import numpy as np
from paritylab import HeadAttention, Parity, enumerated_risk

problem = Parity(12, (1, 5, 9))
starts = [HeadAttention.random(seed, problem, tau=1 / 12) for seed in range(20)]
risks = [enumerated_risk(start, problem).value for start in starts]
print(np.mean(risks), np.min(risks))
assert np.min(risks) > 1.1
"""

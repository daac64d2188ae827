"""Where training starts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from paritylab.claims import (
    HG1,
    Judged,
    Line,
    Lines,
    Mark,
    Trial,
    claim,
    drawn,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning import Heads, Population, learn
from paritylab.problem import random_parities
from paritylab.statistics import mean_interval

#: Within this a risk that is 1 on paper is 1 but for rounding.
ROUNDING = 1e-6
#: Temperatures the paper allows (0 < tau ≤ 1): the one of its proof and the softest.
TEMPERATURES = ("1/n", "1")


@record()
class Starts:
    """Exact risks of random heads on random targets, one entry per cell of n, k and tau."""

    tau: list[str]
    n: np.ndarray
    k: np.ndarray
    mean: np.ndarray = shown("mean risk at the start", by="cells", predicted=1)
    low: np.ndarray = shown("lower end of its 95 % interval", by="cells")
    high: np.ndarray = shown("upper end of its 95 % interval", by="cells")
    least: np.ndarray = shown("smallest single risk", by="cells")
    runs: int = drawn(by="cells")

    @property
    def cells(self) -> list[str]:
        sizes = zip(self.n, self.k, self.tau, strict=True)
        return [f"n = {n}, k = {k}, tau = {tau}" for n, k, tau in sizes]


@claim(
    "hg1-start-risk",
    certificate="hg1-start-risk",
    source=HG1("Theorem 5"),
    title="The risk at the start is 1",
    statement="Since the loss at initialisation is 1: with heads at random angles the mean "
    "squared-hinge risk before the first step is 1.",
    quick={"sizes": (8, 12), "runs": 32},
    full={"sizes": (8, 12, 16, 20, 24), "runs": 400},
    settings={"k": (1, 2, 3), "tau": TEMPERATURES, "loss": "squared_hinge"},
    seconds=(9, 8, 150),
)
def start_risk(
    trial: Trial, sizes: Sequence[int] = (8, 20), runs: int = 64, *, readout: Any = "zigzag"
) -> Starts:
    cells = [(tau, n, k) for tau in TEMPERATURES for k in (1, 2, 3) for n in sizes]
    risks = np.array([_starts(trial.seed, runs, readout, *cell) for cell in trial.track(cells)])
    low, high = np.transpose([mean_interval(row) for row in risks])
    tau, n, k = zip(*cells, strict=True)
    shape = (list(tau), np.array(n), np.array(k))
    return Starts(*shape, risks.mean(axis=1), low, high, risks.min(axis=1), runs)


def _starts(seed: int, runs: int, readout: Any, tau: str, n: int, k: int) -> np.ndarray:
    """Exact risks of random heads on random targets."""
    data = Population(random_parities(n, k, runs, key=seed))
    return learn(Heads.paper(readout=readout, tau=tau, steps=0), data, key=seed).risk


@start_risk.judge
def _start_risk(s: Starts) -> Judged:
    gap = np.maximum(s.low - 1, 1 - s.high) - ROUNDING  # positive where the interval excludes 1
    at = int(gap.argmin())
    cell, interval = s.cells[at], (float(s.low[at]), float(s.high[at]))
    mean = f"{s.mean[at]:.2f} [{s.low[at]:.2f}, {s.high[at]:.2f}]"
    if gap[at] > 0:
        return refuted(
            f"The mean risk over {s.runs} random starts and sets is {s.mean.min():.2f} to "
            f"{s.mean.max():.2f} in the {len(s.n)} cells tried, and every 95 % interval excludes "
            f"1; nearest is {mean} at {cell}. The smallest single risk is {s.least.min():.2f}.",
            instead=f"The mean risk at the start is at least {s.low.min():.2f} at every size and "
            "temperature tried.",
            margin=float(gap[at]),
            interval=interval,
            counterexample=True,
        )
    widest = float((s.high - s.low).max())
    if gap.max() <= 0 and widest <= 0.25:
        return holds(
            f"Every 95 % interval of the mean risk contains 1 and is at most {widest:.2f} wide.",
            margin=0.25 - widest,
            interval=interval,
        )
    return undecided(f"1 is not excluded at {cell}: {mean}.", interval=interval)


@start_risk.planted("a readout that always answers 0 but for rounding, of risk 1", turns="holds")
def _silent(trial: Trial) -> Starts:
    return start_risk.measure(trial, (8,), 4, readout=lambda s: 1e-9 * s)


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

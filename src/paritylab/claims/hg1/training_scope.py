"""The scope claimed in Remark 10: any k, uniform inputs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from paritylab.claims import (
    HG1,
    Judged,
    Line,
    Lines,
    Trial,
    claim,
    corrected,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning import Heads, Population, learn
from paritylab.models import HeadAttention, Zigzag
from paritylab.problem import random_parities, random_parity
from paritylab.risk import population_risk
from paritylab.statistics import Rate

#: The setting of plain descent that serves Theorem 5 best: its temperature, smoothing and step.
TAU, SMOOTHING, STEP = "1", 0.1, 2.0
#: Ways to train: as published, the same at a temperature within the paper's 0 < tau ≤ 1, and plain
#: descent at the setting above; the best of them counts at each k.
PUBLISHED, SOFT = "public code, tau = n/4", "public code, tau = 0.3"
DESCENT = f"descent, tau = {TAU}, b = {SMOOTHING:g}, step {STEP:g}"


@record()
class Cell:
    """Runs on random sets of k bits, trained one way."""

    k: int
    way: str
    rate: Rate = shown("runs that find B", predicted="all, for every k")

    def __str__(self) -> str:
        return f"k = {self.k}, {self.way}"


@record()
class Sizes:
    """Uniform inputs, every k. expressed: at tau = 1/n³ for k = 1, 2, … ; error: its largest.

    n: of training.
    """

    expressed: np.ndarray = shown("risk of heads on B", by="every_k", predicted=0)
    error: float
    n: int
    cells: list[Cell]

    @property
    def every_k(self) -> list[str]:
        return [f"k = {k + 1}" for k in range(len(self.expressed))]

    @property
    def best(self) -> list[Cell]:
        """The most favourable way to train at each k."""
        sizes = dict.fromkeys(cell.k for cell in self.cells)
        return [max((c for c in self.cells if c.k == k), key=lambda c: c.rate.low) for k in sizes]


@claim(
    "hg1-remark10",
    source=HG1("Remark 10"),
    title="Any k, odd or even, with uniform inputs",
    statement="The results hold under uniform inputs and for any k regardless of its parity: k "
    "heads express the parity, and training finds it.",
    quick={"sizes": (1, 4), "runs": 60},
    full={"sizes": (1, 2, 3, 4, 5, 6), "runs": 400, "steps": 2000},
    settings={"n": 10, "ways": (PUBLISHED, SOFT, DESCENT)},
    seconds=(15, 30, 300),
)
def remark10(
    trial: Trial,
    sizes: Sequence[int] = (1, 2, 4),
    runs: int = 64,
    steps: int = 400,
    *,
    on_target: bool = False,
) -> Sizes:
    """on_target: the heads start on B instead of at random angles, a planted case."""
    n = 10
    risks = [_risk_on_the_set(n, k) for k in range(1, 7)]
    cells = []
    for k in trial.track(sizes):
        targets = random_parities(n, k, runs, key=trial.seed)
        data, start = Population(targets), [10 * HeadAttention.on(b).directions for b in targets]
        for way, learner in _ways(k, steps, start if on_target else None).items():
            cells.append(Cell(k, way, learn(learner, data, key=trial.seed).rate()))
    value, error = np.array([risk.value for risk in risks]), max(risk.error for risk in risks)
    return Sizes(value, error, n, cells)


def _ways(k: int, steps: int, start: Any) -> dict[str, Heads]:
    readout = Zigzag(k, SMOOTHING)
    return {
        PUBLISHED: Heads.code(steps=steps, start=start),
        SOFT: Heads.code(tau=0.3, steps=steps, start=start),
        DESCENT: Heads.paper(readout=readout, tau=TAU, eta=STEP, steps=steps, start=start),
    }


def _risk_on_the_set(n: int, k: int) -> Any:
    problem = random_parity(k, n, k)
    return population_risk(HeadAttention.on(problem, tau=1 / n**3), problem)


@remark10.judge
def _remark10(s: Sizes) -> Judged:
    easy, worst = max(s.best, key=lambda c: c.rate.low), min(s.best, key=lambda c: c.rate.high)
    listed = "; ".join(f"{cell.rate} at {cell}" for cell in s.best)
    top, worse = len(s.expressed), float(s.expressed.max())
    express = f"k heads on B have risk at most {worse:.0e} for k = 1 … {top}, odd and even"
    trained = (
        f"trained on uniform inputs, n = {s.n}, by the best of "
        f"{len({c.way for c in s.cells})} ways at each k they find B in {listed}"
    )
    if s.error > 1e-4:
        return undecided(f"The risks are known to {s.error:.0e} only.")
    if worse > 1e-3:
        bad = int(s.expressed.argmax()) + 1
        finding = f"k heads on B have risk {worse:.2g} at k = {bad}; {trained}."
        fit = [k + 1 for k, risk in enumerate(s.expressed) if risk <= 1e-3]
        return refuted(finding, instead=f"Expressed for k in {fit}.", margin=worse - 1e-3)
    least = min(cell.rate.low for cell in s.best)
    if least > 0.5:
        return holds(f"{express}; {trained}.", margin=least - 0.5, interval=worst.rate)
    known = all(cell.rate.high - cell.rate.low <= 0.25 for cell in (easy, worst))
    if worst.rate.high < 0.5 and known and worst.rate.high < easy.rate.low:
        return corrected(
            f"{express}; {trained}.",
            instead=f"{express}: expressing holds for any k. Training does not: the best of the "
            f"ways tried finds B in {easy.rate} at k = {easy.k} and in {worst.rate} at k = "
            f"{worst.k}.",
            margin=min(0.5 - worst.rate.high, easy.rate.low - worst.rate.high),
            interval=worst.rate,
            counterexample=True,
        )
    return undecided(f"{express}; {trained}.", interval=worst.rate)


@remark10.planted("long heads that start on B instead of at random angles", turns="holds")
def _on_target(trial: Trial) -> Sizes:
    return remark10.measure(trial, (1, 4), 20, 5, on_target=True)


@remark10.overview
def _remark10_overview(s: Sizes) -> Lines:
    best = s.best
    line = Line.of_rates(
        f"best of {len({cell.way for cell in s.cells})} ways to train, n = {s.n}",
        [cell.k for cell in best],
        [cell.rate for cell in best],
    )
    return Lines([line], x="k, the number of hidden bits", y="share of runs that find them")


@remark10.figure
def _remark10_figure(s: Sizes) -> Lines:
    lines = []
    for way in dict.fromkeys(cell.way for cell in s.cells):
        cells = [cell for cell in s.cells if cell.way == way]
        lines.append(Line.of_rates(way, [cell.k for cell in cells], [cell.rate for cell in cells]))
    return Lines(
        lines,
        x="k",
        y="share of runs that find B",
        caption=f"Success against k at n = {s.n}, uniform inputs, with 95 % intervals.",
    )

"""The scope claimed in Remark 10: any k, uniform inputs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

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
    refuted,
    undecided,
)
from paritylab.learning import Heads, Population, learn
from paritylab.models import HeadAttention
from paritylab.problem import random_parities, random_parity
from paritylab.risk import population_risk
from paritylab.statistics import Rate

#: Training as published, and at a temperature within the paper's 0 < tau ≤ 1; the better counts.
TEMPERATURES = ("n/4", "0.3")


class Sizes(NamedTuple):
    """Uniform inputs, every k.

    expressed: risks of heads on B at tau = 1/n³ for k = 1, 2, … . error: their largest error. n: of
    training. k: sizes trained. rates: for each temperature, the share of runs that find B, one
    per k.
    """

    expressed: np.ndarray
    error: float
    n: int
    k: np.ndarray
    rates: dict[str, list[Rate]]

    @property
    def best(self) -> list[Rate]:
        """The better temperature's rate at each k."""
        return [max(pair, key=lambda r: r.low) for pair in zip(*self.rates.values(), strict=True)]


@claim(
    "hg1-remark10",
    source=HG1("Remark 10"),
    title="Any k, odd or even, with uniform inputs",
    statement="The results hold under uniform inputs and for any k regardless of its parity: k "
    "heads express the parity, and training finds it.",
    quick={"sizes": (1, 4), "runs": 60},
    full={"sizes": (1, 2, 3, 4, 5, 6), "runs": 400, "steps": 2000},
    settings={"n": 10, "tau": TEMPERATURES, "optimiser": "adam", "loss": "mean_hinge_squared"},
    seconds=(20, 20, 300),
)
def remark10(
    trial: Trial, sizes: Sequence[int] = (1, 2, 4), runs: int = 64, steps: int = 400
) -> Sizes:
    n = 10
    risks = [_risk_on_the_set(n, k) for k in range(1, 7)]
    rates: dict[str, list[Rate]] = {tau: [] for tau in TEMPERATURES}
    for k in trial.track(sizes):
        data = Population(random_parities(n, k, runs, key=trial.seed))
        for tau, found in rates.items():
            found.append(learn(Heads.code(tau=tau, steps=steps), data, key=trial.seed).rate())
    value, error = np.array([risk.value for risk in risks]), max(risk.error for risk in risks)
    return Sizes(value, error, n, np.array(sizes), rates)


def _risk_on_the_set(n: int, k: int) -> Any:
    problem = random_parity(k, n, k)
    return population_risk(HeadAttention.on(problem, tau=1 / n**3), problem)


@remark10.judge
def _remark10(s: Sizes) -> Judged:
    best, worst = s.best, min(s.best, key=lambda rate: rate.high)
    listed = ", ".join(f"k = {k} {rate}" for k, rate in zip(s.k, best, strict=True))
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "interval": worst.interval,
        "runs": sum(rate.runs for rates in s.rates.values() for rate in rates),
        "measured": _remark10_numbers(s),
        "predicted": {"share of runs that find B": "1 for every k"},
    }
    top, worse = len(s.expressed), float(s.expressed.max())
    express = f"k heads on B have risk at most {worse:.0e} for k = 1 … {top}, odd and even"
    trained = f"trained on uniform inputs, n = {s.n}, they find B: {listed}"
    if s.error > 1e-4:
        return undecided(f"The risks are known to {s.error:.0e} only.", **shared)
    if worse > 1e-3:
        bad = int(s.expressed.argmax()) + 1
        finding = f"k heads on B have risk {worse:.2g} at k = {bad}; {trained}."
        fit = [k + 1 for k, risk in enumerate(s.expressed) if risk <= 1e-3]
        return refuted(finding, instead=f"Expressed for k in {fit}.", margin=worse - 1e-3, **shared)
    if min(rate.low for rate in best) > 0.5:
        margin = min(rate.low for rate in best) - 0.5
        return holds(f"{express}; {trained}.", margin=margin, **shared)
    easy = max(best, key=lambda rate: rate.low)
    known = all(rate.high - rate.low <= 0.25 for rate in (easy, worst))
    if worst.high < 0.5 and known and worst.high < easy.low:
        at = s.k[best.index(worst)]
        return corrected(
            f"{express}; {trained}.",
            instead=f"{express}: expressing holds for any k. Training does not: it finds B in "
            f"{easy} at k = {s.k[best.index(easy)]} and in {worst} at k = {at}, the better of "
            f"{len(s.rates)} temperatures.",
            margin=min(0.5 - worst.high, easy.low - worst.high),
            counterexample=True,
            **shared,
        )
    return undecided(f"{express}; {trained}.", **shared)


def _remark10_numbers(s: Sizes) -> dict[str, Any]:
    """Numbers of a record by the names a reader knows."""
    named: dict[str, Any] = {
        f"risk of heads on B, k = {k + 1}": risk for k, risk in enumerate(s.expressed)
    }
    for tau, rates in s.rates.items():
        for k, rate in zip(s.k, rates, strict=True):
            named[f"runs that find B, k = {k}, tau = {tau}"] = str(rate)
    return named


@remark10.figure
def _remark10_figure(s: Sizes) -> Lines:
    return Lines(
        [Line.of_rates(f"tau = {tau}", s.k, rates) for tau, rates in s.rates.items()],
        x="k",
        y="share of runs that find B",
        caption=f"Success against k at n = {s.n}, uniform inputs, with 95 % intervals.",
    )

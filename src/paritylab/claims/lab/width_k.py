"""k heads beside a feed-forward net of k neurons, on the same rows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims import OURS, Bars, Judged, Trial, claim, corrected, holds, refuted, undecided
from paritylab.claims.lab.numpy_race import Net, Pointers, labelled_rows, shares_wrong
from paritylab.problem import random_parities
from paritylab.statistics import Rate, rate_difference

#: Learnt: wrong on a smaller share of all inputs than this.
LEARNT = 0.05
#: A control succeeds in more than this share of its runs.
MOST = 0.75
#: Heads of a race, and their names.
HEADS = {
    "public": "heads as in HG1's public code",
    "smoothed": "heads with tau = 1 and b = 0.1",
    "correlated": "heads with the readout cos(πs) and the log-correlation",
}
#: Step sizes of Adam; each model is judged by its best.
NET_STEPS, HEAD_STEPS = (0.01, 0.03, 0.1), (0.1, 0.2, 0.5)


class Outcome(NamedTuple):
    """rate: runs that learn. wrong: mean share of all inputs that a run gets wrong."""

    rate: Rate
    wrong: float

    def __str__(self) -> str:
        return f"{self.rate} (wrong on {self.wrong:.0%} of inputs)"


class Race(NamedTuple):
    """Models by the same steps of Adam on the same rows, each at its best step size.

    net: FFNN-1 of k neurons. Heads, all k of them: public, with tau, readout and loss of HG1's
    public code; smoothed, the same with tau = 1 and b = 0.1; correlated, with the readout cos(πs)
    and trained on minus the log of the correlation.
    """

    n: int
    k: int
    rows: int
    net: Outcome
    public: Outcome
    smoothed: Outcome
    correlated: Outcome

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}, {self.rows} rows"


class Match(NamedTuple):
    """races: one per size. linear: nets of k neurons that learn a single bit from the fewest rows.

    wide: nets of 32 neurons that learn parities of the last race's size from 40n rows. steps: of
    Adam.
    """

    races: list[Race]
    linear: Rate
    wide: Rate
    steps: int

    def pooled(self, model: str) -> dict[int, Rate]:
        """Runs of one model that learn, by k."""
        found: dict[int, Rate] = {}
        for race in self.races:
            new, old = getattr(race, model).rate, found.get(race.k, Rate(0, 0))
            found[race.k] = Rate(old.successes + new.successes, old.runs + new.runs)
        return found

    def lead(self, heads: str) -> float:
        """By how much those heads learn more often than the net, least over k.

        The lower end of the difference's 95 % interval.
        """
        found, nets = self.pooled(heads), self.pooled("net")
        return min(rate_difference(found[k], nets[k])[0] for k in nets)

    def lag(self, heads: str) -> float:
        """By how much they learn less often, most over k; the same end."""
        found, nets = self.pooled(heads), self.pooled("net")
        return max(rate_difference(nets[k], found[k])[0] for k in nets)


@claim(
    "lab-width-k",
    source=OURS,
    title="k heads beside a feed-forward net of k neurons",
    statement="Ours, after HG1's comparison: from the same rows and by as many steps of Adam k "
    "heads with the readout cos(πs), 2k trained numbers, learn k-parity more often than a "
    "feed-forward net of k neurons, with k(n + 2) + 1. With the readout and loss of HG1's public "
    "code they are not ahead.",
    quick={"cells": ((10, 3, 100),), "runs": 30, "steps": 300},
    full={
        "cells": tuple((n, k, rows * n) for n in (10, 12) for k in (2, 3) for rows in (10, 40)),
        "runs": 200,
        "steps": 1000,
    },
    settings={
        "steps of Adam": {"net": NET_STEPS, "heads": HEAD_STEPS},
        "tau of heads": "n/4, and 1 with b = 0.1",
        "learnt": f"wrong on less than {LEARNT:.0%} of all inputs",
    },
    seconds=(3, 10, 350),
)
def width_k(
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = ((10, 2, 300), (12, 3, 120)),
    runs: int = 60,
    steps: int = 400,
) -> Match:
    races = [_race(trial.seed, *cell, runs=runs, steps=steps) for cell in trial.track(cells)]
    last = races[-1]
    fewest = min(races, key=lambda race: race.rows)
    few = min(runs, 14)
    linear = _best(trial.seed, Net(fewest.k), (fewest.n, 1, fewest.rows), few, steps, NET_STEPS)
    enough = (last.n, last.k, 40 * last.n)
    wide = _best(trial.seed, Net(32), enough, few, steps, NET_STEPS[:1])
    return Match(races, linear.rate, wide.rate, steps)


def _race(seed: int, n: int, k: int, rows: int, *, runs: int, steps: int) -> Race:
    cell = (n, k, rows)
    models = {
        "net": Net(k),
        "public": Pointers(k, n / 4),
        "smoothed": Pointers(k, 1.0, b=0.1),
        "correlated": Pointers(k, n / 4, correlated=True),
    }
    outcomes = {
        name: _best(seed, model, cell, runs, steps, NET_STEPS if name == "net" else HEAD_STEPS)
        for name, model in models.items()
    }
    return Race(n, k, rows, **outcomes)


def _best(
    seed: int,
    model: Any,
    cell: tuple[int, int, int],
    runs: int,
    steps: int,
    etas: Sequence[float],
) -> Outcome:
    """A model at the step size with which it learns most often; its rows are the cell's."""
    n, k, rows = cell
    targets = random_parities(n, k, runs, key=seed)
    drawn = labelled_rows(targets, rows, (seed, *cell))
    wrong = shares_wrong(model, drawn, targets, etas, steps=steps, seed=(seed, 1))
    found = [Outcome(Rate.of(each < LEARNT), float(np.mean(each))) for each in wrong]
    return max(found, key=lambda outcome: (outcome.rate.value, -outcome.wrong))


@width_k.judge
def _width_k(m: Match) -> Judged:
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "runs": sum(race.net.rate.runs for race in m.races),
        "measured": _numbers(m),
        "predicted": {HEADS["correlated"]: "more often than the net", HEADS["public"]: "not so"},
    }
    if min(m.linear.low, m.wide.low) < MOST:
        text = (
            f"A single bit is learnt by {m.linear} of the nets of k neurons, the parity by "
            f"{m.wide} of those of 32: no fair opponent."
        )
        return undecided(text, **shared)
    models = "; ".join(_listed(m, model) for model in ("correlated", "net", "public", "smoothed"))
    text = f"Learnt: {models}."
    ahead, public, lag = m.lead("correlated"), m.lead("public"), m.lag("correlated")
    if lag > 0:
        instead = f"At some k the net learns more often: {_listed(m, 'net')}."
        return refuted(text, instead=instead, margin=lag, **shared)
    if ahead <= 0:
        return undecided(f"{text} No model is clearly ahead at every k.", **shared)
    if public > 0:
        instead = f"Both learn more often: {_listed(m, 'correlated')}; {_listed(m, 'public')}."
        return corrected(text, instead=instead, margin=min(ahead, public), **shared)
    note = f"Nets of 32 neurons learn in {m.wide}, those of k neurons a single bit in {m.linear}."
    return holds(f"{text} {note}", margin=min(ahead, -public), **shared)


def _listed(m: Match, model: str) -> str:
    rates = ", ".join(f"{rate} at k = {k}" for k, rate in m.pooled(model).items())
    return f"{HEADS.get(model, 'nets of k neurons')} {rates}"


def _numbers(m: Match) -> dict[str, Any]:
    """Numbers of a record by the names a reader knows."""
    named: dict[str, Any] = {}
    for race in m.races:
        named[f"net of k neurons, {race}"] = str(race.net)
        for model, words in HEADS.items():
            named[f"{words}, {race}"] = str(getattr(race, model))
    named["nets of k neurons that learn a single bit"] = str(m.linear)
    named["nets of 32 neurons that learn parities of the last size"] = str(m.wide)
    return named


@width_k.figure
def _width_k_figure(m: Match) -> Bars:
    names = {"net": "net", "public": "public code", "smoothed": "b = 0.1", "correlated": "cos(πs)"}
    return Bars.of_rates(
        {
            f"{words}, k = {k}": rate
            for model, words in names.items()
            for k, rate in m.pooled(model).items()
        },
        y="share of runs that learn",
        caption=f"k heads and a net of k neurons after {m.steps} steps of Adam on the same rows, "
        "each at its best step size, with 95 % intervals.",
    )

"""k heads beside a feed-forward net of k neurons, on the same rows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims.engine import Trial
from paritylab.claims.figures import Bars
from paritylab.claims.registry import Efforts, claim
from paritylab.claims.sources import OURS
from paritylab.claims.verdict import Judged, corrected, holds, refuted, undecided
from paritylab.learning.hardness.beside import Net, Pointers, labelled_rows, shares_wrong
from paritylab.problem import random_parities
from paritylab.statistics import Rate

#: Learnt: wrong on a smaller share of all inputs than this.
LEARNT = 0.05
#: A control succeeds in more than this share of its runs.
MOST = 0.75
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

    net: FFNN-1 of k neurons. published: k heads with the readout and loss of HG1's public code.
    correlated: k heads with the readout cos(πs), trained on minus the log of the correlation.
    """

    n: int
    k: int
    rows: int
    net: Outcome
    published: Outcome
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

    def pooled(self, model: str) -> Rate:
        """Runs of one model that learn, over all races."""
        rates = [getattr(race, model).rate for race in self.races]
        return Rate(sum(r.successes for r in rates), sum(r.runs for r in rates))


@claim(
    "lab-width-k",
    source=OURS,
    title="k heads beside a feed-forward net of k neurons",
    statement="Ours, after HG1's comparison: from the same rows and by as many steps of Adam k "
    "heads under the frozen readout, with 2k trained numbers, learn k-parity more often than a "
    "feed-forward net of k neurons, with k(n + 2) + 1.",
    efforts=Efforts(
        quick={"cells": ((10, 3, 100),), "runs": 30, "steps": 300},
        default={"cells": ((10, 3, 100), (10, 2, 400), (12, 3, 240)), "runs": 40, "steps": 400},
        full={
            "cells": tuple((n, k, rows * n) for n in (10, 12) for k in (2, 3) for rows in (10, 40)),
            "runs": 200,
            "steps": 1000,
        },
    ),
    settings={
        "steps of Adam": {"net": NET_STEPS, "heads": HEAD_STEPS},
        "tau": "n/4",
        "learnt": f"wrong on less than {LEARNT:.0%} of all inputs",
    },
    seconds=(2, 8, 200),
)
def width_k(trial: Trial, cells: Sequence[tuple[int, int, int]], runs: int, steps: int) -> Match:
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
    return Race(
        *cell,
        net=_best(seed, Net(k), cell, runs, steps, NET_STEPS),
        published=_best(seed, Pointers(k, n / 4), cell, runs, steps, HEAD_STEPS),
        correlated=_best(seed, Pointers(k, n / 4, True), cell, runs, steps, HEAD_STEPS),
    )


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
        "predicted": {"heads": "more often than the net"},
    }
    if m.linear.low < MOST:
        text = f"A single bit is learnt by {m.linear} of the nets of k neurons: no fair opponent."
        return undecided(text, **shared)
    net, published, correlated = map(m.pooled, ("net", "published", "correlated"))
    behind = [race for race in m.races if race.correlated.rate.high < race.net.rate.low]
    text = f"Learnt with the readout and loss of HG1's public code: {_listed(m, 'published')}."
    ours = f"Learnt with the readout cos(πs) and the log-correlation: {_listed(m, 'correlated')}."
    if published.low > net.high:
        margin = published.low - net.high
        return holds(text, margin=margin, interval=published.interval, **shared)
    if net.low > correlated.high:
        margin = net.low - correlated.high
        instead = f"Nets of k neurons learn in {net}, heads in {published} and {correlated}."
        return refuted(f"{text} {ours}", instead=instead, margin=margin, **shared)
    if behind or correlated.low < net.high:
        return undecided(f"{text} {ours} No model is ahead everywhere.", **shared)
    note = f"Nets of k neurons learn a single bit in {m.linear}, nets of 32 the parity in {m.wide}."
    return corrected(
        f"{text} {note}",
        instead=ours,
        margin=correlated.low - net.high,
        interval=correlated.interval,
        **shared,
    )


def _listed(m: Match, heads: str) -> str:
    races = "; ".join(
        f"{getattr(race, heads).rate} of heads, {race.net.rate} of nets at {race}"
        for race in m.races
    )
    return f"{m.pooled(heads)} of heads, {m.pooled('net')} of nets of k neurons ({races})"


def _numbers(m: Match) -> dict[str, Any]:
    """Numbers of a record by the names a reader knows."""
    named: dict[str, Any] = {}
    for race in m.races:
        named[f"net of k neurons, {race}"] = str(race.net)
        named[f"heads as in the public code, {race}"] = str(race.published)
        named[f"heads with cos(πs) and the log-correlation, {race}"] = str(race.correlated)
    named["nets of k neurons that learn a single bit"] = str(m.linear)
    named["nets of 32 neurons that learn parities of the last size"] = str(m.wide)
    return named


@width_k.figure
def _width_k_figure(m: Match) -> Bars:
    rates = {}
    for race in m.races:
        rates[f"net, {race}"] = race.net.rate
        rates[f"public code, {race}"] = race.published.rate
        rates[f"cos(πs), {race}"] = race.correlated.rate
    return Bars.of_rates(
        rates,
        y="share of runs that learn",
        caption=f"k heads and a net of k neurons after {m.steps} steps of Adam on the same rows, "
        "each at its best step size, with 95 % intervals.",
    )

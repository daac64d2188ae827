"""With a chain and without, through one approximate oracle; and what an exact one gives away."""

from collections.abc import Sequence

import numpy as np

from paritylab.claims import (
    KS,
    Bars,
    Judged,
    Trial,
    claim,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.claims.ks.queries import name_by_reading_rows
from paritylab.learning import HidingOracle, Sample, learn
from paritylab.learning.hardness.hiding_oracle import step_under_error
from paritylab.problem import random_trees
from paritylab.problem.sampling import seed_of
from paritylab.statistics import Rate

#: Runs speak with one voice if the interval of their rate is above MOST or below 1 - MOST.
MOST = 0.75
#: The error of the oracle, times n²: what one step of the chain stands wherever it is put.
ERROR = 0.2
#: Size, leaves and rows at which one exact gradient is read.
EXACT = (64, 32, 64_000)


@record()
class Arms:
    """One size, one oracle of error ε = ERROR/n². chain: one step with a chain, its gradient wrong
    by ε in the worst of three ways. hidden: descent without a chain gets the mean over all targets
    at every query, so that its answer does not depend on the target."""

    n: int
    k: int
    samples: int
    queries: int
    chain: Rate = shown("runs right with a chain after one query", predicted="all")
    hidden: Rate = shown("runs hidden at every query without a chain", predicted="all")
    loss: float = shown("smallest E(p - f)² without a chain", predicted="near 1 or above")

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}, N = {self.samples:,}"


@record()
class Separation:
    """exact: targets that one exact averaged gradient without a chain, then elimination, names."""

    cells: list[Arms]
    exact: Rate = shown("targets named by one exact query without a chain", counts=False)


@claim(
    "ks-separation",
    source=KS("Sections 3.1 and 3.2"),
    title="Through one approximate oracle a chain learns and a learner without it does not",
    statement="An oracle of error O(n^(-2-ε/8)) lets one query with a chain learn, and hides the "
    "target from few queries without one once there are enough rows: a strict separation.",
    quick={"queries": 4},
    full={"cells": ((16, 8, 2**22), (20, 8, 2**23)), "queries": 20, "runs": 60},
    settings={
        "error": f"{ERROR:g}n⁻²",
        "rows of the step with a chain": "N/8",
        "η without a chain": 10,
        "link": "cos with, quadratic without a chain",
        "n, k, N of the exact query": EXACT,
    },
    seconds=(15, 20, 600),
)
def separation(
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = ((16, 8, 2**22),),
    queries: int = 8,
    runs: int = 40,  # if 98 of 100 runs agree, 36 or more of 40 do with a chance above 0.998
    reads: int = 20,
    *,
    error: float = ERROR,
) -> Separation:
    made = [
        _arms(n, k, rows, queries, runs, error / n**2, trial.seed)
        for n, k, rows in trial.track(cells)
    ]
    named = [
        name_by_reading_rows(*EXACT, seed=seed_of(trial.seed, run, 100)) for run in range(reads)
    ]
    return Separation(made, Rate.of(named))


def _arms(n: int, k: int, samples: int, queries: int, runs: int, error: float, seed: int) -> Arms:
    trees = random_trees(n, k, runs, key=seed)
    found = learn(HidingOracle(error, eta=10.0, steps=queries), Sample(trees, samples), key=seed)
    chain = [
        step_under_error(tree, samples // 8, error, seed_of(seed, at))
        for at, tree in enumerate(trees)
    ]
    return Arms(
        n,
        k,
        samples,
        queries,
        Rate.of([all(each.values()) for each in chain]),
        Rate.of(found.stats["hidden"].all(axis=1)),
        float(2 * np.min(found.risk)),
    )


@separation.judge
def _separation(s: Separation) -> Judged:
    chain = min((c.chain for c in s.cells), key=lambda rate: rate.low)
    hidden = min((c.hidden for c in s.cells), key=lambda rate: rate.low)
    told = "; ".join(
        f"{c}, ε = {ERROR:g}n⁻²: one query with a chain is right in {c.chain}; {c.queries} queries "
        f"without are told nothing of the target in {c.hidden}, and end at E(p - f)² ≥ {c.loss:.2f}"
        for c in s.cells
    )
    n, k, rows = EXACT
    text = (
        f"{told}. The separation is one of precision: one exact averaged gradient of a model "
        f"without a chain, then elimination, names the target in {s.exact} (n = {n}, k = {k}, "
        f"N = {rows:,})."
    )
    if chain.high < 1 - MOST:
        margin = 1 - MOST - chain.high
        instead = f"One query with a chain does not learn at this error either: {told}."
        return refuted(f"The chain fails. {text}", instead=instead, margin=margin, interval=chain)
    if chain.low > MOST and hidden.low > MOST:
        margin = min(chain.low, hidden.low) - MOST
        return holds(text, margin=margin, interval=min(chain, hidden, key=lambda rate: rate.low))
    return undecided(f"Not every run agrees, or the rows are too few. {text}", interval=hidden)


@separation.planted("an error of 20n⁻², which drowns the chain's signal too", turns="refuted")
def _large_error(trial: Trial) -> Separation:
    return separation.measure(trial, ((16, 8, 2**16),), queries=1, runs=12, reads=1, error=20.0)


@separation.planted("an exact oracle, which hides nothing", turns="undecided")
def _no_error(trial: Trial) -> Separation:
    return separation.measure(trial, ((16, 8, 2**16),), queries=1, runs=12, reads=1, error=0.0)


@separation.figure
def _separation_figure(s: Separation) -> Bars:
    rates = {f"{c}: right, one query with a chain": c.chain for c in s.cells}
    rates |= {f"{c}: hidden, {c.queries} without": c.hidden for c in s.cells}
    rates["exact gradient without a chain: named"] = s.exact
    return Bars.of_rates(rates, "share of runs", caption="An oracle of error 0.2n⁻², and an exact.")

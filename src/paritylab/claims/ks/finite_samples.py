"""Without a chain, finite samples: an oracle that hides (Theorem 2), a race against a chain."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from paritylab.claims import (
    KS,
    Bars,
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
from paritylab.claims.ks.gradient_spread import (
    direct_model,
    every_subset,
    gradient_spread,
    hidden_shares,
    random_signs,
    variance_shares,
)
from paritylab.learning import FullBatch, HidingOracle, Sample, TeacherStep, learn
from paritylab.learning.hardness.hiding_oracle import step_under_error
from paritylab.learning.hardness.oracles import mean_label_square
from paritylab.problem import random_trees
from paritylab.statistics import Rate
from paritylab.theory.ks_hardness import theorem2_bound, theorem2_samples

#: Runs speak with one voice if the interval of their rate is above MOST or below 1 - MOST.
MOST = 0.75
#: A loss E(p - f)² below this is "not near 1 or above".
NEAR_ONE = 0.95
#: The error of the oracle, times n²: what one step of the chain stands wherever it is put.
ERROR = 0.2
#: An accuracy this far from ½ is no longer chance.
CHANCE = 0.05


@record()
class Kept:
    """Descent without a chain, seen through an oracle of error ε that hides the target.

    kept: every answer was the mean over all targets. chain: one step with a chain, its gradient
    wrong by ε in the worst of three ways.
    """

    n: int
    k: int
    samples: int
    steps: int
    kept: Rate = shown("runs hidden at every query")
    loss: float = shown("smallest E(p - f)² at the end", predicted="near 1 or above")
    chain: Rate = shown("runs right with a chain at the same error")
    bound: float = shown("bound (5)")
    needed: float = shown("N from which bound (5) is ½")

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}"

    @property
    def told(self) -> str:
        value = f"is {self.bound:.2f}" if self.bound > 0 else f"is vacuous ({self.bound:.0e})"
        where = f"from N = {self.needed:.0e} on" if np.isfinite(self.needed) else "at no N"
        return (
            f"{self}, N = {self.samples:,}, ε = {ERROR}n⁻²: hidden at all {self.steps} queries in "
            f"{self.kept}, E(p - f)² ≥ {self.loss:.2f} at the end, one step with a chain right "
            f"against ε in {self.chain}; bound (5) {value} here and says ½ {where}"
        )


@record()
class FixedAnswers:
    """E(p - f)² of the best fixed answer f = E_p p at n bits."""

    n: int
    half: float = shown("E(p - f)² of the best fixed answer, k = n/2")
    whole: float = shown("E(p - f)² of the best fixed answer, k = n")


@record()
class FiniteSamples:
    """cells: descents under the oracle. fixed: the best answer without any query. hidden: at one
    error, by the number of rows."""

    cells: list[Kept]
    fixed: FixedAnswers
    variance: float = shown("largest variance over the proof's bound")
    sizes: np.ndarray
    hidden: np.ndarray = shown("share of targets hidden (n = 12, k = 4, error 0.01)", by="rows")

    @property
    def rows(self) -> list[str]:
        return [f"N = {size}" for size in self.sizes]


@claim(
    "ks-thm2",
    source=KS("Theorem 2"),
    title="Finite samples: the direct model stays at loss 1 under an approximate oracle",
    statement="If k = Θ(n), an oracle with exponentially small error (e^Ω(n) samples) or "
    "polynomial error (n^ν samples) keeps every learner without a chain at E(p - f)² of at least "
    "1 - e^(-Ω(n)), or 1 - O(n^(-ν₄)).",
    quick={"steps": 5},
    full={"cells": ((16, 8, 2**22), (32, 16, 2**23)), "runs": 20},
    settings={"error": "0.2n⁻²", "η": 10, "link": "quadratic without, cos with a chain"},
    seconds=(15, 10, 600),
)
def thm2(
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = ((16, 8, 2**22),),
    steps: int = 20,
    runs: int = 12,
) -> FiniteSamples:
    sizes = np.array([30, 100, 300, 1000, 3000, 10_000])
    small = every_subset(12, 4)
    hidden = hidden_shares(direct_model(12, 4, 0.0, 0), small, sizes.tolist(), 0.01, trial.seed)
    variance = variance_shares(
        direct_model(12, 4, 1.0, trial.seed), small, (100, 1000, 10_000), trial.seed
    )
    return FiniteSamples(
        [_kept(n, k, rows, steps, runs, trial.seed) for n, k, rows in trial.track(cells)],
        FixedAnswers(16, 1 - mean_label_square(16, 8), 1 - mean_label_square(16, 16)),
        max(variance),
        sizes,
        np.array(hidden),
    )


def _kept(n: int, k: int, samples: int, steps: int, runs: int, seed: int) -> Kept:
    trees, error = random_trees(n, k, runs, key=seed), ERROR / n**2
    found = learn(HidingOracle(error, eta=10.0, steps=steps), Sample(trees, samples), key=seed)
    chain = [
        step_under_error(tree, samples // 8, error, seed + at) for at, tree in enumerate(trees)
    ]
    rows = random_signs(np.random.default_rng(seed), 1024, n)
    start = gradient_spread(direct_model(n, k, 0.0, seed), rows, every_subset(n, 2))
    setting: dict[str, Any] = {
        "targets": round(1 / mean_label_square(n, k)),
        "queries": steps,
        "error": error,
        "gradient": start.largest_gradient,
    }
    return Kept(
        n,
        k,
        samples,
        steps,
        Rate.of(found.stats["hidden"].all(axis=1)),
        float(2 * found.risk.min()),
        Rate.of([all(each.values()) for each in chain]),
        theorem2_bound(n, samples=samples, **setting),
        theorem2_samples(n, **setting),
    )


@thm2.judge
def _thm2(f: FiniteSamples) -> Judged:
    kept = min((c.kept for c in f.cells), key=lambda rate: rate.low)
    chain = min((c.chain for c in f.cells), key=lambda rate: rate.low)
    loss, fixed = min(c.loss for c in f.cells), f.fixed
    told = f"{'; '.join(c.told for c in f.cells)}."
    margin = min(abs(kept.low - MOST), abs(loss - NEAR_ONE), abs(fixed.whole - NEAR_ONE))
    if kept.low <= MOST:
        return undecided(f"The oracle does not hide often enough to tell: {told}", interval=kept)
    if loss < NEAR_ONE:
        instead = f"Hidden targets are learned to E(p - f)² = {loss:.2f}."
        return refuted(f"A hidden target is learned: {told}", instead=instead, margin=margin)
    if chain.low <= MOST:
        return undecided(f"The error ruins a chain as well: {told}", interval=chain)
    if fixed.whole >= NEAR_ONE:
        return holds(told, margin=margin, interval=kept)
    return corrected(
        f"{told} But k = Θ(n) allows k = n, with one target only: without a query the best fixed "
        f"answer has E(p - f)² = {fixed.whole:.2g} at k = n = {fixed.n}, and {fixed.half:.5f} at "
        f"k = n/2.",
        instead="n - k must be of order n as well, since a fixed answer reaches 1 - 1/C(n,k). "
        f"{told}",
        margin=margin,
        interval=kept,
        counterexample=True,
    )


@thm2.figure
def _thm2_figure(f: FiniteSamples) -> Lines:
    return Lines(
        [Line("n = 12, k = 4, error 0.01, W = 0", f.sizes, f.hidden)],
        x="N",
        y="share of targets the oracle hides",
        log="x",
        caption="More samples make the direct problem harder for a learner with an approximate "
        "oracle.",
    )


@record()
class Arms:
    """One size: one query with a chain, many exact ones without it on as many samples."""

    n: int
    k: int
    samples: int
    queries: int
    chain: Rate = shown("runs solved with a chain", predicted="all")
    direct: Rate = shown("runs off chance without a chain", predicted="none")
    solved: Rate = shown("runs solved without a chain", counts=False)
    reach: float = shown("largest distance of an accuracy from ½ without a chain")

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}"

    @property
    def told(self) -> str:
        return (
            f"{self}, N = {self.samples:,}: one query with a chain solves {self.chain}; "
            f"{self.queries} exact queries without leave chance in {self.direct} (accuracy within "
            f"{self.reach:.3f} of ½)"
        )


@record()
class Separation:
    cells: list[Arms]


@claim(
    "ks-separation",
    source=KS("Sections 3.1 and 3.2"),
    title="A chain learns in one query what many exact queries do not learn without it",
    statement="With intermediate labels one gradient query learns what many queries on as many "
    "samples do not learn without them: a strict separation.",
    quick={"cells": ((32, 16, 64_000),), "queries": 5},
    full={
        "cells": ((32, 16, 64_000), (64, 32, 64_000), (128, 64, 64_000)),
        "queries": 400,
        "runs": 20,
    },
    settings={
        "η without a chain": "1, 10 on alternate targets",
        "link": "cos with, quadratic without a chain",
    },
    seconds=(10, 25, 900),
)
def separation(
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = ((32, 16, 64_000), (64, 32, 64_000)),
    queries: int = 12,
    runs: int = 12,
) -> Separation:
    return Separation(
        [_arms(n, k, rows, queries, runs, trial.seed) for n, k, rows in trial.track(cells)]
    )


def _arms(n: int, k: int, samples: int, queries: int, runs: int, seed: int) -> Arms:
    trees = random_trees(n, k, runs, key=seed)
    chain = learn(TeacherStep(), Sample(trees, samples), key=seed).rate("solved")
    direct = [
        learn(FullBatch("direct", eta=eta, steps=queries), Sample(half, samples), key=seed)
        for eta, half in ((1.0, trees[::2]), (10.0, trees[1::2]))
    ]
    apart = np.abs(np.concatenate([each.stats["accuracy"] for each in direct]) - 0.5)
    solved = np.concatenate([each.solved for each in direct])
    return Arms(
        n,
        k,
        samples,
        queries,
        chain,
        Rate.of(apart > CHANCE),
        Rate.of(solved),
        float(apart.max()),
    )


@separation.judge
def _separation(s: Separation) -> Judged:
    chain = min((c.chain for c in s.cells), key=lambda rate: rate.low)
    direct = max((c.direct for c in s.cells), key=lambda rate: rate.high)
    told = "; ".join(c.told for c in s.cells)
    if chain.high < 1 - MOST:
        margin = 1 - MOST - chain.high
        instead = f"One query with a chain does not learn at these sizes either: {told}."
        return refuted(f"The chain fails. {told}.", instead=instead, margin=margin, interval=chain)
    if direct.low > MOST:
        instead, margin = f"Both arms learn at these sizes: {told}.", direct.low - MOST
        return refuted(f"No separation. {told}.", instead=instead, margin=margin, interval=direct)
    if chain.low > MOST and direct.high < 1 - MOST:
        margin = min(chain.low - MOST, 1 - MOST - direct.high)
        return holds(f"{told}.", margin=margin, interval=chain)
    return undecided(f"Not every run agrees. {told}.", interval=chain)


@separation.figure
def _separation_figure(s: Separation) -> Bars:
    rates = {f"n = {c.n}, one query with a chain": c.chain for c in s.cells}
    rates |= {f"n = {c.n}, {c.queries} without": c.solved for c in s.cells}
    return Bars.of_rates(rates, "share of runs solved", caption="The same samples for both arms.")

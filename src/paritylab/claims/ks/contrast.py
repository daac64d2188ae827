"""What gradients miss: elimination finds the parity from little more than n rows."""

from collections.abc import Sequence

import numpy as np

from paritylab.claims import (
    KS,
    Bars,
    Judged,
    Trial,
    claim,
    corrected,
    derived,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning import FullBatch, Sample, learn
from paritylab.problem import random_parities, random_trees
from paritylab.solvers import Elimination
from paritylab.solvers.gf2 import count_additions
from paritylab.statistics import Rate
from paritylab.theory.ks import samples_for_every_pair

#: Rows beyond n; an accuracy this far from ½ is no longer chance; what counts as most runs.
MORE, CHANCE, MOST = 20, 0.05, 0.7
#: Sizes whose additions are counted.
COUNTED = (64, 128, 256, 512)


@record()
class Contrast:
    """Elimination and gradients on n + MORE rows, k = n/2.

    work: bit operations of elimination at the sizes COUNTED. direct: after `queries` exact gradient
    steps at n = 32. chain: rows that one step with a chain needs there for half of the targets.
    """

    n: list[int]
    solved: list[Rate] = shown("runs solved by elimination", by="sizes")
    work: np.ndarray
    direct: Rate = shown("runs whose gradient steps leave chance", predicted=0)
    queries: int
    chain: float = shown("rows that one step with a chain needs (formula)")

    @property
    def sizes(self) -> list[str]:
        return [f"n = {n}" for n in self.n]

    @derived("exponent of the bit operations", predicted="≤ 3")
    def exponent(self) -> float:
        return float(np.polyfit(np.log(COUNTED), np.log(self.work), 1)[0])


@claim(
    "ks-elimination",
    source=KS("Section 3.1, on Gaussian elimination"),
    title="Elimination solves parity from O(n) samples, which averaged gradients do not use",
    statement="Gaussian elimination solves parity from O(n) samples in O(n³) operations, because "
    "it combines rows; a model that sees averaged gradients on the same rows does not.",
    quick={"sizes": (32,), "runs": 12, "queries": 5},
    full={"sizes": (32, 64, 128, 256), "runs": 60, "queries": 400},
    settings={"rows": f"n + {MORE}", "k": "n/2", "gradient steps": "η = 1, quadratic link"},
    seconds=(9, 11, 120),
)
def elimination(
    trial: Trial, sizes: Sequence[int] = (32, 128), runs: int = 16, queries: int = 20
) -> Contrast:
    solved = [
        learn(
            Elimination(),
            Sample(random_parities(n, n // 2, runs, key=trial.seed), n + MORE),
            key=trial.seed,
        ).rate("solved")
        for n in trial.track(sizes)
    ]
    generator = np.random.default_rng(trial.seed)
    work = [n * count_additions(generator.integers(0, 2, (n + MORE, n))) for n in COUNTED]
    trees = random_trees(32, 16, runs, key=trial.seed)
    direct = learn(
        FullBatch("direct", eta=1.0, steps=queries), Sample(trees, 32 + MORE), key=trial.seed
    )
    off = np.abs(direct.stats["accuracy"] - 0.5) > CHANCE
    need = samples_for_every_pair(32, 16)
    return Contrast(list(sizes), solved, np.array(work), Rate.of(off), queries, need)


@elimination.judge
def _elimination(c: Contrast) -> Judged:
    text = (
        f"From n + {MORE} rows elimination names the parity in "
        f"{', '.join(f'{rate} (n = {n})' for n, rate in zip(c.n, c.solved, strict=True))}, with "
        f"bit operations of order n^{c.exponent:.2f} up to n = {COUNTED[-1]}. On as many rows at "
        f"n = 32, {c.queries} exact gradient steps without a chain leave chance in {c.direct}; "
        f"one step with a chain needs {c.chain:,.0f} rows there (formula)."
    )
    worst = min(c.solved, key=lambda rate: rate.low)
    margin = min(abs(worst.low - MOST), abs(1 - MOST - c.direct.high), abs(3.2 - c.exponent))
    if worst.high < MOST or c.exponent > 3.2:
        instead = f"Solved: {worst}; operations of order n^{c.exponent:.2f}."
        return refuted(text, instead=instead, margin=margin, interval=worst)
    if c.direct.low > 1 - MOST:
        instead = f"Elimination does; gradients on the same rows leave chance in {c.direct}."
        return corrected(text, instead=instead, margin=margin, interval=worst)
    if worst.low <= MOST or c.direct.high >= 1 - MOST:
        return undecided(f"Too few runs agree. {text}", interval=worst)
    return holds(text, margin=margin, interval=worst)


@elimination.figure
def _elimination_figure(c: Contrast) -> Bars:
    rates = {f"elimination, n = {n}": rate for n, rate in zip(c.n, c.solved, strict=True)}
    rates["gradients off chance, n = 32"] = c.direct
    return Bars.of_rates(rates, "share of runs", caption=f"n + {MORE} rows.")

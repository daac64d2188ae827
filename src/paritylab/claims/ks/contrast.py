"""What averaging hides: elimination finds the parity from little more than n rows."""

from collections.abc import Sequence

import numpy as np

from paritylab.claims import (
    KS,
    Bars,
    Judged,
    Trial,
    claim,
    derived,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning import Sample, learn
from paritylab.problem import random_parities
from paritylab.solvers import Elimination
from paritylab.solvers.gf2 import count_additions
from paritylab.statistics import Rate

#: Rows beyond n, and what counts as most runs.
MORE, MOST = 20, 0.7
#: Sizes whose additions are counted, and the largest exponent that is still taken for 3.
COUNTED, CUBIC = (64, 128, 256, 512), 3.2


@record()
class Eliminated:
    """Elimination on n + MORE rows, k = n/2. work: bit operations at the sizes COUNTED."""

    n: list[int]
    solved: list[Rate] = shown("runs solved", by="sizes", predicted="all")
    work: np.ndarray

    @property
    def sizes(self) -> list[str]:
        return [f"n = {n}" for n in self.n]

    @derived("exponent of the bit operations", predicted="≤ 3")
    def exponent(self) -> float:
        return float(np.polyfit(np.log(COUNTED), np.log(self.work), 1)[0])


@claim(
    "ks-elimination",
    source=KS("Section 3.1, on Gaussian elimination"),
    title="Elimination solves parity from O(n) samples in O(n³) operations",
    statement="Gaussian elimination, which may combine rows, solves parity from O(n) samples in "
    "O(n³) operations.",
    quick={"sizes": (32,)},
    full={"sizes": (32, 64, 128, 256), "runs": 60},
    settings={"rows": f"n + {MORE}", "k": "n/2"},
    seconds=(1, 2, 20),
    counted=False,
)
def elimination(trial: Trial, sizes: Sequence[int] = (32, 128), runs: int = 20) -> Eliminated:
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
    return Eliminated(list(sizes), solved, np.array(work))


@elimination.judge
def _elimination(e: Eliminated) -> Judged:
    worst = min(e.solved, key=lambda rate: rate.low)
    listed = ", ".join(f"{rate} (n = {n})" for n, rate in zip(e.n, e.solved, strict=True))
    text = (
        f"From n + {MORE} rows elimination names the parity in {listed}, with bit operations of "
        f"order n^{e.exponent:.2f} up to n = {COUNTED[-1]}."
    )
    margin = min(abs(worst.low - MOST), abs(CUBIC - e.exponent))
    if worst.high < MOST or e.exponent > CUBIC:
        instead = f"Solved: {worst}; operations of order n^{e.exponent:.2f}."
        return refuted(text, instead=instead, margin=margin, interval=worst)
    if worst.low <= MOST:
        return undecided(f"Too few runs agree. {text}", interval=worst)
    return holds(text, margin=margin, interval=worst)


@elimination.figure
def _elimination_figure(e: Eliminated) -> Bars:
    rates = {f"elimination, n = {n}": rate for n, rate in zip(e.n, e.solved, strict=True)}
    return Bars.of_rates(rates, "share of runs solved", caption=f"n + {MORE} rows, k = n/2.")

"""Trained numbers: an edge to every position for a feed-forward network, a few for two heads."""

from collections.abc import Callable, Sequence

import numpy as np

from paritylab.claims import (
    HG2,
    Judged,
    Line,
    Lines,
    Trial,
    claim,
    derived,
    drawn,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.claims.hg2.one_step import COUNTEREXAMPLE, RECONSTRUCTION, REPRODUCED
from paritylab.learning.xor.parts import default_gain, usual_width
from paritylab.learning.xor.stream import smallest_xor_width
from paritylab.statistics import PowerLaw, power_law


@record()
class Counts:
    """By size: numbers of two heads with the least width that is right on every input, and edges of
    a feed-forward network that serves every pair: blind to two positions, it misses their pair."""

    n: np.ndarray
    heads: np.ndarray = shown("trained numbers of two heads", by="sizes", predicted="polylog n")
    pairs: int = drawn(by="sizes")

    @property
    def sizes(self) -> list[str]:
        return [f"n = {n:,}" for n in self.n]

    @derived("edges of a feed-forward network, at least", by="sizes", predicted="Ω(n)")
    def edges(self) -> np.ndarray:
        return self.n - 1

    @derived("fixed numbers in the heads' positions", by="sizes")
    def fixed(self) -> np.ndarray:
        return self.n * self.heads // 2

    @derived("growth of the heads' numbers as a power of n", predicted="below 1")
    def law(self) -> PowerLaw:
        return power_law(self.n, self.heads)

    @property
    def usual_from(self) -> int:
        """The least n from which two heads of the usual width have fewer numbers than edges."""
        return next(n for n in range(4, 10**6) if 2 * usual_width(n) < n - 1)


@claim(
    "hg2-ffnn-bottleneck",
    source=HG2("Abstract"),
    title="Feed-forward networks need Ω(n) parameters for the same task",
    statement="Feed-forward networks need Ω(n) parameters to learn sparse XOR, which transformers "
    "avoid. Compared are trained numbers: a network that serves every pair has an edge to at least "
    "n - 1 positions, since blind to two it misses their pair.",
    quick={"sizes": (64, 256, 1024, 4096)},
    full={"sizes": (64, 256, 1024, 4096, 16_384, 65_536), "draws": 20},
    settings={"gain": "4 ln n + 12", "positions": "balanced signs", "model": RECONSTRUCTION},
    seconds=(2, 4, 60),
)
def ffnn_claim(
    trial: Trial,
    sizes: Sequence[int] = (64, 256, 1024, 4096, 16_384),
    draws: int = 10,
    *,
    search: Callable[..., int] = smallest_xor_width,
) -> Counts:
    given = {"draws": draws, "pairs": 10, "balanced": True, "seed": trial.seed}
    widths = [search(n, "every", gain=2 * default_gain(n), **given) for n in trial.track(sizes)]
    return Counts(np.asarray(sizes), 2 * np.asarray(widths), 10 * draws)


@ffnn_claim.judge
def _bottleneck(c: Counts) -> Judged:
    rows = zip(c.heads, c.edges, c.n, strict=True)
    listed = "; ".join(f"{heads} against {edges:,} at n = {n:,}" for heads, edges, n in rows)
    text = (
        f"Trained numbers of two heads that are right on every input, against edges of a "
        f"feed-forward network: {listed}. The heads' grow like n^{c.law}; with m = 12 ln n they "
        f"are fewer from n = {c.usual_from} on. Beside them the heads read positions of n·m fixed "
        "numbers."
    )
    margin, last = abs(1 - c.law.high), int(c.heads[-1] - c.edges[-1])
    if last >= 0 or c.law.low > 1:
        instead = f"Two heads need {c.heads[-1]} numbers at n = {c.n[-1]:,}, no fewer than edges."
        return refuted(f"{COUNTEREXAMPLE} {text}", instead=instead, margin=margin, interval=c.law)
    if c.law.high < 1:
        return holds(f"{REPRODUCED} {text}", margin=margin, interval=c.law)
    return undecided(f"{text} Growth like n is not excluded.", interval=c.law)


@ffnn_claim.planted("heads whose width is n", turns="refuted")
def _wide_heads(trial: Trial) -> Counts:
    return ffnn_claim.measure(trial, (64, 256, 1024), search=lambda n, *given, **more: n)


@ffnn_claim.figure
def _bottleneck_figure(c: Counts) -> Lines:
    return Lines(
        [
            Line("two heads, trained numbers", c.n, c.heads),
            Line("feed-forward, edges at least", c.n, c.edges, style="--"),
        ],
        x="n",
        y="trained numbers",
        log="xy",
        caption="Numbers that are trained for the same task.",
    )

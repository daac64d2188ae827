"""What a feed-forward network needs for the same task: an edge to every position."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from paritylab.claims import (
    HG2,
    Judged,
    Line,
    Lines,
    Mark,
    Trial,
    claim,
    derived,
    drawn,
    holds,
    record,
    refuted,
    undecided,
)
from paritylab.learning import FeedForwardNet, Fresh, learn
from paritylab.learning.xor.parts import usual_width
from paritylab.problem import Parity
from paritylab.statistics import Mean

#: A network that is right on this much more than half of the inputs has learnt something.
CHANCE = 0.05
#: A trained network counts as a solution from this accuracy on.
SOLVED = 0.99


@record()
class Blind:
    """Accuracy of trained networks (sizes, runs). blind: without edges to one bit of the pair.
    whole: with every edge, the control."""

    n: list[int]
    width: int
    blind: np.ndarray
    whole: np.ndarray

    @property
    def sizes(self) -> list[str]:
        return [f"n = {n}" for n in self.n]

    @derived("accuracy without an edge", by="sizes", predicted=0.5)
    def means(self) -> list[Mean]:
        return [Mean.of(each) for each in self.blind]

    @derived("best accuracy with every edge", by="sizes")
    def best(self) -> np.ndarray:
        return self.whole.max(axis=1)

    @derived("first-layer edges of a network for every pair, at least", by="sizes")
    def edges(self) -> list[int]:
        return [n - 1 for n in self.n]

    @derived("numbers of two heads, m = 12 ln n", by="sizes")
    def heads(self) -> list[int]:
        return [2 * usual_width(n) for n in self.n]

    runs: int = drawn("networks trained")


@claim(
    "hg2-ffnn-bottleneck",
    source=HG2("Abstract"),
    title="Feed-forward networks need Ω(n) parameters for the same task",
    statement="Feed-forward networks need Ω(n) parameters to learn sparse XOR, which transformers "
    "avoid. Tested through its reason: without an edge to one bit of the pair a trained network "
    "stays at chance, so one that serves every pair has an edge to at least n - 1 positions.",
    quick={"sizes": (16,), "steps": 1000},
    full={"sizes": (16, 64, 256), "runs": 40, "steps": 4000},
    settings={"network": "FFNN-1 of width 8, Adam 0.01", "rows per step": 128},
    seconds=(5, 15, 120),
)
def ffnn_claim(
    trial: Trial, sizes: Sequence[int] = (16, 64), runs: int = 12, steps: int = 1500
) -> Blind:
    blind: list[np.ndarray] = []
    whole: list[np.ndarray] = []
    network = partial(FeedForwardNet, 8, inputs="signs", steps=steps)
    for n in trial.track(sizes):
        data = Fresh(Parity(n, (0, n - 1), sign=-1), 128)
        for missing, found in (((0,), blind), ((), whole)):
            done = learn(network(missing=missing), data, runs=runs, key=trial.seed)
            found.append(done.stats["accuracy"])
    return Blind(list(sizes), 8, np.array(blind), np.array(whole), 2 * runs * len(sizes))


@ffnn_claim.judge
def _bottleneck(b: Blind) -> Judged:
    low, high = max(each.low for each in b.means), max(each.high for each in b.means)
    worst, control = max(b.means, key=lambda mean: mean.high), float(b.best.min())
    pairs = zip(b.n, b.edges, b.heads, strict=True)
    counts = "; ".join(f"{edges} against {heads} at n = {n}" for n, edges, heads in pairs)
    text = (
        f"Without edges to one bit of the pair accuracy is {b.blind.mean():.3f} on average and "
        f"{b.blind.max():.3f} at most over {b.blind.size} networks; with every edge the best "
        f"reaches {control:.4f} at each n. A network blind to two positions misses their pair, so "
        f"it has at least n - 1 edges, the two heads 24 ln n numbers: {counts}."
    )
    if low > 0.5 + CHANCE:
        instead = f"Without the edge accuracy reaches {low:.3f} on average at some n."
        return refuted(text, instead=instead, margin=low - 0.5 - CHANCE, interval=worst)
    if high < 0.5 + CHANCE and control > SOLVED:
        margin = min(0.5 + CHANCE - high, control - SOLVED)
        return holds(text, margin=margin, interval=worst)
    return undecided(f"{text} The blind networks or the control do not decide.", interval=worst)


@ffnn_claim.figure
def _bottleneck_figure(b: Blind) -> Lines:
    return Lines(
        [
            Line("every edge, best run", b.n, b.whole.max(axis=1)),
            Line("no edge to one bit of the pair, best run", b.n, b.blind.max(axis=1)),
        ],
        x="n",
        y="accuracy",
        log="x",
        marks=[Mark(0.5, "chance")],
        caption="Trained feed-forward networks with and without an edge to one bit of the pair.",
    )

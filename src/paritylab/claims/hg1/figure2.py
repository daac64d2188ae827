"""Heads trained where B has neighbours and where it has not: Figure 2 and Appendix B.1."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import HG1, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, control, finding, instead, repair
from paritylab.experiments.hg1_figure2 import (
    Figure2Setting,
    Neighbours,
    have_two_midway,
    pointed_positions,
    train_both_panels,
    train_on_neighbours,
    weakest_peaks,
)
from paritylab.figures import Heatmap, SideBySide
from paritylab.learning import Heads, Population, Runs, learn
from paritylab.problem import Parity
from paritylab.statistics import Rate


def braces(subset: tuple[int, ...]) -> str:
    return "{" + ", ".join(map(str, subset)) + "}"


EXACT: Figure2Setting = (0.3, 0.0, 0)
STEPS = 240


@claim(
    "hg1-fig2",
    HG1("Figure 2, Appendix B.1"),
    quick={"ways": (EXACT,), "runs": 32},
    full={"runs": 400},
    more="runs",
    planted=("heads after a single step", {"steps": 1, "runs": 80}, "refuted"),
)
def fig2(
    trial: Trial,
    ways: Sequence[Figure2Setting] = (EXACT, (0.3, 0.0, 3_000), (1.0, 0.1, 3_000)),
    runs: int = 48,
    *,
    steps: int = STEPS,
) -> Iterator[Any]:
    """Figure 2: three heads on three bits after 30 epochs, n = 20, from a share of the starts.

    n = 20, k = 3, 30 epochs: for bits 8, 11, 18 the three heads converge to a bit each with a score
    very close to 1; for neighbours such as 16, 17 two heads can learn the direction in the middle.
    Trained with Adam 0.2 and the loss of the public code; 30 epochs are 240 steps, since 8 batches
    an epoch are our choice. The figure shows one run of each and names no rate: each panel must
    appear from at least 10 % of random starts. Very close to 1 is 0.9; the third bit beside 16, 17
    is 4. The best way tried counts.
    """
    panels = []
    for way in trial.track(ways):
        left, right = train_both_panels(runs, way, steps, trial.seed)
        found = Rate.of(left.flags("recovered") & (weakest_peaks(left) > 0.9))
        middle = Rate.of(have_two_midway(right, 15.5, 0.25))
        panels.append((found, middle, way, left, right))
    found, middle, way, left, right = max(panels, key=lambda each: min(each[0].low, each[1].low))
    yield at_least("starts with a head on each of 8, 11, 18, best way", found, 0.1)
    yield at_least("starts with two heads at 16.5, best way", middle, 0.1)
    yield finding(
        f"At {_name(way)} the left panel appears from {found.count} random starts, the right one "
        f"from {middle.count}.",
        "holds",
    )
    yield _figure(left, right)


def _name(way: Figure2Setting) -> str:
    tau, b, rows = way
    smooth = f", b = {b:g}" if b else ""
    return f"tau = {tau:g}{smooth}, " + (f"{rows:,} rows per step" if rows else "exact gradients")


def _figure(left: Runs[Any], right: Runs[Any]) -> SideBySide:
    """The two heat maps, each of its run with the smallest risk."""
    panels = []
    for runs, name in ((left, "no neighbours"), (right, "neighbours")):
        best = int(np.nanargmin(runs.risk))
        attention, subset = np.asarray(runs.model(best).attention()), runs.hidden[best]
        title = f"{name}: B = {braces(subset)}"
        panels.append(Heatmap(attention, "position (0-based)", "head", title=title, columns=subset))
    caption = (
        "Attention after training, run with the smallest risk of each. Dotted: B. The paper's bits "
        "8, 11, 18 and 16, 17 are 7, 10, 17 and 15, 16."
    )
    return SideBySide(panels, caption)


OWN: Neighbours = (20, (3, 15, 16), 0.3, 0.0)
PAIR: Neighbours = (12, (2, 3), 0.3, 0.0)


@claim(
    "hg1-adjacency",
    HG1("Appendix B.1"),
    quick={"cells": (OWN, PAIR), "runs": 64},
    full={"runs": 400},
    more="runs",
    planted=(
        "two heads that start in the middle and so never part",
        {"cells": (PAIR,), "runs": 40, "together": True},
        "holds",
    ),
)
def adjacency(
    trial: Trial,
    cells: Sequence[Neighbours] = (OWN, PAIR, (12, (2, 3), 1.0, 0.07), (12, (2, 3, 7), 0.3, 0.0)),
    runs: int = 72,
    *,
    together: bool = False,
) -> Iterator[Any]:
    """Two heads share one direction where B has neighbours, so hard attention fails, n = 12 and 20.

    If B has neighbouring bits, two heads often learn the direction midway between them, which makes
    hard attention at inference impossible. Trained as in the public code (Adam, 300 steps); often
    is at least half of the solved runs, those with a risk below 0.05, and a head is midway within
    0.2 positions of the middle.
    """
    exceptions = sharing = 0
    for place in trial.track(cells):
        n, subset, tau, b = place
        first = next(i for i in subset if i + 1 in subset)
        middle = first + 0.5
        done = train_on_neighbours(place, middle, runs, trial.seed, together)
        solved = done.solved
        midway = solved & have_two_midway(done, middle, 0.2)
        right = done.flags("recovered")[midway]
        aside = pointed_positions(done)[midway] - middle
        two = np.take_along_axis(aside, np.abs(aside).argsort(axis=1)[:, :2], axis=1)
        opposite = two.prod(axis=1) < 0
        exceptions, sharing = exceptions + int(np.sum(right != opposite)), sharing + right.size
        name = f"n = {n}, B = {braces(subset)}, tau = {tau:g}" + (f", b = {b:g}" if b else "")
        yield at_least(
            f"solved runs whose two heads share the middle, {name}", Rate.of(midway[solved]), 0.5
        )
        label = f"direction shared, yet right when hard, {name}"
        yield at_most(label, Rate.of(right), 0.5)
    label = f"sharing runs, of {sharing}, right from one side or wrong from opposite sides"
    yield repair(at_most(label, exceptions, 0))
    data = Population(Parity(12, (2, 6)))
    apart = learn(Heads.code(tau=0.3, steps=300), data, runs=runs, key=trial.seed)
    hard = Rate.of(apart.flags("recovered")[apart.solved])
    yield control(at_least("solved runs right when hard, no neighbours, B = {2, 6}", hard, 0.5))
    yield instead(
        "Sharing the middle direction does not exclude hard attention: it is right just if the two "
        "heads lie on opposite sides of the middle, which thousandths of a position decide."
    )

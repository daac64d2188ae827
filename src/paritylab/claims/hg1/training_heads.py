"""What trained heads look like where B has neighbours: two of them share a direction."""

from collections.abc import Sequence

import numpy as np

from paritylab.claims import (
    HG1,
    Histogram,
    Judged,
    Mark,
    Trial,
    claim,
    corrected,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning import Heads, Population, Runs, learn
from paritylab.models import Zigzag
from paritylab.problem import Parity
from paritylab.statistics import Rate
from paritylab.theory import hg1_limits

#: A deciding rate is known to this, the width of its 95 % interval.
WIDEST = 0.25


def _is_known(rate: Rate) -> bool:
    return rate.high - rate.low <= WIDEST


def pointing(runs: Runs) -> np.ndarray:
    """The (fractional) position each head points at."""
    angle = np.arctan2(runs.numbers[..., 0], runs.numbers[..., 1])
    return angle * runs.data.n / (2 * np.pi) % runs.data.n


def directions_to(positions: Sequence[float], n: int, norm: float) -> np.ndarray:
    """Heads of a norm that point at (fractional) positions."""
    angle = 2 * np.pi * np.asarray(positions) / n
    return norm * np.stack([np.sin(angle), np.cos(angle)], axis=-1)


def two_midway(runs: Runs, middle: float, within: float) -> np.ndarray:
    """Whether two heads of a run point between the neighbours, `within` positions of the middle."""
    return np.sum(np.abs(pointing(runs) - middle) < within, axis=1) >= 2


def braces(subset: tuple[int, ...]) -> str:
    return "{" + ", ".join(map(str, subset)) + "}"


@record()
class Cell:
    """Runs trained softly on a set B with two neighbours, temperature tau and smoothing b.

    solved: risk within 0.05 of what heads on B leave. shared: of these, two heads within 0.2
    positions of the middle of the neighbours. hard: of those. sides: of those, hard attention is
    right just if the two lie on opposite sides of the middle. gap, shift: medians in positions,
    half the distance of the two and that of their mean from the middle. pointing: positions of the
    heads of solved runs.
    """

    n: int
    subset: tuple[int, ...]
    tau: float
    b: float
    solved: Rate = shown("runs solved softly")
    shared: Rate = shown("of these two heads share the middle", predicted="often", counts=False)
    hard: Rate = shown("of those hard attention is right", predicted="none", counts=False)
    sides: Rate = shown("of those right just if on opposite sides", counts=False)
    gap: float = shown("half the distance of the two (positions, median)")
    shift: float = shown("distance of their mean from the middle (positions, median)")
    pointing: np.ndarray

    def __str__(self) -> str:
        smooth = f", b = {self.b:g}" if self.b else ""
        return f"n = {self.n}, B = {braces(self.subset)}, tau = {self.tau:g}{smooth}"


@record()
class Neighbours:
    """cells: the paper's own n = 20, k = 3 first. apart: of the solved runs on a set without
    neighbours, apart_set at n = 12."""

    cells: list[Cell]
    apart_set: tuple[int, ...]
    apart: Rate = shown("solved without neighbours, hard attention is right")


#: n, B, temperature and smoothing. The paper's bits 16 and 17 at n = 20, k = 3 come first.
Place = tuple[int, tuple[int, ...], float, float]
OWN: Place = (20, (3, 15, 16), 0.3, 0.0)
PAIR: Place = (12, (2, 3), 0.3, 0.0)


@claim(
    "hg1-adjacency",
    source=HG1("Appendix B.1"),
    title="Neighbouring bits make two heads share one direction",
    statement="If B has neighbouring bits, two heads often learn the direction midway between "
    "them, which makes hard attention at inference impossible.",
    quick={"cells": (OWN, PAIR), "runs": 64},
    full={
        "cells": (
            OWN,
            PAIR,
            (12, (2, 3), 1.0, 0.1),
            (12, (2, 3, 7), 0.3, 0.0),
            (12, (2, 3, 7), 1.0, 0.1),
            (20, (2, 3), 0.3, 0.0),
        ),
        "runs": 400,
    },
    settings={"loss": "mean_hinge_squared", "optimiser": "adam", "steps": 300},
    seconds=(15, 35, 300),
)
def adjacency(
    trial: Trial,
    cells: Sequence[Place] = (OWN, PAIR, (12, (2, 3), 1.0, 0.1), (12, (2, 3, 7), 0.3, 0.0)),
    runs: int = 72,
    *,
    together: bool = False,
) -> Neighbours:
    """together: two heads start in the middle, a planted case: they move alike and never part."""
    made = [_neighbours(place, runs, trial.seed, together) for place in trial.track(cells)]
    apart_set = (2, 6)
    data = Population(Parity(12, apart_set))
    apart = learn(Heads.code(tau=0.3, steps=300), data, runs=runs, key=trial.seed)
    return Neighbours(made, apart_set, Rate.of(apart.flags("recovered")[apart.solved]))


def _neighbours(place: Place, runs: int, seed: int, together: bool) -> Cell:
    n, subset, tau, b = place
    k, first = len(subset), next(i for i in subset if i + 1 in subset)
    middle, floor = first + 0.5, hg1_limits.smoothing_floor(k, b)
    rest = [i for i in subset if i not in (first, first + 1)]
    start = directions_to([middle, middle, *rest], n, 2.0) if together else None
    learner = Heads.code(readout=Zigzag(k, b), tau=tau, steps=300, start=start)
    done = learn(learner, Population(Parity(n, subset)), runs=runs, key=seed)
    solved = done.risk < floor + 0.05
    midway = solved & two_midway(done, middle, 0.2)
    right, aside = done.flags("recovered")[midway], pointing(done)[midway] - middle
    two = np.take_along_axis(aside, np.abs(aside).argsort(axis=1)[:, :2], axis=1)
    opposite = two.prod(axis=1) < 0
    gap, shift = np.abs(two[:, 0] - two[:, 1]) / 2, np.abs(two.mean(axis=1))
    return Cell(
        n,
        subset,
        tau,
        b,
        Rate.of(solved),
        Rate.of(midway[solved]),
        Rate.of(right),
        Rate.of(right == opposite),
        _median(gap),
        _median(shift),
        pointing(done)[solved].ravel(),
    )


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if values.size else np.nan


@adjacency.judge
def _adjacency(a: Neighbours) -> Judged:
    own, often = a.cells[0], max(a.cells, key=lambda cell: cell.shared.low)
    best = max(a.cells, key=lambda cell: cell.hard.low)
    seen = (
        f"At {own} two heads share the middle direction in {own.shared} of the solved runs, and "
        f"hard attention is then right in {own.hard}"
    )
    most = max(cell.shared.high for cell in a.cells)
    if most < 0.5:
        instead = "In most solved runs the heads stay apart."
        return refuted(f"{seen}.", instead=instead, margin=0.5 - most, interval=often.shared)
    if often.shared.low <= 0.5 or not _is_known(often.shared):
        return undecided(f"{seen}, which does not decide how often.", interval=often.shared)
    control = f"with {braces(a.apart_set)} it is right in {a.apart}"
    if a.apart.low <= 0.5:
        return undecided(f"{seen}, but even {control}.", interval=a.apart)
    right = max(cell.hard.high for cell in a.cells)
    if right < 0.5:
        margin = min(often.shared.low - 0.5, 0.5 - right)
        return holds(f"{seen}; {control}.", margin=margin, interval=own.hard)
    if best.hard.low > 0.5 and _is_known(best.hard):
        listed = "; ".join(f"{cell.hard} at {cell}" for cell in a.cells)
        sides = sum(cell.sides.successes for cell in a.cells)
        apart = "; ".join(f"{c.gap:.1g} and {c.shift:.1g} at {c}" for c in a.cells)
        return corrected(
            f"{seen}; at {best} in {best.hard}, and {control}.",
            instead="Sharing the middle direction does not exclude hard attention: it is right "
            f"just if the two heads lie on opposite sides of the middle (so in {sides} of "
            f"{sum(cell.sides.runs for cell in a.cells)} runs that share), which thousandths of a "
            f"position decide. It is right in {listed}. Half the distance of the two and that of "
            f"their mean from the middle, medians in positions: {apart}.",
            margin=min(often.shared.low - 0.5, best.hard.low - 0.5),
            interval=best.hard,
            counterexample=True,
        )
    return undecided(f"{seen}; at {best} in {best.hard}.", interval=best.hard)


@adjacency.planted("two heads that start in the middle and so never part", turns="holds")
def _together(trial: Trial) -> Neighbours:
    return adjacency.measure(trial, (PAIR,), 40, together=True)


@adjacency.figure
def _adjacency_figure(a: Neighbours) -> Histogram:
    first = a.cells[0]
    return Histogram(
        first.pointing,
        x=f"where a head points (position), {first}",
        y="heads",
        marks=[Mark(i, "bit of B", axis="x") for i in first.subset],
        caption="Heads of solved runs.",
    )

"""What trained heads look like where B has neighbours: two of them share a direction."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import HG1, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, control, instead, note, repair
from paritylab.learning import Heads, Population, Runs, learn
from paritylab.models import Zigzag
from paritylab.problem import Parity
from paritylab.statistics import Rate


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


#: n, B, temperature and smoothing. The paper's bits 16 and 17 at n = 20, k = 3 come first.
Place = tuple[int, tuple[int, ...], float, float]
OWN: Place = (20, (3, 15, 16), 0.3, 0.0)
PAIR: Place = (12, (2, 3), 0.3, 0.0)


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
    cells: Sequence[Place] = (OWN, PAIR, (12, (2, 3), 1.0, 0.07), (12, (2, 3, 7), 0.3, 0.0)),
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
        done = _trained(place, middle, runs, trial.seed, together)
        solved = done.solved
        midway = solved & two_midway(done, middle, 0.2)
        right = done.flags("recovered")[midway]
        aside = pointing(done)[midway] - middle
        two = np.take_along_axis(aside, np.abs(aside).argsort(axis=1)[:, :2], axis=1)
        opposite = two.prod(axis=1) < 0
        exceptions, sharing = exceptions + int(np.sum(right != opposite)), sharing + right.size
        name = f"n = {n}, B = {braces(subset)}, tau = {tau:g}" + (f", b = {b:g}" if b else "")
        yield note(f"runs solved softly, {name}", Rate.of(solved))
        yield at_least(
            f"solved runs whose two heads share the middle, {name}", Rate.of(midway[solved]), 0.5
        )
        yield at_most(f"sharing runs right with hard attention, {name}", Rate.of(right), 0.5)
        gap, shift = np.abs(two[:, 0] - two[:, 1]) / 2, np.abs(two.mean(axis=1))
        if right.size:
            yield note(f"median of half their distance, in positions, {name}", np.median(gap))
            yield note(f"median distance of their mean from the middle, {name}", np.median(shift))
    label = f"of {sharing} sharing runs, exceptions to: right just if the two are on opposite sides"
    yield repair(at_most(label, exceptions, 0))
    data = Population(Parity(12, (2, 6)))
    apart = learn(Heads.code(tau=0.3, steps=300), data, runs=runs, key=trial.seed)
    hard = Rate.of(apart.flags("recovered")[apart.solved])
    yield control(at_least("solved runs right when hard, no neighbours, B = {2, 6}", hard, 0.5))
    yield instead(
        "Sharing the middle direction does not exclude hard attention: it is right just if the two "
        "heads lie on opposite sides of the middle, which thousandths of a position decide."
    )


def _trained(place: Place, middle: float, runs: int, seed: int, together: bool) -> Runs:
    """Runs on one set; together: two heads start in the middle, move alike and never part."""
    n, subset, tau, b = place
    rest = [i for i in subset if abs(i - middle) > 0.5]
    start = directions_to([middle, middle, *rest], n, 2.0) if together else None
    learner = Heads.code(readout=Zigzag(len(subset), b), tau=tau, steps=300, start=start)
    return learn(learner, Population(Parity(n, subset)), runs=runs, key=seed)

"""Figure 2 and Appendix B.1: heads trained where B has neighbours and where it has not."""

from typing import Any

import numpy as np

from paritylab.learning import Fresh, Heads, Population, Runs, learn
from paritylab.models import Zigzag
from paritylab.problem import Parity


def pointed_positions(runs: Runs[Any]) -> np.ndarray:
    """The (fractional) position each head points at."""
    angle = np.arctan2(runs.numbers[..., 0], runs.numbers[..., 1])
    return np.asarray(angle * runs.data.n / (2 * np.pi) % runs.data.n)


def have_two_midway(runs: Runs[Any], middle: float, within: float) -> np.ndarray:
    """Whether two heads of a run point between the neighbours, `within` positions of the middle."""
    midway = np.sum(np.abs(pointed_positions(runs) - middle) < within, axis=1)
    return np.asarray(midway >= 2)


#: Temperature, smoothing, and fresh rows per step (0: exact gradients of the risk).
Figure2Setting = tuple[float, float, int]


def train_both_panels(
    runs: int, way: Figure2Setting, steps: int, seed: int
) -> tuple[Runs[Any], Runs[Any]]:
    """Training on the paper's bits 8, 11, 18 and on 16, 17 with 4 as the third, 0-based inside."""
    (tau, b, rows), trained = way, []
    for subset in ((7, 10, 17), (3, 15, 16)):
        learner = Heads.code(readout=Zigzag(3, b), tau=tau, eta=0.2, steps=steps)
        target = Parity(20, subset)
        data = Fresh(target, rows) if rows else Population(target)
        trained.append(learn(learner, data, runs=runs, key=seed))
    return trained[0], trained[1]


def weakest_peaks(runs: Runs[Any]) -> np.ndarray:
    """Per run the largest attention of the head whose largest attention is smallest."""
    attention = [np.asarray(runs.model(run).attention()) for run in range(len(runs))]
    return np.array([each.max(axis=1).min() for each in attention])


#: n, B, temperature and smoothing. The paper's bits 16 and 17 at n = 20, k = 3 come first.
Neighbours = tuple[int, tuple[int, ...], float, float]


def train_on_neighbours(
    place: Neighbours, middle: float, runs: int, seed: int, together: bool
) -> Runs[Any]:
    """Runs on one set; together: two heads start in the middle, move alike and never part."""
    n, subset, tau, b = place
    rest = [i for i in subset if abs(i - middle) > 0.5]
    angle = 2 * np.pi * np.array([middle, middle, *rest]) / n
    start = 2 * np.stack([np.sin(angle), np.cos(angle)], axis=-1) if together else None
    learner = Heads.code(readout=Zigzag(len(subset), b), tau=tau, steps=300, start=start)
    return learn(learner, Population(Parity(n, subset)), runs=runs, key=seed)

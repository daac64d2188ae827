"""k heads and a feed-forward net of k neurons, trained on the same rows."""

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np

from paritylab.learning import FeedForwardNet, Heads, Sample, learn
from paritylab.learning.descent import stacked
from paritylab.learning.hardness.frozen import every_input, parity_of
from paritylab.models import Zigzag
from paritylab.problem import random_parities
from paritylab.statistics import Rate

#: Models of a race by the names that readers see.
NET = "net of k neurons"
CORRELATED = "heads, cos(πs) and log-correlation"
PUBLIC = "heads, HG1's public code"
SMOOTHED = "HG1's heads with tau = 1, b = 0.1"
#: Step sizes of Adam; each model is judged by its best.
NET_STEPS, HEAD_STEPS = (0.01, 0.03, 0.1), (0.1, 0.2, 0.5)


class Outcome(NamedTuple):
    """rate: runs that learn. wrong: share of all inputs that a run gets wrong, on average."""

    rate: Rate
    wrong: float


def build_contestants(k: int) -> dict[str, Any]:
    """The learners of a race, by name."""
    return {
        NET: FeedForwardNet(k, inputs="signs"),
        PUBLIC: Heads.code(),
        SMOOTHED: Heads.code(tau=1.0, readout=Zigzag(k, 0.1)),
        CORRELATED: Heads.code(readout="cos", loss="log_correlation"),
    }


def train_at_best_step(seed: int, learner: Any, cell: tuple[int, int, int], runs: int) -> Outcome:
    """A learner at the step size with which it learns most often; its rows are the cell's."""
    n, k, rows = cell
    targets = random_parities(n, k, runs, key=seed)
    data = Sample(targets, rows)
    etas = NET_STEPS if isinstance(learner, FeedForwardNet) else HEAD_STEPS
    bits = every_input(n)
    truth = np.stack([parity_of(bits, target.subset) for target in targets])
    found = []
    for eta in etas:
        models = stacked(learn(replace(learner, eta=eta), data, key=seed).models)
        made = jax.vmap(lambda model: jax.vmap(model)(bits))(models)
        wrong = np.mean(~(truth * np.asarray(made) > 0), axis=1)
        found.append(Outcome(Rate.of(wrong < 0.05), float(wrong.mean())))
    return max(found, key=lambda outcome: (outcome.rate.value, -outcome.wrong))

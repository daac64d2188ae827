"""A learner of one's own that costs nothing: what the machinery of sweeps is tested with."""

import time
from dataclasses import dataclass

import jax
import numpy as np

from paritylab.learning import Population, Trained, register_learner


@register_learner("coin")
@dataclass(frozen=True, eq=False)
class Coin:
    """Succeeds with a given rate. breaks: raises for runs whose draw is below this."""

    rate: float = 0.5
    pause: float = 0.0
    breaks: float = 0.0

    takes = (Population,)

    def train(self, data, keys, trace):
        time.sleep(self.pause)
        draws = np.array([_draw(key) for key in keys])
        if (draws < self.breaks).any():
            raise RuntimeError("half way")
        found = draws < self.rate
        return Trained(
            numbers=draws,
            subset=[t.subset if f else None for t, f in zip(data.targets, found, strict=True)],
            risk=draws,
            error=np.zeros(len(draws)),
            kind="exact",
            loss="squared_hinge",
            solved=found,
            recovered=found,
        )

    def rebuild(self, numbers, target, key):
        return float(numbers)


def _draw(key):
    return np.random.default_rng(np.asarray(jax.random.key_data(key))).random()

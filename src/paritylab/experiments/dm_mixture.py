"""Daniely and Malach's net on rows whose hidden bits share a sign."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning import Fresh, HingeNet, learn
from paritylab.problem import Parity
from paritylab.statistics import Rate

#: Accuracy from which on a net has learned. A rule that is right wherever the hidden bits share a
#: sign, and no better than chance elsewhere, reaches 3/4 of the even mixture.
LEARNED = 0.85
#: Fresh strings on which accuracy is counted.
STRINGS = 1024


def train_on_mixture(targets: Sequence[Parity], rows: int, seed: int, **changes: Any) -> Rate:
    """Train Daniely and Malach's net: the runs that learned.

    rows: fresh rows per step. changes: fields of the learner. The accuracy is measured on inputs
    like those that the net was trained on.
    """
    learner = HingeNet.daniely_malach(**changes)
    runs, generator = learn(learner, Fresh(targets, rows), key=seed), np.random.default_rng(seed)
    right = []
    for model, target in zip(runs.models, targets, strict=True):
        bits = generator.integers(0, 2, (STRINGS, target.n))
        biased = np.flatnonzero(generator.random(STRINGS) < learner.mixture)
        bits[biased[:, None], np.array(target.subset)] = generator.integers(0, 2, (len(biased), 1))
        made = jax.vmap(model)(jnp.asarray(bits, float))
        right.append(np.mean(np.asarray(made) * np.asarray(target.label(bits)) > 0))
    return Rate.of(np.array(right) >= LEARNED)

"""Frozen attention: the best head of any kind, the trained one, and hard heads."""

import jax
import numpy as np
import pytest

from paritylab.learning import AllInputs, FrozenAttention, learn
from paritylab.learning.hardness.frozen import (
    every_input,
    group_risks,
    group_rows,
    parity_of,
)
from paritylab.learning.runs import run_keys
from paritylab.models import FrozenHeads
from paritylab.precision import float64
from paritylab.problem import Parity

PAIR = Parity(5, (0, 3))


@pytest.fixture(scope="module")
def runs():
    """AdamW shrinks whatever it is given, so frozen heads must not be among it."""
    learner = FrozenAttention(token=True, optimiser="adamw", eta=0.05, steps=150)
    return learn(learner, AllInputs(PAIR), runs=3)


def test_only_the_net_trains_and_every_run_has_its_own_heads(runs):
    for run, key in enumerate(run_keys(0, 0, 3)):
        start = FrozenHeads.random(
            jax.random.split(key)[1], 5, heads=2, width=32, token=True, tau=0.3
        )
        np.testing.assert_array_equal(runs.model(run).entries, start.entries)
        assert not np.allclose(runs.numbers["hidden"][run], start.network.hidden)
    assert len(np.unique([model.entries for model in runs.models])) == 3 * 2 * 4
    np.testing.assert_array_equal(runs.stats["numbers"], 32 * 6 + 1)


def frozen_features(model):
    """What the frozen heads pass on, for all inputs."""
    with float64():
        return np.asarray(jax.vmap(model.heads.attended)(every_input(5)))


def test_the_best_head_beats_every_trained_one(runs):
    labels = parity_of(every_input(5), PAIR.subset)
    for run in range(3):
        features = frozen_features(runs.model(run))
        best = group_risks(group_rows(features), labels[:, None])[0]
        assert best <= runs.risk[run] + 1e-9
    with float64():
        bits = every_input(5)[11]
        net = runs.model(0).network
        assert float(runs.model(0)(bits)) == pytest.approx(
            float(net(frozen_features(runs.model(0))[11])), abs=1e-12
        )


def test_the_best_head_by_hand():
    # Two groups of features: one pure, one with labels + + -: its best risk is 4·(2/5)(1/5)/(3/5).
    features, labels = np.array([[0.0], [0], [1], [1], [1]]), [1, 1, 1, 1, -1]
    groups = group_rows(features)
    both = group_risks(groups, np.stack([labels, np.ones(5)], axis=1))
    np.testing.assert_allclose(both, [8 / 15, 0])

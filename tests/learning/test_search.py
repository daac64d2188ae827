"""The hunt for violations, the best head of any kind, and feed-forward learners."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.claims.hunt import hunt
from paritylab.learning.hardness.frozen import best_possible_risk
from paritylab.learning.hardness.networks import linear_accuracy, train_networks

X64_MODES = [False]


def test_the_hunt_finds_a_violation_and_where_it_is():
    find = hunt(
        lambda x, shift: jnp.sum((x - shift) ** 2) - 0.5,
        lambda key: (jax.random.normal(key, (2,), jnp.float64), jnp.asarray(1.0)),
        starts=8,
        steps=300,
    )
    assert find.margin == pytest.approx(-0.5, abs=1e-3)
    np.testing.assert_allclose(find.moving, 1.0, atol=0.05)
    assert find.first.shape == (8,)


def test_the_hunt_cannot_break_what_holds():
    find = hunt(
        lambda x, _: x**2, lambda key: (jax.random.normal(key, (), jnp.float64), 0.0), starts=8
    )
    assert find.margin >= 0


def test_the_best_head_beats_every_trained_one():
    rng = np.random.default_rng(0)
    features = rng.integers(0, 3, (200, 2)).astype(float)
    labels = rng.choice([-1, 1], 200)
    trained = train_networks(features, labels, width=32, runs=3, steps=400)
    best = best_possible_risk(features, labels)
    assert 0 < best <= trained.risk.min() + 1e-9
    with pytest.raises(ValueError, match="one row of features per label"):
        best_possible_risk(features, labels[:5])


def test_networks_learn_xor_but_not_without_an_edge():
    bits = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], float)
    labels = 1 - 2 * ((bits[:, 0] + bits[:, 1]) % 2)
    whole = train_networks(bits, labels, width=16, runs=4, steps=1500)
    cut = train_networks(bits, labels, width=16, runs=4, steps=1500, missing=(1,))
    assert whole.risk.min() < 0.01
    assert whole.accuracy.max() == 1
    assert cut.risk.min() >= 1 - 1e-9
    with pytest.raises(ValueError, match="one row of features per label"):
        train_networks(bits, labels[:3], width=4)


def test_linear_classifiers_do_what_least_squares_can():
    rows = np.random.default_rng(1).normal(size=(400, 3))
    labels = np.sign(rows[:, 0])
    assert linear_accuracy(rows, labels, (rows, labels)) > 0.95

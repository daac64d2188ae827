"""Closed forms of sign descent against sums over all inputs."""

from itertools import product

import jax
import numpy as np
import pytest

from paritylab.learning.shallow_nets import power_risk
from paritylab.models.feedforward import FeedForward
from paritylab.precision import float64
from paritylab.problem import Parity
from paritylab.risk.objective import target_of
from paritylab.theory.neighbours import sign_path

X64_MODES = [False]


def cube(n):
    return np.array(list(product((1, -1), repeat=n)), dtype=np.int64)


@pytest.mark.parametrize(("k", "sign", "noise"), [(2, 1, 0.0), (3, -1, 0.1), (4, 1, 0.2)])
def test_the_power_net_sees_only_the_hidden_set(k, sign, noise):
    generator, x = np.random.default_rng(k), cube(7)
    problem = Parity(7, (1, 2, 4, 6)[:k], sign=sign, noise=noise)
    weights, outputs = generator.normal(size=(3, 7)), np.array([1.0, -1.0, 1.0])
    y = sign * (1 - 2 * noise) * np.prod(x[:, list(problem.subset)], axis=1)
    z = x @ weights.T
    with float64():

        def risk(hidden):
            numbers = (hidden, np.zeros(3), outputs, np.zeros(()))
            net = FeedForward(*numbers, signs=True, activation="power", power=k)
            return power_risk(net, target_of(problem))

        value, gradient = jax.value_and_grad(risk)(weights)
    assert -float(value) == pytest.approx(np.mean(y * (z**k @ outputs)))
    by_sums = k * outputs[:, None] * ((z ** (k - 1) * y[:, None]).T @ x) / len(x)
    np.testing.assert_allclose(-np.asarray(gradient), by_sums, atol=1e-10)


def test_without_a_dead_zone_a_bad_neuron_of_odd_degree_turns_good():
    """All its weights change sign together, and with them their product."""
    assert sign_path(3, 0.1, 1.0, 0.0, 200).lost[-1] == pytest.approx(-1.0)
    assert abs(sign_path(2, 0.1, 1.0, 0.0, 200).lost[-1]) < 0.2

"""Sign descent with z^k: its risk against sums over all inputs, its steps against a closed form."""

import math
from itertools import product
from typing import NamedTuple

import jax
import numpy as np
import pytest
from jaxtyping import Float

from paritylab._support.precision import float64
from paritylab.learning import Population, SignDescent, learn
from paritylab.learning.shallow_nets import power_risk
from paritylab.models.feedforward import FeedForward
from paritylab.problem import Parity, random_parities
from paritylab.risk.objective import target_of

X64_MODES = [False]


class SignPath(NamedTuple):
    """|w| after 0, 1, … steps: on B where a_r = Π w, on B where a_r = -Π w (signed), off B."""

    kept: Float[np.ndarray, " steps"]
    lost: Float[np.ndarray, " steps"]
    off: Float[np.ndarray, " steps"]


def sign_path(k: int, eta: float, decay: float, threshold: float, steps: int) -> SignPath:
    """Sign descent on the population from w(0) ∈ {±1}^n, in closed form: three numbers a step.

    All k weights of a neuron on B move together. Off B nothing but the decay acts. threshold: in
    units of k!.
    """
    kept, lost = [1.0], [1.0]
    for _ in range(steps):
        for values, way in ((kept, 1), (lost, -1)):
            signal = values[-1] ** (k - 1)
            push = 0.0 if abs(signal) < threshold else way * math.copysign(1, signal)
            values.append((1 - eta * decay) * values[-1] + eta * push)
    off = (1 - eta * decay) ** np.arange(steps + 1)
    return SignPath(np.array(kept), np.array(lost), off)


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


def test_sign_descent_on_the_population_follows_the_closed_form():
    learner, targets = SignDescent(steps=15), random_parities(12, 3, 3, sign=-1)
    runs = learn(learner, Population(targets))
    path = sign_path(3, 0.1, 1.0, 0.1, 15)
    for weights, target in zip(runs.numbers["hidden"], targets, strict=True):
        hidden = np.abs(weights[:, list(target.subset)])
        off = np.delete(np.abs(weights), target.subset, axis=1)
        np.testing.assert_allclose(off, path.off[-1], atol=1e-6)
        near = np.minimum(np.abs(hidden - path.kept[-1]), np.abs(hidden - abs(path.lost[-1])))
        assert near.max() < 1e-6

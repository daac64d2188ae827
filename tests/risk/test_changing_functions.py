"""A user's function that changes between two calls gives the new number, everywhere."""

import functools
from functools import partial
from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab import Descent, Heads, Population, Sample, TeacherStep, learn
from paritylab._support.precision import float64
from paritylab._support.user_functions import is_fixed, one_call
from paritylab.models import ChainModel, HeadAttention, WeightedReadout
from paritylab.models.readouts import Corners
from paritylab.problem import Parity, random_tree
from paritylab.problem.losses import LOSSES, Loss
from paritylab.risk import (
    enumerated_risk,
    model_gradient,
    population_gradient,
    population_risk,
    population_risks,
    sampled_risk,
)
from paritylab.risk.objective import target_of, weight_risk

X64_MODES = [False]

PROBLEM = Parity(6, (1, 4))
ATTENTION = np.random.default_rng(0).dirichlet(np.ones(6), 2)
WEIGHTS = ATTENTION.sum(axis=0)
FACTORS = (1.0, 1.3, 0.6)

factor = 1.0


def by_global(s):
    return jnp.cos(factor * jnp.pi * s)


class Owner:
    a = 1.0

    def __call__(self, s):
        return jnp.cos(self.a * jnp.pi * s)

    def method(self, s):
        return self(s)


class Bent(eqx.Module):
    """A module whose call reads a global."""

    def __call__(self, s):
        return by_global(s)


def by_cell():
    """A link that reads a cell of its closure, and what changes that cell."""
    a = 1.0

    def link(s):
        return jnp.cos(a * jnp.pi * s)

    def change(new):
        nonlocal a
        a = new

    return link, change


def change_global(new):
    global factor
    factor = new


CELL, OWNER, HELD = by_cell(), Owner(), {"a": 1.0}
#: A link cos(aπs), and what sets its a.
LINKS = {
    "global": (by_global, change_global),
    "closure": CELL,
    "object": (OWNER, partial(setattr, OWNER, "a")),
    "method": (OWNER.method, partial(setattr, OWNER, "a")),
    "partial": (
        partial(lambda held, s: jnp.cos(held["a"] * jnp.pi * s), HELD),
        partial(HELD.__setitem__, "a"),
    ),
    "module": (Bent(), change_global),
    "compiled by its user": (jax.jit(by_global), change_global),
    "under the name of jnp.cos": (
        functools.wraps(jnp.cos)(lambda s: jnp.cos(factor * jnp.pi * s)),
        change_global,
    ),
}


def changed(kind, a):
    link, change = LINKS[kind]
    change(a)
    return link


def truth(a, weights=WEIGHTS):
    """Risk by a sum over all inputs in numpy."""
    bits = (np.arange(64)[:, None] >> np.arange(6)) & 1
    y = 1 - 2 * (bits[:, [1, 4]].sum(axis=1) % 2)
    return np.mean(np.maximum(0, 1 - y * np.cos(a * np.pi * (bits @ weights))) ** 2)


MEANS = {
    "enumeration": lambda link: enumerated_risk(WeightedReadout(WEIGHTS, link), PROBLEM).value,
    "risks": lambda link: population_risks(WEIGHTS[None], PROBLEM, readout=link).values[0],
    "black box": lambda link: (
        population_risk(ATTENTION, PROBLEM, readout=link, route="black box", tolerance=1e-9).value
    ),
}


@pytest.mark.parametrize("route", MEANS)
def test_every_route_follows_a_change(route):
    for a in FACTORS[:2]:
        assert MEANS[route](changed("global", a)) == pytest.approx(truth(a), abs=1e-6)


@pytest.mark.parametrize("kind", LINKS)
def test_a_changed_readout_gives_the_new_risk_and_slopes(kind):
    steps = 1e-6 * np.eye(6)
    for a in FACTORS:
        link = changed(kind, a)
        found = population_gradient(ATTENTION, PROBLEM, readout=link)
        assert found.risk.value == pytest.approx(truth(a))
        assert population_risk(ATTENTION, PROBLEM, readout=link) == found.risk
        slope = [(truth(a, WEIGHTS + h) - truth(a, WEIGHTS - h)) / 2e-6 for h in steps]
        assert np.allclose(found.gradient[0], slope, atol=1e-6)
        with one_call(link), float64():  # as `learn` does
            loop = weight_risk(link, "squared_hinge", 6, 2)
            inside = jax.jit(jax.grad(loop))(jnp.asarray(WEIGHTS), target_of(PROBLEM))
        assert np.allclose(inside, slope, atol=1e-6)


@pytest.mark.parametrize("kind", LINKS)
def test_learning_follows_a_change(kind):
    """The risk that `learn` reports is that of the model with the function as it is now."""
    found = []
    for a in FACTORS[:2]:
        link = changed(kind, a)
        runs = learn(Heads.code(readout=link, steps=3, tau=0.5), Population(PROBLEM), runs=2)
        with float64():
            weights = np.asarray(runs.model(0).weights())
        assert runs.risk[0] == pytest.approx(truth(a, weights), abs=1e-6)
        found.append(np.asarray(runs.model(0).directions))
    assert not np.allclose(*found)  # the steps were taken along the new gradient


def test_models_and_samples_follow_a_change_too():
    for a in FACTORS[:2]:
        link = changed("global", a)
        model = HeadAttention.random(3, PROBLEM, readout=link, tau=0.3)
        with float64():
            weights = np.asarray(model.weights())
        assert model_gradient(model, PROBLEM).risk.value == pytest.approx(truth(a, weights))
        sampled = sampled_risk(WeightedReadout(WEIGHTS, link), PROBLEM, samples=20_000)
        assert abs(sampled.value - truth(a)) < 5 * sampled.error


def test_a_changed_loss_gives_the_new_risk():
    held = SimpleNamespace(p=1.0)
    own = Loss(
        "own",
        lambda y, made: jnp.maximum(0, 1 - y * made) ** held.p,
        outer=lambda mean: held.p * mean,
    )
    for held.p, named in ((1.0, "hinge"), (2.0, "squared_hinge")):
        value = population_risk(ATTENTION, PROBLEM, readout="cos", loss=own).value
        wanted = population_risk(ATTENTION, PROBLEM, readout="cos", loss=named).value
        assert value == pytest.approx(held.p * wanted)


def test_declared_corners_are_asked_for_anew():
    class Kinks:
        height = 1.0

        def corners(self, reach):
            return Corners(np.array([0.0, 1.0, float(reach)]), self.height * np.array([1, -1, 1]))

        def __call__(self, s):
            return self.height * (1 - 2 * jnp.minimum(s, 2 - s))

    link = Kinks()
    for link.height in (1.0, 0.5):
        risk = population_risk(ATTENTION, PROBLEM, readout=link)
        assert risk.route == "half-sums"
        assert risk.value == pytest.approx(MEANS["enumeration"](link))


class Wave(eqx.Module):
    weights: jax.Array
    link: object = eqx.field(static=True)

    def __call__(self, bits):
        return self.link(bits @ self.weights)


def test_training_a_model_of_ones_own_follows_a_change():
    model = Wave(np.ones(6), by_global)
    for a in FACTORS[:2]:
        change_global(a)
        fresh = Wave(np.ones(6), lambda s, a=a: jnp.cos(a * jnp.pi * s))
        risks = [
            learn(Descent(each, steps=2), Sample(PROBLEM, 50), runs=1).risk[0]
            for each in (model, fresh)
        ]
        assert risks[0] == pytest.approx(risks[1], rel=1e-9)


def test_a_link_of_the_chain_follows_a_change():
    held, tree, found = SimpleNamespace(p=1.0), random_tree(0, 8, 4), []

    def link(t):
        return -jnp.cos(jnp.pi * t) * (1 + held.p * t**2 * (1 - t**2))

    signs = np.array([[1.0, -1, 1, 1, -1, 1, 1, -1]])
    model = ChainModel(np.random.default_rng(0).normal(size=(11, 3)), 8, link)
    for held.p in (0.0, 1.0):
        runs = learn(TeacherStep(link=link), Sample(tree, 200), runs=1)
        with float64():
            settled = np.asarray(model.settle(jnp.asarray(signs))[1])
        found.append((float(np.abs(runs.model(0).scores).max()), settled))
    assert found[0][0] != pytest.approx(found[1][0], rel=1e-3)
    assert not np.allclose(found[0][1], found[1][1])


def test_the_labs_own_parts_are_known_as_fixed():
    problem_parts = (LOSSES["hinge"], "zigzag", jnp.cos, Heads.code(), HeadAttention)
    assert all(map(is_fixed, problem_parts))
    assert is_fixed(HeadAttention.random(0, PROBLEM, tau=0.1))
    assert not is_fixed(HeadAttention.random(0, PROBLEM, tau=0.1, readout=by_global))
    assert not any(map(is_fixed, (by_global, Owner(), partial(by_global))))

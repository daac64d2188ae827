"""A user's function that changes between two calls gives the new number, everywhere."""

import functools
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab import Descent, Heads, Population, Sample, TeacherStep, learn
from paritylab.models import ChainModel, HeadAttention, WeightedReadout
from paritylab.models.readouts import Corners
from paritylab.precision import float64, is_fixed, one_call
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


def global_link(a):
    global factor
    factor = a
    return by_global


def cell_of():
    a = 1.0

    def link(s):
        return jnp.cos(a * jnp.pi * s)

    def change(new):
        nonlocal a
        a = new
        return link

    return change


class Owner:
    a = 1.0

    def __call__(self, s):
        return jnp.cos(self.a * jnp.pi * s)

    def method(self, s):
        return self(s)


def attribute_of(called):
    owner = Owner()
    link = owner if called else owner.method

    def change(new):
        owner.a = new
        return link

    return change


def partial_of():
    numbers = {"a": 1.0}
    link = partial(lambda held, s: jnp.cos(held["a"] * jnp.pi * s), numbers)

    def change(new):
        numbers["a"] = new
        return link

    return change


class Bent(eqx.Module):
    """A module whose call reads a global."""

    def __call__(self, s):
        return jnp.cos(factor * jnp.pi * s)


compiled_by_user = jax.jit(lambda s: jnp.cos(factor * jnp.pi * s))
renamed = functools.wraps(jnp.cos)(lambda s: jnp.cos(factor * jnp.pi * s))


def global_of(link):
    def change(a):
        global_link(a)
        return link

    return change


LINKS = {
    "global": global_link,
    "closure": cell_of(),
    "object": attribute_of(True),
    "method": attribute_of(False),
    "partial": partial_of(),
    "module": global_of(Bent()),
    "compiled by its user": global_of(compiled_by_user),
    "under the name of jnp.cos": global_of(renamed),
}


def truth(a):
    """Risk by a sum over all inputs in numpy."""
    bits = (np.arange(64)[:, None] >> np.arange(6)) & 1
    y = 1 - 2 * (bits[:, [1, 4]].sum(axis=1) % 2)
    return np.mean(np.maximum(0, 1 - y * np.cos(a * np.pi * (bits @ WEIGHTS))) ** 2)


def by_weights(link):
    return WeightedReadout(WEIGHTS, link)


MEANS = {
    "enumeration": lambda link: enumerated_risk(by_weights(link), PROBLEM).value,
    "risks": lambda link: population_risks(WEIGHTS[None], PROBLEM, readout=link).values[0],
    "series": lambda link: (
        population_risk(ATTENTION, PROBLEM, readout=link, route="series", tolerance=1e-9).value
    ),
}


@pytest.mark.parametrize("kind", LINKS)
def test_a_changed_readout_gives_the_new_risk(kind):
    for a in FACTORS:
        found = population_risk(ATTENTION, PROBLEM, readout=LINKS[kind](a))
        assert found.value == pytest.approx(truth(a))


@pytest.mark.parametrize("route", MEANS)
def test_every_route_follows_a_change(route):
    for a in FACTORS[:2]:
        assert MEANS[route](global_link(a)) == pytest.approx(truth(a), abs=1e-6)


@pytest.mark.parametrize("kind", LINKS)
def test_a_changed_readout_gives_the_new_slopes(kind):
    for a in FACTORS[:2]:
        link = LINKS[kind](a)
        found = population_gradient(ATTENTION, PROBLEM, readout=link)
        steps = 1e-6 * np.eye(6)
        slope = [(truth_at(WEIGHTS + h, a) - truth_at(WEIGHTS - h, a)) / 2e-6 for h in steps]
        assert np.allclose(found.gradient[0], slope, atol=1e-6)
        with one_call(link), float64():  # as `learn` does
            loop = weight_risk(link, "squared_hinge", 6, 2)
            inside = jax.jit(jax.grad(loop))(jnp.asarray(WEIGHTS), target_of(PROBLEM))
        assert np.allclose(inside, slope, atol=1e-6)


def truth_at(weights, a):
    bits = (np.arange(64)[:, None] >> np.arange(6)) & 1
    y = 1 - 2 * (bits[:, [1, 4]].sum(axis=1) % 2)
    return np.mean(np.maximum(0, 1 - y * np.cos(a * np.pi * (bits @ weights))) ** 2)


def test_models_and_samples_follow_a_change_too():
    for a in FACTORS[:2]:
        link = global_link(a)
        model = HeadAttention.random(3, PROBLEM, readout=link, tau=0.3)
        with float64():
            weights = np.asarray(model.weights())
        assert model_gradient(model, PROBLEM).risk.value == pytest.approx(truth_at(weights, a))
        sampled = sampled_risk(by_weights(link), PROBLEM, samples=20_000)
        assert abs(sampled.value - truth(a)) < 5 * sampled.error


def test_a_changed_loss_gives_the_new_risk():
    power = {"p": 1.0}
    own = Loss(
        "own",
        lambda y, made: jnp.maximum(0, 1 - y * made) ** power["p"],
        outer=lambda mean: power["p"] * mean,
    )
    seen = []
    for power["p"] in (1.0, 2.0):
        value = population_risk(ATTENTION, PROBLEM, readout="cos", loss=own).value
        named = "hinge" if power["p"] == 1 else "squared_hinge"
        wanted = power["p"] * population_risk(ATTENTION, PROBLEM, readout="cos", loss=named).value
        assert value == pytest.approx(wanted)
        seen.append(value)
    assert seen[0] != seen[1]


def test_declared_corners_are_asked_for_anew():
    class Kinks:
        height = 1.0

        def corners(self, reach):
            return Corners(np.array([0.0, 1.0, float(reach)]), self.height * np.array([1, -1, 1]))

        def __call__(self, s):
            return self.height * (1 - 2 * jnp.minimum(s, 2 - s))

    link, found = Kinks(), []
    for link.height in (1.0, 0.5):
        risk = population_risk(ATTENTION, PROBLEM, readout=link)
        assert risk.route == "half-sums"
        assert risk.value == pytest.approx(enumerated_risk(by_weights(link), PROBLEM).value)
        found.append(risk.value)
    assert found[0] != pytest.approx(found[1])


@pytest.mark.parametrize("kind", LINKS)
def test_learning_follows_a_change(kind):
    """The risk that `learn` reports is that of the model with the function as it is now."""
    found = []
    for a in FACTORS[:2]:
        link = LINKS[kind](a)
        runs = learn(Heads.code(readout=link, steps=3, tau=0.5), Population(PROBLEM), runs=2)
        with float64():
            weights = np.asarray(runs.model(0).weights())
        assert runs.risk[0] == pytest.approx(truth_at(weights, a), abs=1e-6)
        found.append(np.asarray(runs.model(0).directions))
    assert not np.allclose(*found)  # the steps were taken along the new gradient


@functools.cache
def trained_with(a, kind):
    """One step of descent with the link made fresh, so that nothing can be reused."""
    fresh = {"model": lambda: Wave(np.ones(6), lambda s: jnp.cos(a * jnp.pi * s))}[kind]()
    return learn(Descent(fresh, steps=2), Sample(PROBLEM, 50), runs=1).risk[0]


class Wave(eqx.Module):
    weights: jax.Array
    link: object = eqx.field(static=True)

    def __call__(self, bits):
        return self.link(bits @ self.weights)


def test_training_a_model_of_ones_own_follows_a_change():
    model = Wave(np.ones(6), by_global)
    for a in FACTORS[:2]:
        global_link(a)
        runs = learn(Descent(model, steps=2), Sample(PROBLEM, 50), runs=1)
        assert runs.risk[0] == pytest.approx(trained_with(a, "model"), rel=1e-9)


def test_a_link_of_the_chain_follows_a_change():
    shape = {"p": 1.0}

    def link(t):
        return -jnp.cos(jnp.pi * t) * (1 + shape["p"] * t**2 * (1 - t**2))

    tree, found = random_tree(0, 8, 4), []
    signs = np.array([[1.0, -1, 1, 1, -1, 1, 1, -1]])
    model = ChainModel(np.random.default_rng(0).normal(size=(11, 3)), 8, link)
    for shape["p"] in (0.0, 1.0):
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

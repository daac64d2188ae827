"""Gradient descent on a model of one's own: any kind of data, loss and optimiser."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from paritylab.learning import Descent, Fresh, Population, Rows, Sample, learn
from paritylab.models import HeadAttention
from paritylab.problem import Loss, Parity, sample

X64_MODES = [False]  # descent has float64 of its own
PAIR = Parity(5, (1, 3))


class TwoLayers(eqx.Module):
    """What a user writes: arrays, and a prediction of one bit string."""

    first: jax.Array
    second: jax.Array

    def __init__(self, key):
        one, two = jax.random.split(key)
        self.first, self.second = jax.random.normal(one, (16, 6)), jax.random.normal(two, (16,)) / 4

    def __call__(self, bits):
        return self.second @ jnp.tanh(self.first @ jnp.append(bits, 1.0))


def rows():
    batch = sample(PAIR, key=0, size=200)
    return Rows(batch.bits, batch.labels)


LOGISTIC = Loss("logistic", lambda y, prediction: jnp.logaddexp(0, -y * prediction))


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (Population(PAIR), {"optimiser": optax.lbfgs()}),
        (Sample(PAIR, 200), {"optimiser": optax.adam(0.05)}),
        (Fresh(PAIR, 64), {"loss": LOGISTIC}),
        (rows(), {"batch": 32}),
    ],
    ids=["all-lbfgs", "sample-adam", "fresh-logistic", "rows-batch"],
)
def test_two_layers_learn_from_every_kind_of_data(data, options):
    """With losses and optimisers of one's own; the squared hinge judges."""
    runs = learn(Descent(TwoLayers, eta=0.05, steps=300, **options), data, runs=3, trace=100)
    assert runs.rate().value == 1
    assert runs.loss == "squared_hinge"
    assert runs.trace["first"].shape == (3, 3, 16, 6)
    assert len(np.unique(runs.trace["first"][:, 0, 0, 0])) == 3  # every run has its own start


class Frozen(eqx.Module):
    """Arrays that never train may differ from run to run too."""

    places: jax.Array
    scale: jax.Array
    power: float = 2.0

    def __init__(self, key):
        self.places, self.scale = jax.random.permutation(key, 5)[:2], jnp.ones(())

    def __call__(self, bits):
        return self.scale * jnp.prod(1 - self.power * bits[self.places])


def test_what_does_not_train_belongs_to_the_run():
    runs = learn(Descent(Frozen, steps=40), Population(PAIR), runs=40)
    hit = [set(model.places.tolist()) == {1, 3} for model in runs.models]
    assert 0 < sum(hit) < 40
    np.testing.assert_array_equal(runs.stats["accuracy"] == 1, hit)
    assert [leaf.shape for leaf in runs.numbers] == [(40,)]  # a Python float is a constant


def test_the_labs_models_descend_too():
    start = HeadAttention.random(0, PAIR, tau=0.5)
    runs = learn(Descent(start, steps=2), Population(PAIR), runs=2)
    np.testing.assert_array_equal(runs.risk[0], runs.risk[1])
    assert isinstance(runs.model(0), HeadAttention)


def test_a_plain_class_with_both_methods_is_a_model():
    class Plain:
        def __init__(self, weights):
            self.weights = weights

        def __call__(self, bits):
            return self.weights @ bits

        def parameters(self):
            return self.weights

        def with_parameters(self, weights):
            return Plain(weights)

    runs = learn(Descent(Plain(np.ones(5)), steps=20), Population(PAIR), runs=1)
    assert runs.risk[0] < 10


class NoCall(eqx.Module):
    weights: jax.Array


class Branch(NoCall):
    def __call__(self, bits):
        return self.weights[0] if bits[0] > 0 else self.weights[1]


class Vector(NoCall):
    def __call__(self, bits):
        return self.weights * bits


class Counts(NoCall):
    def __call__(self, bits):
        return jnp.sum(bits)


class Half(NoCall):
    def __call__(self, bits):
        return self.weights @ bits

    def parameters(self):
        return self.weights


ONES = jnp.ones(5)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("mlp", "model must be a model, or a function from a key to one, got 'mlp'"),
        (NoCall(ONES), r"a model needs a method __call__\(bits\).*NoCall has none"),
        (Branch(ONES), "Branch fails on a string of 5 bits: a Python `if`.*jnp.where"),
        (Vector(ONES), r"Vector must return one number per bit string, got shape \(5,\)"),
        (Counts(jnp.arange(5)), "Counts has no trainable numbers"),
        (Half(ONES), r"Half lacks with_parameters\(\)"),
        (Vector(jnp.ones(7)), "Vector fails on a string of 5 bits"),
        (lambda bits: bits @ ONES, r"model\(key\) made no model"),
        (lambda key: jnp.ones(3), r"a model needs a method __call__"),
    ],
)
def test_wrong_models_are_told_what_is_missing(model, words):
    with pytest.raises(ValueError, match=words) as raised:
        learn(Descent(model, steps=2), Population(PAIR))
    assert "\n" not in str(raised.value)

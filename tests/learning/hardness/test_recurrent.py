"""Recurrent nets: labels make them learn, and they are judged fed with their own answers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.learning import Fresh, RecurrentNet, learn
from paritylab.models.recurrent import Recurrent, reader_inputs
from paritylab.problem import random_parities

DATA = Fresh(random_parities(8, 4, runs=2), 32)


LEARNER = RecurrentNet(width=32, steps=300, eta=0.01)


@pytest.fixture(scope="module")
def with_labels():
    return learn(LEARNER, DATA, trace=150)


def test_labels_make_recurrent_nets_learn(with_labels):
    assert with_labels.kind == "exact"
    assert with_labels.rate().value == 1
    np.testing.assert_array_equal(with_labels.stats["accuracy"], 1)
    assert with_labels.trace["risk"].shape == (2, 2)
    assert with_labels.trace["risk"][:, 1].max() < 0.5


def test_fed_with_its_own_right_answers_it_is_the_network_fed_by_a_teacher(with_labels):
    reader, problem = with_labels.model(0), DATA.targets[0]
    bits = np.random.default_rng(0).integers(0, 2, (5, 8)).astype(float)
    signs = jnp.asarray(1 - 2 * bits)
    running = np.cumprod(np.where(problem.indicator > 0, signs, 1), axis=1)
    before = jnp.asarray(np.concatenate([np.ones((5, 1)), running[:, :-1]], axis=1))
    answers = jax.vmap(reader.network)(reader_inputs(signs, before))
    np.testing.assert_allclose(jax.vmap(reader)(bits), answers[:, -1], rtol=1e-4)
    np.testing.assert_array_equal(np.sign(answers), running)


def test_the_mode_of_the_caller_changes_nothing(with_labels):
    with jax.enable_x64(True):
        double = learn(LEARNER, DATA, trace=150)
    for one, other in zip(with_labels.numbers, double.numbers, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("cell", ["elman", "lstm"])
def test_answers_to_a_whole_input_are_those_of_one_step_after_another(cell):
    network = Recurrent.random(0, 4, 8, cell)
    inputs = jnp.asarray(np.random.default_rng(0).normal(size=(5, 4)), jnp.result_type(float))
    state, answers = network.start(), []
    for given in inputs:
        state, answer = network.step(state, given)
        answers.append(answer)
    np.testing.assert_allclose(network(inputs), answers, rtol=1e-5, atol=1e-6)

"""Nets of one hidden layer: constructions, missing edges, and nets behind frozen heads."""

import itertools

import jax
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.models import (
    FeedForward,
    FrozenHeads,
    interpolating_network,
    parity_network,
    parity_transformer,
)
from paritylab.problem import Parity, all_bits


@pytest.mark.grid(3)
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_constructions_compute_the_parity_of_every_input(k):
    bits = next(all_bits(6)).astype(float)
    for subset in itertools.combinations(range(6), k):
        problem = Parity(6, subset)
        labels = problem.label(bits)
        assert np.array_equal(jax.vmap(parity_network(problem))(bits), labels)
        assert np.array_equal(jax.vmap(parity_transformer(problem, hard=True))(bits), labels)


def test_missing_edges_carry_nothing():
    network = FeedForward.random(0, n=5, width=4, missing=(2,))
    bits = next(all_bits(5)).astype(float)
    predictions = np.asarray(jax.vmap(network)(bits))
    assert np.array_equal(predictions, predictions[np.arange(32) ^ 4])
    assert not np.array_equal(predictions, predictions[np.arange(32) ^ 2])
    gradient = jax.grad(lambda p: network.with_parameters(p)(bits[7]))(network.parameters())
    assert np.all(np.asarray(gradient["hidden"])[:, 2] == 0)


def test_nets_read_bits_or_signs():
    network = FeedForward.random(0, n=4, width=3, signs=True)
    plain = FeedForward(**network.parameters(), edges=network.edges)
    for bits in np.asarray(next(all_bits(4)))[[0, 5, 15]].astype(float):
        np.testing.assert_allclose(network(bits), plain(1 - 2 * bits), rtol=1e-5)
    assert network.norms() == plain.norms()


def test_a_net_interpolates_every_sum_that_tells_strings_apart():
    problem, weights = Parity(5, (0, 2, 3)), 2.0 ** np.arange(5) / 31
    network = interpolating_network(problem, weights)
    bits = np.asarray(next(all_bits(5)))
    with float64():
        predictions = jax.vmap(network)((bits @ weights)[:, None])
    np.testing.assert_allclose(predictions, problem.label(bits), atol=1e-9)


def test_frozen_heads_are_one_model_whose_net_trains():
    model = FrozenHeads.random(0, 6, heads=2, width=3, tau=0.5)
    bits = np.array([0.0, 1, 1, 0, 1, 0])
    np.testing.assert_allclose(model(bits), model.network(model.heads.attended(bits)), rtol=1e-6)
    other = FrozenHeads.of(np.zeros((2, 4)), model.network, 6, 0.5)
    np.testing.assert_allclose(other.heads.attended(bits)[:2], 0.5, rtol=1e-6)  # uniform attention
    moved = model.with_parameters({**model.parameters(), "offset": np.ones(())})
    np.testing.assert_allclose(moved(bits), model(bits) + 1, rtol=1e-5)

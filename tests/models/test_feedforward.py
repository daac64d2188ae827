import itertools

import jax
import numpy as np
import pytest

from paritylab.models import (
    FeedForward,
    FrozenHeads,
    HeadAttention,
    Zigzag,
    interpolating_network,
    parity_network,
    parity_transformer,
    tied_network,
)
from paritylab.precision import float64
from paritylab.problem import Parity, all_bits
from paritylab.theory import hg1


@pytest.mark.grid(3)
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_constructions_compute_the_parity_of_every_input(k):
    bits = next(all_bits(6)).astype(float)
    for subset in itertools.combinations(range(6), k):
        problem = Parity(6, subset)
        labels = problem.label(bits)
        assert np.array_equal(jax.vmap(parity_network(problem))(bits), labels)
        assert np.array_equal(jax.vmap(parity_transformer(problem, hard=True))(bits), labels)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_construction_sizes(k):
    network = parity_network(Parity(12, range(k)))
    assert network.distinct_numbers() == hg1.network_parameters(k)


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
    assert network.norms() > 1000
    with pytest.raises(ValueError, match="two sums are equal"):
        interpolating_network(problem, np.ones(5))


def test_frozen_heads_are_one_model_whose_net_trains():
    model = FrozenHeads.random(0, 6, heads=2, width=3, tau=0.5)
    bits = np.array([0.0, 1, 1, 0, 1, 0])
    np.testing.assert_allclose(model(bits), model.network(model.heads.attended(bits)), rtol=1e-6)
    other = FrozenHeads.of(np.zeros((2, 4)), model.network, 6, 0.5)
    np.testing.assert_allclose(other.heads.attended(bits)[:2], 0.5, rtol=1e-6)  # uniform attention
    moved = model.with_parameters({**model.parameters(), "offset": np.ones(())})
    np.testing.assert_allclose(moved(bits), model(bits) + 1, rtol=1e-5)


def test_masked_heads_are_a_net_with_tied_edges():
    heads = HeadAttention.random(3, Parity(6, (0, 2, 5)), readout=Zigzag(3, 0.01), tau=0.3)
    bits = np.array([[(i >> j) & 1 for j in range(6)] for i in range(64)], dtype=float)
    net = tied_network(heads)
    np.testing.assert_allclose(jax.vmap(net)(bits), jax.vmap(heads)(bits), atol=1e-4)
    assert net.edges.sum() == 18
    with pytest.raises(ValueError, match="zigzag readout"):
        tied_network(HeadAttention.random(0, Parity(6, (0, 2)), readout="cos"))

import itertools

import jax
import numpy as np
import pytest

from paritylab.models import FeedForward, parity_network, parity_transformer
from paritylab.problem import Parity, all_bits
from paritylab.theory import hg1


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
    assert network.edge_numbers() == k * k + 2 * k + 1


def test_missing_edges_carry_nothing():
    network = FeedForward.random(0, n=5, width=4, missing=(2,))
    bits = next(all_bits(5)).astype(float)
    predictions = np.asarray(jax.vmap(network)(bits))
    assert np.array_equal(predictions, predictions[np.arange(32) ^ 4])
    assert not np.array_equal(predictions, predictions[np.arange(32) ^ 2])
    gradient = jax.grad(lambda p: network.with_parameters(p)(bits[7]))(network.parameters())
    assert np.all(np.asarray(gradient[0])[:, 2] == 0)

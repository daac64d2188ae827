"""Means of all parities at once."""

from itertools import combinations, product

import numpy as np

from paritylab.problem import ParityTree
from paritylab.problem.junta import walsh_transform
from paritylab.problem.tree import largest_means, token_products

TREE = ParityTree(5, (0, 1, 3, 4))


def test_the_transform_is_the_sum_over_all_inputs():
    values = np.random.default_rng(0).normal(size=16)
    for mask, found in enumerate(walsh_transform(values)):
        signs = np.array([(-1) ** (mask & x).bit_count() for x in range(16)])
        np.testing.assert_allclose(found, signs @ values, atol=1e-12)


def test_products_of_tokens_are_parities_of_inputs():
    signs = np.array(list(product([1, -1], repeat=5)))
    tokens = np.asarray(TREE.tokens(signs.astype(float)))
    masks = token_products(TREE, most=2)
    parities = {
        tuple(signs[:, [j for j in range(5) if mask >> j & 1]].prod(axis=1)) for mask in masks
    }
    made = {
        tuple(tokens[:, list(chosen)].prod(axis=1))
        for size in (1, 2)
        for chosen in combinations(range(TREE.size), size)
    }
    assert made - {(1.0,) * 32} == parities


def test_the_largest_mean_is_over_all_products_of_four():
    (largest,) = largest_means(TREE, 50, [7])
    drawn = np.random.default_rng(7).integers(0, 32, 50)
    signs = 1 - 2 * ((drawn[:, None] >> np.arange(5)) & 1)
    tokens = np.asarray(TREE.tokens(signs.astype(float)))
    means = [
        abs(tokens[:, list(chosen)].prod(axis=1).mean())
        for size in range(1, 5)
        for chosen in combinations(range(TREE.size), size)
    ]
    assert np.isclose(max(mean for mean in means if mean < 1 - 1e-9), largest)

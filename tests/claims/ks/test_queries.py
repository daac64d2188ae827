"""Queries over every target at once, against brute force."""

from itertools import combinations

import numpy as np
import pytest

from paritylab.experiments.ks_queries import (
    Asked,
    all_signs,
    ask,
    decode_in_one_query,
    every_subset,
    gradient_spread,
    target_values,
)
from paritylab.models import LINKS, ChainModel

X64_MODES = [False]
SIGNS, SUBSETS = all_signs(6), every_subset(6, 2)


def model_at(seed):
    scores = np.random.default_rng(seed).normal(size=(7, 1))
    return ChainModel(scores.astype(np.float32), 6, LINKS["quadratic"], "level")


def test_target_values_are_products_of_signs():
    values = target_values(SIGNS, every_subset(6, 3))
    expected = [SIGNS[:, list(s)].prod(axis=1) for s in combinations(range(6), 3)]
    np.testing.assert_array_equal(values, expected)


def test_queries_keep_the_largest_distance_of_every_target():
    both = ask([model_at(0), model_at(1)], SIGNS, SUBSETS)
    single = [2 * gradient_spread(model_at(s), SIGNS, SUBSETS).distances for s in (0, 1)]
    np.testing.assert_allclose(both.distances, np.maximum(*single))
    assert both.queries == 2
    assert 0 < both.use_of_bound() <= 1


def test_the_bound_is_used_up_by_a_query_that_is_one_target():
    # f = θ·p has ∇_p = -2 and 0 elsewhere: one target of ten stands out by 2, F² = 1.
    asked = Asked(np.array([2.0] + [0.0] * 9), 1.0, 1)
    assert asked.use_of_bound() == pytest.approx(1)


def test_a_decoding_query_tells_targets_apart_by_the_signs_of_its_gradient():
    found = decode_in_one_query(8, 4, 0.3, seed=0)
    assert found.share == pytest.approx(33 / 70)
    assert found.features == 6
    assert 1 < found.gradient <= 9 * found.features
    assert decode_in_one_query(8, 4, 1.9, seed=0).share < 0.05
    assert decode_in_one_query(8, 4, 2.1, seed=0).share == 0  # no gradient exceeds 2E|p·g| ≤ 2

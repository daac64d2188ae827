"""Heads in the limit tau → 0."""

import numpy as np
from hypothesis import given, settings, strategies as st

from paritylab.claims.hg1.hardening import (
    least_risk_of_heads,
    risks_of_weights,
    search_soft_solutions,
    sets_without_neighbours,
)
from paritylab.problem import Parity
from paritylab.theory.hg1 import risk_of_missing_weight


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31 - 1), st.integers(1, 4))
def test_missing_weight_costs_at_least_the_bound(seed, k):
    """Any weights at all, not only those that heads can have."""
    generator = np.random.default_rng(seed)
    subset = tuple(sorted(generator.choice(6, k, replace=False).tolist()))
    inside = np.isin(np.arange(6), subset)
    weights = inside + generator.normal(size=(20, 6)) * generator.choice([0.01, 0.3, 1])
    risks = risks_of_weights(np.maximum(weights, 0), Parity(6, subset))
    assert np.all(risks >= risk_of_missing_weight(np.maximum(weights, 0), inside) - 1e-9)


def test_soft_solutions_without_neighbours_are_one_head_per_bit():
    found = search_soft_solutions([(6, 2)])
    assert found.solutions == len(sets_without_neighbours(6, 2)) == 3
    assert found.failures == 0
    assert found.off == 0
    assert found.slack > -1e-9


def test_fewer_heads_than_bits_leave_one_unseen():
    risk, tried = least_risk_of_heads(6, 3, 2)
    assert risk >= 1 - 1e-9
    assert tried == 300 * len(sets_without_neighbours(6, 3))

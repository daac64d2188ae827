"""Heads in the limit tau → 0."""

import numpy as np
from hypothesis import given, settings, strategies as st

from paritylab.experiments.hg1_hardening import risks_of_weights
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

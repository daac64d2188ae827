"""Exact risks of many runs against enumeration, one by one."""

import numpy as np
import pytest

from paritylab.claims.hg1.exact_risks import ExactRisks
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.problem import Parity
from paritylab.risk import enumerated_gradient


@pytest.mark.parametrize(("k", "b"), [(1, 0.01), (2, 0.0), (3, 0.05)])
def test_risk_and_gradient_are_the_models(k, b):
    sets = [(1, 4, 2)[:k], (0, 2, 5)[:k], (2, 3, 4)[:k]]
    heads = np.random.default_rng(0).normal(size=(3, k, 2))
    found = ExactRisks(6, np.array(sets), 0.3, b)(heads)
    for run, subset in enumerate(sets):
        model = HeadAttention(heads[run], Circle(6), k, Zigzag(k, b), tau=0.3)
        exact = enumerated_gradient(model, Parity(6, subset))
        assert found.risk[run] == pytest.approx(exact.risk.value, rel=1e-6)
        np.testing.assert_allclose(found.gradient[run], exact.gradient, atol=1e-5)
        slope = np.sum(np.square(exact.gradient))
        assert found.squared_slope()[run] == pytest.approx(slope, rel=1e-4)

"""HG1's limits against search, enumeration and autodiff."""

import numpy as np
import pytest

from paritylab.models import parity_transformer
from paritylab.problem import Parity
from paritylab.risk import enumerated_risk
from paritylab.theory import hg1_limits as limits


def test_the_least_risk_without_a_bit_is_found_by_search():
    probability = np.random.default_rng(0).dirichlet(np.ones(8))
    guesses = np.linspace(-1, 1, 20_001)
    total = 0.0
    for low in (0, 1, 4, 5):  # bit 1 is the unseen one
        first, second = probability[low], probability[low | 2]
        total += np.min(first * (1 - guesses) ** 2 + second * (1 + guesses) ** 2)
    assert limits.risk_without_bit(probability, 1) == pytest.approx(total, abs=1e-8)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_floor_is_the_risk_of_hard_heads_on_the_target(k):
    problem = Parity(k + 1, tuple(range(k)))
    risk = enumerated_risk(parity_transformer(problem, b=0.01, hard=True), problem).value
    assert limits.smoothing_floor(k, 0.01) == pytest.approx(risk, rel=1e-6)
    assert limits.smoothing_floor(k, 1e-5) == pytest.approx(
        limits.smoothing_constant(k) * 1e-10, rel=1e-3
    )


@pytest.mark.parametrize("k", [1, 3, 6])
def test_no_heads_reach_zero_once_the_readout_is_smooth(k):
    """Random weights with Σg = k on six bits."""
    bits = (np.arange(64)[:, None] >> np.arange(6) & 1).astype(float)
    labels = (-1.0) ** bits[:, :k].sum(axis=1)
    weights = k * np.random.default_rng(0).dirichlet(np.full(6, 0.3), size=200)
    for g in (*weights, np.arange(6) < k):
        lost = np.maximum(0, 1 - labels * limits.smoothed_zigzag(bits @ g, k, 0.1))
        assert np.mean(lost**2) >= limits.least_smoothed_risk(6, k, 0.1) > 0

"""Formulas for one XOR step, against the exact gradient and random spaces.

The claims hg2-one-step and hg2-samples hold the laws of errors and rows against draws.
"""

import itertools

import numpy as np
import pytest

from paritylab.learning.xor.exact import first_gradient
from paritylab.theory.hg2 import linear_share

X64_MODES = [False]


@pytest.mark.parametrize(
    ("bits", "function", "signal"),
    [
        (2, lambda x: -x[0] * x[1], [1, 1]),
        (2, lambda x: 1.0 if (x < 0).all() else -1.0, [-0.5, -0.5]),
        (2, lambda x: x[0], [0, 0]),
        (3, lambda x: x[0] * x[1] * x[2], [0, 0, 0]),
        (3, lambda x: -1.0 if abs(x.sum()) == 3 else 1.0, [1, 1, 1]),
    ],
)
def test_the_first_gradient_sees_pairs_only(bits, function, signal):
    """Bit i gains weight faster than irrelevant ones by -(4/n)·Σ_j E[f·x_i·x_j], here by hand."""
    first = first_gradient(40, function, bits, "correlation")
    np.testing.assert_allclose(40 * (first.other - first.relevant) / 4, signal, atol=1e-9)


@pytest.mark.parametrize("rank", [2, 5, 11])
def test_few_numbers_are_near_few_pairs(rank):
    """The mean largest cos² over all pairs, in random spaces and in the best one for its pairs."""
    n, error = 12, 0.1
    rng = np.random.default_rng(0)
    spaces = [rng.normal(size=(n, rank)) for _ in range(20)] + [np.eye(n)[:, :rank]]
    outside = (np.sqrt(1 + error / 2) - np.sqrt(1 - error / 2)) / 2
    least = 1 / (1 + (error / 2 + outside**2) / (1 - error / 2))
    for space in spaces:
        basis = np.linalg.qr(space)[0]
        pairs = [np.isin(np.arange(n), pair) for pair in itertools.combinations(range(n), 2)]
        cosines = np.array([np.sum((basis.T @ pair / np.sqrt(2)) ** 2) for pair in pairs])
        assert np.mean(cosines >= least) <= linear_share(n, rank - 1, error) + 1e-12


def test_weights_within_the_error_have_the_angle_the_bound_counts_on():
    """Weights near a pair, by enumeration: right within e on every input, so cos² is large."""
    n, error = 8, 0.5
    rng, places = np.random.default_rng(1), np.arange(n)
    signs = np.array(list(itertools.product([1.0, -1.0], repeat=n)))
    sizes = rng.choice([0.02, 0.1, 0.3], (20_000, 1)) * (places < rng.integers(2, 9, (20_000, 1)))
    g = 0.5 * (places < 2) + sizes * rng.normal(size=(20_000, n))
    errors = np.abs(1 - 2 * (g @ signs.T) ** 2 + signs[:, 0] * signs[:, 1]).max(axis=1)
    right = g[errors <= error]
    assert len(right) > 300
    outside = (np.sqrt(1 + error / 2) - np.sqrt(1 - error / 2)) / 2
    assert np.abs(right[:, 2:]).sum(axis=1).max() <= outside
    cosines = (right[:, :2].sum(axis=1) ** 2 / 2) / (right**2).sum(axis=1)
    tangent = (error / 2 + outside**2) / (1 - error / 2)
    assert cosines.min() >= 1 / (1 + tangent)
    assert linear_share(1000, 99, error) == pytest.approx(
        (0.1 + 900 / 999_000) * (1 + tangent), rel=1e-12
    )

"""Parities: labels, random targets, bits and signs."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from paritylab.problem import Parity, bits_from_signs, random_parity, signs_from_bits


def test_label_follows_the_contract():
    problem = Parity(4, (2, 0))
    assert problem.subset == (0, 2)
    assert int(problem.label([0, 1, 0, 1])) == int(Parity(4, ()).label([0, 1, 0, 1])) == 1
    assert int(problem.label([1, 0, 0, 0])) == -1
    assert int(Parity(4, (0, 2), sign=-1).label([1, 0, 0, 0])) == 1


@pytest.mark.parametrize("neighbours", [True, False])
def test_random_targets_are_uniform(neighbours):
    n, k, draws = 8, 3, 3000
    allowed = [
        subset
        for subset in itertools.combinations(range(n), k)
        if neighbours or all((j + 1) % n not in subset for j in subset)
    ]
    targets = (random_parity(seed, n, k, neighbours=neighbours) for seed in range(draws))
    drawn = Counter(target.subset for target in targets)
    assert set(drawn) <= set(allowed)
    counts = [drawn[subset] for subset in allowed]
    assert stats.chisquare(counts).pvalue > 1e-4


def test_signs_and_bits_are_inverse():
    bits = np.array([0, 1, 1, 0])
    assert np.array_equal(bits_from_signs(np.asarray(signs_from_bits(bits))), bits)

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from paritylab.problem import Parity, as_bits, bits_from_signs, random_parity, signs_from_bits

subsets = st.sets(st.integers(0, 9), max_size=10)


@settings(deadline=None, max_examples=40)
@given(first=subsets, second=subsets, seed=st.integers(0, 1000))
def test_parities_multiply_over_symmetric_differences(first, second, seed):
    bits = np.random.default_rng(seed).integers(0, 2, (20, 10))
    product = Parity(10, first).label(bits) * Parity(10, second).label(bits)
    assert np.array_equal(product, Parity(10, first ^ second).label(bits))


def test_label_follows_the_contract():
    problem = Parity(4, (2, 0))
    assert problem.subset == (0, 2)
    assert int(problem.label([0, 1, 0, 1])) == 1
    assert int(problem.label([1, 0, 0, 0])) == -1
    assert int(Parity(4, (0, 2), sign=-1).label([1, 0, 0, 0])) == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"n": 0, "subset": ()}, "0"),
        ({"n": 2.5, "subset": ()}, "2.5"),
        ({"n": 3, "subset": (0, 1, 2, 3)}, "4"),
        ({"n": 3, "subset": (1, 1)}, "1 twice"),
        ({"n": 3, "subset": (3,)}, "3"),
        ({"n": 3, "subset": 7}, "7"),
        ({"n": 3, "subset": (0,), "sign": 0}, "0"),
        ({"n": 3, "subset": (0,), "noise": 0.5}, "0.5"),
        ({"n": 3, "subset": (0,), "noise": float("nan")}, "nan"),
        ({"n": 3, "subset": (0,), "bias": 0.0}, "0.0"),
        ({"n": 3, "subset": (0,), "bias": (0.5, 0.5)}, "2"),
    ],
)
def test_invalid_problems_name_the_value(arguments, named):
    with pytest.raises(ValueError, match="must") as caught:
        Parity(**arguments)
    assert named in str(caught.value)


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


@pytest.mark.parametrize(
    ("values", "named"),
    [([0, 2], "2"), ([0.5], "0.5"), ([float("nan")], "nan"), (["a"], "a"), ([-1, 1], "signs")],
)
def test_non_binary_bits_are_refused(values, named):
    with pytest.raises(ValueError, match="got") as caught:
        as_bits(values)
    assert named in str(caught.value)


def test_signs_and_bits_are_inverse():
    bits = np.array([0, 1, 1, 0])
    assert np.array_equal(bits_from_signs(np.asarray(signs_from_bits(bits))), bits)
    with pytest.raises(ValueError, match="0"):
        bits_from_signs([1, 0])

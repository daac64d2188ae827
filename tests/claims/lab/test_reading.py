"""Reading the hidden set off heads."""

from itertools import combinations

import numpy as np

from paritylab.claims.lab.training import favourites, rows_to_single_out
from paritylab.models import HeadAttention
from paritylab.problem import Parity, sample

X64_MODES = [False]
PROBLEM = Parity(16, (2, 7, 12))


def _on(positions, tau=1 / 400):
    return HeadAttention.at(positions, PROBLEM, tau=tau)


def test_heads_on_the_set_have_it_as_favourites():
    assert set(favourites(_on((12, 2, 7)), 3)) == set(PROBLEM.subset)


def test_favourites_and_the_rows_that_single_out_a_set():
    """Counted by hand over growing prefixes of the rows."""
    liked = favourites(_on((2, 7, 11), tau=0.05), 9)
    assert {2, 7, 11, 12} <= set(liked)
    bits = np.asarray(sample(PROBLEM, key=0, size=40).bits)
    labels = bits[:, PROBLEM.subset].sum(axis=1) % 2
    for positions in (range(16), liked):
        sets = list(combinations(sorted(positions), 3))
        left = [
            sum(np.array_equal(bits[:m, s].sum(axis=1) % 2, labels[:m]) for s in sets)
            for m in range(41)
        ]
        assert rows_to_single_out(PROBLEM.subset, positions, bits) == left.index(1)
    assert rows_to_single_out((1,), (1,), bits) == 0
    assert rows_to_single_out((1,), (0, 1), np.zeros((3, 16))) == 4

"""HG1's bounds against counting and against the numbers the paper's symbols give."""

from itertools import product
from math import ceil

import numpy as np
import pytest

from paritylab.theory import hg1

X64_MODES = [False]


@pytest.mark.parametrize(("n", "heads"), [(7, 1), (9, 1), (11, 2)])
def test_the_counted_share_is_below_the_true_one(n, heads):
    """Heads that rank positions differently; an input is good if all see enough ones early."""
    first = ceil((n - 1) / heads) - 1
    orders = [np.roll(np.arange(n), 2 * i)[:first] for i in range(heads)]
    good = [
        all(sum(x[j] for j in order) >= n / (5 * heads) for order in orders)
        for x in product((0, 1), repeat=n)
    ]
    assert np.mean(good) >= hg1.attended_inputs_counted(n, heads) - 1e-12


def test_the_printed_first_factor_never_exceeds_the_counted_one():
    for heads in (1, 2, 3, 5):
        for n in range(5 * heads, 400):
            counted = hg1.attended_inputs_counted(n, heads)
            assert hg1.attended_inputs(n, heads) <= counted + 1e-12


def test_where_the_bounds_begin_to_speak():
    starts = [hg1.smallest_n_that_says_something(m, 1.0)[0] for m in (1, 2, 3)]
    assert starts == [7, 22, 32]
    for k, needed in ((2, 715), (3, 5533)):
        norms = hg1.paper_head_norms(k)
        assert hg1.smallest_n_that_says_something(k, norms)[1] == pytest.approx(needed, abs=1)


def test_the_repaired_bound_is_a_bound_and_the_printed_one_grows_again():
    assert hg1.fixed_attention_printed(7, 1, 1e4) > 1e6
    assert hg1.fixed_attention_repaired(7, 1, 1e4, 2.5) == 0
    assert 0.99 < hg1.fixed_attention_repaired(10**6, 2, 1.0, 2.5) <= 1
    for heads in (1, 2, 3):  # the printed m² with (·)₊ is the weaker bound
        printed = max(0, hg1.attended_inputs(40, heads)) * (1 - 0.5 * 5 * heads**2 / 40) ** 2
        assert printed <= hg1.fixed_attention_repaired(40, heads, 0.5)
    assert hg1.fixed_hard_attention(4, 1) == 0.75


def test_small_formulas():
    assert hg1.spread_of_one_head(0.5, 2, 1.0) == pytest.approx(0.125)
    assert hg1.complement_pair(1, 8, 1.0, 2.0) == pytest.approx(2.0)
    assert hg1.feedforward_upper_bound(10, 2) == 1280

"""Bounds of KS, Section 3.1, where they can be met or broken by hand."""

import math

import pytest

from paritylab.theory.ks_hardness import (
    gradient_moment_bound,
    hidden_share_bound,
    largest_eigenvalue_bound,
    revealed_share_bound,
)


def test_one_target_as_the_only_feature_meets_the_bound():
    # f = θ·p: F² = 1, one of |P| targets is 2 away from the mean (up to 1/|P|).
    assert hidden_share_bound(2.0, targets=50, gradient=1.0, queries=1) == pytest.approx(1 / 50)


def test_lemma_a_is_lemma_b_with_r_1():
    given = {"samples": 100, "targets": 10**6, "failure": 0.1}
    # (1/N)·λmax, up to the N - 1 that Lemma A keeps.
    moment = gradient_moment_bound(1, **given)
    assert largest_eigenvalue_bound(100, 10**6, 0.1) / 100 == pytest.approx(moment, rel=2e-3)


def test_the_tail_of_a_gaussian_stays_below_the_share_that_may_be_revealed():
    for spread in (1.5, 2.0, 3.0, 4.0, 5.0):
        share = revealed_share_bound(spread, samples=1000, targets=1e60, queries=1)
        tail = math.erfc(spread / math.sqrt(2))
        assert tail < share < 6 * spread * tail  # the right exponent, a factor of order spread

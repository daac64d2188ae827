"""Rates and laws: coverage, refusals, and draws that leave the grid."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from paritylab.statistics import (
    Mean,
    Rate,
    half_point,
    power_law,
    rate_difference,
    rate_interval,
    threshold_law,
)


@pytest.mark.parametrize(("successes", "runs"), [(0, 10), (3, 10), (10, 10), (99, 100)])
def test_wilson_solves_its_own_equation(successes, runs):
    """At an end p of the interval, |successes/runs - p| is 1.96 standard errors of p."""
    for end in rate_interval(successes, runs):
        if 0 < end < 1:
            distance = abs(successes / runs - end) / math.sqrt(end * (1 - end) / runs)
            assert distance == pytest.approx(1.959964, abs=1e-5)


@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.9, 0.6), (0.5, 0.1)])
def test_the_interval_of_a_difference_covers_it(rates):
    runs = 24
    each = [Rate(count, runs) for count in range(runs + 1)]
    first, second = (binom.pmf(np.arange(runs + 1), runs, rate) for rate in rates)
    ends = np.array([[rate_difference(a, b) for b in each] for a in each])
    gap = rates[0] - rates[1]
    inside = (ends[..., 0] <= gap) & (gap <= ends[..., 1])
    assert 0.93 < first @ inside @ second < 0.985


@pytest.mark.parametrize(("method", "covered"), [("wilson", (0.91, 0.93)), ("exact", (0.95, 1))])
def test_coverage_at_a_rate_near_one(method, covered):
    """The exact interval covers at least as often as it says, Wilson's less often near 1."""
    runs, rate = 100, 0.99
    ends = np.array([rate_interval(count, runs, method=method) for count in range(runs + 1)])
    inside = (ends[:, 0] <= rate) & (rate <= ends[:, 1])
    assert covered[0] <= binom.pmf(np.arange(runs + 1), runs, rate)[inside].sum() <= covered[1]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Rate(-1, 5), "between 0 and runs=5"),
        (lambda: Rate(6, 5), "between 0 and runs=5"),
        (lambda: rate_interval(0, 0), "at least 1 run"),
        (lambda: rate_interval(1, 2, confidence=2.0), "got 2"),
        (lambda: Rate.of([0.3, 0.4]), "counts flags"),
        (lambda: Rate.of([math.nan, 1]), "counts flags"),
        (lambda: Rate.of(["yes"]), "counts flags"),
        (lambda: power_law([1, 2], [1, 2]), "at least 3 points"),
        (lambda: Mean.of([1.0]), "at least 2 values"),
    ],
)
def test_what_is_no_statistic_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_rate_counts_flags():
    assert Rate.of([1, 0, 1.0]) == Rate(2, 3) == Rate.of(np.array([True, False, True]))
    assert Rate(95, 100).decides(0.5)
    assert not Rate(50, 100).decides(0.5)
    nothing = Rate.of([])
    assert (nothing.interval, nothing.decides(0.5), str(nothing)) == ((0, 1), False, "no runs")


def test_draws_outside_the_grid_are_counted_not_dropped():
    """Half points close to the grid's ends: many resampled ones fall outside."""
    generator = np.random.default_rng(1)
    grid = 2.0 ** np.arange(6)
    chances = 1 / (1 + np.exp(-2.0 * (np.arange(6)[:, None] - np.array([0.6, 2.0, 4.4])[None])))
    flags = [generator.random((6, 12)) < chances[:, [size]] for size in range(3)]
    law = threshold_law([1, 2, 4], [grid] * 3, flags, draws=300)
    assert law.censored > 10
    assert law.low <= law.exponent <= law.high


def test_a_law_without_half_points_says_nothing():
    never = [np.zeros((4, 10), bool)] * 3
    law = threshold_law([1, 2, 4], [[1, 2, 4, 8]] * 3, never)
    assert math.isnan(law.exponent)
    assert (law.low, law.high) == (-math.inf, math.inf)
    assert math.isnan(half_point([1, 2], [[True], [True]]))

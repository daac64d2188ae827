"""Rates and laws: coverage, refusals, and draws that leave the grid."""

import math
from functools import partial

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

exact_interval = partial(rate_interval, method="exact")


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


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.99])
def test_coverage_simulated_agrees_with_the_binomial_sum(rate):
    runs, experiments = 100, 10_000
    counts = np.random.default_rng(0).binomial(runs, rate, experiments)
    for interval in (rate_interval, exact_interval):
        ends = np.array([interval(count, runs) for count in range(runs + 1)])
        inside = (ends[:, 0] <= rate) & (rate <= ends[:, 1])
        simulated = np.mean(inside[counts])
        exact = binom.pmf(np.arange(runs + 1), runs, rate)[inside].sum()
        assert abs(simulated - exact) < 4 * np.sqrt(exact * (1 - exact) / experiments) + 1e-9
        if interval is exact_interval:
            assert exact >= 0.95
        elif rate == 0.99:
            assert 0.91 < exact < 0.93


@pytest.mark.parametrize("arguments", [(-1, 5), (6, 5)])
def test_impossible_rates_are_refused(arguments):
    with pytest.raises(ValueError, match="between 0 and runs=5"):
        Rate(*arguments)


def test_impossible_intervals_are_refused():
    with pytest.raises(ValueError, match="at least 1 run"):
        rate_interval(0, 0)
    with pytest.raises(ValueError, match="got 2"):
        rate_interval(1, 2, confidence=2.0)


@pytest.mark.parametrize("wrong", [[0.3, 0.4], [math.nan, 1], [2, 0], ["yes"], [None, True]])
def test_a_rate_of_anything_but_flags_is_refused(wrong):
    with pytest.raises(ValueError, match="counts flags"):
        Rate.of(wrong)


def test_a_rate_counts_flags():
    assert Rate.of([1, 0, 1.0]) == Rate(2, 3) == Rate.of(np.array([True, False, True]))
    assert Rate(95, 100).decides(0.5)
    assert not Rate(50, 100).decides(0.5)


def test_no_runs_decide_nothing():
    nothing = Rate.of([])
    assert nothing.interval == (0, 1)
    assert math.isnan(nothing.value)
    assert not nothing.decides(0.5)
    assert str(nothing) == "no runs"


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


def test_laws_and_means_need_enough_points():
    with pytest.raises(ValueError, match="at least 3 points"):
        power_law([1, 2], [1, 2])
    with pytest.raises(ValueError, match="at least 2 values"):
        Mean.of([1.0])

"""P-values against scipy and against tables without any relation; rows needed against draws."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from tests.baselines.random_tables import unrelated

from paritylab.baselines import detectable_noise, rows_needed, solve, support_power
from paritylab.baselines.labelled_rows import LabelledRows
from paritylab.baselines.power import approximate_rows_needed, least_overlaps
from paritylab.baselines.selection import is_worth_its_size
from paritylab.baselines.significance import fit_subsets, log_family, log_overlap_tails


@pytest.mark.parametrize(("rows", "first", "second"), [(10, 5, 5), (57, 20, 44), (300, 3, 150)])
def test_tails_are_hypergeometric(rows, first, second):
    law = stats.hypergeom(rows, first, second)
    for overlap in range(max(0, first + second - rows), min(first, second) + 1):
        above, below = np.exp(log_overlap_tails(rows, first, second, overlap))
        assert above == pytest.approx(law.sf(overlap - 1), rel=1e-9)
        assert below == pytest.approx(law.cdf(overlap), rel=1e-9)


def test_tails_of_millions_of_rows_are_near_and_far_from_the_middle_alike():
    rows, first, second = 6_500_000, 3_200_000, 3_000_000
    law = stats.hypergeom(rows, first, second)
    overlaps = np.array([1_474_000, 1_476_923, 1_480_000, 1_500_000])
    above, below = log_overlap_tails(rows, np.full(4, first), second, overlaps)
    # Numbers of 10⁸ in the logarithms leave eight digits after the point.
    np.testing.assert_allclose(above, law.logsf(overlaps - 1), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(below[:3], law.logcdf(overlaps[:3]), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("rows", "ones", "minus"), [(40, 20, 20), (2000, 700, 1200)])
def test_the_least_overlap_that_counts(rows, ones, minus):
    level, law = math.log(1e-4), stats.hypergeom(rows, ones, minus)
    least, never = least_overlaps(rows, ones, np.array([minus, 1]), level)
    assert never == rows + 1
    assert math.log(2) + law.logsf(least - 1) <= level < math.log(2) + law.logsf(least - 2)


def test_shares_of_the_level_sum_to_one():
    n = 9
    spent = sum(math.comb(n, k) * math.exp(-log_family(n, k, False)) for k in range(1, n + 1))
    assert spent == pytest.approx(1 - 1 / (n + 1))
    assert math.comb(n, 4) * math.exp(-log_family(n, 4, True)) == pytest.approx(1)


@pytest.mark.parametrize("plus", [0.5, 0.8, 0.95])
@pytest.mark.parametrize(("bias", "chained"), [(0.5, False), (0.1, False), (0.5, True)])
def test_the_best_of_all_subsets_is_rarely_significant_by_chance(plus, bias, chained):
    """Size of the whole family, every subset of six columns: at most the level."""
    tables, level, false = 40, 0.05, 0
    for seed in range(tables):
        bits, labels = unrelated(6, 60, seed, bias=bias, plus=plus, chained=chained)
        table = LabelledRows(bits, labels)
        subsets = itertools.chain.from_iterable(
            itertools.combinations(range(6), k) for k in range(1, 7)
        )
        false += min(fit(table, each).log_p for each in subsets) <= math.log(level)
    assert stats.binom.sf(false - 1, tables, level) > 1e-3


@pytest.mark.parametrize(("n", "k", "noise"), [(20, 3, 0.0), (20, 3, 0.1), (200, 3, 0.2)])
def test_rows_needed_is_the_least_with_the_power(n, k, noise):
    rows = rows_needed(n, k, noise)
    assert support_power(n, k, rows, noise) >= 0.99 > support_power(n, k, rows - 1, noise)
    generator = np.random.default_rng(n)
    hits, draws, level = 0, 1500, math.log(0.01) - log_family(n, k, True)
    for _ in range(draws):
        column = generator.integers(0, 2, rows)
        label = column ^ (generator.random(rows) < noise)
        counts = (int(column.sum()), int(label.sum()), int((column & label).sum()))
        hits += math.log(2) + min(log_overlap_tails(rows, *counts)) <= level
    power = support_power(n, k, rows, noise)
    assert abs(hits / draws - power) < 4 * math.sqrt(power * (1 - power) / draws) + 1e-3


def test_bell_curve_and_sums_meet():
    low, high = support_power(50, 3, 2000, 0.42), support_power(50, 3, 2001, 0.42)
    assert abs(low - high) < 0.02
    assert rows_needed(20, 1, 0.48) > 10_000


def test_detectable_noise_is_the_other_side_of_rows_needed():
    noise = detectable_noise(100, 3, 150)
    assert rows_needed(100, 3, noise - 1e-3) <= 150 < rows_needed(100, 3, noise + 0.01)
    assert detectable_noise(100, 3, 20) is None


def test_approximate_rows_needed_is_close_to_rows_needed():
    for case in ((10, 1, 0.0), (40, 3, 0.1), (200, 3, 0.3), (40, 1, 0.4)):
        assert approximate_rows_needed(*case) == pytest.approx(rows_needed(*case), rel=0.03, abs=3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ((0, 1, 0.1), "n must be at least 1, got 0"),
        ((5, 6, 0.1), "k must be at most 5, got 6"),
        ((5, 2, 0.5), r"noise in \[0, 0.5\).* got noise=0.5"),
        ((5, 2, 0.1, 0.0), r"alpha and power in \(0, 1\), .*alpha=0.0"),
    ],
)
def test_rows_needed_asks_for_sense(call, words):
    with pytest.raises(ValueError, match=words):
        rows_needed(*call)


def fit(table, subset):
    return fit_subsets(table, [subset])[0]


@pytest.mark.parametrize("method", ["walsh", "correlation"])
def test_unrelated_labels_get_an_answer_as_rarely_as_alpha_says(method):
    """Whatever the columns look like, and although every subset was searched."""
    tables, alpha, named = 120, 0.05, 0
    for seed in range(tables):
        bits, labels = unrelated(10, 80, seed, bias=0.3, plus=0.7, chained=seed % 2)
        named += not solve(bits, labels, method=method, alpha=alpha).abstained
    assert stats.binom.sf(named - 1, tables, alpha) > 1e-3


def test_a_larger_subset_has_to_be_worth_its_size():
    generator = np.random.default_rng(2)
    bits = (generator.random((300, 8)) < np.r_[0.5, 0.03, [0.5] * 6]).astype(np.uint8)
    for subset, worth in (((0,), False), ((0, 1), True), ((0, 2), True)):
        odd = bits[:, subset].sum(axis=1) % 2
        labels = np.where(generator.random(300) < 0.2, -1, 1) * (1 - 2 * odd.astype(int))
        table = LabelledRows(bits, labels)
        larger = fit(table, (0, 1) if len(subset) == 1 else subset)
        assert is_worth_its_size(table, larger, fit(table, (0,)), 0.01) == worth


def test_a_right_subset_is_rarely_beaten():
    generator, beaten = np.random.default_rng(5), 0
    for _ in range(60):
        bits = (generator.random((120, 7)) < generator.uniform(0.1, 0.5, 7)).astype(np.uint8)
        odd = bits[:, 0] ^ bits[:, 1]
        flips = generator.random(120) < np.where(odd == 1, 0.3, 0.1)
        table = LabelledRows(bits, np.where(flips, -1, 1) * (1 - 2 * odd.astype(int)))
        right = fit(table, (0, 1))
        larger = [(0, 1, each) for each in range(2, 7)]
        larger += [(0, each, other) for each, other in itertools.combinations(range(2, 7), 2)]
        beaten += any(is_worth_its_size(table, fit(table, each), right, 0.05) for each in larger)
    assert stats.binom.sf(beaten - 1, 60, 0.05) > 1e-3

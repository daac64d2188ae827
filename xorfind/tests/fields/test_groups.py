"""Functions that groups share, from sets with wrong members and from timings."""

import numpy as np
import pytest

from xorfind.fields import set_differences, shared_functions
from xorfind.fields.timings import histogram_lines, threshold
from xorfind.gf2 import products, reduced

NAMES = tuple(f"addr[{bit}]" for bit in range(30))
BITS = ((7, 8, 9, 12, 13, 18, 19), (14, 18), (15, 19), (16, 20))


TRUTH = np.array([[bit in bits for bit in range(30)] for bits in BITS], np.uint8)


def rank_with_truth(found):
    """4 if all functions found are sums of the true ones."""
    return len(reduced(np.concatenate([found.basis, TRUTH])))


def sets(rows, noise, seed):
    draw = np.random.default_rng(seed)
    bits = draw.integers(0, 2, (rows, 30)).astype(np.uint8)
    groups = products(bits, TRUTH) @ [8, 4, 2, 1]
    wrong = draw.random(rows) < noise
    return bits, np.where(wrong, draw.integers(0, 16, rows), groups)


def test_groups_that_share_nothing_have_no_function():
    draw = np.random.default_rng(0)
    bits = draw.integers(0, 2, (600, 30)).astype(np.uint8)
    found = shared_functions(NAMES, *set_differences(bits, draw.integers(0, 16, 600)), budget=1.0)
    assert len(found.basis) == 0


def test_a_bit_that_rarely_differs_is_no_function():
    """High address bits hardly change within a buffer, in one bank or not."""
    bits, groups = sets(800, 0.0, 2)
    bits[:, 29] = np.random.default_rng(0).random(800) < 0.02
    found = shared_functions(NAMES, *set_differences(bits, groups))
    assert len(found.basis) == rank_with_truth(found) == 4


def test_few_differences_leave_functions_unproven_and_say_what_to_measure():
    bits, groups = sets(45, 0.0, 3)
    found = shared_functions(NAMES, *set_differences(bits, groups), budget=0.5)
    assert rank_with_truth(found) == 4
    if len(found.basis) < 4:
        assert found.next_bit() in NAMES
    never = bits.copy()
    never[:, 3] = 1
    assert shared_functions(NAMES, *set_differences(never, groups), budget=0.5).never[3]


@pytest.mark.parametrize(
    ("gap", "deviation", "share", "stray"),
    [(70, 10, 1 / 40, 30), (60, 12, 1 / 16, 0), (60, 12, 1 / 16, 120), (100, 2, 1 / 16, 40)],
)
def test_a_threshold_between_close_humps_and_among_stray_timings(gap, deviation, share, stray):
    draw, slow = np.random.default_rng(1), round(4000 * share)
    humps = draw.normal(220, deviation, 4000 - slow), draw.normal(220 + gap, deviation, slow)
    far = draw.uniform(220 + gap + 8 * deviation, 9000, stray)
    times = np.concatenate([*humps, far])
    cut = threshold(times)
    assert cut.separates
    assert 220 + 2.5 * deviation < cut.value < 220 + gap - deviation
    assert cut.slow(times).sum() == pytest.approx(slow, rel=0.08)
    assert not stray or f"{stray}, taken for interrupts" in histogram_lines(times, cut)[-1]


HUMPS = {
    "normal": lambda draw: draw.normal(200, 10, 3000),
    "heavy tails": lambda draw: 200 + 10 * draw.standard_t(3, 3000),
    "skewed": lambda draw: 180 + draw.gamma(2, 12, 3000),
    "exponential": lambda draw: 200 + draw.exponential(20, 3000),
}


@pytest.mark.parametrize("kind", HUMPS)
def test_one_hump_is_not_cut(kind):
    for seed in range(5):
        assert not threshold(HUMPS[kind](np.random.default_rng(seed))).separates

"""KS's signals and bounds as functions."""

import numpy as np
import pytest

from paritylab.models import LINKS
from paritylab.theory.ks import (
    COSINE,
    child_signal,
    level_signal,
    row_law,
    samples_for_every_input,
    samples_for_every_pair,
    step_error,
    tolerated_error,
)


@pytest.mark.parametrize("name", LINKS)
def test_the_row_law_is_exact_and_tends_to_its_leading_order(name):
    link, m = LINKS[name], 20_000
    law = row_law(np.array([64, m]), link)
    assert law.signal[0] == pytest.approx(child_signal(64, link), rel=1e-9)
    c = link.curvature
    leading = (2 * c / m**2, 2 * c * np.sqrt(2 / m) / m, c**2 * np.sqrt(120 / m**3) / m)
    np.testing.assert_allclose([part[1] for part in law[1:]], leading, rtol=0.02)


def test_the_row_law_is_that_of_rows():
    n, rows = 24, 200_000
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (rows, n))
    z, node = signs.mean(axis=1), signs[:, 0] * signs[:, 1]
    pull = -(-np.cos(np.pi * z) - node) * np.pi * np.sin(np.pi * z) / n
    law = row_law(np.array([n]), COSINE)
    tilt = pull * (signs[:, 0] - signs[:, 1])
    assert tilt.std() == pytest.approx(law.tilt[0], rel=0.05)
    assert (pull * signs[:, 5]).std() == pytest.approx(law.noise[0], rel=0.05)


def test_a_level_or_a_node_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="level must be"):
        level_signal(64, 8, 4, COSINE)
    with pytest.raises(ValueError, match="at least 3"):
        child_signal(2, COSINE)


def test_the_best_score_is_between_leak_and_tilt():
    best = step_error(1024, 512, 130 * 1024.0, COSINE)
    for by in (0.3, 3.0):
        other = step_error(1024, 512, 130 * 1024.0, COSINE, score=best.score * by)
        assert (other.leak > best.leak, other.tilt < best.tilt) == (by < 1, by < 1)
        assert other.risk > 2 * best.risk
    # Referee's measurement at N = 112n: right from ln M + 24 to ln M + 48, not at + 12.
    assert 24 < step_error(1024, 512, 112 * 1024.0, COSINE).score - np.log(1534) < 48


def test_the_formulas_for_samples_agree_with_each_other_and_with_measurements():
    for n in (256, 1024):
        pairs, inputs = (f(n, n // 2) for f in (samples_for_every_pair, samples_for_every_input))
        assert pairs < inputs < 1.4 * pairs
    per_bit = [samples_for_every_pair(n, n // 2) / n for n in (512, 1024, 2048, 4096)]
    np.testing.assert_allclose(np.diff(per_bit), 15.15, atol=0.1)  # n·log n
    # 16 targets each: 82n and 105n at n = 256 (found, right).
    assert samples_for_every_pair(256, 128) / 256 == pytest.approx(82, rel=0.1)
    assert samples_for_every_input(256, 128) / 256 == pytest.approx(105, rel=0.1)


def test_the_tolerated_error_falls_like_the_inverse_square_and_the_score():
    small, large = (tolerated_error(n, n // 2, 10.0, COSINE) for n in (256, 1024))
    assert small.one_pair / large.one_pair == pytest.approx(16, rel=0.02)
    assert small.every_pair < small.one_pair
    twice = tolerated_error(256, 128, 20.0, COSINE)
    assert small.one_pair == pytest.approx(2 * twice.one_pair)

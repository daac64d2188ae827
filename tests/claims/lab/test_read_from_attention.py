"""Reading the hidden set off heads."""

from itertools import combinations

import numpy as np
import pytest

from paritylab.claims.lab.read_from_attention import (
    calibrated,
    favourites,
    read_attention,
    read_with_rows,
    rows_to_single_out,
)
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.problem import Parity, random_parity, sample

X64_MODES = [False]
PROBLEM = Parity(16, (2, 7, 12))


def _on(positions, tau=1 / 400):
    return HeadAttention.at(positions, PROBLEM, tau=tau)


def test_heads_on_the_set_are_read_cleanly():
    subset, cleanness = read_attention(_on((12, 2, 7)))
    assert subset == PROBLEM.subset
    assert cleanness > 0.99
    assert read_attention(_on((2, 7, 12), tau=1.0))[1] < 0.5


def test_a_few_rows_mend_a_missed_position_and_tell_how_sure_they_are():
    batch = sample(PROBLEM, key=0, size=25)
    missed = _on((2, 7, 11), tau=0.05)  # one head beside its bit
    guess = read_with_rows(missed, batch.bits, batch.labels)
    assert guess.subset == PROBLEM.subset
    assert guess.confidence > 0.99
    hopeless = read_with_rows(_on((4, 9, 14), tau=0.002), batch.bits, batch.labels, pool=4)
    assert hopeless.confidence < 0.1


def test_confidence_is_calibrated_over_targets():
    """Few rows leave many candidates; the posterior says how many of the guesses are right."""
    right, sure = [], []
    for seed in range(200):
        target = random_parity(seed, 9, 3)  # heads that know nothing: all 84 sets are candidates
        batch = sample(target, key=seed, size=7)
        blind = HeadAttention(np.zeros((3, 2)), Circle(9), 3, Zigzag(3))
        guess = read_with_rows(blind, batch.bits, batch.labels, prior=0.999)
        right.append(guess.subset == target.subset)
        sure.append(guess.confidence)
    assert 0.3 < np.mean(sure) < 0.9
    assert abs(np.mean(right) - np.mean(sure)) < 0.1


def test_noisy_rows_need_the_noise_rate():
    noisy = Parity(16, (2, 7, 12), noise=0.1)
    batch = sample(noisy, key=1, size=60)
    guess = read_with_rows(_on((2, 7, 11), tau=0.05), batch.bits, batch.labels, noise=0.1)
    assert guess.subset == PROBLEM.subset


def test_calibration_maps_scores_to_shares():
    rng = np.random.default_rng(0)
    scores = rng.random(4000)
    probability = calibrated(scores, rng.random(4000) < scores)
    assert abs(probability(0.1) - 0.125) < 0.05
    assert abs(probability(0.9) - 0.875) < 0.05
    with pytest.raises(ValueError, match="at least 4 scores"):
        calibrated([0.5], [True])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bits": np.zeros((5, 3))}, "expected rows of 16 bits"),
        ({"labels": np.zeros(5)}, "labels must be"),
        ({"noise": 0.7}, "noise < 0.5"),
        ({"pool": 2}, "pool must be at least k=3"),
    ],
)
def test_bad_rows_are_named(change, words):
    given = {"bits": np.zeros((5, 16)), "labels": np.ones(5)} | change
    with pytest.raises(ValueError, match=words):
        read_with_rows(_on((2, 7, 12)), **given)


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

"""Wrong labels named by parity checks, and searches that use them."""

import time

import numpy as np
import pytest
from drawn import planted, unrelated

from xorfind import solve
from xorfind.answer import Stop
from xorfind.gf2 import affine_of, echelon
from xorfind.rows import packed
from xorfind.solvers.random_parts import row_tries
from xorfind.solvers.syndrome import CHECKS, check_words, corrected, wrong_rows


def system(n, rows, wrong, seed=0):
    bits, labels, hidden = planted(n, n // 2, 0.0, rows, seed)
    label = (labels < 0).astype(np.uint8)
    label[list(wrong)] ^= 1
    return np.concatenate([bits, np.ones((rows, 1), np.uint8)], axis=1), label, hidden


@pytest.mark.parametrize("wrong", [(), (0,), (140,), (3, 117), (98, 99)])
def test_up_to_two_wrong_labels_are_named(wrong):
    bits, label, hidden = system(80, 160, wrong)
    assert wrong_rows(check_words(bits), label) == [wrong]
    (solution,) = corrected(bits, label)
    assert tuple(np.flatnonzero(solution[:-1])) == hidden


def test_three_wrong_labels_are_not():
    bits, label, _ = system(80, 160, (1, 2, 3))
    assert wrong_rows(check_words(bits), label) == []
    assert corrected(bits, label) == []


def test_checks_sum_to_zero():
    bits, label, _ = system(30, 120, ())
    words = check_words(bits)
    for column in bits.T:
        assert not np.bitwise_xor.reduce(words[column.astype(bool)], initial=np.uint64(0))
    assert not np.bitwise_xor.reduce(words[label.astype(bool)])


@pytest.mark.parametrize("wrong", [1, 2])
def test_dense_parities_stand_a_wrong_label_or_two(wrong):
    bits, labels, hidden = planted(900, 450, 0.0, 1200, seed=1)
    labels[100 : 100 + wrong] *= -1
    answer = solve(bits, labels)
    assert answer.subset == hidden
    assert answer.best.fitting == 1200 - wrong
    (step,) = answer.search.notable
    said = f"1 random draw of {901 + CHECKS} rows, solved as if up to 2 labels were wrong"
    assert step.words.startswith(said)


def test_tries_until_few_enough_are_wrong():
    generator = np.random.default_rng(0)
    wrong = generator.binomial(50 + 1 + CHECKS, 0.03, 100_000)
    assert row_tries(50, 0.03, wrong=2) == pytest.approx(1 / np.mean(wrong <= 2), rel=0.03)


def test_elimination_minds_the_clock():
    bits = np.random.default_rng(0).integers(0, 2, (300, 200), dtype=np.uint8)
    past = time.perf_counter() - 1
    for late in (lambda: echelon(packed(bits), 200, past), lambda: check_words(bits, past)):
        with pytest.raises(TimeoutError, match="out of time"):
            late()
    answer = solve(*unrelated(3000, 3300, seed=0), method="elimination", budget=0.05)
    assert answer.search.stop is Stop.BUDGET
    assert answer.search.steps[0].stop is Stop.BUDGET


def test_only_as_much_of_a_basis_as_is_wanted():
    bits = np.random.default_rng(0).integers(0, 2, (20, 50), dtype=np.uint8)
    some, whole = affine_of(bits, 50, most=4), affine_of(bits, 50)
    assert (some.dimensions, whole.dimensions) == (30, 30)
    np.testing.assert_array_equal(some.basis, whole.basis[:4])
    assert not (bits @ some.basis.T % 2).any()

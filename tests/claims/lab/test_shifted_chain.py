"""Wrong gradients, shifted and poisoned rows: what is drawn is what is said, and what it does."""

import jax
import numpy as np
import pytest

from paritylab.experiments.chain import (
    Corruption,
    correlated_bits,
    corrupted_gradient,
    draw_corrupted_rows,
)
from paritylab.experiments.ks_one_step import error_patterns
from paritylab.learning.chain.teacher import chain_curve
from paritylab.problem import random_tree
from paritylab.theory.ks import COSINE
from paritylab.theory.shift import shifted_part

X64_MODES = [False]
TREE = random_tree(1, 32, 8)
LEAVES = np.asarray(TREE.leaves, np.int32)


def rows_of(harm, joined, rows=4000):
    return np.asarray(draw_corrupted_rows(jax.random.key(0), LEAVES, joined, harm, rows))


def test_rows_are_harmed_as_often_as_said():
    joined = correlated_bits(TREE, 6, False)
    rows = rows_of(Corruption(alpha=0.3), joined)
    shared = np.abs(rows[:, :32][:, joined].sum(axis=1)) == 6
    assert shared.mean() == pytest.approx(0.3 + 0.7 / 32, abs=0.03)
    np.testing.assert_array_equal(np.asarray(TREE.tokens(rows[:, :32])), rows)
    none = np.zeros(32, bool)
    rows = rows_of(Corruption(flips=0.2), none)
    wrong = np.asarray(TREE.tokens(rows[:, :32]))[:, 32:] != rows[:, 32:]
    np.testing.assert_allclose(wrong.mean(axis=0), 0.2, atol=0.03)
    rows = rows_of(Corruption(lies=0.4), none)
    wrong = np.asarray(TREE.tokens(rows[:, :32]))[:, 32:] != rows[:, 32:]
    assert wrong[:, 0].mean() == pytest.approx(0.2, abs=0.03)  # half of the lies are true
    assert not wrong[:, 1:].any()


@pytest.mark.parametrize("inside", [False, True])
def test_the_gradient_of_shifted_rows_is_the_closed_form(inside):
    joined = correlated_bits(TREE, 8 if inside else 6, inside)
    harm = Corruption(*map(np.float32, (1, 0, 0)))
    pull = -np.asarray(corrupted_gradient(LEAVES, joined, harm, 2**19, jax.random.key(0), COSINE))
    part = shifted_part(38, int(joined.sum()), COSINE, 6 if inside else None)
    np.testing.assert_allclose(pull[TREE.children[6], 6], part.child, atol=6e-4)
    assert float(pull[:32, 6][joined].mean()) == pytest.approx(part.member, rel=0.03)


def test_the_adversary_tips_the_children_only():
    gradient = np.random.default_rng(0).normal(size=(39, 7))
    one, every = error_patterns(gradient, TREE)
    assert np.abs(one).sum() == 2
    assert np.abs(every).sum() == 14
    np.testing.assert_array_equal(every.sum(axis=0), 0)
    tilt = gradient[TREE.children.T, np.arange(7)] * every[TREE.children.T, np.arange(7)]
    assert (tilt.sum(axis=0) > 0).all()  # in the direction sampling has tipped already


def test_a_curve_grows_along_its_own_stream():
    found, right = chain_curve(32, 4, [200, 20_000], runs=3, inputs=100)
    assert found.tolist() == [[False] * 3, [True] * 3]
    assert (right <= found).all()

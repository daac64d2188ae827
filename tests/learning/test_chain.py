"""The chain learned in one step and level by level; closed forms against autodiff and sampling."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.learning.chain.levels import (
    _loss_and_gradient,
    filter_levels,
    level_step,
    levels_solved,
    train_levels,
)
from paritylab.learning.chain.teacher import (
    batch_gradient,
    chain_curve,
    draw_tokens,
    judge_chain,
    pairs_found,
    teacher_gradient,
    train_chain,
)
from paritylab.models import LINKS, ChainModel
from paritylab.precision import float64
from paritylab.problem import ParityTree, random_tree
from paritylab.theory.ks import child_signal, level_signal

X64_MODES = [False]
TREE = ParityTree(8, (0, 2, 5, 6))


@pytest.mark.parametrize("mask", ["token", "level"])
@pytest.mark.parametrize("link", LINKS)
def test_the_teacher_forced_gradient_is_autodiff(mask, link):
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (200, 8))
    with float64():
        tokens = TREE.tokens(jnp.asarray(signs))

        def loss(scores):
            attention = ChainModel(scores, 8, LINKS[link], mask).attention()
            return jnp.sum((LINKS[link](tokens @ attention) - tokens[:, 8:]) ** 2) / 2

        expected = jax.grad(loss)(jnp.zeros((11, 3)))
        closed = batch_gradient(tokens, 8, 4, LINKS[link], mask)
        np.testing.assert_allclose(np.asarray(closed), np.asarray(expected), atol=1e-11)


def test_the_stream_is_the_mean_over_its_batches():
    whole = teacher_gradient(TREE, 3, 1000, batch=256)
    key = jax.random.key(3)
    rows = [
        draw_tokens(jax.random.fold_in(key, i), np.asarray(TREE.leaves), 8, 256) for i in range(4)
    ]
    tokens = jnp.concatenate(rows)[:1000]
    by_hand = batch_gradient(tokens, 8, 4, LINKS["cos"], "token") / 1000
    np.testing.assert_allclose(whole, by_hand, atol=1e-6)


def test_signals_are_those_of_a_large_sample():
    tree = random_tree(0, 32, 8)
    gradient = -np.asarray(teacher_gradient(tree, 7, 2**18, mask="level"))
    pair = gradient[tree.children.T, np.arange(7)].mean(axis=0)
    for level in (1, 2, 3):
        exact = level_signal(32, 8, level, LINKS["cos"])
        assert pair[tree.levels == level].mean() == pytest.approx(exact, rel=0.03)
    assert level_signal(64, 8, 1, LINKS["cos"]) == pytest.approx(
        child_signal(64, LINKS["cos"]), rel=1e-9
    )


def test_one_step_learns_the_chain():
    runs = train_chain(64, 32, 64_000, runs=2, link="quadratic")
    assert runs.solved.all()
    assert runs.error.max() < 0.2
    again = train_chain(64, 32, 64_000, runs=1, first=1, link="quadratic")
    np.testing.assert_array_equal(again.scores[0], runs.scores[1])


def test_too_few_samples_or_too_small_a_step_fail():
    assert not train_chain(64, 32, 1000, runs=1).solved.any()
    assert not train_chain(64, 32, 64_000, runs=1, eta=0.5 * 64**2).solved.any()
    curve = chain_curve(16, 8, [64, 60_000], runs=2)
    assert curve.found.sum(axis=1).tolist() == [0, 2]


def test_a_hand_made_chain_is_judged_perfect():
    scores = np.zeros((11, 3), np.float32)
    scores[TREE.children.T, np.arange(3)] = 40
    model = ChainModel(scores, 8)
    assert pairs_found(scores, TREE) == 1
    accuracy, error = judge_chain(model, TREE, 0, 500)
    assert accuracy == 1
    assert error < 1e-5


def test_levels_are_solved_one_per_step():
    run = train_levels(random_tree(1, 32, 8), 2**17, key=1)
    assert run.levels_per_step == [0, 1, 2, 3]
    assert run.loss[-1] < 1e-5
    assert run.filtered.tolist() == [2, 3, 0, 0]
    assert (run.scores == np.round(run.scores)).all()


@pytest.mark.parametrize("removed", [{"filtering": False}, {"rounding": False}, {"epsilon": 0.7}])
def test_levels_fail_without_their_parts(removed):
    run = train_levels(random_tree(1, 32, 8), 2**15, key=1, full_gradient=True, **removed)
    assert run.levels_per_step[-1] < 3


def test_the_open_level_has_the_gradient_of_the_whole_chain():
    tree = random_tree(2, 16, 8)
    scores = np.zeros((23, 7), np.float32)
    scores[tree.children[:4].T, np.arange(4)] = 12
    model = ChainModel(scores, 16, LINKS["cos"], "level")
    passes = np.array([1, 1, 0], np.float32)
    routes = [
        _loss_and_gradient(model, passes, np.asarray(tree.leaves), jax.random.key(0), 5000, full)
        for full in (True, False)
    ]
    assert float(routes[0][0]) == pytest.approx(float(routes[1][0]), rel=1e-5)
    np.testing.assert_allclose(routes[0][1], routes[1][1], atol=2e-5)
    assert np.abs(np.asarray(routes[1][1])[:, 4:6]).max() > 1e-3
    assert levels_solved(scores, tree).tolist() == [1, 0, 0]


def test_the_filter_silences_what_rests_on_an_untrained_level():
    hints = np.random.default_rng(0).choice([-1.0, 1.0], (64, 64))
    model = ChainModel.untrained(64, 8, mask="level")
    assert filter_levels(model, hints, 1.6).tolist() == [1, 0, 0]
    assert filter_levels(model, hints, 0.01).tolist() == [1, 1, 1]


def test_the_step_keeps_scores_near_integers():
    eta = level_step(32, 16)
    scores = [eta * level_signal(32, 16, level, LINKS["cos"]) for level in (1, 2, 3, 4)]
    assert max(abs(score - round(score)) for score in scores) < 0.25


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: train_chain(16, 6, 100), "nearest: 4 and 8"),
        (lambda: train_chain(16, 4, 0), "samples must be at least 1"),
        (lambda: train_chain(16, 4, 10, eta=-1.0), "eta > 0"),
        (lambda: train_levels(TREE, 100, epsilon=2.5), "epsilon must be"),
        (lambda: train_levels(TREE, 0), "at least 1"),
        (lambda: level_signal(16, 4, 3, LINKS["cos"]), "level must be"),
    ],
)
def test_bad_settings_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()

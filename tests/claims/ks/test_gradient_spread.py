"""The four published models, oracles, gradient spread over targets."""

from itertools import product
from math import comb

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.claims.ks.queries import every_subset, gradient_spread
from paritylab.learning import HidingOracle, Sample, learn
from paritylab.learning.chain.chain_learner import draw_tokens
from paritylab.learning.chain.full_batch import loss_and_gradient
from paritylab.learning.hardness.oracles import (
    hiding,
    jittered,
    mean_label,
    mean_label_square,
    mean_label_tail,
    mean_labels,
    opposing,
    step_under_error,
)
from paritylab.models import LINKS, ChainModel
from paritylab.problem import random_tree, random_trees

X64_MODES = [False]
TREE = random_tree(0, 12, 4)
TOKENS = draw_tokens(jax.random.key(1), np.asarray(TREE.leaves), 12, 1003)


def model_at(scale: float, n: int = 12, k: int = 4) -> ChainModel:
    scores = scale * np.random.default_rng(3).normal(size=(n + k - 1, k - 1))
    return ChainModel(scores.astype(np.float32), n, LINKS["quadratic"], "level")


def test_the_teacher_forced_gradient_is_its_closed_form():
    """Through the softmax a: a_j(p_j - Σ_i a_i p_i), p the product of tokens and residuals."""
    model = model_at(1.0)
    attention = np.asarray(model.attention())
    z = np.asarray(TOKENS @ attention)
    errors = np.asarray(model.link(z) - TOKENS[:, 12:])
    product = np.asarray(TOKENS).T @ (errors * np.asarray(model.link.slope(z))) / errors.size
    losses, gradient = loss_and_gradient(model, TOKENS, "teacher-full")
    assert float(losses.chain) == pytest.approx(np.mean(errors**2) / 2, rel=1e-5)
    closed = attention * (product - (attention * product).sum(axis=0))
    np.testing.assert_allclose(gradient, closed, atol=1e-6)


def test_direct_scores_the_answer_only_and_cot_every_token():
    model = model_at(1.0)
    made = model.generate(TOKENS[:, :12])
    errors = np.asarray(made[:, 12:] - TOKENS[:, 12:])
    (prediction, chain, _), _ = loss_and_gradient(model, TOKENS, "direct")
    assert float(prediction) == pytest.approx(np.mean(errors[:, -1] ** 2) / 2, rel=1e-5)
    assert float(chain) == pytest.approx(np.mean(errors**2) / 2, rel=1e-5)
    gradients = [
        np.asarray(loss_and_gradient(model, TOKENS, mode)[1]) for mode in ("direct", "cot")
    ]
    assert np.abs(gradients[0] - gradients[1]).max() > 1e-4


def test_selfcheck_opens_levels_from_the_bottom():
    closed = loss_and_gradient(model_at(0.0), TOKENS, "selfcheck")
    assert float(closed[0][2]) == 1
    sharp = np.zeros((15, 3), np.float32)
    sharp[TREE.children[:2].T, np.arange(2)] = 8
    opened = loss_and_gradient(model_at(0.0).with_parameters(sharp), TOKENS, "selfcheck")
    assert float(opened[0][2]) == 2


def test_the_mean_label_is_the_mean_over_all_targets():
    signs = np.array(list(product([1.0, -1.0], repeat=6)), np.float32)
    values = np.stack([signs[:, list(s)].prod(axis=1) for s in every_subset(6, 3)])
    mean = values.mean(axis=0)
    np.testing.assert_allclose(mean_labels(jnp.asarray(signs), 3), mean, atol=1e-6)
    assert mean_label_square(6, 3) == pytest.approx(np.mean(mean**2))
    assert mean_label_tail(6, 3, 0.25) == pytest.approx(np.mean(np.abs(mean) > 0.25))
    chance = np.array([comb(40, h) / 2**40 for h in range(41)])
    assert chance @ mean_label(40, 20) ** 2 == pytest.approx(1 / comb(40, 20), rel=1e-9)


def test_oracles_err_by_what_they_promise():
    true = jnp.array([3.0, 4.0])
    assert not hiding(true, jnp.zeros(2), 4.9)[1]
    assert hiding(true, jnp.zeros(2), 5.1)[1]
    np.testing.assert_allclose(opposing(true, 1.0), [2.4, 3.2], rtol=1e-6)
    np.testing.assert_allclose(opposing(true, 9.0), 0)
    np.testing.assert_allclose(jnp.abs(jittered(true, 0.5, 0) - true), 0.5, rtol=1e-6)


def test_the_spread_is_that_of_all_gradients_one_by_one():
    model, signs = model_at(1.0, 6, 2), np.array(list(product([1.0, -1.0], repeat=6)), np.float32)
    spread = gradient_spread(model, signs, every_subset(6, 2))
    gradients = []
    for subset in every_subset(6, 2):
        labels = signs[:, list(subset)].prod(axis=1)

        def risk(scores, labels=labels):
            answer = model.with_parameters(scores).generate(jnp.asarray(signs))[:, -1]
            return jnp.mean((answer - labels) ** 2) / 2

        gradients.append(np.asarray(jax.grad(risk)(model.scores)).ravel())
    gradients = np.array(gradients)
    expected = np.mean(np.sum((gradients - gradients.mean(axis=0)) ** 2, axis=1))
    assert spread.variance == pytest.approx(expected, rel=1e-3)
    assert spread.variance <= spread.mean_gradient / 15


def test_one_step_stands_a_small_error_wherever_it_is_put():
    tree = random_tree(0, 16, 8)
    small, large = (step_under_error(tree, 200_000, part / 16**2) for part in (0.2, 0.4))
    assert small == {"opposed": True, "spread": True, "tipped": True}
    assert large == {"opposed": True, "spread": True, "tipped": False}
    assert not step_under_error(tree, 200_000, 1.0)["opposed"]


def test_a_hidden_target_is_not_learned_and_leaves_a_path_that_no_sample_changes():
    hiding_all = HidingOracle(1e9, steps=3)
    many, few = (learn(hiding_all, Sample(random_trees(8, 4, 2), rows)) for rows in (5000, 200))
    assert many.stats["hidden"].all()
    assert not many.solved.any()
    assert np.abs(many.numbers - few.numbers).max() < 0.2
    np.testing.assert_allclose(many.risk, few.risk, atol=0.1)
    exact = learn(HidingOracle(0.0, steps=3), Sample(random_trees(8, 4, 2), 5000))
    assert not exact.stats["hidden"].any()
    assert np.abs(exact.numbers - many.numbers).max() > 0

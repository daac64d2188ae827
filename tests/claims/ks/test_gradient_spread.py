"""The four published models, oracles, gradient spread over targets."""

from itertools import product
from math import comb

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.experiments.ks_one_step import step_under_error
from paritylab.experiments.ks_queries import every_subset, gradient_spread
from paritylab.learning import AdversarialError, Chain, Hiding, RandomSignError, Sample, learn
from paritylab.learning.chain.curriculum import open_levels
from paritylab.learning.chain.objective import Objective, losses_and_gradient
from paritylab.learning.chain.oracles import Query
from paritylab.learning.chain.rows import Table, draw_tokens, mean_labels
from paritylab.models import LINKS, ChainModel
from paritylab.problem import random_tree, random_trees
from paritylab.theory.ks_hardness import mean_label, mean_label_square, mean_label_tail

X64_MODES = [False]
TREE = random_tree(0, 12, 4)
TOKENS = draw_tokens(jax.random.key(1), np.asarray(TREE.leaves), 12, 1003)


def model_at(scale: float, n: int = 12, k: int = 4) -> ChainModel:
    scores = scale * np.random.default_rng(3).normal(size=(n + k - 1, k - 1))
    return ChainModel(scores.astype(np.float32), n, LINKS["quadratic"], "level")


def losses_of(model, supervision):
    """Losses and gradient of a published model on TOKENS."""
    objective, rows = Objective(supervision, mean_loss=True), Table(TOKENS, model.n)
    passes = np.ones(model.k.bit_length() - 1)
    return losses_and_gradient(objective, model.with_parameters, model.scores, passes, rows)


def test_the_teacher_forced_gradient_is_its_closed_form():
    """Through the softmax a: a_j(p_j - Σ_i a_i p_i), p the product of tokens and residuals."""
    model = model_at(1.0)
    attention = np.asarray(model.attention())
    z = np.asarray(TOKENS @ attention)
    errors = np.asarray(model.link(z) - TOKENS[:, 12:])
    product = np.asarray(TOKENS).T @ (errors * np.asarray(model.link.slope(z))) / errors.size
    losses, gradient = losses_of(model, "teacher")
    assert float(losses.chain) == pytest.approx(np.mean(errors**2) / 2, rel=1e-5)
    closed = attention * (product - (attention * product).sum(axis=0))
    np.testing.assert_allclose(gradient, closed, atol=1e-6)


def test_direct_scores_the_answer_only_and_a_chain_every_token():
    model = model_at(1.0)
    made = model.generate(TOKENS[:, :12])
    errors = np.asarray(made[:, 12:] - TOKENS[:, 12:])
    losses, _ = losses_of(model, "answer")
    assert float(losses.risk) == float(losses.answer)
    assert float(losses.answer) == pytest.approx(np.mean(errors[:, -1] ** 2) / 2, rel=1e-5)
    assert float(losses.chain) == pytest.approx(np.mean(errors**2) / 2, rel=1e-5)
    gradients = [np.asarray(losses_of(model, each)[1]) for each in ("answer", "chain")]
    assert np.abs(gradients[0] - gradients[1]).max() > 1e-4


def test_self_consistency_opens_levels_from_the_bottom():
    assert open_levels(model_at(0.0)).tolist() == [1, 0]
    sharp = np.zeros((15, 3), np.float32)
    sharp[TREE.children[:2].T, np.arange(2)] = 8
    assert open_levels(model_at(0.0).with_parameters(sharp)).tolist() == [1, 1]


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
    true, query = jnp.array([3.0, 4.0]), Query(jax.random.key(0), [], lambda: jnp.zeros(2))
    assert not Hiding(4.9).answer(true, query).notes["hidden"]
    assert Hiding(5.1).answer(true, query).notes["hidden"]
    np.testing.assert_allclose(Hiding(5.1).answer(true, query).gradient, 0)

    def error(oracle):
        return np.asarray(true - oracle.answer(true, query).gradient)

    np.testing.assert_allclose(error(AdversarialError(1.0)), [0.6, 0.8], rtol=1e-6)
    np.testing.assert_allclose(error(AdversarialError(9.0)), true)
    np.testing.assert_allclose(np.abs(error(RandomSignError(0.5))), 0.5, rtol=1e-6)


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
    assert small == {"adversarial": True, "random": True, "split": True}
    assert large == {"adversarial": True, "random": True, "split": False}
    assert not step_under_error(tree, 200_000, 1.0)["adversarial"]


def test_a_hidden_target_is_not_learned_and_leaves_a_path_that_no_sample_changes():
    hiding_all = Chain.theorem2(1e9, steps=3)
    many, few = (learn(hiding_all, Sample(random_trees(8, 4, 2), rows)) for rows in (5000, 200))
    assert many.stats["hidden"].all()
    assert not many.solved.any()
    assert np.abs(many.numbers - few.numbers).max() < 0.2
    np.testing.assert_allclose(many.risk, few.risk, atol=0.1)
    exact = learn(Chain.theorem2(0.0, steps=3), Sample(random_trees(8, 4, 2), 5000))
    assert not exact.stats["hidden"].any()
    assert np.abs(exact.numbers - many.numbers).max() > 0

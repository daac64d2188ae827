"""The chain learned in one step and level by level; closed forms against autodiff and sampling."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.learning import Chain, Filter, Layers, RandomSignError, Sample, learn
from paritylab.learning.chain.curriculum import filter_levels
from paritylab.learning.chain.evaluation import answers, leaves_under_root, pairs_found
from paritylab.learning.chain.objective import batch_gradient
from paritylab.learning.chain.rows import BATCH, draw_tokens
from paritylab.learning.chain.step_sizes import level_step
from paritylab.learning.chain.teacher import teacher_gradient
from paritylab.models import LINKS, ChainModel
from paritylab.models.chain import MASKS
from paritylab.problem import ParityTree, random_tree, random_trees
from paritylab.risk import enumerated_risk
from paritylab.theory.ks import child_signal, level_signal

X64_MODES = [False]
TREE = ParityTree(8, (0, 2, 5, 6))
LEAVES = np.asarray(TREE.leaves)

#: Every preset, with few steps.
LEARNERS = {
    "theorem5": Chain.theorem5(),
    "theorem5-level": Chain.theorem5(mask="level", link="gentle"),
    "theorem7": Chain.theorem7(),
    "cot": Chain.published("cot", steps=7),
    "teacher": Chain.published("teacher", steps=40),
    "theorem2": Chain.theorem2(1e-3, steps=3),
}


@pytest.mark.parametrize("mask", MASKS)
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
    whole, key = teacher_gradient(TREE, 3, 20_000), jax.random.key(3)
    rows = [draw_tokens(jax.random.fold_in(key, i), LEAVES, 8, BATCH) for i in range(3)]
    tokens = jnp.concatenate(rows)[:20_000]
    by_hand = batch_gradient(tokens, 8, 4, LINKS["cos"], "token") / 20_000
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


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", LEARNERS)
def test_a_second_call_compiles_nothing_and_a_trace_changes_nothing(name, caplog):
    learner = LEARNERS[name]
    data = Sample(random_trees(18, 4, 2), 500)
    first = learn(learner, data)
    with jax.log_compiles(), caplog.at_level("WARNING"):
        learn(learner, Sample(random_trees(18, 4, 2, key=1), 500), key=1)
    assert [r.getMessage() for r in caplog.records if "Finished XLA" in r.getMessage()] == []
    traced = learn(learner, data, trace=2)
    np.testing.assert_allclose(traced.numbers, first.numbers, rtol=1e-5, atol=1e-5)
    records = len(traced.trace["step"])
    assert traced.trace["scores"].shape == (2, records, *first.numbers.shape[1:])
    assert (traced.trace["scores"][:, 0] == 0).all()
    losses = traced.trace["risk" if name.startswith("theorem") else "chain_loss"]
    assert losses.shape == (2, records)
    assert (losses[:, 1] < losses[:, 0]).all()


def test_a_sampled_risk_is_the_risk_within_its_error():
    tree = random_tree(3, 18, 4)
    runs = learn(Chain.theorem5(), Sample(tree, 600), runs=3)
    assert runs.kind == "sampled"
    exact = [enumerated_risk(runs.model(run), tree.problem, "squared").value for run in range(3)]
    assert (np.abs(runs.risk - exact) < 4 * runs.error).all()
    assert (runs.error > 0).all()


def test_one_step_learns_the_chain():
    trees = random_trees(64, 32, 2)
    runs = learn(Chain.theorem5(link="quadratic"), Sample(trees, 64_000))
    assert runs.solved.all()
    assert runs.recovered.all()
    assert runs.subset == [tuple(sorted(tree.leaves)) for tree in trees]
    assert runs.stats["largest_error"].max() < 0.2


def test_a_hand_made_chain_is_judged_perfect():
    scores = np.zeros((11, 3), np.float32)
    scores[TREE.children.T, np.arange(3)] = 40
    assert pairs_found(scores, LEAVES) == 1
    worth = answers(ChainModel(scores, 8), draw_tokens(jax.random.key(0), LEAVES, 8, 500))
    assert worth.wrong == 0
    assert worth.largest_error < 1e-5
    scores[7, 2] = 40  # the root's children no longer outscore all the others
    assert pairs_found(scores, LEAVES) == pytest.approx(2 / 3)
    assert pairs_found(np.zeros((11, 3)), LEAVES) == 0


def test_a_tree_is_read_from_the_root():
    pair, clear = TREE.children, np.ones(3, bool)
    assert leaves_under_root(pair, clear, 8) == (0, 2, 5, 6)
    twice = np.array([[0, 2], [2, 6], [8, 9]])
    assert leaves_under_root(twice, clear, 8) is None
    assert leaves_under_root(np.array([[0, 2], [5, 6], [8, 1]]), clear, 8) == (0, 1, 2)
    tied = np.array([True, True, False])
    assert leaves_under_root(pair, tied, 8) is None


def test_levels_are_solved_one_per_step():
    runs = learn(Chain.theorem7(), Sample(random_trees(32, 8, 2, key=1), 2**18))
    assert runs.stats["levels_per_step"].tolist() == [[0, 1, 2, 3]] * 2
    assert runs.stats["one_per_step"].all()
    assert runs.solved.all()
    assert runs.risk.max() < 1e-5
    assert runs.stats["silenced_level"].tolist() == [[2, 3, 0, 0]] * 2
    assert (runs.numbers == np.round(runs.numbers)).all()


@pytest.mark.parametrize(
    "removed", [{"curriculum": "all"}, {"rounding": False}, {"curriculum": Filter(256, 0.7)}]
)
def test_levels_fail_without_their_parts(removed):
    learner = Chain.theorem7(lowest_level=False, **removed)
    runs = learn(learner, Sample(random_tree(1, 32, 8), 2**15))
    assert runs.stats["levels_per_step"][0, -1] < 3
    assert not runs.stats["one_per_step"].any()


def test_rounding_absorbs_a_small_error_of_the_gradient_and_no_large_one():
    data = Sample(random_tree(1, 16, 4), 2**16)
    exact, small, large = (
        learn(Chain.theorem7(oracle=RandomSignError(error)), data) for error in (0.0, 1e-6, 0.1)
    )
    assert exact.solved.all()
    np.testing.assert_array_equal(small.numbers, exact.numbers)
    assert not large.solved.any()


def test_the_filter_silences_what_rests_on_an_untrained_level():
    hints = jnp.asarray(np.random.default_rng(0).choice([-1.0, 1.0], (64, 64)))
    model = ChainModel.untrained(64, 8, mask="level")
    assert filter_levels(model, hints, 1.6).tolist() == [1, 0, 0]
    assert filter_levels(model, hints, 0.01).tolist() == [1, 1, 1]


def test_the_step_keeps_scores_near_integers():
    eta = level_step(32, 16)
    scores = [eta * level_signal(32, 16, level, LINKS["cos"]) for level in (1, 2, 3, 4)]
    assert max(abs(score - round(score)) for score in scores) < 0.25


def smooth(t):
    return -jnp.cos(jnp.pi * t)


def test_a_function_is_a_link():
    data = Sample(random_trees(16, 4, 2), 20_000)
    own, named = (learn(Chain.theorem5(link=link), data) for link in (smooth, "cos"))
    assert own.solved.all()
    np.testing.assert_allclose(own.numbers, named.numbers, atol=1e-3)
    assert learn(Chain.theorem7(link=smooth), data).recovered.all()


@pytest.mark.parametrize("learner", [Chain.theorem5(), Chain.theorem5(mask="level"), Layers()])
def test_hard_attention_on_the_pairs_is_exactly_right(learner):
    """Softmax leaves a little attention elsewhere; the two highest tokens alone leave nothing."""
    runs = learn(learner, Sample(random_trees(16, 8, 2), 20_000))
    assert runs.recovered.all()
    for model, tree in zip(runs.models, runs.targets, strict=True):
        tokens = draw_tokens(jax.random.key(9), np.asarray(tree.leaves), 16, 500)
        hard = model.hard()
        attention = np.asarray(hard.attention())
        assert set(np.unique(attention)) == {0.0, 0.5}
        np.testing.assert_array_equal(attention[tree.children.T, np.arange(7)], 0.5)
        soft = np.abs(np.asarray(model.generate(tokens[:, :16]))[:, -1] - tokens[:, -1])
        errors = np.abs(np.asarray(hard.generate(tokens[:, :16]))[:, -1] - tokens[:, -1])
        assert errors.max() < 1e-6 < soft.max()


def test_hard_attention_of_equal_scores_is_shared():
    np.testing.assert_allclose(
        ChainModel.untrained(4, 2).hard().attention()[:, 0], [0.25] * 4 + [0]
    )
    scores = np.array([[1.0], [3.0], [1.0], [0.0], [9.0]])
    shares = ChainModel(scores, 4).hard().attention()[:, 0]
    np.testing.assert_allclose(shares, [1 / 3] * 3 + [0, 0], atol=1e-6)
    model = ChainModel(np.array([[3.0], [2.0], [0.0], [0.0], [0.0]]), 4).hard()
    assert float(model(jnp.array([1.0, 0.0, 0.0, 1.0]))) == pytest.approx(-1)
    assert float(model(jnp.array([1.0, 1.0, 0.0, 1.0]))) == pytest.approx(1)


def test_theorem_7_without_rounding_moves_every_level():
    """Scores that are no integers are never finished, so one device does not outlive the other."""
    assert Chain.theorem7().lowest_level
    assert not Chain.theorem7(rounding=False).lowest_level
    assert Chain.theorem7(rounding=False, lowest_level=True).lowest_level

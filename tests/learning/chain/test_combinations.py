"""Every device of the chain on every other: each combination trains, or says why it cannot."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from paritylab._support.precision import float64
from paritylab.learning import Chain, Filter, Fresh, Hiding, Population, Sample, learn
from paritylab.learning.chain.objective import SUPERVISION, Objective, losses_and_gradient
from paritylab.learning.chain.rows import (
    Draw,
    Flips,
    Table,
    draw_tokens,
    mean_tokens,
    rows_per_batch,
)
from paritylab.learning.chain.teacher import teacher_gradient
from paritylab.models import LINKS, ChainModel
from paritylab.models.chain import MASKS
from paritylab.problem import ParityTree, random_trees

X64_MODES = [False]
TREES = random_trees(6, 4, 2)
CURRICULA = {"all": "all", "self-consistency": "self-consistency", "filter": Filter(8)}
OPTIMISERS = {"sgd": "sgd", "adam": optax.adam, "ready": optax.rmsprop(0.1)}
#: Data, and the rows of a step.
DATA = {
    "sample": (Sample(TREES, 48), None),
    "batches": (Sample(TREES, 48), 16),
    "fresh": (Fresh(TREES, 48), None),
    "inputs": (Population(TREES), None),
}
#: All combinations, in an order in which a few taken evenly differ in every device.
CELLS = list(product(SUPERVISION, MASKS, CURRICULA, OPTIMISERS, DATA))


def trained(supervision, mask, curriculum, optimiser, data, **changes):
    rows, batch = DATA[data]
    learner = Chain(
        supervision=supervision,
        mask=mask,
        curriculum=CURRICULA[curriculum],
        optimiser=OPTIMISERS[optimiser],
        eta=0.5,
        steps=3,
        batch=batch,
        **changes,
    )
    return learn(learner, rows, trace=1)


@pytest.mark.grid(16)
@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_every_combination_trains(cell):
    runs = trained(*cell)
    assert not runs.diverged.any()
    assert np.abs(runs.numbers).max() > 0
    assert runs.trace["risk"].shape == (2, 4)
    assert runs.model(0).mask == cell[1]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("preset", Chain.presets)
def test_every_preset_takes_every_kind_of_change(preset, stream):
    learner = Chain.presets[preset](
        rounding=False, optimiser="adam", eta=(0.3, 0.1), steps=2, batch=16, stream=stream
    )
    assert not learn(learner, Sample(TREES, 48)).diverged.any()


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("supervision", SUPERVISION)
def test_gradients_are_autodiff_of_the_loss_as_it_is_defined(supervision, mask):
    """Σ_m c_m·½ mean (x̂_m - x_m)², token after token, in plain Python."""
    leaves, n, k = np.asarray(TREES[0].leaves), 6, 4
    scores = np.random.default_rng(0).normal(size=(n + k - 1, k - 1))
    with float64():
        tokens = draw_tokens(jax.random.key(0), leaves, n, 20).astype(float)
        model = ChainModel(scores, n, LINKS["cos"], mask)
        passes = jnp.array([1.0, 0.0])

        def loss(scores):
            total, weights = 0.0, [1.0, 1.0, 0.25] if supervision == "chain" else [1.0, 1.0, 1.25]
            weights = [0.0, 0.0, 1.0] if supervision == "answer" else weights
            attention = model.with_parameters(scores).attention()
            for row in tokens:
                read = row if supervision == "teacher" else row.at[n:].set(0)
                for node in range(k - 1):
                    made = LINKS["cos"](read @ attention[:, node])
                    if supervision != "teacher":
                        made = made * (0.0 if node == k - 2 else 1.0)  # the upper level is silent
                        read = read.at[n + node].set(made)
                    total = total + weights[node] * (made - row[n + node]) ** 2 / 2
            return total / len(tokens)

        silent = jnp.ones(2) if supervision == "teacher" else passes
        objective = Objective(supervision, answer_weight=0.25)
        losses, gradient = losses_and_gradient(
            objective, model.with_parameters, jnp.asarray(scores), silent, Table(tokens, n)
        )
        value, expected = jax.value_and_grad(loss)(jnp.asarray(scores))
        np.testing.assert_allclose(gradient, expected, atol=1e-12)
        assert float(losses.risk) == pytest.approx(float(value))


@pytest.mark.parametrize("mask", MASKS)
def test_the_first_step_as_one_product_is_that_of_the_general_gradient(mask):
    """Two routes: XᵀR over a stream, and automatic derivatives over rows in memory."""
    data = Sample(TREES, 300)
    product_ = learn(Chain(mask=mask, eta=1.0, stream=False), data)
    general = learn(Chain(mask=mask, eta=1.0, stream=False, answer_weight=1e-9), data)
    np.testing.assert_allclose(product_.numbers, general.numbers, atol=1e-6)
    assert np.abs(product_.numbers).max() > 1e-3


def test_the_gradient_of_a_mean_is_the_gradient_over_k_minus_1():
    ones = [learn(Chain(eta=1.0, mean_loss=mean), Sample(TREES, 300)) for mean in (False, True)]
    np.testing.assert_allclose(ones[0].numbers, 3 * ones[1].numbers, rtol=1e-6)


def test_batches_go_through_the_sample_and_fresh_rows_through_none():
    """Three batches of a third, at the same W, are the sample; a step of size 0 keeps W."""
    data, tiny = Sample(TREES, 48), 1e-6
    for stream in (True, False):
        learner = {"supervision": "chain", "mask": "level", "eta": tiny, "stream": stream}
        batches = learn(Chain(**learner, steps=3, batch=16), data).numbers
        twice = learn(Chain(**learner, steps=6, batch=16), data).numbers
        np.testing.assert_allclose(twice, 2 * batches, rtol=1e-3)
    whole = learn(Chain(**learner, steps=3), data).numbers
    np.testing.assert_allclose(batches, whole, rtol=1e-3, atol=1e-12)
    fresh = learn(Chain(**learner, steps=3), Fresh(TREES, 48)).numbers
    assert np.abs(fresh - whole).max() > 0.01 * np.abs(whole).max()


def test_a_population_is_the_limit_of_large_samples():
    learner = Chain(supervision="chain", mask="token", eta=1.0, steps=2)
    exact = learn(learner, Population(TREES)).numbers
    sampled = learn(learner, Sample(TREES, 100_000)).numbers
    np.testing.assert_allclose(sampled, exact, atol=0.005)
    assert np.abs(exact).max() > 0.05


def with_noise(data, *, tokens=0.0, flips=0.0, noise=0.0):
    """The data with rows that state some tokens and answers wrongly."""
    trees = [ParityTree(tree.n, tree.leaves) for tree in data.targets]
    for tree in trees:
        object.__setattr__(tree, "noise", noise)
    noisy = replace(data, targets=tuple(trees))
    object.__setattr__(noisy, "corruption", SimpleNamespace(tokens=tokens, flips=flips))
    return noisy


@pytest.mark.parametrize("stream", [True, False])
def test_rows_state_tokens_wrongly_as_often_as_said(stream):
    flips, n = Flips(np.float32(0.1), np.float32(0.3)), 6
    size = rows_per_batch(20_000)
    draw = Draw(n, "Sample", 20_000, stream, size, flips=flips)
    clean = draw._replace(flips=None)

    def means(draw):
        rows = draw.rows(np.asarray(TREES[0].leaves), jax.random.key(1))(jnp.zeros((), int))

        def add(tokens, counted):
            right = TREES[0].tokens(tokens[:, :n])[:, n:] * tokens[:, n:] > 0
            if counted is None:
                return jnp.mean(right, axis=0)
            return jnp.sum(right & counted[:, None], axis=0)

        return np.asarray(rows.mean_of_tokens(add, jnp.zeros(3)))

    np.testing.assert_allclose(means(clean), 1, atol=1e-6)
    expected = [0.9, 0.9, 0.9 * 0.7 + 0.1 * 0.3]
    np.testing.assert_allclose(means(draw), expected, atol=0.02)


@pytest.mark.parametrize("supervision", SUPERVISION)
@pytest.mark.parametrize("data", ["sample", "batches", "fresh"])
def test_noisy_rows_train_and_clean_ones_judge(supervision, data):
    rows, batch = DATA[data]
    noisy = with_noise(rows, tokens=0.1, flips=0.05, noise=0.1)
    learner = Chain(supervision=supervision, eta=0.5, steps=2, batch=batch)
    found, clean = (learn(learner, each).numbers for each in (noisy, rows))
    assert np.isfinite(found).all()
    assert np.abs(found - clean).max() > 1e-4


def test_wrong_tokens_shrink_the_pull_of_the_children():
    """A token that is flipped with probability p keeps 1 - 2p of its correlation, so the node of
    two bits has (1 - 2p) times the pull, and one of two flipped tokens the cube."""
    trees = random_trees(12, 4, 1)
    data, p = Sample(trees, 400_000), 0.2
    clean, noisy = (
        -learn(Chain(eta=1.0, mask="level"), each).numbers[0]
        for each in (data, with_noise(data, tokens=p))
    )
    children = trees[0].children.T, np.arange(3)
    others = (clean[children].mean(axis=0), noisy[children].mean(axis=0))
    np.testing.assert_allclose(others[1][:2] / others[0][:2], 0.6, atol=0.05)
    assert 0.1 < others[1][2] / others[0][2] < 0.45


def test_one_step_learns_from_chains_with_wrong_tokens():
    trees = random_trees(32, 8, 3)
    runs = learn(Chain.theorem5(), with_noise(Sample(trees, 200_000), tokens=0.1))
    assert runs.recovered.all()


def test_levels_have_step_sizes_of_their_own():
    one, two = (
        learn(Chain(eta=eta, stream=False), Sample(TREES, 300)).numbers for eta in (1.0, (1.0, 3.0))
    )
    np.testing.assert_allclose(two[:, :, :2], one[:, :, :2], rtol=1e-6)
    np.testing.assert_allclose(two[:, :, 2], 3 * one[:, :, 2], rtol=1e-6)
    with pytest.raises(ValueError, match="one number per level, 2 for k=4"):
        learn(Chain(eta=(1.0, 2.0, 3.0)), Sample(TREES, 30))


def test_optimisers_are_named_made_inside_or_ready():
    """The same Adam three ways; a ready one has its own step size, of which eta is a factor."""
    base = {"supervision": "chain", "steps": 4, "stream": False}
    ways = [("adam", 0.1), (optax.adam, 0.1), (optax.adam(0.1), None), (optax.adam(1.0), 0.1)]
    ends = [
        learn(Chain(**base, optimiser=optimiser, eta=eta), Sample(TREES, 64)).numbers
        for optimiser, eta in ways
    ]
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], atol=1e-6)


def test_another_step_size_threshold_or_error_compiles_nothing(caplog):
    data = Sample(TREES, 48)

    def learner(eta, threshold, epsilon):
        return Chain(
            supervision="chain",
            optimiser=optax.adam,
            eta=eta,
            curriculum=Filter(8, threshold),
            oracle=Hiding(epsilon),
        )

    learn(learner(0.1, 1.2, 0.1), data)
    with jax.log_compiles(), caplog.at_level("WARNING"):
        learn(learner(0.2, 1.3, 0.2), data)
    assert [r for r in caplog.records if "Finished XLA" in r.getMessage()] == []


@pytest.mark.parametrize("start", ["cos", "quadratic"])
def test_a_link_trains_with_the_attention(start):
    data, base = Sample(TREES, 400), {"supervision": "chain", "stream": False, "eta": 2.0}
    fixed = learn(Chain(**base, steps=60, link=start), data)
    moved = learn(Chain(**base, steps=60, link=start, link_eta=0.01), data)
    assert (moved.stats["chain_loss"] < fixed.stats["chain_loss"]).all()
    model = moved.model(0)
    t = np.linspace(-1, 1, 21)
    values = np.asarray(model.link(jnp.asarray(t)))
    np.testing.assert_allclose(values, values[::-1], atol=1e-6)  # still even
    assert np.abs(values - np.asarray(LINKS[start](jnp.asarray(t)))).max() > 0.01


def test_without_a_mask_a_node_finds_its_parent_and_sibling_as_well():
    """x_m is the product of its children, and of its parent and its sibling."""
    tree = ParityTree(32, (1, 5, 9, 20))
    pull = -np.asarray(teacher_gradient(tree, 0, 200_000, mask="none"))
    assert set(np.argsort(pull[:, 0])[-4:]) == {1, 5, 33, 34}
    assert set(np.argsort(pull[:, 2])[-2:]) == {32, 33}  # the root has neither


def test_mean_tokens_are_the_means_over_all_trees():
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (50, 6)).astype(np.float32)
    trees = random_trees(6, 4, 3000, key=5)
    rng = np.random.default_rng(1)
    orders = [ParityTree(6, tuple(rng.permutation(tree.leaves))) for tree in trees]
    means = np.mean([np.asarray(tree.tokens(signs))[:, 6:] for tree in orders], axis=0)
    np.testing.assert_allclose(mean_tokens(jnp.asarray(signs), 4), means, atol=0.1)


@pytest.mark.parametrize("supervision", ["chain", "answer"])
def test_a_hidden_target_leaves_the_mean_over_all_targets(supervision):
    """Two targets on the same rows end at the same weights."""
    learner = Chain(supervision=supervision, oracle=Hiding(1e9), eta=0.5, steps=2)
    trees = (ParityTree(6, (0, 1, 2, 3)), ParityTree(6, (5, 2, 4, 1)))
    one, other = (learn(learner, Sample(tree, 64)) for tree in trees)
    np.testing.assert_allclose(one.numbers, other.numbers, atol=1e-6)
    assert one.stats["hidden"].all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        # KS, Theorem 5: with teacher forcing one query tells the target, at this very error.
        (lambda: Chain.theorem5(oracle="hiding"), r"no mean gradient hides it \(Theorem 5\)"),
        (lambda: learn(Chain(batch=4), Fresh(TREES, 9)), "a Fresh has no rows that are drawn once"),
        (lambda: learn(Chain(batch=10), Sample(TREES, 9)), "at most the 9 rows"),
        (lambda: learn(Chain(), Population(random_trees(32, 4, 1))), "takes n ≤ 20, got n=32"),
        (lambda: learn(Chain(), with_noise(Population(TREES), noise=0.1)), "no token wrongly"),
        (lambda: Chain(curriculum="filtered"), "did you mean 'filter'"),
        (lambda: Chain(eta=(1.0, -1.0)), "eta must be above 0, got -1"),
        (lambda: Chain(oracle=Hiding), "such as Hiding"),
        (lambda: Filter(0), "augmentation must be at least 1"),
        (lambda: Hiding(-1.0), "epsilon must be at least 0"),
        (lambda: Chain.published("selfcheck"), "model must be one of direct, cot"),
    ],
)
def test_what_cannot_be_is_one_line(call, words):
    with pytest.raises(ValueError, match=words) as raised:
        call()
    assert "\n" not in str(raised.value)

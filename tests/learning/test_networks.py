"""Presets of one descent: what is particular to each; the contract has its own tests."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.learning import (
    FeedForwardNet,
    Fresh,
    FrozenAttention,
    Heads,
    HingeNet,
    Population,
    RecurrentNet,
    Sample,
    learn,
    objective,
    training,
)
from paritylab.learning.hardness.frozen import (
    every_input,
    group_risks,
    group_rows,
    parity_of,
    random_features,
    smallest_pair_loss,
    worst_shares,
)
from paritylab.learning.runs import run_keys
from paritylab.models import FrozenHeads, parity_network
from paritylab.models.feedforward import FeedForward
from paritylab.models.recurrent import Recurrent, reader_inputs
from paritylab.problem import Junta, Parity, random_parities
from paritylab.risk.objective import target_of
from paritylab.risk.rows import draw_rows

X64_MODES = [False]  # descent has float64 of its own
PAIR = Parity(5, (0, 3))


def trained(**options):
    """Settings differ only in numbers, so one compiled loop serves all."""
    learner = FeedForwardNet(16, **{"steps": 500, "eta": 0.03, **options})
    return learn(learner, Population(PAIR), runs=4)


def test_a_net_learns_a_pair_and_names_no_set():
    runs = trained()
    assert runs.rate().value == 1
    assert runs.recovered.sum() == 0
    assert runs.kind == "exact"
    np.testing.assert_array_equal(runs.stats["accuracy"], 1)


def test_a_diverging_net_has_no_risk_and_no_success():
    runs = trained(eta=1e300)
    assert runs.diverged.all()
    assert runs.rate().value == 0


def test_runs_in_blocks_are_the_same_runs(monkeypatch):
    learner, data = FeedForwardNet(8, steps=20), Fresh(random_parities(8, 2, 5), 30)
    whole = learn(learner, data, trace=10)
    monkeypatch.setattr(training, "AT_ONCE", 2000)  # two runs at a time, or three
    parts = learn(learner, data, trace=10)
    for name, values in whole.numbers.items():
        np.testing.assert_allclose(parts.numbers[name], values, rtol=1e-9)
        assert parts.trace[name].shape == whole.trace[name].shape
    np.testing.assert_allclose(parts.risk, whole.risk, rtol=1e-9)


@pytest.mark.parametrize("kind", [Sample, Fresh])
def test_rows_in_pieces_are_one_sample_of_the_population(kind, monkeypatch):
    """Losses that are functions of a mean take it over all pieces; a sample stays the same."""
    targets = random_parities(8, 2, 2, noise=0.1)
    monkeypatch.setattr(objective, "PIECE", 8 * 60_000)
    learner = Heads.code(steps=2, optimiser="sgd", eta=1e-9)  # on (mean hinge)²
    rows = learn(learner, kind(targets, 400_001), trace=1)
    exact = learn(learner, Population(targets), trace=1)
    np.testing.assert_allclose(rows.trace["risk"], exact.trace["risk"], rtol=0.02)
    assert (np.ptp(rows.trace["risk"], axis=1) > 1e-6).all() == (kind is Fresh)
    learner = Heads.code(steps=1, optimiser="sgd", eta=1.0)
    moved, exactly = (
        runs.numbers - runs.trace["directions"][:, 0]
        for runs in (
            learn(learner, data, trace=1) for data in (kind(targets, 400_001), Population(targets))
        )
    )
    assert np.abs(moved - exactly).max() < 0.2 * np.abs(exactly).max()


@pytest.fixture(scope="module")
def frozen():
    """AdamW shrinks whatever it is given, so frozen heads must not be among it."""
    learner = FrozenAttention(optimiser="adamw", eta=0.05, steps=150)
    return learn(learner, Population(PAIR), runs=3)


def test_only_the_net_trains_and_every_run_has_its_own_heads(frozen):
    for run, key in enumerate(run_keys(0, 0, 3)):
        start = FrozenHeads.random(jax.random.split(key)[1], 5, heads=2, width=32, tau=0.3)
        np.testing.assert_array_equal(frozen.model(run).entries, start.entries)
        assert not np.allclose(frozen.numbers["hidden"][run], start.network.hidden)
    assert len({model.entries.tobytes() for model in frozen.models}) == 3


def test_the_best_head_beats_every_trained_one(frozen):
    labels = parity_of(every_input(5), PAIR.subset)
    for run, model in enumerate(frozen.models):
        with float64():
            features = np.asarray(jax.vmap(model.heads.attended)(every_input(5)))
        best = group_risks(group_rows(features), labels[:, None])[0]
        assert best <= frozen.risk[run] + 1e-9


def test_the_best_head_by_hand():
    # Two groups of features: one pure, one with labels + + -: its best risk is 4·(2/5)(1/5)/(3/5).
    features, labels = np.array([[0.0], [0], [1], [1], [1]]), [1, 1, 1, 1, -1]
    both = group_risks(group_rows(features), np.stack([labels, np.ones(5)], axis=1))
    np.testing.assert_allclose(both, [8 / 15, 0])


def test_the_pair_loss_of_an_exact_net_is_zero():
    assert smallest_pair_loss(parity_network(PAIR), PAIR, 3) == 0


def test_shares_of_all_parities_add_up_to_the_features():
    pairs = [(i, j) for j in range(5) for i in range(j)]
    shares = worst_shares(random_features(5, 32), pairs)
    assert np.all(np.diff(shares) >= -1e-12)
    assert shares[-1] == pytest.approx(1)
    assert np.all(shares <= np.arange(1, 33) / len(pairs) + 1e-12)


def test_labels_make_recurrent_nets_learn_and_feed_themselves():
    data = Fresh(random_parities(8, 4, runs=2, sign=-1), 32)
    runs = learn(RecurrentNet(width=32, steps=300, eta=0.01), data)
    assert runs.kind == "exact"
    np.testing.assert_array_equal(runs.stats["accuracy"], 1)
    reader, problem = runs.model(0), data.targets[0]
    bits = np.random.default_rng(0).integers(0, 2, (5, 8)).astype(float)
    signs = jnp.asarray(1 - 2 * bits)
    running = -np.cumprod(np.where(problem.indicator > 0, signs, 1), axis=1)
    before = jnp.asarray(np.concatenate([np.ones((5, 1)), running[:, :-1]], axis=1))
    answers = jax.vmap(reader.network)(reader_inputs(signs, before))
    np.testing.assert_allclose(jax.vmap(reader)(bits), answers[:, -1], rtol=1e-4)
    np.testing.assert_array_equal(np.sign(answers), running)


@pytest.mark.parametrize("cell", ["elman", "lstm"])
def test_answers_to_a_whole_input_are_those_of_one_step_after_another(cell):
    network = Recurrent.random(0, 4, 8, cell)
    inputs = jnp.asarray(np.random.default_rng(0).normal(size=(5, 4)), jnp.result_type(float))
    state, answers = network.start(), []
    for given in inputs:
        state, answer = network.step(state, given)
        answers.append(answer)
    np.testing.assert_allclose(network(inputs), answers, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "target", [Parity(11, (0, 7, 8), noise=0.2), Junta.majority(11, (1, 5, 9))]
)
def test_a_mixture_shares_its_signs_and_keeps_the_noise(target):
    arrays, keys = target_of(target), jax.random.split(jax.random.key(0))
    rows = draw_rows(keys[0], arrays, 4000, uniform=True)
    mixed = objective.share_a_sign(rows, keys[1], arrays, 0.5)
    bits = np.asarray(mixed.bits).astype(int)
    clean = np.asarray(replace(target, noise=0.0).label(bits))
    assert np.mean(mixed.labels != clean) == pytest.approx(target.noise, abs=0.03)
    same = np.isin(bits[:, list(target.subset)].sum(axis=1), (0, 3))
    assert same.mean() == pytest.approx(0.5 + 0.5 / 4, abs=0.03)


def test_the_antisymmetric_start_predicts_nothing():
    net = FeedForward.antisymmetric(3, 10, 8)
    bits = np.random.default_rng(0).integers(0, 2, (20, 10)).astype(float)
    np.testing.assert_allclose([float(net(each)) for each in bits], 0, atol=1e-6)


def test_frozen_nets_keep_their_hidden_layer():
    options, data = {"width": 16, "steps": 20, "decay": 0.1}, Fresh(Parity(8, (1, 4)), 8)
    still = learn(HingeNet(frozen=True, **options), data, runs=2)
    moving = learn(HingeNet(**options), data, runs=2, trace=20)
    assert set(still.numbers) == {"output", "offset"}
    np.testing.assert_allclose(still.model(1).hidden, moving.trace["hidden"][1, 0])
    assert not np.allclose(moving.numbers["hidden"][1], still.model(1).hidden)

"""What kinds of data mean: corrupted rows, all inputs, progress."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.learning import (
    Auto,
    FeedForwardNet,
    Fresh,
    Heads,
    Population,
    Sample,
    Transformer,
    learn,
)
from paritylab.learning.transformer.chains import plan
from paritylab.learning.transformer.training import Task, draw_chains, mean_loss
from paritylab.problem import Corruption, Parity, random_parities
from paritylab.risk.objective import target_of

X64_MODES = [False]
CLEAN, NOISY = random_parities(8, 2, 3), random_parities(8, 2, 3, noise=0.1)
FLIPS = Corruption(flips=0.1)


@pytest.mark.parametrize("learner", [Heads.code(steps=20), FeedForwardNet(8, steps=20)])
@pytest.mark.parametrize("kind", [Sample, Fresh])
def test_flipped_labels_train_like_noise_and_are_judged_without(learner, kind):
    corrupted, noisy = (learn(learner, data) for data in (kind(CLEAN, 60, FLIPS), kind(NOISY, 60)))
    for one, other in zip(*map(jax.tree.leaves, (corrupted.numbers, noisy.numbers)), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (corrupted.risk != noisy.risk).any()
    assert learn(learner, kind(CLEAN, 60)).targets == corrupted.targets


def test_solvers_meet_the_corrupted_rows_too():
    found, without = (learn(Auto(), Sample(CLEAN, 90, each)) for each in (FLIPS, Corruption()))
    assert (found.stats["noise_rate"] > without.stats["noise_rate"]).all()


def test_a_transformer_on_all_inputs_has_the_mean_loss_of_its_rows():
    """The loss of a slot that only sees its own token: a function of the chain that is known."""
    target = Parity(8, (1, 4, 6), noise=0.1, bias=0.3)
    chain = plan("line", target.subset, 8)
    task = Task(jax.tree.map(np.float32, target_of(target)), chain.sums, chain.parents)
    weights = jnp.asarray([[0.3, 1.1], [0.2, 0.7], [1.9, 0.4]])

    def losses(rows):
        return weights[jnp.arange(3), rows.chain] * (1 + rows.bits[:, :1])

    exact = float(mean_loss(losses, task, chain.written))
    zero = jnp.zeros(())
    drawn = draw_chains(jax.random.key(0), task, chain.written, 200_000, False, zero)
    assert exact == pytest.approx(float(jnp.mean(losses(drawn))), abs=0.01)
    runs = learn(Transformer(steps=200, width=16, heads=2), Population(Parity(6, (1, 4))), runs=2)
    assert runs.solved.all()
    assert (runs.stats["rows"] == 64 * runs.stats["steps"]).all()


def test_progress_is_told_and_changes_nothing():
    told = []
    learner, data = Heads.code(steps=45), Population(CLEAN)
    quiet = learn(learner, data, trace=10)
    heard = learn(learner, data, trace=10, progress=told.append)
    np.testing.assert_array_equal(quiet.numbers, heard.numbers)
    for name, values in quiet.trace.items():
        np.testing.assert_array_equal(values, heard.trace[name])
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert told[-1].done == told[-1].total == 45 * 3
    with pytest.raises(ValueError, match="progress must be"):
        learn(learner, data, progress=3.0)

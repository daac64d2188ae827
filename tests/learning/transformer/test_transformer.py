"""Chains that a transformer is shown, and what training on them gives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.learning import Fresh, Sample, Transformer, learn
from paritylab.learning.transformer.chains import plan
from paritylab.models.transformer import MARK
from paritylab.options import options_of
from paritylab.problem import Parity, ParityTree

X64_MODES = [False]
LEAVES = (1, 3, 4, 6)


@pytest.mark.parametrize("chain", options_of(Transformer)["chain"].choices)
def test_a_slot_is_the_parity_of_its_parents(chain):
    made = plan(chain, LEAVES, 8)
    bits = np.random.default_rng(0).integers(0, 2, (32, 8))
    slots = bits @ made.sums.T % 2
    np.testing.assert_array_equal(slots[:, -1], bits[:, LEAVES].sum(axis=1) % 2)
    zero = np.zeros((32, 1), int)
    read = np.concatenate([bits, zero, np.where(made.written, slots, 0)[:, :-1]], axis=1)
    for slot, unknown in enumerate(made.parents):
        assert not unknown[8 + slot :].any(), "what is not written yet, or is known"
        if made.written[slot]:
            with_query = read @ unknown + read[:, 8 + slot]
            fits = [(read @ unknown) % 2, with_query % 2]
            assert any((each == slots[:, slot]).all() for each in fits)


@pytest.mark.parametrize(
    ("chain", "unknown"),
    [
        ("line", [1, 1, 1, 1]),
        ("none", [4]),
        ("filler", [1, 0, 2, 0, 2, 0, 2]),
        ("tree", [2, 2, 1]),
        ("post-order", [2, 2, 1]),
        ("again", [1, 1, 1, 1, 1, 1]),
    ],
)
def test_how_many_parents_are_unknown(chain, unknown):
    made = plan(chain, LEAVES, 8)
    assert made.parents.sum(axis=1).tolist() == unknown
    marks = [chain == "filler" and count == 0 for count in unknown]
    assert [not each for each in made.written] == marks


def test_the_orders_of_a_tree_differ_from_eight_leaves_on():
    leaves = tuple(range(8))
    assert plan("tree", leaves, 8).parents.sum(axis=1).tolist() == [2, 2, 2, 2, 2, 2, 1]
    assert plan("post-order", leaves, 8).parents.sum(axis=1).tolist() == [2, 2, 1, 2, 2, 1, 1]


def test_a_gap_leaves_tokens_out():
    assert plan("line", LEAVES, 8, gap=2).sums.sum(axis=1).tolist() == [2, 4]
    assert plan("line", LEAVES, 8, gap=3).sums.sum(axis=1).tolist() == [3, 4]
    assert plan("line", LEAVES, 8, gap=9).sums.sum(axis=1).tolist() == [4]


def test_free_writing_is_right_as_often_as_the_tests_say():
    """Every slot right after the true prefix is the freely written chain right."""
    target = Parity(8, LEAVES)
    runs = learn(Transformer(steps=40, width=16, check=20), Fresh(target, 32), runs=2, trace=20)
    made, model = plan("line", LEAVES, 8), runs.model(0)
    bits = jnp.asarray(np.random.default_rng(0).integers(0, 2, (500, 8)), jnp.int32)
    chain = np.asarray(bits @ made.sums.T % 2)
    written = np.asarray(jax.vmap(lambda each: model.write(each)[0])(bits))
    read = np.column_stack([bits, np.full(500, MARK), chain[:, :-1]])
    logits = np.asarray(jax.vmap(lambda each: model.outcome(each).logits)(read))
    forced = (logits.argmax(axis=-1) == chain).all(axis=1)
    np.testing.assert_array_equal((written == chain).all(axis=1), forced)
    assert runs.trace["by_slot"].shape == (2, 3, 4)
    assert runs.trace["right"][0, -1] == pytest.approx(forced.mean(), abs=0.12)


def test_a_solved_run_stops_and_says_how_many_rows_it_read():
    runs = learn(Transformer(steps=400), Fresh(Parity(8, LEAVES), 64), runs=2)
    assert runs.solved.all()
    assert (runs.stats["steps"] < 400).all()
    np.testing.assert_array_equal(runs.stats["rows"], 64 * runs.stats["steps"])
    assert (runs.stats["attention"] > 0.4).all()
    tree = learn(Transformer(steps=400), Fresh(ParityTree(8, LEAVES), 64), runs=2)
    np.testing.assert_array_equal(runs.stats["rows"], tree.stats["rows"])


def test_a_sample_is_drawn_once():
    """Few rows are learnt by heart: what is seen in training is right, the rest is not."""
    few = learn(Transformer(steps=150), Sample(Parity(8, LEAVES), 6), runs=2)
    assert not few.solved.any()
    assert (few.stats["accuracy"] < 0.9).all()


def test_places_of_ones_own_train_and_come_back(tmp_path):
    def wave(length, width):
        return np.cos(np.outer(np.arange(length), 1 + np.arange(width)))

    runs = learn(Transformer(positions=wave, steps=5), Fresh(Parity(6, (1, 4)), 8), runs=2)
    assert np.isfinite(float(runs.model(1)(np.zeros(6))))

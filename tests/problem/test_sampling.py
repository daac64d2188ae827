import jax
import numpy as np
import pytest

from paritylab.learning import Correlation, Heads, Population, Sample, learn
from paritylab.models import HeadAttention
from paritylab.problem import (
    Parity,
    all_bits,
    batches,
    random_parities,
    random_parity,
    random_trees,
    sample,
)
from paritylab.problem.sampling import as_key, each_key, fold_keys, normals, seed_of
from paritylab.sweep import Spec


def test_enumeration_visits_every_string_once_whatever_the_chunk():
    whole = np.concatenate(list(all_bits(7)))
    chunked = np.concatenate(list(all_bits(7, chunk=16)))
    assert np.array_equal(whole, chunked)
    assert np.array_equal(whole @ (1 << np.arange(7)), np.arange(128))


def test_stream_holds_batches_of_the_asked_size():
    problem = Parity(5, (0, 1), noise=0.1)
    sizes = [len(batch.labels) for batch in batches(problem, 0, samples=250, batch_size=100)]
    assert sizes == [100, 100, 50]


def test_batch_i_is_drawn_with_fold_in():
    problem = Parity(9, (0, 4))
    second = list(batches(problem, 7, samples=64, batch_size=32))[1]
    alone = sample(problem, jax.random.fold_in(jax.random.key(7), 1), 32)
    assert np.array_equal(second.bits, alone.bits)


def test_same_key_same_bits_with_x64_on_and_off():
    for problem in (Parity(9, (0, 4), noise=0.2), Parity(9, (0, 4), noise=0.2, bias=0.3)):
        with jax.enable_x64(True):
            wide = sample(problem, 5, 100)
        with jax.enable_x64(False):
            narrow = sample(problem, 5, 100)
        assert np.array_equal(wide.bits, narrow.bits)
        assert np.array_equal(wide.labels, narrow.labels)


def test_frequencies_match_bias_and_noise():
    bias = (0.1, 0.5, 0.9, 0.3)
    problem = Parity(4, (0, 2), noise=0.2, bias=bias)
    size = 40_000
    bits, labels = sample(problem, 1, size)
    error = 5 * np.sqrt(np.array(bias) * (1 - np.array(bias)) / size)
    assert np.all(np.abs(np.asarray(bits).mean(axis=0) - bias) < error)
    flipped = np.mean(np.asarray(labels) != np.asarray(problem.label(bits)))
    assert abs(flipped - 0.2) < 5 * np.sqrt(0.2 * 0.8 / size)


def test_keys_of_many_runs_are_those_folded_one_by_one():
    key = jax.random.key(3)
    for runs in (1, 7, 16, 20):
        many = each_key(fold_keys(key, 5 + np.arange(runs)))
        alone = [jax.random.fold_in(key, 5 + run) for run in range(runs)]
        words = ([jax.random.key_data(each) for each in some] for some in (many, alone))
        assert np.array_equal(*words)


@pytest.mark.parametrize("shape", [(), (5,), (3, 7), (17, 2)])
def test_normals_are_those_of_jax_whatever_the_shape(shape):
    drawn, plain = normals(4, shape), jax.random.normal(jax.random.key(4), shape)
    assert drawn.dtype == plain.dtype
    assert np.array_equal(drawn, plain)


@pytest.mark.parametrize("seed", [-1, 2**32, 2**63, 2**64, True])
def test_seeds_that_would_repeat_are_refused(seed):
    """Wherever one is taken: keys, targets, rows, starts, runs, blocks of a sweep."""
    for door in (
        as_key,
        lambda key: random_parity(key, 8, 2),
        lambda key: random_parities(8, 2, 3, key=key),
        lambda key: random_trees(8, 2, 3, key=key),
        lambda key: sample(Parity(8, (1, 2)), key, 5),
        lambda key: next(batches(Parity(8, (1, 2)), key, 5)),
        lambda key: HeadAttention.random(key, Parity(8, (1, 2))),
        lambda key: learn(Heads.code(steps=1), Population(Parity(8, (1, 2))), runs=1, key=key),
        lambda key: learn(Correlation(k=2), Sample(Parity(8, (1, 2)), 9), runs=1, key=key),
    ):
        with pytest.raises(ValueError, match="whole number from 0 to 2³² - 1"):
            door(seed)


@pytest.mark.parametrize("first", [-1, 2**32 - 2, 2**32, 2**64])
def test_numbers_of_runs_that_would_repeat_are_refused(first):
    for door in (
        lambda: random_parities(8, 2, 3, first=first),
        lambda: random_trees(8, 2, 3, first=first),
        lambda: learn(Heads.code(steps=1), Population(Parity(8, (1, 2))), runs=3, first_run=first),
        lambda: Spec.make("heads", {"n": 8, "k": 2}, {}, block=3, first=first),
    ):
        with pytest.raises(ValueError, match=r"2³²|whole number ≥ 0"):
            door()


def test_seeds_of_draws_are_not_wrapped_onto_each_other():
    seeds = [0, 1, 2**29, 2**30, 2**32 - 1]
    assert len({seed_of(seed, draw) for seed in seeds for draw in range(20)}) == 100

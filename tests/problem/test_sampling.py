"""Streams of samples, enumeration, and keys of many runs."""

import jax
import numpy as np
import pytest

from paritylab.problem import Parity, all_bits, batches, sample
from paritylab.problem.keys import seed_of
from paritylab.problem.sampling import each_key, fold_keys, normals


def test_enumeration_visits_every_string_once_whatever_the_chunk():
    whole = np.concatenate(list(all_bits(7)))
    chunked = np.concatenate(list(all_bits(7, chunk=16)))
    assert np.array_equal(whole, chunked)
    assert np.array_equal(whole @ (1 << np.arange(7)), np.arange(128))


def test_batch_i_of_a_stream_is_drawn_with_fold_in():
    problem = Parity(9, (0, 4), noise=0.1)
    stream = list(batches(problem, 7, samples=250, batch_size=100))
    assert [len(batch.labels) for batch in stream] == [100, 100, 50]
    alone = sample(problem, jax.random.fold_in(jax.random.key(7), 1), 100)
    assert np.array_equal(stream[1].bits, alone.bits)
    assert np.array_equal(stream[1].labels, alone.labels)


def test_same_key_same_bits_with_x64_on_and_off():
    for problem in (Parity(9, (0, 4), noise=0.2), Parity(9, (0, 4), noise=0.2, bias=0.3)):
        with jax.enable_x64(True):
            wide = sample(problem, 5, 100)
        with jax.enable_x64(False):
            narrow = sample(problem, 5, 100)
        assert np.array_equal(wide.bits, narrow.bits)
        assert np.array_equal(wide.labels, narrow.labels)


def test_keys_of_many_runs_are_those_folded_one_by_one():
    key = jax.random.key(3)
    for runs in (1, 20):
        many = each_key(fold_keys(key, 5 + np.arange(runs)))
        alone = [jax.random.fold_in(key, 5 + run) for run in range(runs)]
        words = ([jax.random.key_data(each) for each in some] for some in (many, alone))
        assert np.array_equal(*words)


@pytest.mark.parametrize("shape", [(), (17, 2)])
def test_normals_are_those_of_jax_whatever_the_shape(shape):
    drawn, plain = normals(4, shape), jax.random.normal(jax.random.key(4), shape)
    assert drawn.dtype == plain.dtype
    assert np.array_equal(drawn, plain)


def test_seeds_of_draws_are_not_wrapped_onto_each_other():
    seeds = [0, 1, 2**29, 2**30, 2**32 - 1]
    assert len({seed_of(seed, draw) for seed in seeds for draw in range(20)}) == 100

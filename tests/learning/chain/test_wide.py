"""The int8 step against the float32 one; blocks and batches change no bit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import binom

from paritylab._support.precision import float64
from paritylab.learning.chain import wide
from paritylab.learning.chain.teacher import batch_gradient, usual_step
from paritylab.learning.chain.wide import (
    LARGEST,
    Wide,
    draw_columns,
    residual_scale,
    running_sums,
    wide_step,
)
from paritylab.models.links import LINKS, as_link
from paritylab.problem import random_tree

X64_MODES = [False]
TREE, N, K = random_tree(3, 64, 32), 64, 32


def same_rows(samples, rows, key=1):
    """The rows that wide_step draws, as floats (row, token)."""
    shape = Wide(N, K, 8192, rows)
    parts = [
        draw_columns(jax.random.fold_in(jax.random.key(key), i), np.asarray(TREE.leaves), shape)
        for i in range(-(-samples // rows))
    ]
    return np.concatenate([np.asarray(part)[:-1].T for part in parts])[:samples].astype(float)


def test_the_tokens_are_those_of_the_tree():
    tokens = same_rows(64, 64)
    np.testing.assert_array_equal(tokens, np.asarray(TREE.tokens(tokens[:, :N])))
    assert abs(tokens[:, :N].mean()) < 0.1


def test_running_sums_leave_out_the_row_itself():
    own = np.random.default_rng(0).choice([-1, 1], (300, 16)).astype(np.int8)
    np.testing.assert_array_equal(running_sums(own), np.cumsum(own, axis=0) - own)


def scores(step):
    """W after a step of size 1, NaN where a node does not see."""
    found = np.full((N + K - 1, K), np.nan, np.float32)
    for (start, end), block in zip(step.shape.blocks, step.products, strict=True):
        seen = np.arange(N + end)[:, None] < N + np.arange(start, end)[None, :]
        found[: N + end, start:end] = np.where(seen, block, np.nan)[: N + K - 1]
    return found[:, :-1] * step.per_unit(1.0)[None, :]


@pytest.mark.parametrize("link", ["cos", "quadratic"])
def test_scores_are_those_of_the_float_gradient(link):
    samples = 20_000
    step = wide_step(TREE, 1, samples, link=link, rows=4096)
    with float64():
        exact = np.asarray(batch_gradient(same_rows(samples, 4096), N, K, as_link(link), "token"))
    gap = scores(step) + exact / samples
    gap -= np.nanmean(gap, axis=0)  # softmax does not see a constant per node
    assert np.nanstd(gap) < 0.01 * np.nanstd(np.where(np.isnan(gap), np.nan, exact / samples))


def test_blocks_change_no_bit():
    whole, parts = (wide_step(TREE, 1, 9_000, rows=1024, columns=each) for each in (8192, 7))
    np.testing.assert_array_equal(scores(whole), scores(parts))
    assert parts.pairs_found() == whole.pairs_found()


@pytest.mark.parametrize("link", LINKS)
def test_residuals_leave_room_in_their_sums(link):
    """E|R| for M signs, by enumeration: below half of what the number of rows is chosen for."""
    rule, most = as_link(link), LARGEST / wide.MOST_ROWS
    for seen in (2, 4, 8, 16, 64, 1024):
        z = 1 - 2 * np.arange(seen + 1) / seen
        value, slope = np.asarray(rule(jnp.asarray(z))), np.asarray(rule.slope(jnp.asarray(z)))
        size = (np.abs(value - 1) + np.abs(value + 1)) / 2 * np.abs(slope)
        mean = binom.pmf(np.arange(seen + 1), seen, 0.5) @ size
        assert mean / residual_scale(rule, np.array([seen]))[0] < most / 2


def test_a_chain_is_learned_and_judged_block_by_block():
    tree = random_tree(0, 256, 128)
    step = wide_step(tree, 5, 256 * 400, rows=8192, columns=64)
    assert step.pairs_found() == 1
    accuracy, largest = step.accuracy(usual_step(256, 128), 6, rows=256)
    assert accuracy == 1
    assert largest < 0.1

"""The int8 step against the float32 one; devices, batches and broken-off runs change no bit."""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest

from paritylab.learning.chain import wide, wide_sums
from paritylab.learning.chain.teacher import batch_gradient, usual_step
from paritylab.learning.chain.wide import (
    Wide,
    draw_columns,
    residual_scale,
    running_sums,
    wide_step,
)
from paritylab.models.links import as_link
from paritylab.precision import float64
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


@pytest.mark.parametrize("link", ["cos", "quadratic"])
def test_scores_are_those_of_the_float_gradient(link):
    samples = 20_000
    step = wide_step(TREE, 1, samples, link=link, rows=4096)
    with float64():
        exact = np.asarray(batch_gradient(same_rows(samples, 4096), N, K, as_link(link), "token"))
    visible = np.arange(N + K - 1)[:, None] < N + np.arange(K - 1)[None, :]
    ours, theirs = step.scores(1.0), -exact / samples
    gap = np.where(visible, ours - theirs, np.nan)
    gap -= np.nanmean(gap, axis=0)  # softmax does not see a constant per node
    size = np.nanstd(np.where(visible, theirs, np.nan))
    assert np.nanstd(gap) < 0.01 * size


def test_blocks_and_devices_change_no_bit():
    whole = wide_step(TREE, 1, 9_000, rows=1024).scores(1.0)
    parts = wide_step(TREE, 1, 9_000, rows=1024, columns=7)
    np.testing.assert_array_equal(whole, parts.scores(1.0))
    assert parts.pairs_found() == wide_step(TREE, 1, 9_000, rows=1024).pairs_found()


def test_sums_beyond_int32_move_to_two_numbers(monkeypatch, tmp_path):
    plain = wide_step(TREE, 1, 9_000, rows=1024)
    monkeypatch.setattr(wide, "_BETWEEN_CHECKS", 2048)
    monkeypatch.setattr(wide_sums, "LARGEST", 2**18)
    moved = wide_step(TREE, 1, 9_000, rows=1024, checkpoint=tmp_path)
    assert moved.products[0].dtype == np.float32
    assert list(tmp_path.glob("*-high.npy"))
    np.testing.assert_array_equal(plain.products[0], moved.products[0])


@pytest.mark.slow
def test_eight_devices_give_the_bits_of_one():
    code = (
        "import jax, numpy as np\n"
        "from paritylab.learning.chain.wide import wide_step\n"
        "from paritylab.problem import random_tree\n"
        "tree = random_tree(3, 64, 32)\n"
        "assert len(jax.devices()) == 8\n"
        "one, many = (wide_step(tree, 1, 5000, rows=1024, columns=4, devices=jax.devices()[:d])\n"
        "             for d in (1, 8))\n"
        "assert len({p.device for p in many.products}) == 8\n"
        "assert np.array_equal(one.scores(1.0), many.scores(1.0))\n"
    )
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **flags}, check=True)


def test_a_chain_is_learned_and_judged_block_by_block():
    tree = random_tree(0, 256, 128)
    step = wide_step(tree, 5, 256 * 400, rows=8192, columns=64)
    assert step.pairs_found() == 1
    accuracy, largest = step.accuracy(usual_step(256, 128), 6, rows=256)
    assert accuracy == 1
    assert largest < 0.1


class BrokenOffError(Exception):
    pass


def test_a_broken_off_step_goes_on_from_its_folder(tmp_path):
    def stop(done, total):
        if done == 6:
            raise BrokenOffError

    arguments = {"rows": 512, "columns": 20}
    with pytest.raises(BrokenOffError):
        wide_step(TREE, 1, 5_000, checkpoint=tmp_path, progress=stop, **arguments)
    seen = []
    resumed = wide_step(
        TREE, 1, 5_000, checkpoint=tmp_path, progress=lambda d, t: seen.append(d), **arguments
    )
    assert seen[0] == 6
    np.testing.assert_array_equal(
        resumed.scores(1.0), wide_step(TREE, 1, 5_000, **arguments).scores(1.0)
    )
    with pytest.raises(ValueError, match="another step"):
        wide_step(TREE, 1, 6_000, checkpoint=tmp_path, **arguments)


def test_bad_sizes_are_one_line():
    with pytest.raises(ValueError, match="multiple of 32"):
        wide_step(TREE, 1, 100, rows=40)
    with pytest.raises(ValueError, match="at least 1"):
        wide_step(TREE, 1, 0)


def test_residuals_fill_the_bytes():
    shape = Wide(N, K, 8192, 64)
    scale = residual_scale(as_link("cos"), shape)
    assert scale.shape == (K - 1,)
    assert np.all(np.diff(scale) < 0)

"""One step of every attention kind in closed form, against autodiff of the whole model."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.experiments import hg2_attention as kinds
from paritylab.learning import Heads, Sample, learn
from paritylab.learning.xor.exact import SOLVED_ERROR, default_gain, usual_width, xor_risk
from paritylab.models import PackedSigns
from paritylab.problem import random_parities
from paritylab.theory.hg2 import rows_to_be_right, rows_to_rank

X64_MODES = [False]
N, WIDTH, RUNS = 16, 9, 3
SHAPES = {
    "softmax": jax.nn.softmax,
    "sigmoid": jax.nn.sigmoid,
    "exp": jnp.exp,
    "relu": lambda scores: jax.nn.relu(1 + scores),
    "linear": lambda scores: 1 + scores,
}


def table(run):
    generator = np.random.default_rng([5, N, WIDTH, run])
    return PackedSigns.draw(generator, N, WIDTH, balanced=True).vectors(np.arange(N))


def after_one_step(kind, learnt, setting, run):
    """Autodiff from w = 0, the step size such that the pair's own push is the gain."""
    gain, bias, scale, start = setting
    first, rows = 0.0 if learnt else bias, table(run)
    if learnt:  # a constant coordinate, as large as the bias asks for
        common = -gain * (N * kinds.drift(start, N) + 2)
        rows = np.hstack([rows, np.full((N, 1), np.sqrt(bias / common))])
    weights = lambda w: scale * SHAPES[kind](rows @ w - first)  # noqa: E731
    zero = jnp.zeros(rows.shape[1])
    gradient = jax.grad(lambda w: xor_risk(weights(w), jnp.arange(N) < 2, "squared"))(zero)
    slope = start if kind == "softmax" else scale * jax.grad(SHAPES[kind])(-first)
    return weights(-gain / (4 * start * slope) * gradient)


@pytest.mark.grid(3)
@pytest.mark.parametrize("kind", kinds.KINDS)
@pytest.mark.parametrize("bias", kinds.BIASES)
def test_the_closed_form_is_the_step(kind, bias):
    overlaps = kinds.draw_overlaps(N, WIDTH, runs=RUNS, seed=5)
    for setting in list(kinds.settings_of(kind, bias, N))[:3]:
        found = kinds.weights_after(kind, bias, setting, overlaps)
        if np.isnan(found).any():
            assert N * kinds.drift(setting.start, N) >= -2
            continue
        learnt = bias == "learnt" and kind != "softmax"
        with float64():
            every = [np.asarray(after_one_step(kind, learnt, setting, r)) for r in range(RUNS)]
        np.testing.assert_allclose(found, every, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("goal", "learner", "n", "rows"),
    [
        ("recovered", Heads.pair(positions="onehot"), 64, rows_to_rank(64)),
        (
            "recovered",
            Heads.pair(positions="onehot", loss="correlation"),
            64,
            rows_to_rank(64, "correlation"),
        ),
        (
            "solved",
            Heads.pair(positions="balanced"),
            24,
            rows_to_be_right(24, usual_width(24), default_gain(24), SOLVED_ERROR),
        ),
    ],
)
def test_half_of_the_first_steps_succeed_with_the_derived_rows(goal, learner, n, rows):
    pairs = random_parities(n, 2, 200, sign=-1)
    assert learn(learner, Sample(pairs, round(rows))).rate(goal).value == pytest.approx(
        0.5, abs=0.15
    )

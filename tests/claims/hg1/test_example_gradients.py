"""How one input moves the heads, against sums written out and against differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.experiments.hg1_example_gradients import (
    attended_sum,
    example_loss,
    prediction,
)
from paritylab.models import Circle, HeadAttention
from paritylab.problem import Parity
from paritylab.theory import hg1

X64_MODES = [True]
N, TAU = 8, 0.2


def draw(seed, k=3):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(k, 2)), generator.integers(0, 2, N).astype(float)


@pytest.mark.parametrize("seed", range(4))
def test_prediction_and_loss_are_those_of_the_model(seed):
    directions, bits = draw(seed)
    problem = Parity(N, (0, 1, 2))
    with float64():
        model = HeadAttention.on(problem, tau=TAU).with_parameters(directions)
        expected = float(model(bits))
        found = prediction(directions, bits, tau=TAU)
        loss = max(0.0, 1 - float(problem.label(bits)) * expected) ** 2
        assert float(found) == pytest.approx(expected, abs=1e-12)
        assert float(example_loss(directions, bits, tau=TAU)) == pytest.approx(loss, abs=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_the_sum_moves_by_the_covariance_of_bit_and_position(seed):
    """Lemma 18's sum is Σ_i ‖Cov(x, p)‖², p the position attended to; 0 at all ones."""
    directions, bits = draw(seed)
    with float64():
        moved = np.sum(np.square(jax.grad(attended_sum)(jnp.asarray(directions), bits, TAU)))
        model = HeadAttention.on(Parity(N, (0, 1, 2)), tau=TAU).with_parameters(directions)
        attention, table = np.asarray(model.attention()), np.asarray(Circle(N).table)
    covariance = attention @ (bits[:, None] * table) - (attention @ bits)[:, None] * (
        attention @ table
    )
    assert np.sum(covariance**2) / TAU**2 == pytest.approx(moved, rel=1e-9)
    assert hg1.motion_of_one_input(attention, bits, table) / TAU**2 == pytest.approx(moved)
    assert hg1.motion_of_one_input(attention, np.ones(N), table) < 1e-25

"""How one input moves the heads, against sums written out and against differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.claims.hg1.example_gradients import (
    attended_sum,
    every_gradient,
    example_loss,
    prediction,
    prediction_jet,
)
from paritylab.models import Circle, HeadAttention
from paritylab.precision import float64
from paritylab.problem import Parity
from paritylab.risk import enumerated_gradient
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


def test_the_jet_is_the_slope_and_curvature_of_the_prediction():
    directions, bits = draw(2)
    with float64():
        value, slope, hessian = prediction_jet(directions, bits, tau=TAU, b=0.1)
        assert float(value) == pytest.approx(float(prediction(directions, bits, tau=TAU, b=0.1)))
        for index in range(3):
            step = np.zeros(6)
            step[index] = 1e-5
            around = [
                prediction_jet(directions + s.reshape(3, 2), bits, tau=TAU, b=0.1)
                for s in (step, -step)
            ]
            moved = (around[0][0] - around[1][0]) / 2e-5
            turned = (around[0][1] - around[1][1]) / 2e-5
            assert float(slope[index]) == pytest.approx(float(moved), abs=1e-6)
            np.testing.assert_allclose(hessian[index], turned, atol=1e-5)


def test_the_mean_of_every_gradient_is_the_gradient_of_the_risk():
    """So the mean inner product over pairs of inputs is the squared gradient of the risk."""
    problem = Parity(6, (1, 4))
    model = HeadAttention.random(3, problem, tau=1 / 6)
    gradients = every_gradient(model, problem)
    assert gradients.shape == (64, 2, 2)
    expected = enumerated_gradient(model, problem).gradient
    np.testing.assert_allclose(gradients.mean(axis=0), expected, atol=1e-10)
    first = gradients[:, 0]
    assert np.mean(first @ first.T) == pytest.approx(np.sum(first.mean(axis=0) ** 2))

"""HG1's derivatives and proof steps against autodiff and by hand."""

import jax
import numpy as np
import pytest

from paritylab.models import HeadAttention, smooth_relu
from paritylab.problem import Parity
from paritylab.theory import hg1


@pytest.mark.parametrize("column", [0, 1])
def test_attention_derivative_equals_autodiff(column):
    model = HeadAttention.random(0, Parity(9, (0,)), tau=0.4)
    with jax.enable_x64(True):
        exact = jax.jacobian(lambda a: model.with_parameters(a).attention()[0])(model.directions)
        attention = np.asarray(model.attention()[0])
    coordinate = model.code.vectors(range(9))[:, column]
    formula = hg1.attention_derivative(attention, coordinate, 0.4)
    printed = hg1.attention_derivative(attention, coordinate, 0.4, as_printed=True)
    assert np.allclose(formula, exact[:, 0, column], atol=1e-14)
    assert not np.allclose(printed, exact[:, 0, column], atol=1e-2)


def test_curvature_of_the_smoothed_relu():
    z = np.linspace(-1, 1, 9)
    with jax.enable_x64(True):
        exact = jax.vmap(jax.grad(jax.grad(lambda t: smooth_relu(t, 0.3))))(z)
    assert np.allclose(hg1.smooth_relu_curvature(z, 0.3), exact)
    assert not np.allclose(hg1.smooth_relu_curvature(z, 0.3, as_printed=True), exact, atol=0.1)


def test_flipping_a_neglected_bit_moves_a_head_by_no_more_than_the_repair_allows():
    """g²(2(1-cg)² + 4c²) ≤ 4 on the unit square, the step that makes 2 serve as the diameter."""
    g, c = np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201))
    assert np.max(g**2 * (2 * (1 - c * g) ** 2 + 4 * c**2)) <= 4


@pytest.mark.parametrize("k", [1, 3])
def test_the_descent_factor_follows_from_the_three_bounds(k):
    """With every bound of the proof met by equality and orthogonal slopes, ½‖∇L‖² = μL."""
    n, c2, losses = 3, 0.7, np.linspace(0.1, 2.0, 8)
    moved = 64 * losses * 2 * c2**2 / (k * n) ** 2
    paired = 64 * k**2 * c2**2 / n**2 * losses
    half = np.minimum(moved, paired).sum() / 4**n / 2
    assert hg1.descent_factor(n, k, c2) * losses.mean() == pytest.approx(half)

import jax
import numpy as np
import pytest

from paritylab.models import Circle, HeadAttention, smooth_relu
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


def test_no_prediction_beats_the_bound_without_an_edge():
    prediction = np.linspace(-3, 3, 601)
    pair = np.maximum(0, 1 - prediction) ** 2 + np.maximum(0, 1 + prediction) ** 2
    assert np.isclose(pair.min() / 2, hg1.risk_without_edge())


def test_the_step_of_theorem_5_is_the_inverse_of_its_smoothness():
    k, tau, b = 3, 0.05, 0.01
    curvature = 20 / tau**2 + 32 * k**2 / (tau**2 * b**0.5)
    assert hg1.prediction_smoothness(k, tau, b) == pytest.approx(2 * k * curvature)
    assert hg1.prediction_slope(k, tau) == pytest.approx(8 * k**2 / tau * (2 * k) ** 0.5)
    second = (2 * k) ** 0.5 * (4 * k**3 * curvature + (8 * k**2 / tau) ** 2)
    assert hg1.product_smoothness(k, tau, b) == pytest.approx(second)
    assert hg1.step_size(k, tau, b) == pytest.approx(0.5 / (second + 2 * k * curvature))


@pytest.mark.parametrize("n", [16, 64, 256])
def test_a_head_needs_that_many_bits_and_no_fewer(n):
    """Against the score itself: the position a rounded head likes best."""
    table = np.asarray(Circle(n).table)
    for bits, right in ((hg1.bits_per_direction(n), True), (hg1.bits_per_direction(n) - 1, False)):
        rounded = np.round(table * 2**bits) / 2**bits
        favourites = np.argmax(np.round(rounded @ table.T, 12), axis=1)
        assert np.array_equal(favourites, np.arange(n)) == right


def test_flipping_a_neglected_bit_moves_a_head_by_no_more_than_the_repair_allows():
    """g²(2(1-cg)² + 4c²) ≤ 4 on the unit square, the step that makes 2 serve as the diameter."""
    g, c = np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201))
    assert np.max(g**2 * (2 * (1 - c * g) ** 2 + 4 * c**2)) <= 4

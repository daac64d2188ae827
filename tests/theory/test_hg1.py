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


def test_motion_of_many_inputs_is_that_of_each():
    model = HeadAttention.random(0, Parity(8, (0, 1, 2)), tau=1 / 8)
    attention, table = np.asarray(model.attention(), dtype=float), np.asarray(model.code.table)
    bits = np.array([np.ones(8), np.eye(8)[3]])
    for as_printed in (True, False):
        many = hg1.motion_of_one_input(attention, bits, table, as_printed=as_printed)
        one = [hg1.motion_of_one_input(attention, x, table, as_printed=as_printed) for x in bits]
        assert np.allclose(many, one)
    twice = 2 * (attention * (1 - attention)) @ table  # the printed sum at all ones
    assert np.isclose(
        hg1.motion_of_one_input(attention, bits[0], table, as_printed=True), np.sum(twice**2)
    )


def test_least_attention_near_a_head():
    attention = np.array([[0.5, 0.2, 0.05, 0.01, 0.0, 0.01, 0.03, 0.2]])
    assert hg1.smallest_near_attention(attention, 0.1) == pytest.approx(2.0)


def test_flipping_a_neglected_bit_moves_a_head_by_no_more_than_the_repair_allows():
    """g²(2(1-cg)² + 4c²) ≤ 4 on the unit square, the step that makes 2 serve as the diameter."""
    g, c = np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201))
    assert np.max(g**2 * (2 * (1 - c * g) ** 2 + 4 * c**2)) <= 4


@pytest.mark.parametrize(("n", "m"), [(7, 1), (10, 2), (12, 3)])
def test_the_missed_share_of_one_head_is_counted_over_all_inputs(n, m):
    bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
    first = int(np.ceil((n - 1) / m)) - 1
    missed = bits[:, :first].sum(axis=1) < n / (5 * m)
    assert float(hg1.missed_inputs(n, m)) == missed.mean()
    assert hg1.missed_inputs(n, m) <= hg1.missed_inputs_printed(n, m)[-1]


def test_the_stopping_time_is_when_the_bound_falls_below_the_target():
    risk, steps = 2.0, 0
    while risk > 0.05:
        risk, steps = risk * (1 - 0.03 * 0.2), steps + 1
    assert steps - 1 < hg1.stopping_time(2.0, 0.05, 0.03, 0.2) <= steps
    assert hg1.stopping_time(0.04, 0.05, 0.03, 0.2) == 0
    tiny = hg1.stopping_time(2.0, 0.05, 1e-8, 1e-6)
    assert tiny == pytest.approx(np.log(40) / 1e-14)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_descent_factor_follows_from_the_three_bounds(k):
    """With every bound of the proof met by equality and orthogonal slopes, ½‖∇L‖² = μL."""
    n, c2, losses = 3, 0.7, np.linspace(0.1, 2.0, 8)
    moved = 64 * losses * 2 * c2**2 / (k * n) ** 2
    paired = 64 * k**2 * c2**2 / n**2 * losses
    half = np.minimum(moved, paired).sum() / 4**n / 2
    assert hg1.descent_factor(n, k, c2) * losses.mean() == pytest.approx(half)

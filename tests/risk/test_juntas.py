"""Every junta, exactly: routes, gradients, losses, noise and biased bits against enumeration."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.models import Cosine, PiecewiseLinear, WeightedReadout
from paritylab.problem import LOSSES, Junta, random_junta
from paritylab.risk import (
    enumerated_gradient,
    enumerated_risk,
    population_gradient,
    population_risk,
)
from paritylab.risk.objective import labels_of, target_of, weight_risk
from paritylab.risk.routes.statistic import QUADRATIC, statistic_of

X64_MODES = [False]

SLOW = pytest.mark.slow
#: n and k of the long run.
SHAPES = ((6, 1), (8, 2), (10, 3), (13, 4), (14, 5), (16, 6))

CURVES = {
    "corners": lambda k: PiecewiseLinear((0, 0.3 * k, 0.6 * k, 1.5 * k), (1, -1.3, 1.5, -2)),
    "cos": lambda k: Cosine(),
    "smooth": lambda k: _smooth,
}


def _smooth(s):
    return jnp.cos(1.7 * s) + 0.2 * s


def case(seed, n, k):
    """A random junta, attended weights, readout and loss."""
    generator = np.random.default_rng([seed, n, k])
    real = seed % 3 == 2
    junta = random_junta(
        seed,
        n,
        k,
        values=(-1.5, 0.25, 2.0) if real else (-1.0, 1.0),
        noise=0.0 if real else float(generator.choice([0.0, 0.15])),
        bias=generator.uniform(0.2, 0.8, n) if seed % 2 else 0.5,
    )
    drawn = generator.dirichlet(np.full(n, generator.choice([0.1, 0.5, 5.0])))
    # Weights below rounding leave ŷ on the kink of a hinge, where autodiff halves the slope.
    weights = k * (drawn + 1e-4) / np.sum(drawn + 1e-4)
    readout = list(CURVES)[seed // 2 % 3]
    # The logarithm is for correlations that are not zero, a hinge for labels ±1.
    losses = [name for name in LOSSES if name != "log_correlation" or readout == "cos"]
    losses = [name for name in losses if not real or name in QUADRATIC]
    return junta, weights, CURVES[readout](k), str(generator.choice(losses))


@pytest.mark.parametrize(
    "seed", [*range(10), *(pytest.param(s, marks=SLOW) for s in range(10, 300))]
)
def test_the_front_door_is_enumeration_on_random_juntas(seed):
    n, k = ((9, 3), (12, 4), *SHAPES)[seed % 2 if seed < 10 else seed % 8]
    junta, weights, readout, loss = case(seed, n, k)
    exact = enumerated_gradient(WeightedReadout(weights, readout), junta, loss)
    found = population_gradient(weights[None] / k, junta, readout=readout, loss=loss)
    assert found.risk.kind == "exact"
    assert abs(found.risk.value - exact.risk.value) <= found.risk.error + exact.risk.error
    difference = np.asarray(found.gradient)[0] / k - exact.gradient
    assert np.abs(difference).max() <= 1e-9 * (1 + np.abs(exact.gradient).max())


@pytest.mark.parametrize(
    ("curve", "route"), [("corners", "Fourier series"), ("smooth", "black box")]
)
def test_the_series_is_within_its_own_error(curve, route):
    junta, weights, _, _ = case(0, 11, 3)
    readout = CURVES[curve](3)
    exact = enumerated_gradient(WeightedReadout(weights, readout), junta)
    found = population_gradient(weights[None] / 3, junta, readout=readout, route=route)
    assert found.risk.kind == "numerical"
    assert abs(found.risk.value - exact.risk.value) <= found.risk.error + exact.risk.error
    difference = np.asarray(found.gradient)[0] / 3 - exact.gradient
    assert np.abs(difference).max() <= 1e-3 * (1 + np.abs(exact.gradient).max())


@pytest.mark.parametrize("real", [False, True])
def test_equal_weights_are_a_lattice(real):
    junta = random_junta(5, 12, 3, values=(-1.5, 0.25, 2.0) if real else (-1.0, 1.0))
    uniform, readout = np.full((2, 12), 1 / 12), CURVES["corners"](3)
    exact = enumerated_risk(WeightedReadout(np.full(12, 0.25), readout), junta, "squared")
    found = population_risk(uniform, junta, readout=readout, loss="squared", route="lattice")
    assert abs(found.value - exact.value) <= found.error + exact.error
    # Symmetric juntas bring their readout.
    large = Junta.majority(100_000, (5, 77, 4096))
    sharp = np.zeros((3, 100_000))
    sharp[range(3), large.subset] = 1
    assert population_risk(sharp, large, loss="squared").value < 1e-9
    assert population_risk(np.full((1, 100_000), 1e-5), large).route == "lattice"


@pytest.mark.parametrize(
    ("readout", "route"),
    [("corners", "half-sums"), ("smooth", "enumeration"), ("cos", "closed form")],
)
@pytest.mark.parametrize("real", [False, True])
def test_loops_differentiate_the_same_risk(readout, route, real):
    junta, weights, _, _ = case(5 if real else 1, 10, 3)
    curve, loss = CURVES[readout](3), LOSSES["squared"]
    exact = enumerated_gradient(WeightedReadout(weights, curve), junta, "squared")
    with float64():
        risk = weight_risk(curve, loss, 10, 3, labels=labels_of(junta, loss))
        both = jax.jit(jax.value_and_grad(risk))
        value, slopes = map(np.asarray, both(jnp.asarray(weights), target_of(junta)))
    assert risk.route == route
    assert abs(value - exact.risk.value) <= risk.error + exact.risk.error
    difference = np.asarray(slopes) - exact.gradient
    assert np.abs(difference).max() < 1e-9


@pytest.mark.parametrize(
    ("readout", "route"), [("corners", "Fourier series"), ("smooth", "black box")]
)
def test_loops_of_the_series_stay_close(readout, route):
    junta, weights, _, _ = case(1, 10, 3)
    curve = CURVES[readout](3)
    exact = enumerated_risk(WeightedReadout(weights, curve), junta, "squared")
    with float64():
        labels = labels_of(junta, LOSSES["squared"])
        risk = weight_risk(curve, "squared", 10, 3, route=route, labels=labels)
        value = float(jax.jit(risk)(jnp.asarray(weights), target_of(junta)))
    # Loops of declared pieces know no error; away from ties the gap is a small part of the scale.
    scale = statistic_of(curve, LOSSES["squared"], 3, labels).scale
    error = 3e-4 * scale if risk.error is None else risk.error
    assert abs(value - exact.value) <= error + exact.error


def test_real_tables_need_a_loss_quadratic_in_y_and_others_a_readout():
    junta = Junta(12, range(6), np.linspace(-1, 2, 64))
    attention, readout = np.full((6, 12), 1 / 12), CURVES["corners"](6)
    mixed = Junta.of(12, (2, 5), lambda x: 1 - 2 * x[0])
    with pytest.raises(ValueError, match="more than the number of its ones"):
        population_risk(np.full((2, 12), 1 / 12), mixed)
    with pytest.raises(ValueError, match="loss quadratic in y, got hinge; use one of squared"):
        population_risk(attention, junta, readout=readout, loss="hinge")

"""Readouts and losses known only by their values: right within the stated error, or refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.risk.exactness import SHAPES, Hard, K

from paritylab._support.precision import float64
from paritylab.models import HeadAttention, WeightedReadout, Zigzag
from paritylab.problem import Parity, random_parity
from paritylab.problem.losses import LOSSES, Loss
from paritylab.risk import enumerated_gradient, population_gradient, population_risk, sampled_risk
from paritylab.risk.objective import target_of, weight_risk
from paritylab.risk.routes.pieces import pieces_of

#: The engine opens its own float64 context.
X64_MODES = [False]

LOSS_TABLE = (
    "squared_hinge",
    "log_correlation",
    Loss("logistic", lambda y, p: jnp.logaddexp(0.0, -y * p)),
    Loss("mistakes", lambda y, p: jnp.where(y * p < 0.1, 1.0, 0.0)),
)
#: Default and long run of random cases.
MANY = [0, 3, *(pytest.param(number, marks=pytest.mark.slow) for number in range(4, 40))]


def rough(shape, width, at=0.0):
    return Hard(np.int64(SHAPES.index(shape)), *map(np.float64, (at, width, 1.5)))


def drawn(number):
    """Case `number`: waves, walls, steps, jumps and bends of random width; few or many heads' worth
    of attention, noise and bias."""
    draw = np.random.default_rng(number)
    shape = ("wave", "wall", "steps", "last", "bend")[number % 5]
    readout = rough(shape, 10 ** draw.uniform(-2.5, 0.3), draw.uniform(0.1, 2.9))
    n, noise = int(draw.choice([7, 11])), float(draw.choice([0.0, 0.2]))
    bias = draw.uniform(0.2, 0.8, n) if draw.random() < 0.5 else 0.5
    attention = draw.dirichlet(np.full(n, draw.choice([0.03, 0.3, 3.0, 100.0])), K)
    problem = random_parity(number, n, K, noise=noise, bias=bias)
    return attention, problem, readout, LOSS_TABLE[draw.integers(4)]


@pytest.mark.parametrize("number", MANY)
def test_the_series_is_right_within_its_error_or_refuses(number):
    attention, problem, readout, loss = drawn(number)
    options = {"readout": readout, "loss": loss, "route": "black box"}
    try:
        found = population_gradient(attention, problem, **options)
    except ValueError as refusal:
        assert "use sampled_risk" in str(refusal)  # noqa: PT017
        return
    assert found.risk.kind == "numerical"
    exact = enumerated_gradient(WeightedReadout(attention.sum(axis=0), readout), problem, loss)
    if np.isinf(found.risk.error):  # -log|mean| of a mean that is zero up to rounding
        return
    gap = abs(found.risk.value - exact.risk.value)
    assert gap <= found.risk.error + exact.risk.error + 1e-12 * (1 + abs(exact.risk.value))
    if found.risk.error < 1e-9:  # slopes converge one order slower
        scale = 1 + np.max(np.abs(exact.gradient))
        assert np.max(np.abs(found.gradient[0] - exact.gradient)) <= 1e-4 * scale


@pytest.mark.parametrize("number", MANY)
def test_the_objective_of_loops_is_the_front_door_within_its_error_or_refused(number):
    attention, problem, readout, loss = drawn(number)
    if loss == "log_correlation":
        loss = "correlation"  # its error is that of the mean
    try:
        risk = weight_risk(readout, loss, problem.n, K, route=("auto", "black box")[number % 2])
    except ValueError as refusal:
        assert "train on rows" in str(refusal)  # noqa: PT017
        return
    with float64():
        value = float(risk(jnp.asarray(attention.sum(axis=0)), target_of(problem)))
    exact = population_risk(attention, problem, readout=readout, loss=loss)
    assert abs(value - exact.value) <= risk.error + exact.error + 1e-12


@pytest.mark.grid(1)
@pytest.mark.parametrize("n", [24, 32, 40])
@pytest.mark.parametrize("tau", [0.005, 0.02])
def test_a_fast_cosine_agrees_with_sampling_beyond_enumeration(n, tau):
    problem = random_parity(n, n, 3)
    model = HeadAttention.random(5, problem, readout=rough("wave", 1 / 200), tau=tau)
    risk = population_risk(model, problem)
    sampled = sampled_risk(model, problem, samples=200_000)
    assert risk.error < 1e-5
    assert abs(risk.value - sampled.value) < 4.5 * sampled.error


@pytest.mark.parametrize(
    "readout", [lambda s: jnp.cos(1e6 * s), lambda s: jnp.sign(s - 1.4), lambda s: jnp.floor(7 * s)]
)
def test_what_no_series_resolves_is_refused_with_advice(readout):
    problem = random_parity(1, 30, 3)
    attention = np.random.default_rng(1).dirichlet(np.full(30, 0.02), 3)
    with pytest.raises(ValueError, match="use sampled_risk"):
        population_risk(attention, problem, readout=readout)
    with pytest.raises(ValueError, match=r"terms miss this readout .* train on rows"):
        weight_risk(readout, LOSSES["squared_hinge"], 30, 3)


def test_a_jump_at_a_sum_shows_in_the_error():
    problem = Parity(8, (1, 4))
    attention = np.full((2, 8), 1 / 8)
    risk = population_risk(attention, problem, readout=lambda s: jnp.sign(s - 1.0) + s)
    assert risk.error > 0.1


def test_structure_that_is_declared_wrongly_is_refused():
    cubic = Loss("cubic", lambda y, p: (p - y) ** 3, quadratic_pieces=True)
    with pytest.raises(ValueError, match="declared pieces of Zigzag with loss cubic are off by"):
        pieces_of(Zigzag(3), cubic, 3)


def test_the_series_of_pieces_is_exact_only_down_to_rounding():
    attention = np.random.default_rng(9).dirichlet(np.full(400, 50.0), 3)
    problem = random_parity(4, 400, 3)
    rough = population_risk(attention, problem, tolerance=1e-2)
    fine = population_risk(attention, problem, tolerance=1e-15)
    assert rough.kind == "numerical"
    assert fine.kind == "exact"
    assert abs(rough.value - fine.value) <= rough.error + fine.error


def test_compiled_loops_take_a_readout_of_ones_own():
    problem = Parity(16, (2, 9))
    risk = weight_risk(lambda s: 1 - s + s**3 / 9, "squared", 16, 2)
    assert risk.route == "black box"
    assert weight_risk(Zigzag(2), "squared", 16, 2) is weight_risk(Zigzag(2), "squared", 16, 2)
    weights = np.random.default_rng(0).dirichlet(np.ones(16)) * 2
    with float64():
        slopes = jax.jit(jax.grad(risk))(jnp.asarray(weights), target_of(problem))
    exact = population_gradient(
        weights[None] / 2, problem, readout=lambda s: 1 - s + s**3 / 9, loss="squared"
    )
    assert np.allclose(slopes, exact.gradient[0] / 2, atol=1e-6)


def test_a_correlation_of_zero_has_a_logarithm_without_digits():
    attention = np.array([[0.5, 0.5, 0, 0, 0, 0, 0, 0]])  # blind to the second bit of B
    problem = Parity(8, (0, 5))
    options = {"readout": lambda s: jnp.cos(2 * s), "loss": "log_correlation"}
    for route in ("auto", "black box"):
        found = population_gradient(attention, problem, route=route, **options)
        assert np.isinf(found.risk.error)

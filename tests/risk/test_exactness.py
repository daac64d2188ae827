"""Exact means exact: hard readouts stay inside their error, features narrower than a grid count."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.risk.exactness import loop_outside, outside, slopes_outside

from paritylab.problem import Parity, random_parity
from paritylab.risk import population_gradient, population_risk, population_risks
from paritylab.risk.objective import weight_risk
from paritylab.risk.routes.enclosure import Enclosed
from paritylab.risk.routes.interval import UnknownOperationError
from paritylab.risk.routes.narrow import narrow_features

X64_MODES = [False]


@pytest.mark.parametrize(
    "numbers",
    [
        [number for number in range(60) if number % 20],  # the usual route, or ties
        [60, 1620, 5020],  # the series
        pytest.param(range(0, 120, 20), marks=pytest.mark.slow),
    ],
    ids=["usual", "series", "more"],
)
def test_hard_readouts_stay_inside_their_error(numbers):
    found = {number: outside(number) for number in numbers}
    assert {number: f for number, f in found.items() if f[1] is not None and f[1] > 1} == {}
    assert sum(share is not None for _, share in found.values()) > len(found) / 4


@pytest.mark.parametrize(
    ("check", "numbers"),
    [
        (slopes_outside, [number for number in range(210) if number % 20]),
        (slopes_outside, [40]),
        (loop_outside, [number for number in range(20) if number % 20]),
        (loop_outside, [60]),
        pytest.param(slopes_outside, range(0, 1000, 20), marks=pytest.mark.slow),
        pytest.param(loop_outside, range(0, 1000, 20), marks=pytest.mark.slow),
    ],
)
def test_gradients_and_loops_of_hard_readouts_stay_inside_their_error(check, numbers):
    found = {number: check(number) for number in numbers}
    assert {number: f for number, f in found.items() if f[1] is not None and not f[1] <= 1} == {}


@pytest.mark.parametrize(("bias", "width"), [(0.5, 0.0), (0.4, 0.0), (0.5, 1e-9)])
def test_a_value_at_zero_alone_is_inside_the_error(bias, width):
    n, k = 21, 3
    problem = random_parity(1, n, k, bias=bias)
    attention = np.random.default_rng(1).dirichlet(np.full(n, 5.0), k)
    risk = population_risk(
        attention, problem, readout=lambda s: jnp.where(jnp.abs(s) <= width, 1.0, -1.0)
    )
    # At s = 0 the label is 1: 0 instead of the 4 that -1 costs there; elsewhere χ decides.
    nothing = float(np.prod(1 - problem.probabilities))
    constant = 2 * (1 + float(np.prod(1 - 2 * problem.probabilities[list(problem.subset)])))
    assert risk.kind == "numerical"
    assert abs(risk.value - (constant - 4 * nothing)) <= risk.error < 1e-3


def test_a_spike_on_a_common_sum_is_refused_with_advice():
    problem = random_parity(1, 24, 3)
    attention = np.random.default_rng(1).dirichlet(np.full(24, 0.2), 3)
    at = float(attention.sum(axis=0)[np.random.default_rng(2).random(24) < 0.5].sum())
    with pytest.raises(ValueError, match=r"that the series misses: .*enumeration"):
        population_risk(
            attention,
            problem,
            readout=lambda s: jnp.cos(s) + 100 * jnp.where(jnp.abs(s - at) < 1e-9, 1.0, 0.0),
        )


@pytest.mark.parametrize(
    "narrow",
    [
        lambda s: jnp.where(s == 0, 1.0, 0.0),  # a value at one sum
        lambda s: jnp.where(jnp.abs(s - 1.37) < 1e-9, 1.0, 0.0),
        lambda s: jnp.exp(-((1e9 * (s - 1.37)) ** 2)),
        lambda s: jnp.where(s >= 3, 1.0, 0.0),
    ],
)
def test_narrow_features_count_in_loops_and_in_slopes(narrow):
    def readout(s):
        return jnp.cos(s) + 1e-2 * narrow(s)

    with pytest.raises(ValueError, match="train on rows"):
        weight_risk(readout, "squared_hinge", 30, 3)
    # Up to 14 bits a loop visits every sum, and only rounding may decide on which side one is.
    assert weight_risk(readout, "squared_hinge", 9, 3).error > 1e-9
    problem = random_parity(1, 24, 3, bias=0.2)
    attention = np.random.default_rng(1).dirichlet(np.full(24, 5.0), 3)
    smooth = population_gradient(attention, problem, readout=jnp.cos)
    try:
        found = population_gradient(attention, problem, readout=readout)
    except ValueError as refusal:
        assert "that the series misses" in str(refusal)  # noqa: PT017
        return
    assert found.risk.error > 10 * smooth.risk.error
    steep = narrow(1.37 + 1e-10) not in (0.0, 1.0)
    assert not steep or found.error.max() > 10 * smooth.error.max()


def test_loops_do_not_know_the_error_of_operations_that_cannot_be_followed():
    def readout(s):
        return jnp.interp(s, jnp.linspace(0, 3, 7), jnp.cos(jnp.linspace(0, 3, 7)))

    assert weight_risk(readout, "squared", 9, 3).error == np.inf
    attention = np.random.default_rng(1).dirichlet(np.full(22, 5.0), 3)
    found = population_gradient(attention, random_parity(1, 22, 3), readout=readout)
    assert np.all(np.isinf(found.error))


def test_a_readout_whose_operations_cannot_be_followed_has_an_unknown_error():
    problem = random_parity(1, 22, 3)
    attention = np.random.default_rng(1).dirichlet(np.full(22, 5.0), 3)
    table = jnp.cos(jnp.linspace(0, 3, 7))
    risk = population_risk(
        attention, problem, readout=lambda s: jnp.interp(s, jnp.linspace(0, 3, 7), table)
    )
    assert risk.error == np.inf
    assert risk.kind == "numerical"


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (lambda s: (1 - jnp.cos(jnp.pi * s)) ** 2, 0),
        (lambda s: jnp.maximum(0, 1 - jnp.cos(200 * s)) ** 2, 0),
        (lambda s: jnp.where(s < 1, s, 2 - s) + jnp.abs(s - 2), 0),
        (lambda s: jnp.sign(s - 1.4), 0),  # both sides are seen
        (lambda s: s + 1e-5 * jnp.where(s == 1.37, 1.0, 0.0), 1),
        (lambda s: s + 1e-5 * jnp.where(s == 1.5, 1.0, 0.0), 1),
        (lambda s: jnp.where(s >= 3, 1.0, -1.0), 1),
        (lambda s: jnp.cos(s) + jnp.exp(-((1e9 * (s - 1.37)) ** 2)), None),
        (lambda s: jnp.cos(200 * s) + 1e-4 * jnp.exp(-((1e7 * (s - 1.37)) ** 2)), None),
    ],
)
def test_narrow_features_are_found_and_smooth_functions_have_none(function, count):
    found = narrow_features(function, 0.0, 3.0, 3.0, 1e-14)
    assert len(found.low) == count if count is not None else len(found.low)
    if count != 0:
        top = int(np.argmax(found.height))
        assert any(abs(found.low[top] - at) < 1e-6 for at in (1.37, 1.5, 3.0))


def test_enclosures_hold_the_values_and_name_what_they_do_not_know():
    draw = np.random.default_rng(0)
    low = draw.uniform(-2, 2, 200)
    high = low + draw.uniform(0, 0.5, 200)
    middle = low + (high - low) * draw.random(200)

    def function(s):
        smooth = jnp.tanh(s) / (2 + jnp.sin(3 * s)) + jnp.maximum(s, 0.3) ** 3 - jnp.exp(-(s**2))
        # A number beside an array, without a broadcast of its own.
        return smooth + jnp.sum(jnp.maximum(jax.lax.sub(s, np.array([0.0, 0.5, 1.5])), 0))

    (over,) = Enclosed(function)(low, high)
    with jax.enable_x64(True):
        values = np.asarray(jax.vmap(function)(jnp.asarray(middle)))
    assert np.all((over.low <= values + 1e-12) & (values <= over.high + 1e-12))
    with pytest.raises(UnknownOperationError, match="lgamma"):
        Enclosed(jax.lax.lgamma)(low, high)


def test_rows_of_attention_that_do_not_sum_to_one_are_refused_or_counted():
    problem = Parity(14, (0, 5, 9))
    attention = np.random.default_rng(1).dirichlet(np.ones(14), 3)
    with pytest.raises(ValueError, match=r"sums to 1\.0000.*divide it by its sum"):
        population_risk(attention * (1 + 9e-6), problem)
    with pytest.raises(ValueError, match="multiply them by k and divide by their sum"):
        population_risks(attention.sum(axis=0)[None] * (1 + 9e-6), problem)
    exact, off = (population_risk(attention * f, problem) for f in (1.0, 1 + 5e-10))
    rows = population_risks(attention.sum(axis=0)[None] * (1 + 5e-10), problem)
    assert 10 * exact.error < off.error < 1e-6
    assert rows.errors[0] > 10 * exact.error
    single = population_risk(attention.astype(np.float32), problem)
    assert abs(single.value - exact.value) < 1e-5


@pytest.mark.parametrize(
    ("k", "bias", "loss"),
    [
        (3, 0.3, "squared_hinge"),
        (1000, 0.9, "log_correlation"),
        (2, 1e-6, "hinge"),
        (500_000, 1e-6, "log_correlation"),
    ],
)
def test_equal_weights_round_alike_and_the_error_knows(k, bias, loss):
    n, wide = 10**6, np.longdouble
    problem = Parity(n, range(k), bias=bias)
    risk = population_risk(np.full((1, n), 1 / n), problem, readout="cos", loss=loss)
    p, turn = wide(problem.probabilities[0]), wide("3.14159265358979323846") * k * wide(1 / n)
    wave, signed, twice = (
        1 - p + sign * p * (np.cos(angle) + 1j * np.sin(angle))
        for sign, angle in ((1, turn), (-1, turn), (1, 2 * turn))
    )
    modulus = (n - k) * np.log(abs(wave)) + k * np.log(abs(signed))
    phase = (n - k) * np.arctan2(wave.imag, wave.real) + k * np.arctan2(signed.imag, signed.real)
    c = np.exp(modulus) * np.cos(phase)
    q = np.exp(n * np.log(abs(twice))) * np.cos(n * np.arctan2(twice.imag, twice.real))
    exact = {
        "squared_hinge": 1 - 2 * c + (1 + q) / 2,
        "hinge": 1 - c,
        "log_correlation": -(modulus + np.log(abs(np.cos(phase)))),
    }[loss]
    assert abs(risk.value - exact) <= risk.error


def test_a_lattice_of_a_million_bits_and_half_of_them_hidden_takes_seconds():
    n, k = 10**6, 500_000
    problem = Parity(n, range(k), bias=0.3)
    # s = k·(ones)/n, and cos(ω·ones) has a closed form.
    risk = population_risk(
        np.full((1, n), 1 / n), problem, readout=lambda s: jnp.cos(2e-3 * s), loss="squared"
    )
    assert risk.route == "lattice"
    wave = (1 - 0.3 + 0.3 * np.exp(2j * 2e-3 * k / n)) ** n
    # y is a fair coin to all purposes, so E½(ŷ-y)² = ½ + E cos²/2.
    assert abs(risk.value - (0.5 + (1 + wave.real) / 4)) < 1e-9
    assert risk.error < 1e-6

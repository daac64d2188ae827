"""Exact means exact: declared forms and enumerated readouts stay inside their stated error."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.risk.exactness import FORMS, drawn, outside, truth

from paritylab.problem import Parity, random_parity
from paritylab.risk import population_risk

X64_MODES = [False]

#: Case `number` is of form FORMS[number % 5], so 2,000 of them have a declared form. All run with
#: the slow tests, 240 of the declared ones by default.
CASES = 2_500


@pytest.mark.parametrize(
    "numbers",
    [
        *(pytest.param(range(at, 300, 5), id=form) for at, form in enumerate(FORMS[:4])),
        pytest.param(range(4, 60, 5), id="own"),
        pytest.param(range(CASES), id="all", marks=pytest.mark.slow),
    ],
)
def test_exact_risks_stay_inside_their_error(numbers):
    found = {number: outside(number) for number in numbers}
    assert {number: each for number, each in found.items() if not each[1] <= 1} == {}


def test_a_jump_at_the_sum_of_all_weights_is_counted_from_both_sides():
    route, share = outside(1039)
    assert route == "enumeration"
    assert share <= 1
    rooted = population_risk(
        np.full((1, 6), 1 / 6), Parity(6, (0, 1, 2)), readout=lambda s: jnp.sqrt(3.0 - s)
    )
    assert rooted.error < 1e-6


def test_every_route_is_among_the_cases_and_both_references_agree():
    routes = {outside(number)[0] for number in range(5)}
    assert routes == {"half-sums", "closed form", "lattice", "enumeration"}
    case = next(case for case in map(drawn, range(3, 500, 5)) if case.problem.n == 40)
    small = Parity(12, (1, 4, 8), bias=case.problem.bias, noise=case.problem.noise)
    case = case._replace(problem=small, attention=np.full((2, 12), 1 / 12))
    assert truth(case) == pytest.approx(truth(case._replace(form="pieces")), rel=1e-15)


def test_a_spike_narrower_than_the_grid_is_missed_and_enumeration_sees_it():
    """What is promised of a user's function above 2^20 inputs, and what is not."""
    problem = random_parity(1, 22, 3)
    attention = np.random.default_rng(1).dirichlet(np.full(22, 5.0), 3)
    at = float(attention.sum(axis=0)[:11].sum())

    def spiked(s):
        return jnp.cos(s) + 1e-2 * jnp.where(jnp.abs(s - at) < 1e-9, 1.0, 0.0)

    plain, found = (population_risk(attention, problem, readout=f) for f in (jnp.cos, spiked))
    assert found.kind == "numerical"
    assert found.value == pytest.approx(plain.value, abs=1e-12)
    exact = population_risk(attention, problem, readout=spiked, route="enumeration")
    assert exact.kind == "exact"
    assert exact.value != pytest.approx(plain.value, abs=1e-10)


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

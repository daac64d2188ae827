"""The exact engine against enumeration, autodiff and sampling."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.models import HeadAttention, WeightedReadout, Zigzag, as_readout
from paritylab.problem import Parity, all_bits, random_junta, random_parity
from paritylab.problem.losses import LOSSES
from paritylab.risk import (
    enumerated_gradient,
    model_gradient,
    population_gradient,
    population_risk,
    population_risks,
    sampled_risk,
)
from paritylab.risk.routes.half_sums import half_sum_mean, mean_and_slopes
from paritylab.risk.routes.pieces import pieces_of
from paritylab.risk.routes.statistic import labelled, labels_of, target_of

#: The engine opens its own float64 context; test_routes covers both modes.
X64_MODES = [False]

KINDS = ["sharp", "flat", "uniform", "half/half", "circle"]


def make_attention(kind, heads, n, generator):
    if kind == "sharp":
        return generator.dirichlet(np.full(n, 0.05), heads)
    if kind == "flat":
        return generator.dirichlet(np.full(n, 50.0), heads)
    if kind == "uniform":
        return np.full((heads, n), 1 / n)
    if kind == "half/half":
        attention = np.zeros((heads, n))
        for row in attention:
            row[generator.choice(n, 2, replace=False)] = 0.5
        return attention
    with float64():
        seed = int(generator.integers(999))
        return np.asarray(
            HeadAttention.random(seed, Parity(n, range(heads)), tau=1 / n).attention()
        )


def cases(count, largest_n=16):
    """Random attention, target, loss; noise, bias and sign vary along."""
    generator = np.random.default_rng(2)
    names = itertools.cycle(itertools.product(KINDS, LOSSES))
    for index in range(count):
        kind, loss = next(names)
        if index % 40 == 39:
            jax.clear_caches()  # hundreds of compiled shapes exhaust the process's memory maps
        n = int(generator.integers(6, largest_n + 1))
        k = int(generator.integers(1, 7))
        attention = make_attention(kind, int(generator.integers(1, 7)), n, generator)
        bias = generator.uniform(0.2, 0.8, n) if index % 3 == 0 else 0.5
        noise = 0.1 * (index % 2)
        yield attention, random_parity(index, n, min(k, n), noise=noise, bias=bias), loss


def has_kink_at_an_atom(weights, problem):
    """Whether some input other than all ones lands on a point where the slope jumps."""
    with float64():
        bits = np.concatenate(list(all_bits(problem.n)))[:-1]
    sums = bits @ weights
    i = np.arange(1, problem.k + 1)
    kinks = np.concatenate([i - 0.5, i - 1 / (2 * i), i])
    return np.min(np.abs(sums[:, None] - kinks[None, :])) < 1e-9


def across(gradient):
    """Gradient along directions that attention can move in: rows keep their sum."""
    return gradient - gradient.mean(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("readout", "route"), [("zigzag", "auto"), ("zigzag", "Fourier series"), ("cos", "auto")]
)
@pytest.mark.parametrize(
    ("count", "largest_n"), [(7, 9), pytest.param(300, 16, marks=pytest.mark.slow)]
)
def test_values_and_slopes_agree_with_enumeration(readout, route, count, largest_n):
    compared = 0
    for attention, problem, loss in cases(count, largest_n):
        weights = attention.sum(axis=0) * problem.k / len(attention)
        model = WeightedReadout(weights, as_readout(readout, problem.k))
        exact = enumerated_gradient(model, problem, loss)
        options = {"readout": readout, "loss": loss}
        risk = population_risk(attention, problem, route=route, **options)
        if np.isinf(risk.error):  # the correlation is zero up to rounding
            assert loss == "log_correlation"
            continue
        gap = abs(risk.value - exact.risk.value)
        assert gap <= risk.error + exact.risk.error, (problem, loss)
        # A series of slopes converges more slowly, and where the correlation itself is tiny,
        # enumeration is the one that loses digits.
        if route == "Fourier series" or exact.risk.error > 1e-6:
            continue
        assert gap <= 1e-6
        if readout == "zigzag" and has_kink_at_an_atom(weights, problem):
            continue
        found = population_gradient(attention, problem, **options)
        assert found.risk.value == pytest.approx(risk.value, abs=1e-9)
        wanted = np.broadcast_to(exact.gradient * problem.k / len(attention), attention.shape)
        gap = np.max(np.abs(across(found.gradient) - across(wanted)))
        # Where cos rounds to 1, autodiff halves the slope of a hinge: π sin(πs), at most 1e-7.
        assert gap <= 1e-5 * np.max(np.abs(wanted)) + 1e-7
        compared += 1
    assert route == "Fourier series" or compared >= count / 3


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    ("n", "kind", "samples"),
    [
        (32, "circle", 100_000),
        (60, "sharp", 100_000),
        (200, "flat", 100_000),
        (1000, "sharp", 100_000),
        *(
            pytest.param(n, "circle", samples, marks=pytest.mark.slow)
            for n, samples in ((32, 10**7), (20_000, 10_000), (200_000, 2000), (10**6, 2000))
        ),
    ],
)
def test_large_n_agrees_with_sampling(n, kind, samples):
    attention = make_attention(kind, 3, n, np.random.default_rng(n))
    problem = random_parity(n, n, 3, noise=0.05)
    risk = population_risk(attention, problem)
    assert risk.error < 1e-4
    model, batch = WeightedReadout(attention.sum(axis=0), Zigzag(3)), max(100, 20_000_000 // n)
    sampled = sampled_risk(model, problem, samples=samples, batch_size=min(batch, 100_000))
    assert abs(sampled.value - risk.value) < 4 * sampled.error


def test_half_sums_and_series_agree_where_both_apply():
    generator = np.random.default_rng(8)
    attention = make_attention("flat", 3, 28, generator)
    problem = random_parity(1, 28, 3, bias=generator.uniform(0.3, 0.7, 28))
    exact = population_gradient(attention, problem, route="half-sums")
    series = population_gradient(attention, problem, route="Fourier series")
    assert abs(exact.risk.value - series.risk.value) <= series.risk.error
    # Slopes jump at kinks, so their series converges one order slower than the value.
    assert np.allclose(across(series.gradient), across(exact.gradient), atol=1e-3)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_single_case_in_numpy_equals_the_compiled_half_sums(loss):
    generator = np.random.default_rng(2)
    weights = generator.dirichlet(np.ones(9)) * 3
    parity = Parity(9, (0, 4, 7), noise=0.1, bias=np.linspace(0.2, 0.8, 9))
    junta = random_junta(5, 9, 3)
    for problem in (parity, junta):
        labels = labels_of(problem, LOSSES[loss])
        pieces = pieces_of(Zigzag(3), LOSSES[loss], 3, labels)
        target = labelled(target_of(problem), labels) if labels else target_of(problem)
        with float64():
            compiled = jax.jit(jax.value_and_grad(half_sum_mean))
            mean, slopes = compiled(weights, target, pieces)
        once = mean_and_slopes(weights, target, pieces)
        assert abs(once[0] - float(mean)) < 1e-13
        assert np.allclose(once[1], slopes, atol=1e-13, rtol=0)


def test_model_gradient_is_the_gradient_in_the_heads():
    problem = Parity(10, (1, 4, 8))
    model = HeadAttention.random(3, problem, tau=0.2)
    exact = enumerated_gradient(model, problem)
    found = model_gradient(model, problem)
    assert np.isclose(found.risk.value, exact.risk.value)
    assert np.allclose(found.gradient, exact.gradient, atol=1e-9)


def test_a_second_call_of_the_same_size_compiles_nothing(caplog):
    generator = np.random.default_rng(9)
    flat = [make_attention("flat", 3, n, generator) for n in (20, 20, 4000, 4000)]
    calls = [(attention, random_parity(1, attention.shape[1], 3)) for attention in flat]
    for attention, problem in (calls[0], calls[2]):
        population_gradient(attention, problem)
    with jax.log_compiles(), caplog.at_level("WARNING"):
        for attention, problem in (calls[1], calls[3]):
            population_gradient(attention, problem)
    compiled = [r.getMessage() for r in caplog.records if "Finished XLA" in r.getMessage()]
    assert compiled == []


def test_readouts_that_are_not_numbers_are_refused():
    problem = Parity(10, (2, 5))
    model = HeadAttention.random(1, problem, tau=0.3, readout=jnp.log1p)
    for loss in (lambda y, p: jnp.log(y * p), lambda y, p: jnp.log(1.05 - p)):
        with pytest.raises(ValueError, match="not a number"):
            population_risk(model, problem, loss=loss)
    with pytest.raises(ValueError, match="not a number"):
        enumerated_gradient(model, problem, lambda y, p: jnp.log(1.05 - p))


@pytest.mark.parametrize(
    ("attention", "message"),
    [
        (np.ones((2, 4)) / 4, r"\(2, 4\)"),
        (np.ones((2, 5)), "row 0 of attention must sum to 1, got 5"),
        (np.full((2, 5), 0.2) * (1 + 9e-6), "sum to 1, got 1.0000.*divide by its sum"),
        (np.array([[1.2, -0.2, 0, 0, 0]]), "nonnegative"),
        (np.array([[np.nan, 1, 0, 0, 0]]), "NaN"),
    ],
)
def test_bad_attention_is_refused(attention, message):
    with pytest.raises(ValueError, match=message):
        population_risk(attention, Parity(5, (0, 1)))


def test_other_bad_requests_say_what_is_possible():
    attention = np.full((2, 50), 1 / 50)
    with pytest.raises(ValueError, match="possible: lattice, Fourier series"):
        population_risk(attention, Parity(50, (0, 1)), route="half-sums")
    with pytest.raises(ValueError, match="tolerance"):
        population_risk(attention, Parity(50, (0, 1)), tolerance=0.0)
    with pytest.raises(ValueError, match="k=0"):
        population_risk(attention, Parity(50, ()))
    with pytest.raises(ValueError, match=r"got \(2, 50\) for 1 problems"):
        population_risks(attention, [Parity(50, (0, 1))])
    with pytest.raises(ValueError, match="row 0 of weights must sum to 2, got 1;"):
        population_risks(attention, Parity(50, (0, 1)))


@pytest.mark.parametrize(
    ("readout", "loss", "n", "kind"),
    [
        ("cos", "log_correlation", 13, "exact"),
        (lambda s: jnp.cos(5 * s), lambda y, p: (y - p) ** 4, 13, "exact"),
        ("zigzag", "hinge", 50, "numerical"),
    ],
)
def test_many_runs_are_the_front_door_run_by_run(readout, loss, n, kind):
    generator = np.random.default_rng(0)
    weights = generator.dirichlet(np.full(n, 0.5), 5) * 3
    bias = generator.uniform(0.3, 0.7, (5, n))
    parities = [random_parity(i, n, 3, noise=0.05 * (i % 2), bias=bias[i]) for i in range(5)]
    juntas = [random_junta(i, n, 3) for i in range(5)]
    for problems in (parities, juntas):
        if problems is juntas and loss == "log_correlation":
            loss = "squared"
        risks = population_risks(weights, problems, readout=readout, loss=loss)
        assert risks.kind == kind
        for run, problem in enumerate(problems):
            one = population_risk(weights[run, None] / 3, problem, readout=readout, loss=loss)
            assert risks.values[run] == pytest.approx(one.value, abs=1e-12)
            assert risks.errors[run] == pytest.approx(one.error, rel=0.1)

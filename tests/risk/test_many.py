"""Risks of many runs at once are the front door's, with their errors and kind."""

import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.models import Zigzag
from paritylab.problem import Parity, random_junta, random_parity
from paritylab.risk import population_risk, population_risks
from paritylab.risk.routes.statistic import stacked_targets, target_of

X64_MODES = [False]


def runs(n, k, count, seed=0):
    generator = np.random.default_rng(seed)
    bias = generator.uniform(0.3, 0.7, n)
    problems = [random_parity(i, n, k, noise=0.05 * (i % 2), bias=bias) for i in range(count)]
    return generator.dirichlet(np.full(n, 0.5), count) * k, problems


@pytest.mark.grid(4)
@pytest.mark.parametrize(
    ("readout", "loss", "n", "kind"),
    [
        ("zigzag", "mean_hinge_squared", 13, "exact"),
        ("cos", "log_correlation", 13, "exact"),
        (lambda s: jnp.cos(5 * s), lambda y, p: (y - p) ** 4, 13, "exact"),
        ("zigzag", "hinge", 50, "numerical"),
        (Zigzag(3, 0.1), "squared", 50, "numerical"),
    ],
)
def test_many_runs_are_the_front_door_run_by_run(readout, loss, n, kind):
    weights, problems = runs(n, 3, 5)
    risks = population_risks(weights, problems, readout=readout, loss=loss)
    assert risks.kind == kind
    for value, error, row, problem in zip(
        risks.values, risks.errors, weights, problems, strict=True
    ):
        one = population_risk(row[None] / 3, problem, readout=readout, loss=loss)
        assert value == pytest.approx(one.value, abs=1e-12)
        assert error == pytest.approx(one.error, rel=0.1)


@pytest.mark.parametrize(
    ("weights", "problems", "words"),
    [
        (np.full(5, 0.4), Parity(5, (0, 1)), r"shape \(runs, n\)"),
        (np.full((2, 5), 0.4), [Parity(5, (0, 1))], r"got \(2, 5\) for 1 problems"),
        (np.full((1, 5), 0.3), Parity(5, (0, 1)), "got 1.5 for k=2 in run 0"),
        (np.array([[2.5, -0.5, 0, 0, 0]]), Parity(5, (0, 1)), "nonnegative"),
    ],
)
def test_bad_weights_are_named(weights, problems, words):
    with pytest.raises(ValueError, match=words):
        population_risks(weights, problems)


@pytest.mark.parametrize(
    "problems",
    [
        [Parity(5, (0, 3)), Parity(5, (1, 2), sign=-1, noise=0.1), Parity(5, ())],
        [Parity(4, (1,), bias=0.3), Parity(4, (2,), bias=(0.1, 0.2, 0.3, 0.4))],
        [random_junta(seed, 5, 2) for seed in range(3)],
    ],
)
def test_stacked_targets_are_the_targets_one_by_one(problems):
    stacked = stacked_targets(problems)
    for run, problem in enumerate(problems):
        for many, one in zip(stacked, target_of(problem), strict=True):
            np.testing.assert_array_equal(many[run], one)

"""Points of rest against enumeration; the ratio near B against the path of descent."""

import numpy as np
import pytest

from paritylab.claims.hg1.stationary import gradient_ratio, settle
from paritylab.learning import Heads, Population, learn
from paritylab.models import HeadAttention, Zigzag
from paritylab.problem import Parity
from paritylab.risk import enumerated_gradient, enumerated_risk
from paritylab.theory import hg1

X64_MODES = [False]  # everything here runs in float64 of its own


def test_a_strict_local_minimum_is_lower_than_every_point_around_it():
    problem = Parity(6, (0, 2))
    start = HeadAttention.at((1, 5), problem, readout=Zigzag(2, 0.01), tau=1 / 6)
    rest = settle(start, problem)
    model = start.with_parameters(rest.directions)
    here = enumerated_gradient(model, problem)
    assert rest.is_minimum
    assert rest.risk > 1
    assert here.risk.value == pytest.approx(rest.risk, abs=1e-12)
    assert np.linalg.norm(here.gradient) < 1e-8
    for shift in np.random.default_rng(0).normal(size=(20, 2, 2)):
        near = model.with_parameters(rest.directions + 1e-3 * shift / np.linalg.norm(shift))
        gain = enumerated_risk(near, problem).value - rest.risk
        assert gain > 0.4 * rest.eigenvalue * 1e-6


def test_heads_on_the_set_are_not_a_minimum_of_positive_risk():
    problem = Parity(6, (0, 3))
    start = HeadAttention.on(problem, readout=Zigzag(2, 0.01), tau=1 / 6)
    assert settle(start, problem, steps=500).risk < 0.01


@pytest.mark.slow
def test_the_ratio_near_the_set_is_what_one_step_of_descent_gains():
    problem = Parity(8, (1, 4))
    on = HeadAttention.on(problem, tau=1 / 8)
    model = on.with_parameters(2.5 * on.directions)
    before = enumerated_risk(model, problem).value
    eta = 1e-3
    after = learn(Heads.paper(start=model.directions, steps=1, eta=eta), Population(problem)).risk
    assert gradient_ratio(model, problem) == pytest.approx(
        (before - after[0]) / eta / 2 / before**2, rel=1e-2
    )


def test_the_ratio_of_sharp_heads_is_the_formula():
    problem = Parity(10, (1, 5))
    on = HeadAttention.on(problem, tau=1 / 10)
    sharp = on.with_parameters(6 * on.directions)
    formula = hg1.slope_on_target(10, 2, 1 / 10)
    assert gradient_ratio(sharp, problem) == pytest.approx(formula, rel=5e-3)

import numpy as np
import pytest

from paritylab.claims.hg1.gradient_flow import ExactRisks, flow, least_decrease
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.problem import Parity
from paritylab.risk import enumerated_risk

SETS = ((1, 4), (0, 2), (2, 3))


def random_heads(seed=0, runs=3, k=2):
    return np.random.default_rng(seed).normal(size=(runs, k, 2))


@pytest.mark.parametrize("b", [0.0, 0.01])
def test_the_risk_is_the_models(b):
    heads = random_heads()
    found = ExactRisks(6, np.array(SETS), 0.3, b)(heads)
    for run, subset in enumerate(SETS):
        model = HeadAttention(heads[run], Circle(6), 2, Zigzag(2, b), tau=0.3)
        risk = enumerated_risk(model, Parity(6, subset))
        assert found.risk[run] == pytest.approx(risk.value, rel=1e-6)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_derivatives_are_the_differences(k):
    heads = random_heads(3, k=k)
    risks = ExactRisks(5, np.array([(0, 2, 3)[:k], (1, 2, 4)[:k], (4, 0, 1)[:k]]), 0.4, 0.05)
    found, h = risks(heads), 1e-5
    for number in range(2 * k):
        shift = h * np.eye(2 * k)[number].reshape(1, k, 2)
        ahead, behind = risks(heads + shift), risks(heads - shift)
        slope = (ahead.risk - behind.risk) / (2 * h)
        bend = (ahead.gradient - behind.gradient) / (2 * h)
        assert np.allclose(found.gradient[:, number], slope, atol=1e-7)
        assert np.allclose(found.hessian[:, number], bend, atol=1e-4, rtol=1e-4)


def test_the_flow_is_many_short_steps():
    risks, heads = ExactRisks(6, np.array(SETS), 0.3, 0.01), random_heads(1)
    short = heads.copy()
    for _ in range(1000):
        short = short - 1e-3 * risks(short).gradient.reshape(heads.shape)
    end = flow(risks, heads, 1.0, target=0.0, tolerance=1e-4)
    assert np.isinf(end.time).all()
    assert np.allclose(end.directions, short, atol=3e-3)
    assert np.allclose(end.risk, risks(short).risk, atol=3e-3)


def test_the_flow_stops_at_the_target_and_rests_where_the_slope_vanishes():
    risks = ExactRisks(8, np.array([[0, 3], [0, 3]]), 1 / 8, 0.01)
    starts = np.asarray(Circle(8).vectors([[0, 3], [1, 6]]), dtype=float)
    end = flow(risks, starts, 1e6, target=0.2)
    assert end.time[0] < 1e3
    assert end.risk[0] < 0.2
    assert np.isinf(end.time[1])
    assert end.risk[1] == pytest.approx(1.78, abs=0.01)
    assert end.squared_slope[1] < 1e-12


def test_a_step_lowers_the_risk_until_it_is_too_long():
    risks, heads = ExactRisks(6, np.array(SETS), 1 / 6, 0.01), random_heads(2)
    shares = least_decrease(risks, heads, np.array([1e-15, 1e-6, 10.0]))
    assert shares[:2] == pytest.approx(2, abs=1e-2)
    assert shares[2] < 1

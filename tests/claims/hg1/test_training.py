"""Theorem 5's criterion is an absolute risk, which a smoother readout cannot buy."""

from paritylab.claims.hg1.training import EPSILON, SETTINGS
from paritylab.theory.hg1_limits import smoothing_floor


def test_some_settings_let_heads_on_b_reach_the_risk_and_some_do_not():
    for k in (1, 2, 3):
        reachable = [smoothing_floor(k, b) < EPSILON for b, *_ in SETTINGS]
        assert sum(reachable) >= 4
    assert all(smoothing_floor(k, b) > EPSILON for b in (1.0, 2.0) for k in (1, 2, 3))

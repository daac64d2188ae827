"""Descent on attention over M tokens, against a step worked out by hand."""

import numpy as np

from paritylab.claims.lab.many_steps import (
    PLAIN,
    descend,
    found_curve,
    knows_the_children,
    lead_after_one_step,
    parity_rows,
)
from paritylab.theory.gaps import link_noise, link_signal, matched_link


def test_one_step_is_the_gradient_by_hand_on_the_first_rows_only():
    """At W = 0 all shares are 1/M: ∂L/∂w_j = mean(r·(x_j - z))/M, r = (φ(z) - y)·φ'(z)."""
    rows, size = parity_rows(2, 6, seed=1)(3, 40, 0), 25
    (scores,) = descend(rows, [size], 1, PLAIN)
    link, x = matched_link(2), rows.tokens[:, :size]
    z = x.mean(axis=2, keepdims=True)
    r = (link(z) - rows.truth[:, :size]) * link.slope(z)
    expected = -(r * (x - z)).mean(axis=1) / 6
    assert np.allclose(scores[..., 0], expected, atol=1e-6)


def test_who_knows_the_children_finds_them_from_any_rows():
    found = found_curve(parity_rows(2, 8, seed=0), [1, 2], 20, knows_the_children, 1)
    assert found.shape == (2, 20)
    assert found.all()


def test_the_lead_after_one_step_is_the_predicted_one():
    """√N times signal over noise, at M = 16 and N = 64, to 10 %."""
    leads = lead_after_one_step(parity_rows(2, 16, seed=3), 64, 1600)
    link = matched_link(2)
    predicted = 8 * link_signal(16, 2, link) / link_noise(16, 2, link)
    assert abs(leads.mean() / predicted - 1) < 0.1

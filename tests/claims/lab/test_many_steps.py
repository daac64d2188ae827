"""Descent on attention over M tokens, against a step worked out by hand."""

import numpy as np

from paritylab.experiments.many_steps import PLAIN, descend, parity_rows
from paritylab.theory.gaps import matched_link


def test_one_step_is_the_gradient_by_hand_on_the_first_rows_only():
    """At W = 0 all shares are 1/M: ∂L/∂w_j = mean(r·(x_j - z))/M, r = (φ(z) - y)·φ'(z)."""
    rows, size = parity_rows(2, 6, seed=1)(3, 40, 0), 25
    (scores,) = descend(rows, [size], 1, PLAIN)
    link, x = matched_link(2), rows.tokens[:, :size]
    z = x.mean(axis=2, keepdims=True)
    r = (link(z) - rows.truth[:, :size]) * link.slope(z)
    expected = -(r * (x - z)).mean(axis=1) / 6
    assert np.allclose(scores[..., 0], expected, atol=1e-6)

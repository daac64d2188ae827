"""Losses and readouts of one's own are checked once, and errors say what to change."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.models import PiecewiseLinear, as_readout
from paritylab.problem.losses import Loss, as_loss


def branching(s):
    return 1.0 if s > 1 else -1.0


@pytest.mark.parametrize(
    ("readout", "words"),
    [
        ("tan", 'must be "zigzag", "cos", "pair" or a function of s, got \'tan\''),
        (lambda s: 0.5 + 0 * s, r"is 0.5 for every s in \[0, 3\]: a readout must depend on s"),
        (math.cos, "readout cos cannot take arrays; use jax.numpy"),
        (branching, r"readout branching branches on its value .* use jnp.where"),
        (lambda s: jnp.stack([s, s]), r"must return one real number .* got shape \(2,\)"),
        (lambda s: jnp.sqrt(s - 0.5), r"not a number or infinite at s=0; it must be finite"),
        (lambda s, t: s * t, "must take 1 number, but fails"),
    ],
)
def test_bad_readouts_are_named(readout, words):
    with pytest.raises(ValueError, match=words) as caught:
        as_readout(readout, 3)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ("absolute", "loss must be one of squared_hinge, .* or a Loss, got 'absolute'"),
        (lambda p: p, "must take 2 numbers, but fails"),
        (lambda y, p: p if y > 0 else -p, "branches on its value"),
        (lambda y, p: math.exp(-y * p), "cannot take arrays"),
        (lambda y, p: jnp.log(y * p), r"not a number for y=\+1 and some"),
        (Loss("pairs", lambda y, p: jnp.stack([y, p])), r"the loss pairs must return one real"),
        (Loss("odd", lambda y, p: y * p, outer=lambda m: (m, m)), "outer of the loss odd"),
    ],
)
def test_bad_losses_are_named(loss, words):
    with pytest.raises(ValueError, match=words) as caught:
        as_loss(loss)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("knots", "values", "words"),
    [
        ((0, 1), (1,), "got 2 and 1"),
        ((0, 0), (1, 2), "knots must ascend"),
        ((0, 1), (1, np.nan), "values must be finite"),
    ],
)
def test_bad_pieces_are_named(knots, values, words):
    with pytest.raises(ValueError, match=words):
        PiecewiseLinear(knots, values)

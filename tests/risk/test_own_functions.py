"""Losses and readouts of one's own are checked once, and errors say what to change."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.models import PiecewiseLinear, as_readout
from paritylab.precision import float64
from paritylab.problem.losses import LOSSES, Loss, as_loss


def branching(s):
    return 1.0 if s > 1 else -1.0


@pytest.mark.parametrize(
    ("readout", "words"),
    [
        ("tan", 'must be "zigzag", "cos" or a function of s, got \'tan\''),
        (3.0, "or a function of s, got 3.0"),
        (lambda s: 0.5 + 0 * s, r"is 0.5 for every s in \[0, 3\]: a readout must depend on s"),
        (math.cos, "readout cos cannot take arrays; use jax.numpy"),
        (np.cos, "readout cos cannot take arrays; use jax.numpy"),
        (branching, r"readout branching branches on its value .* use jnp.where"),
        (lambda s: jnp.stack([s, s]), r"must return one real number .* got shape \(2,\)"),
        (lambda s: (s, s), "must return one real number for each input, got tuple"),
        (lambda s: jnp.exp(1j * s), "must return one real number"),
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
        (None, "loss must be one of squared_hinge, .* got NoneType"),
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


def test_functions_pass_and_the_same_function_is_the_same_loss():
    def exponential(y, prediction):
        return jnp.exp(-y * prediction)

    assert as_loss(exponential) == as_loss(exponential)
    assert as_loss(exponential).name == "exponential"
    assert as_loss(LOSSES["hinge"]) is LOSSES["hinge"]
    assert as_readout(abs, 2) is abs


def test_checks_work_inside_compiled_code():
    @jax.jit
    def inside(s):
        return as_readout(lambda z: jnp.cos(3 * z), 2)(s) + as_loss(lambda y, p: y * p).pointwise(
            s, s
        )

    @jax.jit
    def with_traced_numbers(a):
        return as_readout(lambda z: jnp.cos(a * z), 2)(a)

    assert np.isclose(inside(0.5), math.cos(1.5) + 0.25)
    assert np.isclose(with_traced_numbers(0.5), math.cos(0.25))


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


def test_corners_give_the_readout_back():
    readout = PiecewiseLinear((-1, 0.5, 2), (3, -1, 1))
    with float64():
        s = np.linspace(0, 3, 31)
        assert np.allclose(readout(s), np.interp(s, *readout.corners(3)))

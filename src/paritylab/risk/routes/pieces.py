"""The statistic as a piecewise quadratic function of s, where readout and loss declare that.

A readout with corners is a straight line between known points, and the lab's losses are polynomials
of degree ≤ 2 in ŷ on both sides of ŷ = ±1. So loss(y, readout(s)) is a quadratic between the
corners and the crossings of ŷ = ±1; exact routes integrate it piece by piece.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab._support.precision import AnyArray, float64
from paritylab.models.readouts import Corners, Readout
from paritylab.problem.losses import Loss

#: Values at which a statistic is asked for a label; None stands for the signs of a parity, where
#: even and odd part are kept instead.
Labels = tuple[float, ...] | None

SIGNS = (1.0, -1.0)
#: Predictions at which the lab's losses may bend.
_LEVELS = (-1.0, 1.0)
#: A crossing closer to a corner than this share of its piece is that corner.
_SAME = 1e-12


class Pieces(NamedTuple):
    """Functions of s in [0, k] on common knots: row 0 the even part, row 1 the odd part in y; for a
    junta one row per label.

    With f± the statistic at label ±1, the even part is (f₊+f₋)/2 and the odd part (f₊-f₋)/2, so
    the statistic is even + y·odd. Each is start + Σ_p [slope_p (s-t_p)₊ + curve_p (s-t_p)₊²/2];
    a knot at 0 carries the polynomial that holds near 0. curve: None where a route drops zeros.
    """

    knots: Float[AnyArray, " P"]
    start: Float[AnyArray, " rows"]
    slope: Float[AnyArray, "rows P"]
    curve: Float[AnyArray, "rows P"] | None


def pieces_of(readout: Readout, loss: Loss, k: int, labels: Labels = None) -> Pieces | None:
    """The pieces of loss(y, readout(s)) on [0, k], or None if they are not declared.

    >>> from paritylab.models import Zigzag
    >>> from paritylab.problem.losses import LOSSES
    >>> len(pieces_of(Zigzag(2), LOSSES["hinge"], 2).knots)
    4
    """
    declared = getattr(readout, "corners", None)
    if declared is None or not loss.quadratic_pieces:
        return None
    corners = declared(k)
    if corners is None:
        return None
    knots, values = _with_crossings(corners)
    slopes = np.diff(values) / np.diff(knots)
    region = np.searchsorted(_LEVELS, (values[:-1] + values[1:]) / 2)
    constant, first, second = _polynomials(loss, labels)[..., region]
    # ŷ = value + slope·(s - knot) on a piece, put into the polynomial of its region: the value of
    # the statistic at the knot, its derivative in s there, and its second derivative.
    at_knot = values[None, :-1]
    level = constant + first * at_knot + second * at_knot**2
    tilt = (first + 2 * second * at_knot) * slopes
    curvature = 2 * second * slopes**2
    before = (tilt + curvature * np.diff(knots))[:, :-1]
    slope = _clean(np.concatenate([tilt[:, :1], tilt[:, 1:] - before], axis=1))
    curve = _clean(np.diff(curvature, axis=1, prepend=0.0))
    kept = np.any((slope != 0) | (curve != 0), axis=0)
    pieces = Pieces(knots[:-1][kept], level[:, 0], slope[:, kept], curve[:, kept])
    _check_pieces(pieces, readout, loss, k, labels)
    return pieces


def _with_crossings(corners: Corners) -> Corners:
    """The corners together with the points between them where the readout crosses ±1."""
    s, values = [corners.s], [corners.values]
    for level in _LEVELS:
        with np.errstate(divide="ignore", invalid="ignore"):  # a flat piece crosses nothing
            share = (level - corners.values[:-1]) / np.diff(corners.values)
        inside = (share > _SAME) & (share < 1 - _SAME)
        s.append((corners.s[:-1] + share * np.diff(corners.s))[inside])
        values.append(np.full(np.count_nonzero(inside), level))
    order = np.argsort(np.concatenate(s), kind="stable")
    return Corners(np.concatenate(s)[order], np.concatenate(values)[order])


def _polynomials(loss: Loss, labels: Labels) -> Float[np.ndarray, "3 rows 3"]:
    """Coefficients of 1, ŷ and ŷ² (first axis) per row for ŷ < -1, |ŷ| < 1 and ŷ > 1 (last axis):
    the parabola through three points of each region."""
    middle = np.array([-2.0, 0.0, 2.0])
    with float64(), jax.ensure_compile_time_eval():
        left, centre, right = (
            _loss_rows(loss, labels, jnp.asarray(middle + shift)) for shift in (-0.5, 0.0, 0.5)
        )
    second = 2 * (left - 2 * centre + right)
    first = right - left - 2 * second * middle
    return np.stack([centre - first * middle - second * middle**2, first, second])


def _loss_rows(loss: Loss, labels: Labels, predictions: Array) -> Float[np.ndarray, "rows ..."]:
    """The loss at every label, or its even and odd part; call it in float64."""
    found = [np.asarray(loss.pointwise(jnp.asarray(y), predictions)) for y in labels or SIGNS]
    if labels is None:
        found = [(found[0] + found[1]) / 2, (found[0] - found[1]) / 2]
    return np.stack(found)


def _clean(jumps: np.ndarray) -> np.ndarray:
    """Zero what is rounding noise beside the largest jump."""
    return np.where(np.abs(jumps) > 1e-13 * np.max(np.abs(jumps), initial=1.0), jumps, 0.0)


def _check_pieces(pieces: Pieces, readout: Readout, loss: Loss, k: int, labels: Labels) -> None:
    """A clear error if what was declared does not give the statistic back at random points."""
    s = k * np.random.default_rng(0).random(128)
    with float64(), jax.ensure_compile_time_eval():
        truth = _loss_rows(loss, labels, jax.vmap(readout)(jnp.asarray(s)))
    gap = np.abs(evaluate(pieces, s) - truth)
    worst = s[int(np.argmax(gap.max(axis=0)))]
    if not gap.max() <= 1e-9 * scale_of(pieces, k):
        raise ValueError(
            f"the declared pieces of {type(readout).__name__} with loss {loss.name} are off by "
            f"{gap.max():.1g} at s={worst:.3g}; correct its corners, or quadratic_pieces of the "
            "loss, or declare neither"
        )


def evaluate(pieces: Pieces, s: Float[np.ndarray, " P"]) -> Float[np.ndarray, "rows P"]:
    """Every row at the points s."""
    values = np.repeat(np.asarray(pieces.start)[:, None], len(s), axis=1)
    for knot, slope, curve in zip(
        pieces.knots, np.asarray(pieces.slope).T, np.asarray(pieces.curve).T, strict=True
    ):
        beyond = np.maximum(s - knot, 0)
        values += slope[:, None] * beyond + curve[:, None] / 2 * beyond**2
    return values


def scale_of(pieces: Pieces, reach: float | int) -> float:
    """Sum of the absolute terms on [0, reach]: what rounding errors are measured against."""
    lengths = np.maximum(reach - np.asarray(pieces.knots), 0)
    curve = np.zeros(()) if pieces.curve is None else np.asarray(pieces.curve)
    terms = np.abs(np.asarray(pieces.slope)) * lengths + np.abs(curve) * lengths**2 / 2
    return float(np.sum(np.abs(pieces.start)) + np.sum(terms))

"""A loss of a piecewise linear readout as a piecewise quadratic function of the attended sum."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from paritylab.models.readouts import Readout, Zigzag
from paritylab.precision import AnyArray, float64
from paritylab.problem.losses import Loss


class Pieces(NamedTuple):
    """Two functions of s in [0, k] on common knots: row 0 the even part, row 1 the odd part in y.

    With f± the statistic at label ±1, the even part is (f₊+f₋)/2 and the odd part (f₊-f₋)/2, so
    the statistic is even + y·odd. Each is start + Σ_p [slope_p (s-t_p)₊ + curve_p (s-t_p)₊²/2];
    a knot at 0 carries the polynomial that holds near 0.
    """

    knots: Float[AnyArray, " P"]
    start: Float[AnyArray, " 2"]
    slope: Float[AnyArray, "2 P"]
    curve: Float[AnyArray, "2 P"]


def pieces_of(readout: Readout, loss: Loss) -> Pieces | None:
    """The pieces of loss(y, readout(s)), or None if it is not piecewise quadratic.

    >>> from paritylab.problem.losses import LOSSES
    >>> len(pieces_of(Zigzag(2), LOSSES["hinge"]).knots)
    4
    """
    if not (isinstance(readout, Zigzag) and readout.b == 0 and loss.quadratic_pieces):
        return None
    i = np.arange(1, readout.k + 1)
    # Slopes of the readout change at i-1/2; it crosses ∓1 at i-1/(2i) and ±1 at i.
    crossings = np.concatenate([[0.0], i - 0.5, i - 1 / (2 * i), i[:-1]])
    knots = np.sort(crossings)
    knots = knots[np.diff(knots, prepend=-1.0) > 1e-9]
    ends = np.append(knots[1:], readout.k)
    # Three points inside each piece fix its quadratic.
    inside = knots[:, None] + (ends - knots)[:, None] * np.array([0.25, 0.5, 0.75])[None, :]
    with float64():
        prediction = readout(inside)
        above, below = (
            np.asarray(loss.pointwise(jnp.asarray(float(y)), prediction)) for y in (1, -1)
        )
    values = np.stack([(above + below) / 2, (above - below) / 2])
    return _jumps(knots, ends, values)


def _jumps(knots, ends, values) -> Pieces:
    """Truncated powers from values at the quarter points of every piece."""
    quarter = (ends - knots) / 4
    first, middle, last = values[..., 0], values[..., 1], values[..., 2]
    curvature = (first - 2 * middle + last) / quarter**2
    slope_at_first = (middle - first) / quarter - curvature * quarter / 2
    slope_at_knot = slope_at_first - curvature * quarter
    start = first - slope_at_knot * quarter - curvature * quarter**2 / 2
    slope_before = slope_at_knot[:, :-1] + curvature[:, :-1] * (ends - knots)[:-1]
    slope = np.concatenate([slope_at_knot[:, :1], slope_at_knot[:, 1:] - slope_before], axis=1)
    curve = np.diff(curvature, axis=1, prepend=0.0)
    slope, curve = _clean(slope), _clean(curve)
    kept = np.any((slope != 0) | (curve != 0), axis=0)
    return Pieces(knots[kept], start[:, 0], slope[:, kept], curve[:, kept])


def _clean(jumps):
    """Zero what is rounding noise beside the largest jump."""
    return np.where(np.abs(jumps) > 1e-10 * np.max(np.abs(jumps), initial=1.0), jumps, 0.0)


def scale_of(pieces: Pieces, reach: float | int) -> float:
    """Sum of the absolute terms on [0, reach]: what rounding errors are measured against."""
    lengths = np.maximum(reach - np.asarray(pieces.knots), 0)
    terms = np.abs(pieces.slope) * lengths + np.abs(pieces.curve) * lengths**2 / 2
    return float(np.sum(np.abs(pieces.start)) + np.sum(terms))

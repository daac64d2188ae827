"""What is averaged, as every route is asked for it and answers: the statistic, a case, a risk.

The statistic is loss(y, readout(s)), a function of the label y and of the attended sum s. Where the
readout declares corners (straight lines between known points) and the loss is a polynomial of
degree ≤ 2 between ŷ = -1 and ŷ = +1, the statistic is a piecewise quadratic function of s. Its
`Pieces` are found here once; exact routes integrate them.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.models.readouts import Corners, Cosine, HasCorners, Readout
from paritylab.precision import AnyArray, float64
from paritylab.problem import Junta, Parity
from paritylab.problem.callables import is_fixed, mark_of
from paritylab.problem.losses import LOSSES, Loss
from paritylab.risk.routes.targets import (
    SIGNS,
    JuntaTarget,
    Labelled,
    Labels,
    Target,
    labelled,
    target_of,
)

EPS = sys.float_info.epsilon

#: Points at which a statistic is evaluated at a time, at most.
_BLOCK = 1 << 16
#: Points closer than this are one knot.
_SAME = 1e-12
#: Losses that are polynomials in y and ŷ whatever the labels.
_ANY_LABEL = ("squared", "correlation", "log_correlation")


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


class Statistic(NamedTuple):
    """What is averaged: loss(y, readout(s)) as a function of the label and of s in [0, k].

    pieces: the same as a piecewise quadratic, where readout and loss declare that structure.
    labels: None for a parity; the labels of a junta, one row of the statistic each. mark: None,
    or new for every call with a user's function, so that compiled code never outlives a change.
    """

    readout: Readout
    loss: Loss
    k: int
    pieces: Pieces | None
    labels: Labels = None
    mark: object = None

    @property
    def is_closed(self) -> bool:
        """Whether a closed form is known: cos(πs) with the lab's losses, hinges for labels ±1."""
        closed = self.loss in LOSSES.values() and isinstance(self.readout, Cosine)
        return closed and (self.labels in (None, SIGNS) or self.loss.name in _ANY_LABEL)

    def parts(self, s: Float[Array, "..."]) -> Float[Array, "rows ..."]:
        """loss(y, readout(s)) for every label y; for a parity the even part (f₊+f₋)/2 and the odd
        part (f₊-f₋)/2, f± = loss(±1, readout(s))."""
        flat = jnp.ravel(s)
        predictions = jax.vmap(self.readout)(flat).astype(flat.dtype)
        pointwise = jax.vmap(self.loss.pointwise, (None, 0))
        rows = [
            pointwise(jnp.asarray(y, flat.dtype), predictions).astype(flat.dtype)
            for y in self.labels or SIGNS
        ]
        if self.labels is None:
            above, below = rows
            rows = [(above + below) / 2, (above - below) / 2]
        return jnp.stack(rows).reshape(len(rows), *jnp.shape(s))


def statistic_of(readout: Readout, loss: Loss, k: int, labels: Labels = None) -> Statistic:
    """The statistic of a checked readout and loss, with its pieces where they are declared."""
    pieces = pieces_of(readout, loss, k, labels)
    return Statistic(readout, loss, k, pieces, labels, mark_of(readout, loss))


class Case(NamedTuple):
    """One population risk: at weights g ≥ 0 (n,) with Σ g = k, aiming for `tolerance`.

    slopes: whether the gradient with respect to g is wanted too.
    """

    statistic: Statistic
    weights: Float[np.ndarray, " n"]
    problem: Parity | Junta
    tolerance: float
    slopes: bool

    @property
    def target(self) -> Target | Labelled:
        """The problem as the routes' arrays."""
        target = target_of(self.problem)
        return target if isinstance(target, Target) else labelled(target, self.statistic.labels)


class RouteRisk(NamedTuple):
    """A risk, how far it may be off, whether only by rounding, and the slopes dR/dg (n,).

    slopes_error: how far each slope may be off, one number for all; None where not estimated.
    """

    value: float
    error: float
    exact: bool
    slopes: Float[AnyArray, " n"] | None = None
    slopes_error: float | None = None


@dataclass(frozen=True, eq=False)
class WeightRisk:
    """risk(g, target) for compiled loops, differentiable in the weights g (n,).

    risk: its target is the `Target` of a parity or the `JuntaTarget` of a junta. error: how far the
    mean inside it may be off at any weights; for "series" with declared pieces the largest gap ever
    measured. `population_risk` says what a trained model is worth. route: how it is computed.
    """

    risk: Callable[[Float[Array, " n"], Target | JuntaTarget], Float[Array, ""]]
    error: float
    route: str = ""

    def __call__(
        self, weights: Float[Array, " n"], target: Target | JuntaTarget
    ) -> Float[Array, ""]:
        return self.risk(weights, target)


def risk_through_outer(
    loss: Loss,
    mean: float,
    error: float,
    *,
    exact: bool,
    slopes: Float[AnyArray, " n"] | None = None,
    slopes_error: float | None = None,
) -> RouteRisk:
    """What a route found about the mean as what it says about risk = outer(mean).

    The error is the largest change of outer over a few points of the interval mean ± error, 0 among
    them where it lies inside: -log|0| is infinite, and the error says so. The slopes dR/dg are
    outer'(mean)·dmean/dg; how far outer' bends over the interval adds to their error.
    """
    if loss.is_mean:
        value, slope, spread, bend = mean, 1.0, error, 0.0
    else:
        low, high = mean - error, mean + error
        points = np.array([mean, low, high, (mean + low) / 2, (mean + high) / 2, 0.0])
        with float64(), np.errstate(invalid="ignore"):
            both = jax.vmap(jax.value_and_grad(loss.outer))(
                jnp.clip(jnp.asarray(points), low, high)
            )
            values, tilts = map(np.asarray, both)
            value, slope = float(values[0]), float(tilts[0])
            spread = float(np.max(np.abs(values - value)))
            bend = float(np.max(np.abs(tilts[1:3] - slope)))
    error = spread + 4 * EPS * abs(value) if math.isfinite(spread) else math.inf
    if slopes is None:
        return RouteRisk(value, error, exact)
    with np.errstate(invalid="ignore"):
        if slopes_error is not None:
            steepest = float(np.max(np.abs(np.asarray(slopes)))) + slopes_error
            slopes_error = abs(slope) * slopes_error + bend * steepest
            known = math.isfinite(slopes_error) and math.isfinite(error)
            slopes_error = slopes_error if known else math.inf
        return RouteRisk(value, error, exact, slope * np.asarray(slopes), slopes_error)


def evaluated(
    statistic: Statistic, s: Float[np.ndarray, " P"], *, slopes: bool = False
) -> Float[np.ndarray, "rows P"]:
    """Every row of the statistic, or its derivative, at many points.

    The lab's own parts are compiled once for each of a few sizes. A user's function runs operation
    by operation: compiling it anew in every call would take longer than the call.
    """
    size = min(_BLOCK, max(4096, 1 << (len(s) - 1).bit_length()))
    rows = _compiled_rows if statistic.mark is None else _rows
    blocks = np.resize(s, (-(-len(s) // size), size))
    with float64():
        values = [np.asarray(rows(statistic, block, slopes)) for block in blocks]
    return np.concatenate(values, axis=1)[:, : len(s)]


def _rows(statistic: Statistic, s: AnyArray, slopes: bool) -> Array:
    points = jnp.asarray(s)
    if not slopes:
        return statistic.parts(points)
    return jnp.asarray(jax.jvp(statistic.parts, (points,), (jnp.ones_like(points),))[1])


_compiled_rows = eqx.filter_jit(_rows)


def at_rounded_sums(
    function: Callable[[np.ndarray], np.ndarray],
    s: Float[np.ndarray, " P"],
    shift: float,
    reach: float | int,
) -> tuple[Float[np.ndarray, "rows P"], Float[np.ndarray, "rows P"]]:
    """A function's rows at sums s in [0, reach], and how far each moves if s is off by `shift`.

    The sum of all weights is `reach` only up to rounding, so a jump there counts from both sides;
    a function without a value above `reach` is asked at `reach` instead.
    """
    every = np.maximum(np.stack([s, s - shift, s + shift]), 0)
    every[0] = np.minimum(every[0], reach)
    values = function(every.ravel()).reshape(-1, *every.shape)
    if np.isnan(values).any():
        values = function(np.minimum(every, reach).ravel()).reshape(-1, *every.shape)
    return values[:, 0], np.abs(values[:, 1:] - values[:, :1]).max(axis=1)


def pieces_of(readout: Readout, loss: Loss, k: int, labels: Labels = None) -> Pieces | None:
    """The pieces of loss(y, readout(s)) on [0, k], or None if they are not declared.

    labels: of a junta. A loss of one's own declares its pieces for labels ±1 only.

    >>> from paritylab.models import Zigzag
    >>> from paritylab.problem.losses import LOSSES
    >>> len(pieces_of(Zigzag(2), LOSSES["hinge"], 2).knots)
    4
    """
    if not (isinstance(readout, HasCorners) and loss.quadratic_pieces):
        return None
    if labels not in (None, SIGNS) and LOSSES.get(loss.name) != loss:
        return None
    if not is_fixed((readout, loss)):
        return _pieces(readout, loss, k, labels)
    try:
        return _pieces_once(readout, loss, k, labels)  # type: ignore[arg-type]
    except TypeError:  # holds arrays, so it cannot be looked up
        return _pieces(readout, loss, k, labels)


def _pieces(readout: HasCorners, loss: Loss, k: int, labels: Labels) -> Pieces | None:
    corners = readout.corners(k)
    if corners is None:
        return None
    # The lab's hinges bend at ŷ = 1/y.
    levels = sorted({-1.0, 1.0} | {1 / y for y in labels or () if y})
    knots, values = _with_crossings(corners, levels)
    slopes = np.diff(values) / np.diff(knots)
    region = np.searchsorted(levels, (values[:-1] + values[1:]) / 2)
    constant, first, second = np.moveaxis(_polynomials(loss, labels, levels)[:, region], -1, 0)
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


_pieces_once = lru_cache(maxsize=256)(_pieces)


def _with_crossings(corners: Corners, levels: list[float]) -> Corners:
    """The corners together with the points between them where the readout crosses a level."""
    s, values = [corners.s[:1]], [corners.values[:1]]
    for a, b, left, right in zip(
        corners.s[:-1], corners.s[1:], corners.values[:-1], corners.values[1:], strict=True
    ):
        crossed = [level for level in levels if min(left, right) < level < max(left, right)]
        inner = sorted((a + (b - a) * (level - left) / (right - left), level) for level in crossed)
        inner = [(x, level) for x, level in inner if min(x - a, b - x) > _SAME * (b - a)]
        s.append(np.array([x for x, _ in inner] + [b]))
        values.append(np.array([level for _, level in inner] + [right]))
    return Corners(np.concatenate(s), np.concatenate(values))


def _polynomials(loss: Loss, labels: Labels, levels: list[float]) -> Float[np.ndarray, "rows L 3"]:
    """Coefficients of 1, ŷ, ŷ² for ŷ below, between and above the levels, per row."""
    between = [(a + np.arange(1, 4) * (b - a) / 4) for a, b in pairwise(levels)]
    ends = levels[0] - np.array([3.0, 2.0, 1.0]), levels[-1] + np.array([1.0, 2.0, 3.0])
    points = np.stack([ends[0], *between, ends[1]])
    with float64(), jax.ensure_compile_time_eval():
        values = _loss_rows(loss, labels, jnp.asarray(points))
    step = points[:, 1] - points[:, 0]
    second = (values[..., 0] - 2 * values[..., 1] + values[..., 2]) / (2 * step**2)
    first = (values[..., 2] - values[..., 0]) / (2 * step) - 2 * second * points[:, 1]
    constant = values[..., 1] - first * points[:, 1] - second * points[:, 1] ** 2
    return np.stack([constant, first, second], axis=-1)


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

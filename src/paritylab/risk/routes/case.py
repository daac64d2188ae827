"""What every route is asked and what it answers."""

import math
import sys
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.models.readouts import Readout
from paritylab.precision import AnyArray, Numbers, float64
from paritylab.problem import Junta, Parity
from paritylab.problem.callables import mark_of
from paritylab.problem.losses import Loss
from paritylab.risk.routes.pieces import Pieces, pieces_of
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


#: risk(g, target) for weights g (n,), differentiable in g.
RiskInLoop = Callable[[Float[Array, " n"], Target | JuntaTarget], Float[Array, ""]]


class LoopRisk(NamedTuple):
    """A risk for compiled loops: risk(g, target), and how far its mean may be off at any g.

    target: `Target` of a parity, `JuntaTarget` of a junta.
    """

    risk: RiskInLoop
    error: float


class Propagated(NamedTuple):
    """outer(mean) with its error and the slope of outer there, each of shape (runs,)."""

    value: np.ndarray
    error: np.ndarray
    slope: np.ndarray


def through_outer(loss: Loss, mean: Numbers, error: Numbers) -> Propagated:
    """Carry means (runs,) and their errors through the loss's outer function."""
    mean, error = np.atleast_1d(np.asarray(mean, np.float64)), np.atleast_1d(np.asarray(error))
    if loss.is_mean:
        return Propagated(mean, error + 4 * EPS * np.abs(mean), np.ones_like(mean))
    low, high = mean - error, mean + error
    points = np.stack([mean, low, high, mean - error / 2, mean + error / 2, np.clip(0, low, high)])
    with float64():
        both = jax.vmap(jax.vmap(jax.value_and_grad(loss.outer)))(jnp.asarray(points))
        values, slopes = map(np.asarray, both)
    with np.errstate(invalid="ignore"):
        spread = np.max(np.abs(values - values[0]), axis=0) + 4 * EPS * np.abs(values[0])
    return Propagated(values[0], np.where(np.isfinite(spread), spread, math.inf), slopes[0])


def risk_through_outer(
    loss: Loss,
    mean: float,
    error: float,
    *,
    exact: bool,
    slopes: Float[AnyArray, " n"] | None = None,
    slopes_error: float | None = None,
) -> RouteRisk:
    """What a route found about the mean as what it says about the risk."""
    carried = through_outer(loss, mean, error)
    slope = carried.slope[0]
    # -log|0| has no slope; its error says so.
    with np.errstate(invalid="ignore"):
        if slopes_error is not None and slopes is not None:
            ends = through_outer(loss, np.array([mean - error, mean + error]), np.zeros(2)).slope
            bend = np.max(np.abs(ends - slope))
            spread = abs(slope) * slopes_error + bend * (
                np.max(np.abs(np.asarray(slopes))) + slopes_error
            )
            known = np.isfinite(spread) and np.isfinite(carried.error[0])
            slopes_error = float(spread) if known else math.inf
        if slopes is not None:
            slopes = slope * np.asarray(slopes)
    return RouteRisk(float(carried.value[0]), float(carried.error[0]), exact, slopes, slopes_error)


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

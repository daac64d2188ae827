"""What every route is asked and what it answers."""

import math
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.models.readouts import Readout
from paritylab.precision import AnyArray, Numbers, float64
from paritylab.problem import Junta, Parity
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

#: Points at which a statistic is evaluated in one compiled call.
_BLOCK = 4096


class Statistic(NamedTuple):
    """What is averaged: loss(y, readout(s)) as a function of the label and of s in [0, k].

    pieces: the same as a piecewise quadratic, where readout and loss declare that structure.
    labels: None for a parity; the labels of a junta, one row of the statistic each.
    """

    readout: Readout
    loss: Loss
    k: int
    pieces: Pieces | None
    labels: Labels = None

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
    return Statistic(readout, loss, k, pieces_of(readout, loss, k, labels), labels)


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
        values, slopes = map(np.asarray, _compiled_outer(loss)(points))
    with np.errstate(invalid="ignore"):
        spread = np.max(np.abs(values - values[0]), axis=0) + 4 * EPS * np.abs(values[0])
    return Propagated(values[0], np.where(np.isfinite(spread), spread, math.inf), slopes[0])


@lru_cache(maxsize=64)
def _compiled_outer(loss: Loss) -> Callable[[np.ndarray], tuple[Array, Array]]:
    compiled: Callable[[np.ndarray], tuple[Array, Array]] = jax.jit(
        jax.vmap(jax.vmap(jax.value_and_grad(loss.outer)))
    )
    return compiled


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
            slopes_error = float(spread) if np.isfinite(spread) else math.inf
        if slopes is not None:
            slopes = slope * np.asarray(slopes)
    return RouteRisk(float(carried.value[0]), float(carried.error[0]), exact, slopes, slopes_error)


def evaluated(
    statistic: Statistic, s: Float[np.ndarray, " P"], *, slopes: bool = False
) -> Float[np.ndarray, "rows P"]:
    """Every row, or its derivative, at many points; one compilation serves all blocks of them."""
    blocks = np.resize(s, (-(-len(s) // _BLOCK), _BLOCK))
    with float64():
        values = [np.asarray(_parts(statistic, block, slopes)) for block in blocks]
    return np.concatenate(values, axis=1)[:, : len(s)]


@eqx.filter_jit
def _parts(statistic: Statistic, s: AnyArray, slopes: bool) -> Array:
    if not slopes:
        return statistic.parts(jnp.asarray(s))
    points = jnp.asarray(s)
    return jnp.asarray(jax.jvp(statistic.parts, (points,), (jnp.ones_like(points),))[1])

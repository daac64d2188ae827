"""What is averaged, as every route is asked for it and answers: targets, statistic, case, risk.

Parities and juntas become arrays, so that one compiled call serves many of them. The statistic is
loss(y, readout(s)), a function of the label y and of the attended sum s.
"""

import math
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from types import ModuleType
from typing import NamedTuple, cast, overload

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab._support.precision import AnyArray, float64
from paritylab._support.user_functions import mark_of
from paritylab.models.readouts import Cosine, Readout
from paritylab.problem import Junta, Parity
from paritylab.problem.losses import LOSSES, Loss
from paritylab.risk.routes.pieces import SIGNS, Labels, Pieces, pieces_of, scale_of

EPS = sys.float_info.epsilon

#: Losses that are polynomials of degree ≤ 2 in y and ŷ, whatever the labels.
QUADRATIC = ("squared", "correlation", "log_correlation")
#: Points at which a statistic is evaluated at a time, at most.
_BLOCK = 1 << 16


class Target(NamedTuple):
    """A parity problem as arrays.

    indicator: 1 on B (n,). probabilities: P(x_j = 1), (n,). contrast: sign·(1-2ν), ().
    """

    indicator: AnyArray
    probabilities: AnyArray
    contrast: AnyArray

    def arrays(self) -> "Target":
        """The same as jax arrays of the precision in force."""
        return Target(*map(jnp.asarray, self))


class JuntaTarget(NamedTuple):
    """A junta as arrays. subset: B (k,). table: f (2^k,). contrast: 1-2ν, ()."""

    subset: AnyArray
    probabilities: AnyArray
    table: AnyArray
    contrast: AnyArray

    @property
    def indicator(self) -> Float[Array, " n"]:
        """1 on B (n,)."""
        return jnp.zeros(self.probabilities.shape[-1]).at[jnp.asarray(self.subset)].set(1.0)


class Labelled(NamedTuple):
    """A junta as the routes need it: y is label r for share_r(u) of the inputs with hidden bits u.

    subset: B (k,). probabilities: (n,). shares: (R, 2^k); they sum to one over the labels, and may
    be negative for a real table, whose labels are nodes of an interpolation in y.
    """

    subset: AnyArray
    probabilities: AnyArray
    shares: AnyArray


@overload
def target_of(problem: Parity) -> Target: ...
@overload
def target_of(problem: Junta) -> JuntaTarget: ...
@overload
def target_of(problem: Parity | Junta) -> Target | JuntaTarget: ...
def target_of(problem: Parity | Junta) -> Target | JuntaTarget:
    """The problem's arrays; the contrast says how much of the label survives noise."""
    kept = 1 - 2 * problem.noise
    if isinstance(problem, Junta):
        subset = np.array(problem.subset, dtype=np.int32)
        return JuntaTarget(subset, problem.probabilities, problem.values, np.asarray(kept))
    contrast = np.asarray(problem.sign * kept, dtype=np.float64)
    return Target(problem.indicator, problem.probabilities, contrast)


def stacked_targets(problems: Sequence[Parity | Junta]) -> Target | JuntaTarget:
    """`target_of` every problem, of one kind and equal n, with a leading axis of runs.

    Parities are written into one table: 100,000 of them take longer one by one than to train on.
    """
    if any(issubclass(kind, Junta) for kind in set(map(type, problems))):
        together: JuntaTarget = jax.tree.map(
            lambda *leaves: np.stack(leaves), *map(target_of, problems)
        )
        return together
    parities = cast(Sequence[Parity], problems)
    shape = len(parities), parities[0].n
    indicator, subsets = np.zeros(shape), [each.subset for each in parities]
    sizes = np.fromiter(map(len, subsets), np.int64, len(subsets))
    members = np.fromiter(chain.from_iterable(subsets), np.int64, sizes.sum())
    indicator[np.repeat(np.arange(len(subsets)), sizes), members] = 1.0
    if len({each.bias for each in parities}) == 1:
        probabilities = np.broadcast_to(parities[0].probabilities, shape)
    else:
        probabilities = np.stack([each.probabilities for each in parities])
    contrast = np.array([each.sign * (1 - 2 * each.noise) for each in parities], np.float64)
    return Target(indicator, probabilities, contrast)


def labels_of(problems: Parity | Junta | Sequence[Parity | Junta], loss: Loss) -> Labels:
    """At which labels a statistic is needed for these targets: None for parities, ±1 for Boolean
    juntas, three nodes for real tables, whose loss must be quadratic in y."""
    given = [problems] if isinstance(problems, Parity | Junta) else list(problems)
    if not any(issubclass(kind, Junta) for kind in set(map(type, given))):
        return None
    juntas = [each for each in given if isinstance(each, Junta)]
    if len(juntas) < len(given):
        raise ValueError("one call takes parities or juntas, not both; write a parity as a Junta")
    if all(junta.is_boolean for junta in juntas):
        return SIGNS
    if loss not in (LOSSES[name] for name in QUADRATIC):
        raise ValueError(
            f"a table of real values needs a loss quadratic in y, got {loss.name}; use one of "
            f"{', '.join(QUADRATIC)}, or enumerated_risk or sampled_risk"
        )
    # A power of two, so that tables of about one size share their compiled code; a table of zeros
    # has no scale of its own, and any nodes interpolate it.
    largest = max(float(np.abs(junta.values).max()) for junta in juntas) or 1.0
    reach = 2.0 ** math.ceil(math.log2(largest))
    return (-reach, 0.0, reach)


def labelled(target: Target | JuntaTarget, labels: Labels) -> Target | Labelled:
    """What a route computes with: a `Target`, or a `Labelled` for a junta.

    Shares are the Lagrange polynomials of the labels at E[y | u] = (1-2ν)·f(u): the chances of ±1
    for a Boolean table, and for a real one the weights of three nodes, which give every polynomial
    of degree 2 in y exactly.
    """
    if isinstance(target, Target):
        return target.arrays()
    assert labels is not None
    # A problem's own arrays stay in numpy: nothing to compile for a single case.
    array: ModuleType = np if isinstance(target.table, np.ndarray) else jnp
    mean, shares = array.asarray(target.contrast) * array.asarray(target.table), []
    for label in labels:
        others = [other for other in labels if other != label]
        shares.append(math.prod((mean - other) / (label - other) for other in others))
    subset, probabilities = array.asarray(target.subset), array.asarray(target.probabilities)
    return Labelled(subset, probabilities, array.stack(shares))


def labels_at(bits: Float[Array, "N n"], target: Target | JuntaTarget) -> Float[Array, " N"]:
    """Noiseless labels of bit strings."""
    if isinstance(target, JuntaTarget):
        hidden = bits[:, target.subset].astype(jnp.int32)
        digits = jnp.arange(hidden.shape[1], dtype=jnp.int32)[None, :]
        return jnp.asarray(target.table, bits.dtype)[jnp.sum(hidden << digits, axis=1)]
    return jnp.sign(target.contrast) * (1 - 2 * jnp.mod(bits @ target.indicator, 2))


class Statistic(NamedTuple):
    """What is averaged: loss(y, readout(s)) as a function of the label and of s in [0, k].

    pieces: the same as a piecewise quadratic, where readout and loss declare that structure.
    scale: of the pieces, what rounding errors are measured against. labels: None for a parity; the
    labels of a junta, one row of the statistic each. mark: None, or new for every call with a
    user's function, so that compiled code never outlives a change.
    """

    readout: Readout
    loss: Loss
    k: int
    pieces: Pieces | None
    scale: float
    labels: Labels = None
    mark: object = None

    @property
    def is_closed(self) -> bool:
        """Whether a closed form is known: cos(πs) with the lab's losses."""
        return self.loss in LOSSES.values() and isinstance(self.readout, Cosine)

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
    mark = mark_of(readout, loss)
    if mark is None:
        with suppress(TypeError):  # one that holds arrays cannot be looked up
            return _statistic_once(readout, loss, k, labels)
    return _statistic(readout, loss, k, labels, mark)


def _statistic(
    readout: Readout, loss: Loss, k: int, labels: Labels, mark: object = None
) -> Statistic:
    pieces = pieces_of(readout, loss, k, labels)
    scale = math.nan if pieces is None else scale_of(pieces, k)
    return Statistic(readout, loss, k, pieces, scale, labels, mark)


_statistic_once = lru_cache(maxsize=256)(_statistic)


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
    """A risk, how far it may be off, whether only by rounding, and the slopes dR/dg (n,)."""

    value: float
    error: float
    exact: bool
    slopes: Float[AnyArray, " n"] | None = None


@dataclass(frozen=True, eq=False)
class WeightRisk:
    """risk(g, target) for compiled loops, differentiable in the weights g (n,).

    risk: its target is the `Target` of a parity or the `JuntaTarget` of a junta. error: how far the
    mean inside it may be off at any weights; None where that depends on the weights, as for
    "Fourier series" of declared pieces (equal weights pile their sums up on a kink). There
    `population_risk` measures the error of the model that was trained. route: how it is computed.
    """

    risk: Callable[[Float[Array, " n"], Target | JuntaTarget], Float[Array, ""]]
    error: float | None
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
) -> RouteRisk:
    """What a route found about the mean as what it says about risk = outer(mean).

    The error is the largest change of outer over a few points of the interval mean ± error, 0 among
    them where it lies inside: -log|0| is infinite, and the error says so. The slopes dR/dg are
    outer'(mean)·dmean/dg.
    """
    value, tilt, spread = mean, 1.0, error
    if not loss.is_mean:
        low, high = mean - error, mean + error
        some = np.array([mean, low, high, (mean + low) / 2, (mean + high) / 2, 0.0])
        with float64(), np.errstate(invalid="ignore"):
            both = jax.vmap(jax.value_and_grad(loss.outer))(jnp.clip(jnp.asarray(some), low, high))
            values, tilts = map(np.asarray, both)
            value, tilt = float(values[0]), float(tilts[0])
            spread = float(np.max(np.abs(values - value)))
    error = spread + 4 * EPS * abs(value) if math.isfinite(spread) else math.inf
    with np.errstate(invalid="ignore"):
        return RouteRisk(value, error, exact, None if slopes is None else tilt * np.asarray(slopes))


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
        values = [np.asarray(rows(statistic, jnp.asarray(block), slopes)) for block in blocks]
    return np.concatenate(values, axis=1)[:, : len(s)]


def _rows(statistic: Statistic, points: Array, slopes: bool) -> Array:
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

"""Readouts: from the attended sum s to a prediction of the parity (-1)^s."""

import math
from collections.abc import Callable
from typing import NamedTuple, cast, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab._support.checks import shortened
from paritylab._support.precision import AnyArray, Numbers, float64
from paritylab._support.user_functions import check_scalar_function, name_of
from paritylab.problem import Junta, Parity
from paritylab.problem.hidden_set import check_problem


def smooth_relu(z: Float[AnyArray, "..."], b: float | Float[Array, ""]) -> Float[Array, "..."]:
    """σ(z) = (z + √(z²+b))/2, which is ReLU at b = 0; a traced b has to be positive."""
    if not isinstance(b, Array) and b == 0:
        return jnp.maximum(z, 0)
    return (jnp.asarray(z) + jnp.sqrt(z**2 + b)) / 2


class Corners(NamedTuple):
    """Points (s, h(s)) between which a readout is a straight line; the first at 0, s ascending.

    A readout with a method `corners(reach)` declares itself piecewise linear on [0, reach], both
    ends included, so that exact routes can use it; the method gives None where it is not.
    """

    s: Float[np.ndarray, " P"]
    values: Float[np.ndarray, " P"]


@final
class Zigzag(eqx.Module):
    """h(s) = 1 + Σ_{i=1..k} (-1)^i (8i-4) σ(s + 1/2 - i), equation (2) of HG1.

    k: size of the parity set. b ≥ 0: smoothing of σ; at b = 0 h(s) = (-1)^s at every
    integer 0..k and h is linear between half-integers with slopes 0, -4, +8, -12, …

    >>> [float(Zigzag(3)(jnp.asarray(s))) for s in (0.0, 1.0, 2.0, 3.0)]
    [1.0, -1.0, 1.0, -1.0]
    """

    k: int = eqx.field(static=True)
    b: float = eqx.field(static=True, default=0.0)

    def __check_init__(self) -> None:
        if isinstance(self.k, bool) or self.k != self.k // 1 or not 1 <= self.k < math.inf:
            raise ValueError(f"the zigzag readout needs a whole number k ≥ 1, got k={self.k}")
        if not 0 <= self.b < math.inf:
            raise ValueError(f"the smoothing b must be ≥ 0 and finite, got {self.b}")

    @property
    def output_weights(self) -> Float[np.ndarray, " k"]:
        """(-1)^i (8i-4), i = 1..k."""
        i = np.arange(1, self.k + 1)
        return np.asarray(np.where(i % 2 == 0, 1.0, -1.0) * (8.0 * i - 4.0))

    @property
    def thresholds(self) -> Float[np.ndarray, " k"]:
        """i - 1/2, i = 1..k: where the slope changes."""
        return np.arange(1, self.k + 1) - 0.5

    def corners(self, reach: float | int) -> Corners | None:
        """0, the thresholds below `reach`, and `reach`; None if smoothed."""
        if self.b > 0:
            return None
        inside = self.thresholds[self.thresholds < reach]
        s = np.concatenate([[0.0], inside, [float(reach)]])
        return Corners(s, 1 + np.maximum(s[:, None] - self.thresholds, 0) @ self.output_weights)

    def __call__(self, s: Float[AnyArray, "..."] | float) -> Float[Array, "..."]:
        z = jnp.asarray(s)[..., None] - self.thresholds.reshape((1,) * jnp.ndim(s) + (-1,))
        return 1 + smooth_relu(z, self.b) @ self.output_weights


def _floats(numbers: Numbers) -> tuple[float, ...]:
    return tuple(float(number) for number in np.asarray(numbers, dtype=np.float64).ravel())


@final
class PiecewiseLinear(eqx.Module):
    """Straight lines through the points (knots_p, values_p), constant beyond the ends.

    knots: ascending, at least two. values: h at the knots. Because its pieces are known, exact
    routes serve it as they serve the zigzag.

    >>> [float(PiecewiseLinear((0, 1, 2), (1, -1, 1))(s)) for s in (0.0, 0.75, 2.0)]
    [1.0, -0.5, 1.0]
    """

    knots: tuple[float, ...] = eqx.field(static=True, converter=_floats)
    values: tuple[float, ...] = eqx.field(static=True, converter=_floats)

    def __check_init__(self) -> None:
        if len(self.knots) != len(self.values) or len(self.knots) < 2:
            raise ValueError(
                f"a piecewise linear readout needs two or more knots and as many values, "
                f"got {len(self.knots)} and {len(self.values)}"
            )
        if not np.all(np.diff(self.knots) > 0) or not np.all(np.isfinite(self.values)):
            raise ValueError(
                f"knots must ascend and values must be finite, got {self.knots} and {self.values}"
            )

    def corners(self, reach: float | int) -> Corners:
        """0, the knots between, and `reach`."""
        inside = [knot for knot in self.knots if 0 < knot < reach]
        s = np.array([0.0, *inside, float(reach)])
        return Corners(s, np.interp(s, self.knots, self.values))

    def __call__(self, s: Float[AnyArray, "..."] | float) -> Float[Array, "..."]:
        knots, values = jnp.asarray(self.knots), jnp.asarray(self.values)
        return jnp.interp(jnp.asarray(s), knots, values)


@final
class Cosine(eqx.Module):
    """cos(πs), which is the parity at every integer."""

    def __call__(self, s: Float[AnyArray, "..."] | float) -> Float[Array, "..."]:
        return jnp.cos(jnp.pi * s)


_bowl: Callable[[AnyArray | float], Array] = jax.jit(lambda z: 1 - 2 * jnp.asarray(z) ** 2)


@final
class Bowl(eqx.Module):
    """1 - 2z², which is -x_i·x_j at z = (x_i + x_j)/2 for signs x."""

    def __call__(self, z: Float[AnyArray, "..."] | float) -> Float[Array, "..."]:
        return _bowl(z)


@final
class PairReadout(eqx.Module):
    """1 - 2(1 - s)², HG2's readout: `Bowl` of z = 1 - s, and -x_i·x_j at s = (number of ones)."""

    def __call__(self, s: Float[AnyArray, "..."] | float) -> Float[Array, "..."]:
        return _bowl(1 - jnp.asarray(s))


@final
class TrainableReadout(eqx.Module):
    """h(s) = offset + Σ_i weights_i·max(0, s - thresholds_i), whose numbers can be trained.

    >>> h = TrainableReadout.of(Zigzag(3))
    >>> [float(h(s)) for s in (0.0, 1.0, 2.0, 3.0)]
    [1.0, -1.0, 1.0, -1.0]
    """

    offset: Float[AnyArray, ""]
    weights: Float[AnyArray, " units"]
    thresholds: Float[AnyArray, " units"]

    @classmethod
    def of(cls, readout: Zigzag) -> "TrainableReadout":
        """The same function, its numbers free."""
        if readout.b:
            raise ValueError("a smoothed zigzag has no ReLU form")
        return cls(np.ones(()), readout.output_weights, readout.thresholds)

    def __call__(self, s: Float[AnyArray, "..."] | float) -> Float[Array, "..."]:
        steps = jnp.maximum(jnp.asarray(s)[..., None] - jnp.asarray(self.thresholds), 0)
        return jnp.asarray(self.offset) + steps @ jnp.asarray(self.weights)


#: Every scalar function of the attended sum can serve as a readout.
Readout = Callable[[Array], Array]


def as_readout(readout: object, k: int) -> Readout:
    """A readout from its name ("zigzag", "cos", "pair"); a function of s passes after a trial call.

    k: size of the parity set; s runs over [0, k].

    >>> as_readout("zigzag", 3).k
    3
    """
    if readout == "zigzag":
        return Zigzag(k)
    if readout == "cos":
        return Cosine()
    if readout == "pair":
        return PairReadout()
    if not callable(readout):
        raise ValueError(
            f'readout must be "zigzag", "cos", "pair" or a function of s, got {shortened(readout)}'
        )
    function = cast(Readout, readout)
    if not isinstance(readout, Zigzag | PiecewiseLinear | Cosine | Bowl | PairReadout):
        _check(function, k)
    return function


def default_readout(problem: Parity | Junta) -> Readout:
    """The readout that is right on every input once a head sits on each hidden bit.

    The zigzag of a parity; for a junta that depends only on the number of ones, straight lines
    through its values at s = 0 … k. No function of Σ_j x_j serves other juntas: name a readout.

    >>> default_readout(Junta.conjunction(9, (2, 5))).values
    (1.0, 1.0, -1.0)
    """
    if isinstance(problem, Parity):
        return Zigzag(problem.k)
    check_problem(problem)
    values = problem.by_count
    if values is None:
        raise ValueError(
            "this junta depends on more than the number of its ones, so no readout of their sum "
            "is right on every input; give readout="
        )
    return PiecewiseLinear(tuple(range(problem.k + 1)), values)


def _check(readout: Readout, k: int) -> None:
    """A clear error unless the readout is a finite function of s on [0, k] that varies."""
    what = f"the readout {name_of(readout)}"
    check_scalar_function(what, readout, 1)
    reach = max(k, 1)
    s = np.append(np.linspace(0, reach, 257), reach * np.random.default_rng(0).random(256))
    with float64(), jax.ensure_compile_time_eval():
        found = jax.vmap(readout)(jnp.asarray(s))
        if isinstance(found, jax.core.Tracer):  # its own numbers are being traced
            return
        values = np.asarray(found, dtype=np.float64)
    bad = s[~np.isfinite(values)]
    if bad.size:
        raise ValueError(
            f"{what} is not a number or infinite at s={bad[0]:.3g}; "
            f"it must be finite on all of [0, {reach}]"
        )
    if np.ptp(values) == 0:
        raise ValueError(
            f"{what} is {values[0]:.3g} for every s in [0, {reach}]: "
            "a readout must depend on s, or no attention can matter"
        )

"""Readouts: from the attended sum s to a prediction of the parity (-1)^s."""

import abc
from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.precision import AnyArray


def smooth_relu(z: Float[AnyArray, "..."], b: float) -> Float[Array, "..."]:
    """σ(z) = (z + √(z²+b))/2, which is ReLU at b = 0."""
    if b == 0:
        return jnp.maximum(z, 0)
    return (jnp.asarray(z) + jnp.sqrt(z**2 + b)) / 2


class AbstractReadout(eqx.Module):
    """A scalar function of the attended sum, applied entry by entry."""

    @abc.abstractmethod
    def __call__(self, s: Float[Array, "..."]) -> Float[Array, "..."]:
        """The prediction at s."""


@final
class Zigzag(AbstractReadout):
    """h(s) = 1 + Σ_{i=1..k} (-1)^i (8i-4) σ(s + 1/2 - i), equation (2) of HG1.

    k: size of the parity set. b ≥ 0: smoothing of σ; at b = 0 h(s) = (-1)^s at every
    integer 0..k and h is linear between half-integers with slopes 0, -4, +8, -12, …

    >>> [float(Zigzag(3)(jnp.asarray(s))) for s in (0.0, 1.0, 2.0, 3.0)]
    [1.0, -1.0, 1.0, -1.0]
    """

    k: int = eqx.field(static=True)
    b: float = eqx.field(static=True, default=0.0)

    def __check_init__(self):
        if self.k < 1:
            raise ValueError(f"the zigzag readout needs k ≥ 1, got k={self.k}")
        if not self.b >= 0:
            raise ValueError(f"the smoothing b must be ≥ 0, got {self.b}")

    @property
    def output_weights(self) -> Float[np.ndarray, " k"]:
        """(-1)^i (8i-4), i = 1..k."""
        i = np.arange(1, self.k + 1)
        return np.where(i % 2 == 0, 1.0, -1.0) * (8.0 * i - 4.0)

    @property
    def thresholds(self) -> Float[np.ndarray, " k"]:
        """i - 1/2, i = 1..k: where the slope changes."""
        return np.arange(1, self.k + 1) - 0.5

    def __call__(self, s):
        z = jnp.asarray(s)[..., None] - self.thresholds.reshape((1,) * jnp.ndim(s) + (-1,))
        return 1 + smooth_relu(z, self.b) @ self.output_weights


@final
class Cosine(AbstractReadout):
    """cos(πs), which is the parity at every integer."""

    def __call__(self, s):
        return jnp.cos(jnp.pi * s)


@final
class Bowl(AbstractReadout):
    """1 - 2z², which is -x_i·x_j at z = (x_i + x_j)/2 for signs x."""

    def __call__(self, z):
        return 1 - 2 * jnp.asarray(z) ** 2


@final
class Tent(AbstractReadout):
    """1 - |2z| from two ReLUs, which is also -x_i·x_j at z = (x_i + x_j)/2."""

    def __call__(self, z):
        return 1 - smooth_relu(2 * jnp.asarray(z), 0.0) - smooth_relu(-2 * jnp.asarray(z), 0.0)


#: Readouts of the mean of two signs, by name.
XOR_READOUTS: dict[str, AbstractReadout] = {"square": Bowl(), "abs": Tent()}


#: Any scalar function of the attended sum can serve as a readout.
Readout = Callable[..., Any]


def as_readout(readout: str | Readout, k: int) -> Readout:
    """A readout from its name ("zigzag" or "cos"); a function of s passes unchanged.

    >>> as_readout("zigzag", 3).k
    3
    """
    if readout == "zigzag":
        return Zigzag(k)
    if readout == "cos":
        return Cosine()
    if callable(readout):
        return readout
    raise ValueError(f'readout must be "zigzag", "cos" or a function of s, got {readout!r}')

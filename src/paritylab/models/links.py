"""Link functions φ of the chain of thought: φ((a+b)/2) = a·b for signs a and b, flat there."""

import abc
from collections.abc import Callable
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from paritylab._support.checks import shortened
from paritylab._support.precision import float64
from paritylab._support.user_functions import check_scalar_function


class AbstractLink(eqx.Module):
    """φ: [-1, 1] → [-1, 1], even, φ(0) = -1, φ(±1) = 1, φ'(0) = φ'(±1) = 0.

    A subclass writes `__call__`; the others follow from it unless it knows them better.
    """

    @abc.abstractmethod
    def __call__(self, t: Float[Array, "..."]) -> Float[Array, "..."]:
        """φ(t)."""

    @property
    def curvature(self) -> float:
        """c in φ(t) = -1 + c·t² + O(t⁴): (φ(h)+1)/h² at two small h, extrapolated to h = 0."""
        with float64(), jax.ensure_compile_time_eval():
            near, far = (float(self(jnp.asarray(h)) + 1) / h**2 for h in (5e-4, 1e-3))
        return (4 * near - far) / 3

    @property
    def steepest(self) -> float:
        """‖φ'‖∞, over 4001 points of [-1, 1]."""
        with float64(), jax.ensure_compile_time_eval():
            return float(jnp.abs(self.slope(jnp.linspace(-1, 1, 4001))).max())

    def slope(self, t: ArrayLike) -> Float[Array, "..."]:
        """φ'(t), by automatic differentiation."""
        t = jnp.asarray(t)
        tangent: Array = jax.jvp(self.__call__, (t,), (jnp.ones_like(t),))[1]
        return tangent


# Compiled as one: outside of compiled code every operation would be a program of its own.
_minus_cosine: Callable[[ArrayLike], Array] = jax.jit(lambda t: -jnp.cos(jnp.pi * t))
_sine: Callable[[ArrayLike], Array] = jax.jit(lambda t: jnp.pi * jnp.sin(jnp.pi * t))


@final
class CosineLink(AbstractLink):
    """φ(t) = -cos(πt)."""

    @property
    def curvature(self) -> float:
        return float(jnp.pi**2 / 2)

    @property
    def steepest(self) -> float:
        return float(jnp.pi)

    def __call__(self, t: ArrayLike) -> Float[Array, "..."]:
        return _minus_cosine(t)

    def slope(self, t: ArrayLike) -> Float[Array, "..."]:
        return _sine(t)


@final
class SlopedLink(AbstractLink):
    """Quadratic within a of 0 and ±1, straight with the given slope between; a = 1 - 2/slope.

    slope = 4 is the published piecewise quadratic, 4t² - 1 up to t = 1/2; any slope in (2, 4] will
    do. Equal to -1 + c·Σ_± [ReQU(±t) - ReQU(±t-a) - ReQU(±t-1+a)] with ReQU(t) = max(t, 0)²: six
    neurons.

    >>> [float(SlopedLink()(jnp.asarray(t))) for t in (0.0, 0.5, -1.0)]
    [-1.0, 0.0, 1.0]
    """

    steep: float = eqx.field(static=True, default=4.0)

    def __check_init__(self) -> None:
        if not 2 < self.steep <= 4:
            raise ValueError(f"the slope must be in (2, 4], got {self.steep}")

    @property
    def knee(self) -> float:
        """a, where the parabola around 0 ends."""
        return 1 - 2 / self.steep

    @property
    def curvature(self) -> float:
        return 1 / (self.knee * (1 - self.knee))

    @property
    def steepest(self) -> float:
        return self.steep

    @property
    def neurons(self) -> tuple[tuple[float, float, float], ...]:
        """(output weight, input weight, bias) of the six ReQU neurons; the output bias is -1."""
        c, a = self.curvature, self.knee
        return tuple(
            (weight, sign, bias)
            for sign in (1.0, -1.0)
            for weight, bias in ((c, 0.0), (-c, -a), (-c, a - 1))
        )

    def __call__(self, t: ArrayLike) -> Float[Array, "..."]:
        total = sum(w * jnp.maximum(s * t + b, 0) ** 2 for w, s, b in self.neurons)
        return jnp.asarray(total - 1)


@final
class FunctionLink(AbstractLink):
    """A plain even function φ of t, elementwise in jax."""

    function: Callable[[Array], Array] = eqx.field(static=True)

    def __call__(self, t: ArrayLike) -> Float[Array, "..."]:
        return self.function(jnp.asarray(t))


#: Links by name: the published piecewise quadratic, -cos(πt), and one with slope just above 2.
LINKS: dict[str, AbstractLink] = {
    "cos": CosineLink(),
    "quadratic": SlopedLink(),
    "gentle": SlopedLink(2.2),
}


def as_link(link: object) -> AbstractLink:
    """A link from its name or from an even function φ of t; an `AbstractLink` passes unchanged.

    >>> as_link(lambda t: 4 * t**2 * (2 - t**2) - 1 - 2 * t**2).curvature > 0
    True
    """
    if isinstance(link, AbstractLink):
        return link
    if isinstance(link, str) and link in LINKS:
        return LINKS[link]
    if isinstance(link, type):
        raise ValueError(f"link must be built first: {link.__name__}(), not the class")
    if isinstance(link, str) or not callable(link):
        raise ValueError(
            f"link must be one of {', '.join(LINKS)}, an AbstractLink or an even function φ of t, "
            f"got {shortened(link)}"
        )
    made = FunctionLink(link)
    check_link(made)
    return made


def check_link(link: AbstractLink) -> None:
    """One clear line if φ is not elementwise in jax, not even, or not -1, 1 at 0, ±1."""
    name = getattr(getattr(link, "function", link), "__name__", type(link).__name__)
    t = np.linspace(-1, 1, 101)
    check_scalar_function(f"the link {name}", link, 1)
    with float64(), jax.ensure_compile_time_eval():
        values = np.asarray(jax.vmap(link)(jnp.asarray(t)))
    for at, wanted in ((0, 1), (50, -1), (100, 1)):
        if not abs(values[at] - wanted) < 1e-6:
            raise ValueError(
                f"the link {name} needs φ({t[at]:g}) = {wanted}, got {float(values[at]):.6g}"
            )
    if not np.abs(values - values[::-1]).max() < 1e-6:
        raise ValueError(f"the link {name} must be even: φ(t) = φ(-t)")

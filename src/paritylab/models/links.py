"""Link functions φ of the chain of thought: φ((a+b)/2) = a·b for signs a and b, flat there."""

import abc
from typing import final

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float


class AbstractLink(eqx.Module):
    """φ: [-1, 1] → [-1, 1], even, φ(0) = -1, φ(±1) = 1, φ'(0) = φ'(±1) = 0."""

    @property
    @abc.abstractmethod
    def curvature(self) -> float:
        """c in φ(t) = -1 + c·t² + O(t⁴)."""

    @property
    @abc.abstractmethod
    def steepest(self) -> float:
        """‖φ'‖∞."""

    @abc.abstractmethod
    def __call__(self, t: Float[Array, "..."]) -> Float[Array, "..."]:
        """φ(t)."""

    @abc.abstractmethod
    def slope(self, t: Float[Array, "..."]) -> Float[Array, "..."]:
        """φ'(t)."""


@final
class CosineLink(AbstractLink):
    """φ(t) = -cos(πt)."""

    @property
    def curvature(self) -> float:
        return float(jnp.pi**2 / 2)

    @property
    def steepest(self) -> float:
        return float(jnp.pi)

    def __call__(self, t):
        return -jnp.cos(jnp.pi * t)

    def slope(self, t):
        return jnp.pi * jnp.sin(jnp.pi * t)


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

    def __check_init__(self):
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

    def __call__(self, t):
        total = sum(w * jnp.maximum(s * t + b, 0) ** 2 for w, s, b in self.neurons)
        return jnp.asarray(total - 1)

    def slope(self, t):
        parts = (2 * w * s * jnp.maximum(s * t + b, 0) for w, s, b in self.neurons)
        return jnp.asarray(sum(parts))


#: Links by name: the published piecewise quadratic, -cos(πt), and one with slope just above 2.
LINKS: dict[str, AbstractLink] = {
    "cos": CosineLink(),
    "quadratic": SlopedLink(),
    "gentle": SlopedLink(2.2),
}


def as_link(link: str | AbstractLink) -> AbstractLink:
    """A link from its name; an `AbstractLink` passes unchanged."""
    if isinstance(link, AbstractLink):
        return link
    if link not in LINKS:
        raise ValueError(f"link must be one of {', '.join(LINKS)} or an AbstractLink, got {link!r}")
    return LINKS[link]

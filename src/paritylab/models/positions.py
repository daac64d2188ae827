"""Position codes: how a head tells one position from another."""

import abc
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.precision import AnyArray
from paritylab.problem.sampling import as_key


class AbstractPositionCode(eqx.Module):
    """n vectors of a given width; a head scores position j by <direction, code_j>."""

    @property
    @abc.abstractmethod
    def n(self) -> int:
        """Number of positions."""

    @property
    @abc.abstractmethod
    def width(self) -> int:
        """Trainable numbers per head."""

    @abc.abstractmethod
    def scores(self, directions: Float[Array, "heads width"]) -> Float[Array, "heads n"]:
        """<a_i, p_j> for every head i and position j."""

    @abc.abstractmethod
    def vectors(self, positions) -> Float[np.ndarray, "some width"]:
        """The code vectors of the given positions."""


@final
class Circle(AbstractPositionCode):
    """HG1's code: position j sits at angle 2πj/n, p_j = [sin, cos], two numbers per head.

    The paper numbers positions from 1, we from 0; the two differ by a rotation.
    """

    table: Float[AnyArray, "n 2"]

    def __init__(self, n: int):
        angles = 2 * np.pi * np.arange(n) / n
        self.table = np.stack([np.sin(angles), np.cos(angles)], axis=1)

    @property
    def n(self) -> int:
        return self.table.shape[0]

    @property
    def width(self) -> int:
        return 2

    def scores(self, directions):
        return directions @ self.table.T

    def vectors(self, positions):
        return np.asarray(self.table)[np.asarray(positions)]


@final
class OneHot(AbstractPositionCode):
    """p_j = e_j: one trainable number per head and position; no table is ever built."""

    size: int = eqx.field(static=True)

    @property
    def n(self) -> int:
        return self.size

    @property
    def width(self) -> int:
        return self.size

    def scores(self, directions):
        return jnp.asarray(directions)

    def vectors(self, positions):
        return (np.asarray(positions)[:, None] == np.arange(self.size)[None, :]).astype(float)


@final
class RandomSigns(AbstractPositionCode):
    """Random ±1/√width entries, centred so that Σ_j p_j = 0."""

    table: Float[AnyArray, "n width"]

    @classmethod
    def draw(cls, key, n: int, width: int) -> "RandomSigns":
        """A fresh code from a jax key or an integer seed."""
        if width < 1:
            raise ValueError(f"width must be at least 1, got {width}")
        bits = np.asarray(jax.random.bernoulli(as_key(key), 0.5, (n, width)), dtype=np.float64)
        signs = (1.0 - 2.0 * bits) / np.sqrt(width)
        return cls(signs - signs.mean(axis=0, keepdims=True))

    @property
    def n(self) -> int:
        return self.table.shape[0]

    @property
    def width(self) -> int:
        return self.table.shape[1]

    def scores(self, directions):
        return directions @ self.table.T

    def vectors(self, positions):
        return np.asarray(self.table)[np.asarray(positions)]

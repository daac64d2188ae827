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


class AbstractTable(AbstractPositionCode):
    """A code written out as a table, one row per position."""

    table: eqx.AbstractVar[Float[AnyArray, "n width"]]

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


@final
class Circle(AbstractTable):
    """HG1's code: position j sits at angle 2πj/n, p_j = [sin, cos], two numbers per head.

    The paper numbers positions from 1, we from 0; the two differ by a rotation.
    """

    table: Float[AnyArray, "n 2"]

    def __init__(self, n: int):
        angles = 2 * np.pi * np.arange(n) / n
        self.table = np.stack([np.sin(angles), np.cos(angles)], axis=1)


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
class RandomSigns(AbstractTable):
    """Random ±1/√width entries, centred so that Σ_j p_j = 0."""

    table: Float[AnyArray, "n width"]

    @classmethod
    def draw(cls, key, n: int, width: int, *, balanced: bool = False) -> "RandomSigns":
        """A fresh code from a jax key or an integer seed.

        balanced: every column holds as many +1 as -1 (n even), so that all rows keep norm 1.
        """
        if width < 1:
            raise ValueError(f"width must be at least 1, got {width}")
        if balanced and n % 2:
            raise ValueError(f"balanced positions need an even n, got {n}")
        if balanced:
            words = np.asarray(jax.random.key_data(as_key(key))).ravel()
            halves = np.broadcast_to((np.arange(n) < n // 2)[:, None], (n, width))
            bits = np.random.default_rng(words).permuted(halves, axis=0)
        else:
            bits = np.asarray(jax.random.bernoulli(as_key(key), 0.5, (n, width)))
        signs = (1.0 - 2.0 * bits) / np.sqrt(width)
        return cls(signs - signs.mean(axis=0, keepdims=True))


@final
class Sphere(AbstractTable):
    """Positions drawn uniformly from the unit sphere."""

    table: Float[AnyArray, "n width"]

    @classmethod
    def draw(cls, key, n: int, width: int) -> "Sphere":
        """A fresh code from a jax key or an integer seed."""
        if width < 1:
            raise ValueError(f"width must be at least 1, got {width}")
        draws = np.asarray(jax.random.normal(as_key(key), (n, width)), dtype=np.float64)
        return cls(draws / np.linalg.norm(draws, axis=1, keepdims=True))


#: Position codes whose width is free.
WITH_WIDTH = ("signs", "balanced", "sphere")


def draw_positions(kind: str, key, n: int, width: int | None = None) -> "OneHot | AbstractTable":
    """A position code by name: signs, balanced, sphere (of the given width), onehot, circle.

    >>> draw_positions("onehot", 0, 8).width
    8
    """
    if kind in WITH_WIDTH:
        if width is None:
            raise ValueError(f"{kind} positions need a width")
        if kind == "sphere":
            return Sphere.draw(key, n, width)
        return RandomSigns.draw(key, n, width, balanced=kind == "balanced")
    if kind == "onehot":
        return OneHot(n)
    if kind == "circle":
        return Circle(n)
    raise ValueError(f"positions must be signs, balanced, sphere, onehot or circle, got {kind!r}")

"""Position codes: how a head tells one position from another."""

import abc
from collections.abc import Callable, Iterator, Sequence
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt8

from paritylab._support.checks import shortened, whole
from paritylab._support.precision import AnyArray, Numbers
from paritylab.problem.keys import Key, as_key

#: Positions are numbered by 32-bit numbers.
MOST_POSITIONS = 2**31 - 1
#: Numbers in a table of random positions, 0.5 GB, above which a draw is refused.
LARGEST_TABLE = 1 << 26
#: Packed positions unpacked at a time.
BLOCK = 1 << 15
#: The eight signs of every byte, highest bit first.
_SIGNS = 2 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32) - 1
#: Positions, or groups of them.
Places = Numbers | Sequence[Sequence[int]]


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
    def scores(self, directions: Float[Array, "... width"]) -> Float[Array, "... n"]:
        """<a_i, p_j> for every head i and position j."""

    @abc.abstractmethod
    def vectors(self, positions: Places) -> Float[np.ndarray, "*some width"]:
        """The code vectors of the given positions, which may stand in groups."""


class AbstractTable(AbstractPositionCode):
    """A code written out as a table, one row per position."""

    table: eqx.AbstractVar[Float[AnyArray, "n width"]]

    def __check_init__(self) -> None:
        traced = isinstance(self.table, jax.Array)
        if self.table.ndim < 2 or not (traced or np.isfinite(self.table).all()):
            raise ValueError(
                "a position code is a table of finite numbers with a row per position, "
                f"(n, width), got {shortened(self.table)}"
            )

    @property
    def n(self) -> int:
        return self.table.shape[0]

    @property
    def width(self) -> int:
        return self.table.shape[1]

    def scores(self, directions: Float[Array, "... width"]) -> Float[Array, "... n"]:
        return directions @ self.table.T

    def vectors(self, positions: Places) -> Float[np.ndarray, "*some width"]:
        return np.asarray(np.asarray(self.table)[np.asarray(positions)])


@final
class Circle(AbstractTable):
    """HG1's code: position j sits at angle 2πj/n, p_j = [sin, cos], two numbers per head.

    The paper numbers positions from 1, we from 0; the two differ by a rotation.
    """

    table: Float[AnyArray, "n 2"]

    def __init__(self, n: int) -> None:
        n = whole("n", n, 1, MOST_POSITIONS)
        angles = 2 * np.pi * np.arange(n) / n
        self.table = np.stack([np.sin(angles), np.cos(angles)], axis=1)


@final
class OneHot(AbstractPositionCode):
    """p_j = e_j: one trainable number per head and position; no table is ever built."""

    size: int = eqx.field(static=True)

    def __check_init__(self) -> None:
        whole("size", self.size, 1, MOST_POSITIONS)

    @property
    def n(self) -> int:
        return self.size

    @property
    def width(self) -> int:
        return self.size

    def scores(self, directions: Float[Array, "... width"]) -> Float[Array, "... n"]:
        return jnp.asarray(directions)

    def vectors(self, positions: Places) -> Float[np.ndarray, "*some width"]:
        return np.asarray(np.asarray(positions)[:, None] == np.arange(self.size), float)


@final
class RandomSigns(AbstractTable):
    """Random ±1/√width entries, centred so that Σ_j p_j = 0."""

    table: Float[AnyArray, "n width"]

    @classmethod
    def draw(cls, key: Key, n: int, width: int, *, balanced: bool = False) -> "RandomSigns":
        """A fresh code from a jax key or an integer seed.

        balanced: every column holds as many +1 as -1 (n even), so that all rows keep norm 1.
        """
        if width < 1:
            raise ValueError(f"width must be at least 1, got {width}")
        if n * width > LARGEST_TABLE:
            raise ValueError(
                f"{n:,} random positions of width {width:,} exceed {LARGEST_TABLE:,} numbers; give "
                "a smaller width, or see streamed_step, which keeps them as packed bits"
            )
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
class PackedSigns(eqx.Module):
    """p_j = signs/√width, one bit per entry: n·width/8 bytes, for millions of positions.

    Unlike `RandomSigns` the positions are not centred; softmax does not see the difference, which
    is one number added to every score.
    """

    packed: UInt8[AnyArray, "n bytes"]
    size: int = eqx.field(static=True)

    @classmethod
    def draw(
        cls, generator: np.random.Generator, n: int, width: int, *, balanced: bool = False
    ) -> "PackedSigns":
        """A fresh code; balanced: every column holds as many +1 as -1, n even.

        >>> PackedSigns.draw(np.random.default_rng(0), 100, 12).packed.shape
        (100, 2)
        """
        if not balanced:
            return cls(generator.integers(0, 256, (n, -(-width // 8)), dtype=np.uint8), width)
        if n % 2:
            raise ValueError(f"balanced positions need an even n, got {n}")
        packed = np.zeros((n, -(-width // 8)), dtype=np.uint8)
        half = np.arange(n) < n // 2
        for column in range(width):
            bits = generator.permutation(half).astype(np.uint8)
            packed[:, column // 8] |= bits << (7 - column % 8)
        return cls(packed, width)

    @property
    def n(self) -> int:
        return self.packed.shape[0]

    @property
    def width(self) -> int:
        return self.size

    def vectors(self, positions: Places) -> Float[np.ndarray, "*some width"]:
        rows = np.asarray(self.packed)[np.asarray(positions)]
        signs = np.unpackbits(rows, axis=-1, count=self.size) * 2.0 - 1
        return np.asarray(signs / np.sqrt(self.size))

    def sign_blocks(self, rows: int = BLOCK) -> Iterator[tuple[int, np.ndarray]]:
        """(first position, signs in float32) of one block of positions after the other.

        A block lies where the one before it lay.
        """
        signs = np.empty((min(rows, self.n), self.packed.shape[1], 8), np.float32)
        for at in range(0, self.n, rows):
            part = np.asarray(self.packed[at : at + rows])
            found = np.take(_SIGNS, part, axis=0, out=signs[: len(part)], mode="clip")
            yield at, found.reshape(len(part), -1)[:, : self.size]

    def totals(self) -> Float[np.ndarray, " width"]:
        """Sum of the signs of all positions in every column."""
        parts = (signs.sum(axis=0, dtype=np.float64) for _, signs in self.sign_blocks())
        return np.asarray(sum(parts))


@final
class PositionTable(AbstractTable):
    """A code of one's own: row j is the vector of position j."""

    table: Float[AnyArray, "n width"]


#: Position codes by name; those whose width is free draw a fresh table per run.
POSITIONS = ("circle", "onehot", "signs", "balanced")
WITH_WIDTH = ("signs", "balanced")

#: A name, a code, its table (n, width), or a function of n that gives the table.
Positions = str | AbstractPositionCode | AnyArray | Callable[[int], AnyArray]


def is_drawn(positions: Positions) -> bool:
    """Whether a code is random, so that every run has its own."""
    return isinstance(positions, str) and positions in WITH_WIDTH


def as_code(
    positions: Positions, n: int, *, key: Key = 0, width: int | None = None
) -> AbstractPositionCode:
    """A position code for n positions, from a name or from one's own parts.

    key, width: for the random codes signs and balanced; the others have a width of their
    own, and another one is refused.

    >>> as_code("onehot", 8).width, as_code(lambda n: np.eye(n)[:, :3], 8).width
    (8, 3)
    """
    n = whole("n", n, 1, MOST_POSITIONS)
    if isinstance(positions, str):
        code = _named_code(positions, n, key, width)
    elif isinstance(positions, AbstractPositionCode):
        code = positions
    else:
        table = positions(n) if callable(positions) else positions
        code = PositionTable(np.asarray(table, dtype=np.float64))
    if code.n != n:
        raise ValueError(f"the position code has {code.n} positions, the problem n={n}")
    if width not in (None, code.width):
        raise ValueError(f"this position code has width {code.width}, got width={width}")
    return code


def _named_code(name: str, n: int, key: Key, width: int | None) -> AbstractPositionCode:
    """A code by its name; only the random ones take a key and a width."""
    if name in WITH_WIDTH:
        if width is None:
            raise ValueError(f"{name} positions need a width")
        return RandomSigns.draw(key, n, width, balanced=name == "balanced")
    if name == "onehot":
        return OneHot(n)
    if name == "circle":
        return Circle(n)
    raise ValueError(f"positions must be one of {', '.join(POSITIONS)} or a code, got {name!r}")

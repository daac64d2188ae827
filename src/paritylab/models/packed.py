"""Random sign positions kept as packed bits: a code for millions of positions."""

from collections.abc import Iterator
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt8

from paritylab.checks import shortened, whole
from paritylab.models.positions import AbstractPositionCode, Places
from paritylab.precision import AnyArray

#: Positions unpacked at a time.
BLOCK = 1 << 15
#: The eight signs of every byte, highest bit first.
_SIGNS = 2 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32) - 1


@final
class PackedSigns(AbstractPositionCode):
    """p_j = signs/√width, one bit per entry: n·width/8 bytes.

    Unlike `RandomSigns` the positions are not centred; softmax does not see the difference, which
    is one number added to every score.
    """

    packed: UInt8[AnyArray, "n bytes"]
    size: int = eqx.field(static=True)

    def __check_init__(self) -> None:
        if self.packed.ndim < 2 or self.packed.dtype != np.uint8:
            raise ValueError(f"packed must be bytes of shape (n, …), got {shortened(self.packed)}")
        whole("size", self.size, 1)

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

    def scores(self, directions: Float[Array, "... width"]) -> Float[Array, "... n"]:
        """<w, p_j> of all positions, BLOCK of them unpacked at a time."""
        rows = min(BLOCK, self.n)
        blocks = -(-self.n // rows)
        packed = jnp.pad(jnp.asarray(self.packed), ((0, blocks * rows - self.n), (0, 0)))
        scaled = jnp.asarray(directions) / np.sqrt(self.size)

        def block(part: Array) -> Array:
            bits = jnp.unpackbits(part, axis=1, count=self.size).astype(scaled.dtype)
            return jnp.asarray(scaled @ (2 * bits - 1).T)

        parts: Array = jax.lax.map(block, packed.reshape(blocks, rows, -1))
        return jnp.moveaxis(parts, 0, 1).reshape(scaled.shape[0], -1)[:, : self.n]

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

"""Rows of trees: fresh ones, and streams of them that need the memory of one batch."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree, UInt8

from paritylab.precision import AnyArray
from paritylab.problem.sampling import draw_signs, packed_signs
from paritylab.problem.tree import tree_tokens

#: Rows of samples drawn at a time, and those worked on at a time: as many as a cache holds.
BATCH, PART = 8192, 2048


def draw_tokens(
    key: Array, leaves: Int[AnyArray, " k"], n: int, rows: int
) -> Float[Array, "rows tokens"]:
    """Fresh input signs and the true tokens of their chain."""
    tokens: Array = tree_tokens(draw_signs(key, rows, n), leaves)
    return tokens


def over_runs(one: Callable[..., PyTree], *per_run: PyTree) -> PyTree:
    """one(…) for every run in turn, stacked: the rows of a single run may fill the memory."""
    return jax.lax.map(lambda given: one(*given), per_run)


class Columns(NamedTuple):
    """Tokens of many rows, one column per row: running sums over tokens then add whole lines."""

    inputs: Float[Array, "n rows"]
    inner: Float[Array, "nodes rows"]

    def tokens(self) -> Float[Array, "rows tokens"]:
        """The same with a line per row."""
        return jnp.concatenate(self).T


class Stream(NamedTuple):
    """The rows of a run, or of many, drawn again at every pass so that one batch is in memory.

    leaves: of the tree, (k,). key: batch i comes from fold_in(key, i). samples: N. n: bits. size:
    rows per batch. A stream of many runs has leaves (runs, k) and one key per run.
    """

    leaves: Int[AnyArray, "... k"]
    key: Array
    samples: int | np.int32
    n: int
    size: int

    @classmethod
    def of(cls, leaves: Int[np.ndarray, "... k"], key: Array, samples: int, n: int) -> "Stream":
        """Batches hold a power of two of rows, so that few shapes compile."""
        size = min(BATCH, 1 << max(6, (samples - 1).bit_length()))
        return cls(np.asarray(leaves, np.int32), key, np.int32(samples), n, size)

    def of_run(self, leaves: Array, key: Array) -> "Stream":
        """The training rows of one run of many, which come from fold_in(its key, 1)."""
        return self._replace(leaves=leaves, key=jax.random.fold_in(key, 1))

    def mean(self, add: Callable[[Columns, Bool[Array, " rows"]], PyTree], zero: PyTree) -> PyTree:
        """Mean over all rows of what add(columns, kept) sums over some; kept: rows that count."""
        # A cache's worth of rows on a processor, the whole batch elsewhere.
        rows = min(PART, self.size) if jax.default_backend() == "cpu" else self.size

        def batch(index: Array, total: PyTree) -> PyTree:
            packed = packed_signs(jax.random.fold_in(self.key, index), self.size, self.n)
            parts = packed.reshape(-1, rows, packed.shape[1])
            (added, _), _ = jax.lax.scan(part, (total, index * self.size), parts)
            return added

        def part(carried: tuple[PyTree, Array], packed: Array) -> tuple[tuple[PyTree, Array], None]:
            total, first = carried
            kept = first + jnp.arange(rows) < self.samples
            added = add(as_columns(packed, self.leaves, self.n), kept)
            return (jax.tree.map(jnp.add, total, added), first + rows), None

        batches = (self.samples + self.size - 1) // self.size
        total = jax.lax.fori_loop(0, batches, batch, zero)
        return jax.tree.map(lambda each: each / self.samples, total)


def as_columns(packed: UInt8[Array, "rows bytes"], leaves: Int[AnyArray, " k"], n: int) -> Columns:
    """The tokens of rows whose input signs are packed bits."""

    def signs(byte: Array) -> Array:
        bits = (byte[None, :] >> jnp.arange(7, -1, -1, dtype=jnp.uint8)[:, None]) & 1
        return 1 - 2 * bits.astype(jnp.float32)

    inputs = jax.lax.map(signs, packed.T).reshape(-1, packed.shape[0])[:n]
    parts, below = [], inputs[leaves]
    while below.shape[0] > 1:
        below = below[0::2] * below[1::2]
        parts.append(below)
    return Columns(inputs, jnp.concatenate(parts))

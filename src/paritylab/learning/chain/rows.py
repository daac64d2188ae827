"""Training rows of a chain: drawn again at every pass, or kept in memory.

A row is the input signs of a string and the true tokens of its tree. `Stream` needs the memory of
one batch; `Table` keeps every row of a run.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree, UInt8

from paritylab._support.precision import AnyArray
from paritylab.problem.sampling import binary_digits, draw_signs, packed_signs
from paritylab.problem.tree import level_ends, tree_tokens
from paritylab.theory.ks_hardness import mean_label

#: Rows of samples drawn at a time, and those worked on at a time: as many as a cache holds.
BATCH, PART = 8192, 2048
#: Rows on which a teacher-forced model generates its own answers during training.
SHOWN = 10_000

#: What a pass adds up for some rows: tokens, one line per row, and which of the rows count; None
#: asks for the mean over all of them instead.
AddTokens = Callable[[Float[Array, "rows tokens"], Bool[Array, " rows"] | None], PyTree]


def rows_per_batch(samples: int) -> int:
    """A power of two, so that few shapes compile."""
    return min(BATCH, 1 << max(6, (samples - 1).bit_length()))


def draw_tokens(
    key: Array, leaves: Int[AnyArray, " k"], n: int, rows: int
) -> Float[Array, "rows tokens"]:
    """Fresh input signs and the true tokens of their chain."""
    tokens: Array = tree_tokens(draw_signs(key, rows, n), leaves)
    return tokens


def all_tokens(leaves: Int[AnyArray, " k"], n: int) -> Float[Array, "rows tokens"]:
    """The true tokens of all 2^n inputs."""
    bits = binary_digits(jnp.arange(1 << n, dtype=jnp.uint32), n)
    tokens: Array = tree_tokens(1 - 2 * bits.astype(float), leaves)
    return tokens


def over_runs(train_run: Callable[..., PyTree], *per_run: PyTree) -> PyTree:
    """train_run(…) for every run in turn, stacked: the rows of a single run may fill the memory."""
    return jax.lax.map(lambda inputs: train_run(*inputs), per_run)


@eqx.filter_jit
def map_stream(train_run: Callable[..., PyTree], settings: PyTree, rows: "Stream") -> PyTree:
    """train_run(settings, rows of a run, its key) for every run of a stream.

    Leaves of `settings` that are not arrays are compiled for. The training rows of a run come from
    fold_in(its key, 1).
    """

    def run(leaves: Array, key: Array) -> PyTree:
        run_rows = rows._replace(leaves=leaves, key=jax.random.fold_in(key, 1))
        return train_run(settings, run_rows, key)

    return over_runs(run, rows.leaves, rows.key)


class Flips(NamedTuple):
    """Probabilities with which training rows state a token wrongly.

    tokens: of every inner token, independently. label: of the answer, besides.
    """

    tokens: Array | np.floating
    label: Array | np.floating

    def signs(self, key: Array, nodes: int, rows: int) -> Float[Array, "nodes rows"]:
        """-1 where a token is stated wrongly, else 1."""
        draws = jax.random.uniform(key, (nodes + 1, rows), jnp.float32)
        wrong = draws[:-1] < self.tokens
        wrong = wrong.at[-1].set(wrong[-1] ^ (draws[-1] < self.label))
        return jnp.where(wrong, -1.0, 1.0).astype(jnp.float32)


class Columns(NamedTuple):
    """Tokens of many rows, one column per row: running sums over tokens then add whole lines."""

    inputs: Float[Array, "n rows"]
    inner: Float[Array, "nodes rows"]

    def tokens(self) -> Float[Array, "rows tokens"]:
        """The same with a line per row."""
        return jnp.concatenate(self).T

    @classmethod
    def of(cls, tokens: Float[Array, "rows tokens"], n: int) -> "Columns":
        """Rows of tokens, transposed."""
        return cls(tokens.T[:n], tokens.T[n:])


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


class Stream(NamedTuple):
    """The rows of a run, or of many, drawn again at every pass so that one batch is in memory.

    leaves: of the tree, (k,). key: batch i comes from fold_in(key, i). samples: N. n: bits. size:
    rows per batch. A stream of many runs has leaves (runs, k) and one key per run. flips: tokens
    that are stated wrongly; None for none. averaged: inner tokens are their means over all targets.
    """

    leaves: Int[AnyArray, "... k"]
    key: Array
    samples: int | np.int32
    n: int
    size: int
    flips: Flips | None = None
    averaged: bool = False

    @classmethod
    def of(
        cls,
        leaves: Int[np.ndarray, "... k"],
        key: Array,
        samples: int,
        n: int,
        flips: Flips | None = None,
    ) -> "Stream":
        """Rows of so many samples."""
        size = rows_per_batch(samples)
        return cls(np.asarray(leaves, np.int32), key, np.int32(samples), n, size, flips)

    def mean(self, add: Callable[[Columns, Bool[Array, " rows"]], PyTree], zero: PyTree) -> PyTree:
        """Mean over all rows of what add(columns, counted) sums over some of them.

        counted: rows that count; the last batch may hold others.
        """
        # A cache's worth of rows on a processor, the whole batch elsewhere.
        rows = min(PART, self.size) if jax.default_backend() == "cpu" else self.size

        def batch(index: Array, total: PyTree) -> PyTree:
            key = jax.random.fold_in(self.key, index)
            packed = packed_signs(key, self.size, self.n)
            parts = packed.reshape(-1, rows, packed.shape[1])
            (added, _, _), _ = jax.lax.scan(part, (total, index * self.size, key), parts)
            return added

        def part(state: tuple[PyTree, Array, Array], packed: Array) -> tuple[PyTree, None]:
            total, first, key = state
            counted = first + jnp.arange(rows) < self.samples
            columns = self._columns(packed, jax.random.fold_in(key, first))
            total = jax.tree.map(jnp.add, total, add(columns, counted))
            return (total, first + rows, key), None

        batches = (self.samples + self.size - 1) // self.size
        total = jax.lax.fori_loop(0, batches, batch, zero)
        return jax.tree.map(lambda each: each / self.samples, total)

    def mean_of_tokens(self, add: AddTokens, zero: PyTree) -> PyTree:
        """`mean` of what add(tokens, counted) sums, tokens with a line per row."""
        return self.mean(lambda columns, counted: add(columns.tokens(), counted), zero)

    def shown(self) -> Float[Array, "rows tokens"]:
        """Rows of its first batch, in which a model generates its own answers."""
        key = jax.random.fold_in(self.key, 0)
        packed = packed_signs(key, self.size, self.n)[: min(SHOWN, self.size)]
        return self._columns(packed, jax.random.fold_in(key, 0)).tokens()

    def _columns(self, packed: UInt8[Array, "rows bytes"], flips_key: Array) -> Columns:
        """Tokens as the learner is shown them."""
        columns = as_columns(packed, self.leaves, self.n)
        if self.averaged:
            k = self.leaves.shape[0]
            columns = columns._replace(inner=mean_tokens(columns.inputs.T, k).T)
        if self.flips is None:
            return columns
        wrong = self.flips.signs(flips_key, *columns.inner.shape)
        return columns._replace(inner=columns.inner * wrong)


class Table(NamedTuple):
    """Rows of one run that stay in memory. n: bits."""

    tokens: Float[Array, "rows tokens"]
    n: int

    @classmethod
    def drawn(
        cls,
        key: Array,
        leaves: Int[AnyArray, " k"],
        n: int,
        rows: int,
        flips: Flips | None = None,
        *,
        averaged: bool = False,
    ) -> "Table":
        """Random rows; the inputs come from `key`, what is stated wrongly from fold_in(key, 1)."""
        return cls.of(draw_tokens(key, leaves, n, rows), n, key, flips, averaged=averaged)

    @classmethod
    def of(
        cls,
        tokens: Float[Array, "rows tokens"],
        n: int,
        key: Array,
        flips: Flips | None,
        *,
        averaged: bool,
    ) -> "Table":
        """True tokens, or their means over all targets, of which some are then stated wrongly."""
        signs, inner = tokens[:, :n], tokens[:, n:]
        if averaged:
            inner = mean_tokens(signs, inner.shape[1] + 1)
        if flips is not None:
            inner = inner * flips.signs(jax.random.fold_in(key, 1), *inner.T.shape).T
        return cls(jnp.concatenate([signs, inner], axis=1), n)

    def mean(self, add: Callable[[Columns, Bool[Array, " rows"]], PyTree], zero: PyTree) -> PyTree:
        """Mean over all rows of what add(columns, counted) sums over them."""
        rows = len(self.tokens)
        total = add(Columns.of(self.tokens, self.n), jnp.ones(rows, bool))
        return jax.tree.map(lambda each: each / rows, total)

    def mean_of_tokens(self, add: AddTokens, zero: PyTree) -> PyTree:
        """Mean over all rows, which add(tokens, None) takes by itself."""
        return add(self.tokens, None)

    def batch(self, number: Array, size: int) -> "Table":
        """Batch `number` of so many rows; after the last one the first comes again."""
        batches = len(self.tokens) // size
        start = size * (number % batches)
        return Table(jax.lax.dynamic_slice_in_dim(self.tokens, start, size), self.n)

    def shown(self) -> Float[Array, "rows tokens"]:
        """The first rows, in which a model generates its own answers."""
        return self.tokens[: min(SHOWN, len(self.tokens))]


def mean_tokens(signs: Float[Array, "rows n"], k: int) -> Float[Array, "rows nodes"]:
    """Every inner token's mean over all targets: a node of level l is the parity of 2^l bits.

    A loss that is linear in the true tokens, as that of a generated chain is up to a constant, has
    with these tokens the mean gradient over all targets.
    """
    levels = [mean_labels(signs, 1 << level) for level in range(1, k.bit_length())]
    sizes = np.diff(level_ends(0, k))
    return jnp.repeat(jnp.stack(levels, axis=1), sizes, axis=1, total_repeat_length=k - 1)


def mean_labels(signs: Float[Array, "... n"], k: int) -> Float[Array, "..."]:
    """E_p[p(x)] over all parities of k bits, for rows of signs."""
    n = signs.shape[-1]
    minus = jnp.round((n - jnp.sum(signs, axis=-1)) / 2).astype(int)
    return jnp.asarray(mean_label(n, k), signs.dtype)[minus]


class Draw(NamedTuple):
    """How the rows of a run are drawn.

    kind: "Sample" (rows drawn once), "Fresh" (at every step) or "Population" (all inputs). samples:
    N, of a run or of a step. stream: drawn again at every pass instead of kept. size: rows per
    batch of a stream. batch: rows of a step, a part of a sample; None for all.
    """

    n: int
    kind: str
    samples: int | np.int32
    stream: bool
    size: int
    batch: int | None = None
    flips: Flips | None = None

    def rows(
        self, leaves: Int[AnyArray, " k"], key: Array, *, averaged: bool = False
    ) -> Callable[[Array], Stream | Table]:
        """The rows of a step, by its number. averaged: tokens are means over all targets.

        A batch of a stream is a stream of its own, from fold_in(key, its number); so are the rows
        of a fresh step.
        """
        n, flips, fresh = self.n, self.flips, self.kind == "Fresh"
        if self.stream:
            rows = self.batch or self.samples
            stream = Stream(leaves, key, rows, n, self.size, flips, averaged)
            if not fresh and self.batch is None:
                return lambda number: stream
            batches = None if fresh else self.samples // (self.batch or self.samples)

            def at_step(number: Array) -> Stream:
                index = number if batches is None else number % batches
                return stream._replace(key=jax.random.fold_in(key, index))

            return at_step
        count = int(self.samples)
        if fresh:
            return lambda number: Table.drawn(
                jax.random.fold_in(key, number), leaves, n, count, flips, averaged=averaged
            )
        if self.kind == "Population":
            table = Table.of(all_tokens(leaves, n), n, key, None, averaged=averaged)
        else:
            table = Table.drawn(key, leaves, n, count, flips, averaged=averaged)
        batch = self.batch
        return (
            (lambda number: table) if batch is None else lambda number: table.batch(number, batch)
        )

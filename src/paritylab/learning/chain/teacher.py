"""The chain of thought learned in one step: teacher forcing as a streamed matrix product."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree, UInt8

from paritylab.checks import shortened, whole
from paritylab.learning.chain.chain_learner import (
    ChainLearner,
    Descended,
    Job,
    answers,
    draw_tokens,
    over_runs,
    pairs_found,
)
from paritylab.learning.contract import register_learner
from paritylab.learning.data import MOST_ROWS
from paritylab.learning.parts import LinkPart
from paritylab.models.chain import MASKS, ChainModel, visible_tokens
from paritylab.models.links import AbstractLink, as_link
from paritylab.options import LINK, Choice, Doc, Gt
from paritylab.precision import AnyArray
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import fold_keys, packed_signs
from paritylab.problem.tree import ParityTree, level_ends, random_trees
from paritylab.theory.ks import child_signal, step_error

#: Rows of samples drawn at a time, and those worked on at a time: as many as a cache holds.
BATCH, PART = 8192, 2048


@register_learner("teacher")
@dataclass(frozen=True, eq=False)
class TeacherStep(ChainLearner):
    """Theorem 5: one gradient step from W = 0 on teacher-forced chains, from a sample of trees.

    link: φ, a name or one's own. mask: "token" lets a node see every earlier token, "level" only
    lower levels. eta: η, the `usual_step` for the number of samples if None.

    A solved run has recovered its tree too.

    >>> from paritylab.learning import Sample, learn
    >>> from paritylab.problem import random_trees
    >>> bool(learn(TeacherStep(), Sample(random_trees(16, 4, runs=2), 20_000)).solved.all())
    True
    """

    link: Annotated[LinkPart, LINK, Doc("Link function φ.")] = "cos"
    mask: Annotated[str, Choice(("token", "level")), Doc("What a node sees.")] = "token"
    eta: Annotated[float | None, Gt(0), Doc("Step size; chosen from n, k and N if absent.")] = None

    def _descend(self, job: Job) -> Descended:
        """One step for every run; the trace is W before and after it."""
        link, data, leaves, keys, trace = job
        eta = self.eta
        if eta is None:
            eta = usual_step(data.n, data.k, link, data.samples, self.mask)
        stream = _Stream(data.n, data.k, self.mask, batch_size(data.samples))
        counts = np.int32(data.samples)
        found = _steps(link, np.float32(eta), counts, leaves, keys, stream, trace is not None)
        scores, losses = jax.tree.map(np.asarray, found)
        both = np.stack([np.zeros_like(scores), scores], axis=1)
        risk = {} if trace is None else {"step": np.arange(2), "risk": np.stack(losses, axis=1)}
        return Descended(scores, {}, {**risk, "scores": both})


class _Stream(NamedTuple):
    """What a compiled stream of rows is specialised on; size: rows per batch."""

    n: int
    k: int
    mask: str
    size: int


def batch_size(samples: int, most: int = BATCH) -> int:
    """Rows per batch: a power of two, so that few shapes compile."""
    return min(most, 1 << max(6, (samples - 1).bit_length()))


def teacher_gradient(
    tree: ParityTree,
    key: int | Array,
    samples: int,
    *,
    link: LinkPart = "cos",
    mask: str = "token",
    batch: int = BATCH,
) -> Float[Array, "tokens nodes"]:
    """∂L/∂W at W = 0 with teacher forcing, L = (1/2N) Σ_m ‖φ(ẑ_m) - x_m‖².

    ∂L/∂w_{j,m} = (<r_m, x_j> - <r_m, ẑ_m>)/(N·M) with r_m = (φ(ẑ_m) - x_m)·φ'(ẑ_m), ẑ_m the mean of
    the M tokens m sees: one product XᵀR per batch, only one batch in memory.
    """
    samples, batch = whole("samples", samples, 1, MOST_ROWS), whole("batch", batch, 1)
    if not isinstance(mask, str) or mask not in MASKS:
        raise ValueError(f"mask must be one of {', '.join(MASKS)}, got {shortened(mask)}")
    stream = _Stream(tree.n, tree.k, mask, batch_size(samples, batch))
    leaves = np.asarray(tree.leaves, np.int32)
    return _compiled_gradient(as_link(link), np.int32(samples), leaves, as_key(key), stream)


@eqx.filter_jit
def _steps(
    link: AbstractLink,
    eta: np.float32,
    samples: np.int32,
    leaves: Int[AnyArray, "runs k"],
    keys: Array,
    stream: _Stream,
    traced: bool,
) -> PyTree:
    """Scores of every run after its step, and its loss before and after if traced."""

    def one(leaves: Array, key: Array) -> tuple[Array, tuple[Array, ...]]:
        data_key = jax.random.fold_in(key, 1)
        scores = -eta * _streamed_gradient(link, samples, leaves, data_key, stream)
        if not traced:
            return scores, ()
        both = (jnp.zeros_like(scores), scores)
        models = (ChainModel(each, stream.n, link, stream.mask) for each in both)
        return scores, tuple(
            _forced_loss(model, samples, leaves, data_key, stream) for model in models
        )

    return over_runs(one, leaves, keys)


def _streamed(
    add: Callable[["Columns", Bool[Array, " rows"]], Array],
    zero: Array,
    samples: Array | np.int32,
    leaves: Int[AnyArray, " k"],
    key: Array,
    stream: _Stream,
) -> Array:
    """Mean over rows of what add(columns, kept) sums over a batch; kept: rows that count."""

    def batch(index: Array, total: Array) -> Array:
        packed = packed_signs(jax.random.fold_in(key, index), stream.size, stream.n)
        parts = packed.reshape(-1, rows_at_a_time, packed.shape[1])
        (added, _), _ = jax.lax.scan(part, (total, index * stream.size), parts)
        return added

    def part(carried: tuple[Array, Array], packed: Array) -> tuple[tuple[Array, Array], None]:
        (total, first), rows = carried, packed.shape[0]
        columns = as_columns(packed, leaves, stream.n)
        kept = first + jnp.arange(rows) < samples
        return (total + add(columns, kept), first + rows), None

    # A cache's worth of rows on a processor, the whole batch elsewhere.
    fits = jax.default_backend() == "cpu" and stream.size % PART == 0
    rows_at_a_time = PART if fits else stream.size
    batches = (samples + stream.size - 1) // stream.size
    total: Array = jax.lax.fori_loop(0, batches, batch, zero)
    return total / samples


def _streamed_gradient(
    link: AbstractLink,
    samples: Array | np.int32,
    leaves: Int[AnyArray, " k"],
    key: Array,
    stream: _Stream,
) -> Float[Array, "tokens nodes"]:
    """The gradient at W = 0, summed over batches: only one batch of tokens is in memory."""

    def add(columns: Columns, kept: Array) -> Array:
        return _column_gradient(columns, link, stream.mask, kept)

    zero = jnp.zeros((stream.n + stream.k - 1, stream.k - 1), jnp.float32)
    return _streamed(add, zero, samples, leaves, key, stream)


_compiled_gradient = eqx.filter_jit(_streamed_gradient)


def _forced_loss(
    model: ChainModel, samples: np.int32, leaves: Array, key: Array, stream: _Stream
) -> Float[Array, ""]:
    """(1/2N) Σ_m ‖φ(ẑ_m) - x_m‖² on the rows of the stream, true tokens as input."""
    attention = model.attention().T

    def add(columns: Columns, kept: Array) -> Array:
        inputs, inner = columns
        means = attention[:, : stream.n] @ inputs + attention[:, stream.n :] @ inner
        errors = model.link(means) - inner
        return jnp.sum(jnp.where(kept[None, :], errors**2, 0)) / 2

    return _streamed(add, jnp.zeros((), jnp.float32), samples, leaves, key, stream)


class Columns(NamedTuple):
    """Tokens of many rows, one column per row: running sums over tokens then add whole lines."""

    inputs: Float[Array, "n rows"]
    inner: Float[Array, "nodes rows"]


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


def batch_gradient(
    tokens: Float[Array, "rows tokens"], n: int, k: int, link: AbstractLink, mask: str
) -> Float[Array, "tokens nodes"]:
    """Sum over rows of the gradient of ½Σ_m(φ(ẑ_m) - x_m)² at W = 0."""
    columns = Columns(tokens.T[:n], tokens.T[n : n + k - 1])
    return _column_gradient(columns, link, mask)


def _column_gradient(
    columns: Columns, link: AbstractLink, mask: str, kept: Bool[Array, " rows"] | None = None
) -> Float[Array, "tokens nodes"]:
    """`batch_gradient` of transposed rows; kept: rows that count."""
    inputs, inner = columns
    # At W = 0 a node attends evenly to the M tokens it sees, so ẑ is a mean of signs and the
    # softmax's derivative is (1/M)(x_j - ẑ): the gradient is one product of tokens and residuals,
    # less the same number for every token of a node.
    visible = visible_tokens(len(inputs), len(inner) + 1, mask)
    seen = visible.sum(axis=0).astype(np.float32)[:, None]
    z = _seen_sums(columns, mask) / seen
    residual = (link(z) - inner) * link.slope(z) / seen
    if kept is not None:
        residual = jnp.where(kept[None, :], residual, 0)

    def product(tokens: Array) -> Array:
        over_rows = (((1,), (1,)), ((), ()))
        highest = jax.lax.Precision.HIGHEST
        return jax.lax.dot_general(tokens, residual, over_rows, precision=highest)

    whole = jnp.concatenate([product(inputs), product(inner)])
    return jnp.where(visible, whole - jnp.sum(residual * z, axis=1)[None, :], 0)


def _seen_sums(columns: Columns, mask: str) -> Float[Array, "nodes rows"]:
    """Sum of all tokens that every node sees."""
    inputs, inner = columns

    # Two routes to the same whole numbers. On a processor a scan reads every line once: 1 ms where
    # cumsum takes 22 (511 nodes, 2048 rows). On an accelerator cumsum keeps all units busy.
    def one_by_one(start: Array, inner: Array) -> Array:
        sums: Array = jax.lax.scan(lambda total, own: (total + own, total), start, inner)[1]
        return sums

    def at_once(start: Array, inner: Array) -> Array:
        return start[None, :] + jnp.cumsum(inner, axis=0) - inner

    start = jnp.sum(inputs, axis=0)
    before: Array = jax.lax.platform_dependent(start, inner, cpu=one_by_one, default=at_once)
    if mask == "token":
        return before
    ends = np.asarray(level_ends(0, len(inner) + 1))
    return before[np.repeat(ends[:-1], np.diff(ends))]


def usual_step(
    n: int, k: int, link: LinkPart = "cos", samples: int | None = None, mask: str = "token"
) -> float:
    """η for N samples: the one whose step is predicted to go wrong least (`theory.ks.step_error`).

    Without N the root's children get a score of ln M + 5 above the M tokens it sees: little leak,
    and children that an error of the gradient tips apart as little as possible.

    >>> [round(usual_step(1024, 512, samples=each * 1024) / 1024**2) for each in (112, 1000)]
    [10, 3]
    """
    rule, tokens = as_link(link), n + k - 2
    score = np.log(tokens) + 5
    if samples is not None:
        score = step_error(n, k, float(samples), rule, mask).score
    return float(score / child_signal(tokens, rule))


class ChainCurve(NamedTuple):
    """After N rows of its own growing stream, has a run found every pair, and is it solved?

    Flags (N, runs); solved also asks for every fresh input to be right.
    """

    samples: np.ndarray
    found: np.ndarray
    solved: np.ndarray


def chain_curve(
    n: int,
    k: int,
    samples: Sequence[int] | np.ndarray,
    *,
    runs: int,
    link: LinkPart = "cos",
    seed: int = 0,
    inputs: int = 2000,
) -> ChainCurve:
    """One teacher-forced step from growing prefixes of a stream, for a grid of N.

    Every N has its own `usual_step`. Run i draws its tree and its rows from fold_in(seed, i).
    """
    grid, rule = np.asarray(samples, dtype=np.int32), as_link(link)
    if grid.size < 1 or (np.diff(grid, prepend=0) < 1).any():
        raise ValueError(f"samples must be a growing list of numbers from 1, got {samples}")
    etas = [usual_step(n, k, rule, int(size)) for size in grid]
    trees = random_trees(n, k, runs, key=seed)
    leaves = np.array([tree.leaves for tree in trees], dtype=np.int32)
    keys = fold_keys(as_key(seed), np.arange(runs))
    stream = _Stream(n, k, "token", batch_size(int(np.diff(grid, prepend=0).max())))
    with jax.default_matmul_precision("highest"):
        sizes = np.asarray(etas, np.float32)
        found = _curves(rule, sizes, grid, leaves, keys, stream, inputs)
    return ChainCurve(grid, *(np.asarray(each).T for each in found))


@eqx.filter_jit
def _curves(
    link: AbstractLink,
    etas: Float[AnyArray, " sizes"],
    grid: Int[AnyArray, " sizes"],
    leaves: Int[AnyArray, "runs k"],
    keys: Array,
    stream: _Stream,
    inputs: int,
) -> PyTree:
    """For every run and every N of the grid: are all pairs found, and are fresh inputs right?

    The sum over a prefix of the stream grows with N, so all N together cost as many rows as the
    largest. Fresh inputs are asked only where every pair was found.
    """

    def one(leaves: Array, key: Array) -> PyTree:
        def right(scores: Array) -> Array:
            tokens = draw_tokens(jax.random.fold_in(key, 1), leaves, stream.n, inputs)
            return answers(ChainModel(scores, stream.n, link), tokens).wrong == 0

        def longer(total: Array, at: Array) -> tuple[Array, tuple[Array, Array]]:
            more = grid[at] - jnp.where(at > 0, grid[at - 1], 0)
            rows = jax.random.fold_in(key, 2 + at)
            # Means of the new rows, weighed by their number: a sum over the whole prefix.
            total = total + more * _streamed_gradient(link, more, leaves, rows, stream)
            scores = -etas[at] / grid[at] * total
            found = pairs_found(scores, leaves) == 1
            return total, (found, jax.lax.cond(found, right, lambda _: jnp.array(False), scores))

        zero = jnp.zeros((stream.n + stream.k - 1, stream.k - 1), jnp.float32)
        return jax.lax.scan(longer, zero, jnp.arange(grid.shape[0]))[1]

    return over_runs(one, leaves, keys)

"""What a chain descends: the loss of its tokens or of its answer, and the gradient."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree

from paritylab.learning.chain.rows import Columns, Stream, Table
from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.models.links import AbstractLink
from paritylab.problem.tree import level_ends

#: What is compared with the truth.
SUPERVISION = ("teacher", "chain", "answer")
#: A model from its trained arrays.
Build = Callable[[PyTree], ChainModel]


class Objective(NamedTuple):
    """L = Σ_m c_m·½ mean (x̂_m - x_m)² over the inner tokens.

    supervision: "teacher" compares every token, written from the true tokens; "chain" every token
    that the model generates from the bits alone; "answer" the last of these. mean_loss: c_m is
    1/(k - 1) instead of 1. answer_weight: added to the c of the answer.
    """

    supervision: str
    mean_loss: bool = False
    answer_weight: float = 0.0

    def weights(self, passes: Float[Array, " levels"], k: int) -> Float[Array, " nodes"]:
        """c of every token: a silenced level's are 0."""
        answer = np.arange(k - 1) == k - 2
        if self.supervision == "answer":
            return jnp.asarray(1.0 * answer)
        sizes = np.diff(level_ends(0, k))
        chain = jnp.repeat(passes, sizes, total_repeat_length=k - 1)
        chain = chain / (k - 1) if self.mean_loss else chain
        return chain + self.answer_weight * answer if self.answer_weight else chain


class Losses(NamedTuple):
    """Before a step. risk: what is descended. answer: ½ mean (ŷ - y)² of the self-generated answer.
    chain: mean of the same over all tokens, as they were supervised."""

    risk: Float[Array, "..."]
    answer: Float[Array, "..."]
    chain: Float[Array, "..."]


def losses_and_gradient(
    objective: Objective,
    build: Build,
    parameters: PyTree,
    passes: Float[Array, " levels"],
    rows: Stream | Table,
) -> tuple[Losses, PyTree]:
    """Losses on the rows, and the gradient of the objective in the parameters.

    passes: a factor per level, 0 where a curriculum silences it. Under "teacher" the loss of the
    answer is that of the answer which the model generates itself, on some of the rows.
    """
    model = build(parameters)
    weights, n = objective.weights(passes, model.k), model.n
    forced = objective.supervision == "teacher"

    def loss(parameters: PyTree, tokens: Array, counted: Array | None) -> tuple[Array, Array]:
        model, truth = build(parameters), tokens[:, n:]
        made = model.forced(tokens) if forced else model.generate(tokens[:, :n], passes)[:, n:]
        errors = (made - truth) ** 2
        if counted is None:
            squares = jnp.mean(errors, axis=0) / 2
        else:
            squares = jnp.sum(jnp.where(counted[:, None], errors, 0), axis=0) / 2
        return jnp.sum(weights * squares), squares

    def add(tokens: Array, counted: Array | None) -> tuple[Array, PyTree]:
        gradient, squares = jax.grad(loss, has_aux=True)(parameters, tokens, counted)
        return squares, gradient

    zero = (jnp.zeros(model.k - 1, jnp.float32), jax.tree.map(jnp.zeros_like, parameters))
    squares, gradient = rows.mean_of_tokens(add, zero)
    answer = squares[-1]
    if forced:
        shown = rows.shown()
        root = model.generate(shown[:, :n])[:, -1]
        answer = jnp.mean((root - shown[:, -1]) ** 2) / 2
    return Losses(jnp.sum(weights * squares), answer, jnp.mean(squares)), gradient


def risk_of(
    objective: Objective, build: Build, passes: Float[Array, " levels"], rows: Stream | Table
) -> Callable[[PyTree], Array]:
    """The objective as a function of the parameters, for optimisers that search along a line."""

    def risk(parameters: Any) -> Array:
        return losses_and_gradient(objective, build, parameters, passes, rows)[0].risk

    return risk


def first_gradient(
    link: AbstractLink, rows: Stream | Table, n: int, k: int, mask: str
) -> Float[Array, "tokens nodes"]:
    """∂L/∂W at W = 0 with teacher forcing, L = (1/2N) Σ_m ‖φ(ẑ_m) - x_m‖²: one product XᵀR.

    ∂L/∂w_{j,m} = (<r_m, x_j> - <r_m, ẑ_m>)/(N·M) with r_m = (φ(ẑ_m) - x_m)·φ'(ẑ_m), ẑ_m the mean of
    the M tokens m sees. Only one batch of a stream is in memory.
    """

    def add(columns: Columns, counted: Array) -> Array:
        return column_gradient(columns, link, mask, counted)

    mean: Array = rows.mean(add, jnp.zeros((n + k - 1, k - 1), jnp.float32))
    return mean


def batch_gradient(
    tokens: Float[Array, "rows tokens"], n: int, k: int, link: AbstractLink, mask: str
) -> Float[Array, "tokens nodes"]:
    """Sum over rows of the gradient of ½Σ_m(φ(ẑ_m) - x_m)² at W = 0."""
    columns = Columns(tokens.T[:n], tokens.T[n : n + k - 1])
    return column_gradient(columns, link, mask)


def column_gradient(
    columns: Columns, link: AbstractLink, mask: str, counted: Bool[Array, " rows"] | None = None
) -> Float[Array, "tokens nodes"]:
    """`batch_gradient` of transposed rows; counted: rows that count."""
    inputs, inner = columns
    # At W = 0 a node attends evenly to the M tokens it sees, so ẑ is a mean of signs and the
    # softmax's derivative is (1/M)(x_j - ẑ): the gradient is one product of tokens and residuals,
    # less the same number for every token of a node.
    visible = visible_tokens(len(inputs), len(inner) + 1, mask)
    seen = visible.sum(axis=0).astype(np.float32)[:, None]
    z = _visible_sums(columns, mask) / seen
    residual = (link(z) - inner) * link.slope(z) / seen
    if counted is not None:
        residual = jnp.where(counted[None, :], residual, 0)

    def product(tokens: Array) -> Array:
        over_rows = (((1,), (1,)), ((), ()))
        highest = jax.lax.Precision.HIGHEST
        return jax.lax.dot_general(tokens, residual, over_rows, precision=highest)

    products = jnp.concatenate([product(inputs), product(inner)])
    return jnp.where(visible, products - jnp.sum(residual * z, axis=1)[None, :], 0)


def _visible_sums(columns: Columns, mask: str) -> Float[Array, "nodes rows"]:
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
    if mask == "none":
        return jnp.broadcast_to(start + jnp.sum(inner, axis=0), inner.shape)
    before: Array = jax.lax.platform_dependent(start, inner, cpu=one_by_one, default=at_once)
    if mask == "token":
        return before
    ends = np.asarray(level_ends(0, len(inner) + 1))
    return before[np.repeat(ends[:-1], np.diff(ends))]

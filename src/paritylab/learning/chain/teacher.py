"""The chain of thought learned in one step: teacher forcing as a streamed matrix product."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from annotated_doc import Doc
from annotated_types import Gt
from jaxtyping import Array, Bool, Float

from paritylab._support.checks import shortened, whole
from paritylab.learning.chain.chain_learner import (
    ChainLearner,
    Columns,
    Descended,
    Stream,
    every_run,
    judge_chain,
    pairs_found,
    traced_risks,
)
from paritylab.learning.contract import LINK, LinkPart, register_learner
from paritylab.learning.data import MOST_ROWS
from paritylab.models.chain import MASKS, ChainModel, visible_tokens
from paritylab.models.links import AbstractLink, as_link
from paritylab.options import Choice
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import each_key, fold_keys
from paritylab.problem.tree import ParityTree, level_ends, random_trees
from paritylab.theory.ks import child_signal, step_error


@register_learner("teacher")
@dataclass(frozen=True, eq=False)
class TeacherStep(ChainLearner):
    """Theorem 5: one gradient step from W = 0 on teacher-forced chains, from a sample of trees.

    link: φ, a name or one's own. mask: "token" lets a node see every earlier token, "level" only
    lower levels. eta: η, the `usual_step` for the number of samples if None.

    >>> from paritylab.learning import Sample, learn
    >>> from paritylab.problem import random_trees
    >>> bool(learn(TeacherStep(), Sample(random_trees(16, 4, runs=2), 20_000)).solved.all())
    True
    """

    link: Annotated[LinkPart, LINK, Doc("Link function φ.")] = "cos"
    mask: Annotated[str, Choice(("token", "level")), Doc("What a node sees.")] = "token"
    eta: Annotated[float | None, Gt(0), Doc("Step size; chosen from n, k and N if absent.")] = None

    def _descend(self, link: AbstractLink, rows: Stream, trace: int | None) -> Descended:
        """One step for every run; the trace is W before and after it."""
        eta, k = self.eta, rows.leaves.shape[1]
        if eta is None:
            eta = usual_step(rows.n, k, link, int(rows.samples), self.mask)
        given = (link, np.float32(eta), self.mask, trace is not None)
        scores, risks = jax.tree.map(np.asarray, every_run(_one_step, given, rows))
        both = np.stack([np.zeros_like(scores), scores], axis=1)
        kept = {} if trace is None else {"step": np.arange(2), "risk": risks}
        return Descended(scores, {}, {**kept, "scores": both})


def _one_step(
    given: tuple[AbstractLink, np.float32, str, bool], rows: Stream, key: Array
) -> tuple[Array, Array | None]:
    """Scores of a run after its step, and its risk before and after if traced."""
    link, eta, mask, traced = given
    scores = -eta * _streamed_gradient(link, rows, mask)
    models = [ChainModel(each, rows.n, link, mask) for each in (0 * scores, scores)]
    return scores, traced_risks(models, rows.leaves, key) if traced else None


def teacher_gradient(
    tree: ParityTree,
    key: int | Array,
    samples: int,
    *,
    link: LinkPart = "cos",
    mask: str = "token",
) -> Float[Array, "tokens nodes"]:
    """∂L/∂W at W = 0 with teacher forcing, L = (1/2N) Σ_m ‖φ(ẑ_m) - x_m‖².

    ∂L/∂w_{j,m} = (<r_m, x_j> - <r_m, ẑ_m>)/(N·M) with r_m = (φ(ẑ_m) - x_m)·φ'(ẑ_m), ẑ_m the mean of
    the M tokens m sees: one product XᵀR per batch, only one batch in memory.
    """
    samples = whole("samples", samples, 1, MOST_ROWS)
    if not isinstance(mask, str) or mask not in MASKS:
        raise ValueError(f"mask must be one of {', '.join(MASKS)}, got {shortened(mask)}")
    rows = Stream.of(np.asarray(tree.leaves), as_key(key), samples, tree.n)
    return _compiled_gradient(as_link(link), rows, mask)


def _streamed_gradient(link: AbstractLink, rows: Stream, mask: str) -> Float[Array, "tokens nodes"]:
    """The gradient at W = 0, summed over batches: only one batch of tokens is in memory."""

    def add(columns: Columns, kept: Array) -> Array:
        return _column_gradient(columns, link, mask, kept)

    k = rows.leaves.shape[0]
    mean: Array = rows.mean(add, jnp.zeros((rows.n + k - 1, k - 1), jnp.float32))
    return mean


_compiled_gradient = eqx.filter_jit(_streamed_gradient)


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


def chain_curve(
    n: int, k: int, samples: Sequence[int] | np.ndarray, *, runs: int, seed: int = 0, inputs: int
) -> tuple[Bool[np.ndarray, "sizes runs"], Bool[np.ndarray, "sizes runs"]]:
    """After N rows of its own growing stream: has a run found every pair, and is it right too?

    Every N has its own `usual_step`. Run i draws its tree and its rows from fold_in(seed, i). The
    sum over a prefix of the stream grows with N, so all N together cost as many rows as the
    largest. inputs: how many fresh ones must be right, asked only where every pair was found.
    """
    etas = [usual_step(n, k, samples=int(size)) for size in samples]
    found, right = np.zeros((2, len(etas), runs), bool)
    keys = each_key(fold_keys(as_key(seed), np.arange(runs)))
    for run, (tree, key) in enumerate(zip(random_trees(n, k, runs, key=seed), keys, strict=True)):
        total, leaves = np.zeros((tree.size, k - 1), np.float32), np.asarray(tree.leaves, np.int32)
        for at, (more, eta) in enumerate(zip(np.diff(samples, prepend=0), etas, strict=True)):
            gradient = teacher_gradient(tree, jax.random.fold_in(key, 2 + at), int(more))
            total = total + more * np.asarray(gradient)  # a mean over the new rows, made a sum
            model = ChainModel((-eta / samples[at] * total).astype(np.float32), n)
            found[at, run] = pairs_found(model.scores, leaves) == 1
            if found[at, run]:
                fresh = jax.random.fold_in(key, 1)
                right[at, run] = judge_chain(model, tree, fresh, inputs) == 1
    return found, right

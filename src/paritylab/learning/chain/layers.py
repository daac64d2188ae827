"""Depth instead of a chain: log2 k layers, one gradient step each, and no chain to be seen."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from annotated_doc import Doc
from annotated_types import Gt
from jaxtyping import Array, Bool, Float, Int, PyTree

from paritylab._support.precision import AnyArray
from paritylab.learning.chain.chain_learner import ChainLearner, Descended
from paritylab.learning.chain.evaluation import traced_risks
from paritylab.learning.chain.rows import Stream, map_stream
from paritylab.learning.contract import LINK, LinkPart, register_learner
from paritylab.learning.data import KnownData, Sample
from paritylab.models.chain import LayeredChain
from paritylab.models.links import AbstractLink, as_link
from paritylab.options import Choice
from paritylab.problem import Corruption
from paritylab.problem.tree import level_ends
from paritylab.theory.layers import level_steps


@register_learner("layers")
@dataclass(frozen=True, eq=False)
class Layers(ChainLearner):
    """One layer per level of the tree; at test time it sees the bits and nothing else. Ours, after
    the abstract of Log-ICoT.

    mask: "prev" shows a node the level just below its own, "level" all lower ones; no node sees its
    own level, which its layer writes all at once.

    link: φ. gates: "prescribed" lets layer t write level t and keeps the rest, "open" writes every
    node in every layer, "half" mixes old and new equally, "learnt" starts open and takes one
    gradient step of size 1, kept within [0, 1], on every layer's gates. tied: one W for all layers.
    schedule: "teacher" trains every layer on true tokens, one step from 0, and hides them
    afterwards; "staged" trains layer t on top of the layers below, which hide their levels;
    "at-once" takes log2 k steps on all layers with every level hidden from the start. eta: one η
    for all levels; if None each has its own, the one that is predicted to break fewest nodes
    (`theory.layers.level_steps`).

    >>> from paritylab.learning import Sample, learn
    >>> from paritylab.problem import random_trees
    >>> bool(learn(Layers(), Sample(random_trees(16, 8, runs=2), 8000)).solved.all())
    True
    """

    link: Annotated[LinkPart, LINK, Doc("Link function φ.")] = "cos"
    gates: Annotated[
        str, Choice(("prescribed", "open", "half", "learnt")), Doc("Which nodes a layer writes.")
    ] = "prescribed"
    tied: Annotated[bool, Doc("One matrix for all layers.")] = False
    schedule: Annotated[
        str,
        Choice(("staged", "teacher", "at-once")),
        Doc("Level by level; all on true tokens, then hidden; all at once, hidden."),
    ] = "teacher"
    eta: Annotated[float | None, Gt(0), Doc("One η; each level its own if absent.")] = None
    mask: Annotated[str, Choice(("prev", "level")), Doc("The level below, or all lower ones.")] = (
        "prev"
    )

    def default_samples(self, n: int) -> int:
        return 200 * n

    def _descend(
        self, data: KnownData, leaves: Int[np.ndarray, "runs k"], keys: Array, trace: int | None
    ) -> Descended:
        """All runs, each level with the step size predicted to break fewest nodes."""
        assert isinstance(data, Sample)
        if data.corruption != Corruption() or any(tree.noise for tree in data.targets):
            raise ValueError(
                "Layers learns from right rows: its step sizes are those of rows without wrong "
                "labels or tokens; Chain learns from wrong ones"
            )
        link, rows = as_link(self.link), Stream.of(leaves, keys, data.samples, data.n)
        k, staged = rows.leaves.shape[1], self.schedule == "staged"
        steps = level_steps(rows.n, k, int(rows.samples), link, staged=staged, mask=self.mask)
        etas = [step.eta if self.eta is None else self.eta for step in steps]
        how = _Setting(
            self.gates,
            self.tied,
            self.schedule,
            self.mask,
            trace is not None,
            np.array(etas, np.float32),
        )
        path, gates, risks = jax.tree.map(np.asarray, map_stream(_one_run, (link, how), rows))
        end = (path[:, -1], gates) if self.gates == "learnt" else path[:, -1]
        kept = {} if trace is None else {"risk": risks[:, ::trace], "scores": path[:, ::trace]}
        return Descended(end, {}, kept)

    def model_of(self, numbers: PyTree, n: int) -> LayeredChain:
        """The model of one run; its numbers are W, or W and the gates that were learnt."""
        link = as_link(self.link)
        if isinstance(numbers, tuple | list):
            return LayeredChain(numbers[0], n, link, numbers[1], tied=self.tied, mask=self.mask)
        gates = _fixed_gates(self.gates, numbers.shape[1] + 1)
        return LayeredChain(numbers, n, link, gates, tied=self.tied, mask=self.mask)


class _Setting(NamedTuple):
    """A training: what it is compiled for, and η of every level, which may change without
    compiling again."""

    gates: str
    tied: bool
    schedule: str
    mask: str
    traced: bool
    etas: Float[AnyArray, " levels"]


def _fixed_gates(gates: str, k: int) -> Float[np.ndarray, "layers nodes"] | None:
    if gates == "prescribed":
        return None
    return np.full((k.bit_length() - 1, k - 1), 0.5 if gates == "half" else 1.0, np.float32)


def _one_run(given: tuple[AbstractLink, _Setting], rows: Stream, key: Array) -> PyTree:
    """W before any step and after each, the gates at the end, and the risks if traced.

    A run's key gives the training rows (1) and the inputs of the trace (5).
    """
    (link, how), leaves, n = given, rows.leaves, rows.n
    k = leaves.shape[0]
    fixed = _fixed_gates(how.gates, k)
    gates = None if fixed is None else jnp.asarray(fixed)
    zero = jnp.zeros((n + k - 1, k - 1), jnp.float32)
    start = LayeredChain(zero, n, link, gates, tied=how.tied, mask=how.mask)
    train = {"staged": _staged, "teacher": _teacher, "at-once": _at_once}[how.schedule]
    path = [start, *train(start, rows, how)]
    risks = traced_risks(path, leaves, key) if how.traced else None
    return jnp.stack([jnp.asarray(model.scores) for model in path]), path[-1].gates, risks


def _moved(model: LayeredChain, gradient: Array, how: _Setting) -> LayeredChain:
    """One step on W, each level with its own η.

    A node of level l sees M_l tokens and its children's gradient is of order 1/M_l², so one η that
    suits the bits below (M = n) would leave the upper levels, which see few tokens, far too sharp.
    """
    sizes = np.diff(level_ends(0, model.k))
    per_node = jnp.repeat(how.etas, sizes, total_repeat_length=model.k - 1)
    return model.with_parameters(model.scores - per_node[None, :] * gradient)


def _mean(
    gradient: Callable[[Array, Array], Array], rows: Stream, model: LayeredChain
) -> Float[Array, "tokens nodes"]:
    """Mean over the rows of gradient(tokens, kept), which sums over those of a batch that count."""
    zero = jnp.zeros_like(jnp.asarray(model.scores))
    mean: Array = rows.mean(lambda columns, kept: gradient(columns.tokens(), kept), zero)
    return mean


def _staged(model: LayeredChain, rows: Stream, how: _Setting) -> list[LayeredChain]:
    """Layer after layer, each trained on what the trained layers below it make."""

    def gradient(model: LayeredChain, layer: int, tokens: Array, kept: Array) -> Array:
        hidden = model.generate(tokens[:, : model.n], layer)
        return level_gradient(model, layer, hidden, tokens, kept)

    path = []
    for layer in range(model.layers):
        model = _moved(model, _mean(partial(gradient, model, layer), rows, model), how)
        model = _with_gates(model, layer, rows) if how.gates == "learnt" else model
        path.append(model)
    return path


def _teacher(model: LayeredChain, rows: Stream, how: _Setting) -> list[LayeredChain]:
    """All layers in one step, each on the true tokens below it."""

    def gradient(tokens: Array, kept: Array) -> Array:
        parts = (
            level_gradient(model, layer, tokens, tokens, kept) for layer in range(model.layers)
        )
        return sum(parts, jnp.zeros_like(model.scores))

    after = _moved(model, _mean(gradient, rows, model), how)
    if how.gates == "learnt":
        for layer in range(model.layers):
            after = _with_gates(after, layer, rows)
    return [after]


def _at_once(model: LayeredChain, rows: Stream, how: _Setting) -> list[LayeredChain]:
    """log2 k steps on (1/2N)Σ_m‖h_m - x_m‖² after the last layer, by automatic derivatives."""
    start = model

    def loss(scores: Array, tokens: Array, kept: Array) -> Array:
        made = start.with_parameters(scores).generate(tokens[:, : start.n])
        return jnp.sum(jnp.where(kept[:, None], (made - tokens) ** 2, 0)) / 2

    path = []
    for _ in range(model.layers):
        model = _moved(model, _mean(partial(jax.grad(loss), model.scores), rows, model), how)
        path.append(model)
    return path


def level_gradient(
    model: LayeredChain,
    layer: int,
    hidden: Float[Array, "rows tokens"],
    tokens: Float[Array, "rows tokens"],
    kept: Bool[Array, " rows"],
) -> Float[Array, "tokens nodes"]:
    """Sum over rows of the gradient of ½Σ_m(h_m - x_m)² over the level that a layer is to write.

    hidden: what the layer gets. tokens: the true ones. The layer's own weights are 0, so it attends
    evenly to the M tokens that it sees: <r_m, h_j - ẑ_m>/M with r_m = (h_m - x_m)g·φ'(ẑ_m).
    """
    n, ends = model.n, level_ends(model.n, model.k)
    start, end = ends[layer], ends[layer + 1]
    first = ends[layer - 1] if layer and model.mask == "prev" else 0
    below, columns = slice(first, start), slice(start - n, end - n)
    shown = hidden[:, below]
    z = jnp.mean(shown, axis=1, keepdims=True)
    old = hidden[:, start:end] if model.gates is not None else 0.0
    gate = 1.0 if model.gates is None else model.gates[layer, columns][None, :]
    new = old + gate * (model.link(z) - old)
    residual = (new - tokens[:, start:end]) * gate * model.link.slope(z) / shown.shape[1]
    residual = jnp.where(kept[:, None], residual, 0).astype(hidden.dtype)
    part = jnp.matmul(shown.T, residual, precision=jax.lax.Precision.HIGHEST)
    part = part - jnp.sum(residual * z, axis=0)[None, :]
    return jnp.zeros(model.scores.shape, part.dtype).at[below, columns].set(part)


def _with_gates(model: LayeredChain, layer: int, rows: Stream) -> LayeredChain:
    """One gradient step of size 1 on a layer's open gates, loss on all levels up to its own.

    ∂L/∂g_m = <h_m - x_m, φ(ẑ_m) - old h_m>/N at g = 1: 0 where the layer writes the truth, 2 where
    it would write a constant over it.
    """
    n, end = model.n, level_ends(model.n, model.k)[layer + 1]

    def pull(tokens: Array, kept: Array) -> Array:
        hidden = model.generate(tokens[:, :n], layer)
        made = model.written(layer, hidden, model.attention())
        each = (made - tokens[:, n:]) * (made - hidden[:, n:])
        total = jnp.sum(jnp.where(kept[:, None], each, 0), axis=0)
        return jnp.zeros_like(model.scores).at[0].set(total)

    gradient = jnp.where(np.arange(model.k - 1) < end - n, _mean(pull, rows, model)[0], 0)
    gates = jnp.asarray(model.gates).at[layer].set(jnp.clip(1 - gradient, 0, 1))
    changed: LayeredChain = eqx.tree_at(lambda each: each.gates, model, gates)
    return changed

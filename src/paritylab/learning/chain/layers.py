"""Depth instead of a chain: log2 k layers, one gradient step each, and no chain to be seen."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree

from paritylab.learning.chain.chain_learner import (
    ChainLearner,
    Descended,
    Job,
    draw_tokens,
    over_runs,
)
from paritylab.learning.chain.levels import Stream
from paritylab.learning.chain.teacher import batch_size
from paritylab.learning.contract import register_learner
from paritylab.learning.parts import LinkPart
from paritylab.models.chain import visible_tokens
from paritylab.models.layered import LayeredChain
from paritylab.models.links import AbstractLink
from paritylab.options import LINK, Choice, Doc, Gt
from paritylab.precision import AnyArray
from paritylab.problem.tree import level_ends
from paritylab.theory.layers import Hiding, level_steps

#: Fresh inputs that a trace's risk is a mean over.
_TRACED = 1000


@register_learner("layers")
@dataclass(frozen=True, eq=False)
class Layers(ChainLearner):
    """One layer per level of the tree; at test time it sees the bits and nothing else. Ours, after
    the abstract of Log-ICoT.

    link: φ. mask: what a node sees, "prev" the level below, "level" all lower levels, "token" all
    earlier tokens, "none" all. gates: "prescribed" lets layer t write level t and keeps the rest,
    "open" writes every node in every layer, "half" mixes old and new equally, "learnt" starts open
    and takes one gradient step of size 1, kept within [0, 1], on every layer's gates. tied: one W
    for all layers. rounding: W to integers after each step. schedule: "teacher" trains every layer
    on true tokens, one step from 0, and hides them afterwards; "staged" trains layer t on top of
    the layers below, which hide their levels; "at-once" takes log2 k steps on all layers with every
    level hidden from the start. eta: one η for all levels; if None each has its own, the one that
    is predicted to break fewest nodes (`theory.layers.level_steps`).

    A solved run has recovered its tree too.

    >>> from paritylab.learning import Sample, learn
    >>> from paritylab.problem import random_trees
    >>> bool(learn(Layers(), Sample(random_trees(16, 8, runs=2), 8000)).solved.all())
    True
    """

    link: Annotated[LinkPart, LINK, Doc("Link function φ.")] = "cos"
    mask: Annotated[
        str,
        Choice(("prev", "level", "token", "none")),
        Doc("What a node sees: the level below, lower levels, earlier tokens, all tokens."),
    ] = "prev"
    gates: Annotated[
        str, Choice(("prescribed", "open", "half", "learnt")), Doc("Which nodes a layer writes.")
    ] = "prescribed"
    tied: Annotated[bool, Doc("One matrix for all layers.")] = False
    rounding: Annotated[bool, Doc("Round scores to integers after each step.")] = False
    schedule: Annotated[
        str,
        Choice(("staged", "teacher", "at-once")),
        Doc("Level by level; all on true tokens, then hidden; all at once, hidden."),
    ] = "teacher"
    eta: Annotated[
        float | None, Gt(0), Doc("One step size for all levels; each its own if absent.")
    ] = None

    def _descend(self, job: Job) -> Descended:
        """All runs, each level with the step size predicted to break fewest nodes."""
        link, data, leaves, keys, trace = job
        how = Hiding(self.schedule == "staged", self.rounding)
        steps = level_steps(data.n, data.k, data.samples, link, self.mask, how)
        etas = [step.eta if self.eta is None else self.eta for step in steps]
        setting = _Setting(
            n=data.n,
            k=data.k,
            mask=self.mask,
            gates=self.gates,
            tied=self.tied,
            rounding=self.rounding,
            schedule=self.schedule,
            size=batch_size(data.samples),
            traced=trace is not None,
            etas=np.asarray(etas, np.float32),
            samples=np.int32(data.samples),
        )
        found = _learn_layers(link, setting, leaves, keys)
        path, gates, risks = jax.tree.map(np.asarray, found)
        end = (path[:, -1], gates) if self.gates == "learnt" else path[:, -1]
        kept = {} if trace is None else {"risk": risks[:, ::trace], "scores": path[:, ::trace]}
        return Descended(end, {}, kept)

    def model_of(self, numbers: PyTree, n: int, link: AbstractLink) -> LayeredChain:
        """The model of one run; its numbers are W, or W and the gates that were learnt."""
        scores, gates = numbers if isinstance(numbers, tuple | list) else (numbers, None)
        if gates is None:
            gates = _fixed_gates(self.gates, scores.shape[1] + 1)
        return LayeredChain(scores, n, link, gates, self.mask, self.tied)


class _Setting(NamedTuple):
    """A training: what it is compiled for, then, as numpy numbers, what may change without
    compiling again. size: rows per batch. etas: η of every level. samples: rows."""

    n: int
    k: int
    mask: str
    gates: str
    tied: bool
    rounding: bool
    schedule: str
    size: int
    traced: bool
    etas: Float[AnyArray, " levels"]
    samples: np.int32


def _fixed_gates(gates: str, k: int) -> Float[np.ndarray, "layers nodes"] | None:
    if gates == "prescribed":
        return None
    return np.full((k.bit_length() - 1, k - 1), 0.5 if gates == "half" else 1.0)


@eqx.filter_jit
def _learn_layers(link: AbstractLink, setting: _Setting, leaves: AnyArray, keys: Array) -> PyTree:
    """Per run: W before any step and after each, the gates at the end, and the risks if traced."""
    return over_runs(partial(_one_run, link, setting), leaves, keys)


def _one_run(link: AbstractLink, setting: _Setting, leaves: Array, key: Array) -> PyTree:
    """One run; its key gives the training rows (1) and the inputs of the trace (5)."""
    rows = Stream(leaves, jax.random.fold_in(key, 1), setting.samples, setting.size)
    gates = _fixed_gates(setting.gates, setting.k)
    start = LayeredChain(
        jnp.zeros((setting.n + setting.k - 1, setting.k - 1), jnp.float32),
        setting.n,
        link,
        None if gates is None else jnp.asarray(gates, jnp.float32),
        setting.mask,
        setting.tied,
    )
    train = {"staged": _staged, "teacher": _teacher, "at-once": _at_once}[setting.schedule]
    path = [start, *train(start, rows, setting)]
    risks = None
    if setting.traced:
        tokens = draw_tokens(jax.random.fold_in(key, 5), leaves, setting.n, _TRACED)
        risks = jnp.stack([_risk(model, tokens) for model in path])
    return jnp.stack([jnp.asarray(model.scores) for model in path]), path[-1].gates, risks


def _risk(model: LayeredChain, tokens: Float[Array, "rows tokens"]) -> Float[Array, ""]:
    root = model.generate(tokens[:, : model.n])[:, -1]
    return jnp.mean((root - tokens[:, -1]) ** 2) / 2


def _moved(model: LayeredChain, gradient: Array, setting: _Setting) -> LayeredChain:
    """One step on W, each level with its own η.

    A node of level l sees M_l tokens and its children's gradient is of order 1/M_l², so one η that
    suits the bits below (M = n) would leave the upper levels, which see few tokens, far too sharp.
    """
    sizes = np.diff(level_ends(0, setting.k))
    per_node = jnp.repeat(setting.etas, sizes, total_repeat_length=setting.k - 1)
    scores = model.scores - per_node[None, :] * gradient
    return model.with_parameters(jnp.round(scores) if setting.rounding else scores)


def _staged(model: LayeredChain, rows: Stream, setting: _Setting) -> list[LayeredChain]:
    """Layer after layer, each trained on what the trained layers below it make."""
    path = []
    for layer in range(model.layers):
        gradient = _mean(partial(_hidden_gradient, model, layer), rows, model)
        model = _moved(model, gradient, setting)
        if setting.gates == "learnt":
            model = _with_gates(model, layer, rows)
        path.append(model)
    return path


def _teacher(model: LayeredChain, rows: Stream, setting: _Setting) -> list[LayeredChain]:
    """All layers in one step, each on the true tokens below it."""

    def add(tokens: Array, kept: Array) -> Array:
        parts = [
            level_gradient(model, layer, tokens, tokens, kept) for layer in range(model.layers)
        ]
        return sum(parts[1:], parts[0])

    model = _moved(model, _mean(add, rows, model), setting)
    if setting.gates == "learnt":
        for layer in range(model.layers):
            model = _with_gates(model, layer, rows)
    return [model]


def _at_once(model: LayeredChain, rows: Stream, setting: _Setting) -> list[LayeredChain]:
    """log2 k steps on (1/2N)Σ_m‖h_m - x_m‖² after the last layer, by automatic derivatives."""
    start = model

    def loss(scores: Array, tokens: Array, kept: Array) -> Array:
        made = start.with_parameters(scores).generate(tokens[:, : start.n])
        return jnp.sum(jnp.where(kept[:, None], (made - tokens) ** 2, 0)) / 2

    path = []
    for _ in range(model.layers):
        gradient = _mean(partial(jax.grad(loss), model.scores), rows, model)
        model = _moved(model, gradient, setting)
        path.append(model)
    return path


def _mean(
    add: Callable[[Array, Array], Array], rows: Stream, model: LayeredChain
) -> Float[Array, "tokens nodes"]:
    """Mean over the rows of what add(tokens, kept) sums over a batch."""
    total: Array = rows.total(model.n, add, jnp.zeros_like(jnp.asarray(model.scores)))
    return total / rows.samples


def _hidden_gradient(
    model: LayeredChain, layer: int, tokens: Array, kept: Array
) -> Float[Array, "tokens nodes"]:
    """`level_gradient` of a layer on top of what the layers below it make of the input."""
    hidden = model.generate(tokens[:, : model.n], layer)
    return level_gradient(model, layer, hidden, tokens, kept)


def level_gradient(
    model: LayeredChain,
    layer: int,
    hidden: Float[Array, "rows tokens"],
    tokens: Float[Array, "rows tokens"],
    kept: Bool[Array, " rows"],
) -> Float[Array, "tokens nodes"]:
    """Sum over rows of the gradient of ½Σ_m(h_m - x_m)² over the level that a layer is to write.

    hidden: what the layer gets. tokens: the true ones. The layer's own weights are 0, so it
    attends evenly to the M tokens a node sees: <r_m, h_j - ẑ_m>/M with r_m = (h_m - x_m)g·φ'(ẑ_m).
    """
    n, k = model.n, model.k
    start, end = list(pairwise(level_ends(n, k)))[layer]
    columns = slice(start - n, end - n)
    seen = visible_tokens(n, k, model.mask)[:, columns]
    inside = np.flatnonzero(seen.any(axis=1))
    window = slice(int(inside[0]), int(inside[-1]) + 1)
    shown, weights = hidden[:, window], (seen / seen.sum(axis=0))[window].astype(np.float32)
    if model.mask == "token":
        z = jnp.matmul(shown, weights, precision=jax.lax.Precision.HIGHEST)
    else:
        z = jnp.mean(shown, axis=1, keepdims=True)
    old = hidden[:, start:end] if model.gates is not None else 0.0
    gate = 1.0 if model.gates is None else model.gates[layer, columns][None, :]
    new = old + gate * (model.link(z) - old)
    counts = seen.sum(axis=0).astype(np.float32)[None, :]
    residual = (new - tokens[:, start:end]) * gate * model.link.slope(z) / counts
    residual = jnp.where(kept[:, None], residual, 0).astype(hidden.dtype)
    part = jnp.matmul(shown.T, residual, precision=jax.lax.Precision.HIGHEST)
    part = jnp.where(seen[window], part - jnp.sum(residual * z, axis=0)[None, :], 0)
    return jnp.zeros(model.scores.shape, part.dtype).at[window, columns].set(part)


def _with_gates(model: LayeredChain, layer: int, rows: Stream) -> LayeredChain:
    """One gradient step of size 1 on a layer's open gates, loss on all levels up to its own.

    ∂L/∂g_m = <h_m - x_m, φ(ẑ_m) - old h_m>/N at g = 1: 0 where the layer writes the truth, 2 where
    it would write a constant over it.
    """
    n, end = model.n, level_ends(model.n, model.k)[layer + 1]

    def add(tokens: Array, kept: Array) -> Array:
        hidden = model.generate(tokens[:, :n], layer)
        made = model.written(layer, hidden, model.attention())
        pull = (made - tokens[:, n:]) * (made - hidden[:, n:])
        pull = jnp.sum(jnp.where(kept[:, None], pull, 0), axis=0)
        return jnp.zeros_like(model.scores).at[0].set(pull)

    gradient = _mean(add, rows, model)[0]
    gradient = jnp.where(np.arange(model.k - 1) < end - n, gradient, 0)
    gates = jnp.asarray(model.gates).at[layer].set(jnp.clip(1 - gradient, 0, 1))
    changed: LayeredChain = eqx.tree_at(lambda each: each.gates, model, gates)
    return changed

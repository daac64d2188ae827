"""A hidden chain at the rate of the chip: one int8 product per level, then one forward pass.

Every node of a level sees the whole level below and nothing else, so a level's residual needs one
mean per row, and its product is (M tokens) × (nodes of the level). Tokens are ±1 in int8: a level
trained on what the layers below make, rounded to int8, gets the same sums bit for bit as long as
those round to the true tokens, which `hidden_right` looks at.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from paritylab.learning.chain.wide import ROWS, draw_columns, residual_scale, whole_product
from paritylab.learning.chain.wide_sums import LARGEST, Sums, Wide, total_of, with_room
from paritylab.learning.parts import LinkPart
from paritylab.models.links import AbstractLink, as_link
from paritylab.precision import AnyArray
from paritylab.problem.keys import as_key
from paritylab.problem.tree import ParityTree
from paritylab.theory.layers import level_steps, level_tokens

#: Rows between two looks at how large the sums may be by now.
_BETWEEN_CHECKS = 2**22


class ForwardPass(NamedTuple):
    """On fresh inputs. right: share whose root has the right sign. hidden_right: share of all
    hidden tokens with the right sign. largest_error: of the root."""

    right: float
    hidden_right: float
    largest_error: float
    inputs: int


@dataclass(frozen=True, eq=False)
class WideLayers:
    """The accumulated products of one step per level: (M, nodes) whole numbers each.

    scale: what one unit of a residual is worth, per level. samples: rows behind it.
    """

    tree: ParityTree
    link: AbstractLink
    products: tuple[Array, ...]
    scale: Float[np.ndarray, " levels"]
    samples: int

    def per_unit(self) -> list[float]:
        """Scores of every level per unit of its products, after the step predicted best."""
        steps = level_steps(self.tree.n, self.tree.k, self.samples, self.link)
        return [
            -step.eta * float(scale) / (self.samples * step.tokens)
            for step, scale in zip(steps, self.scale, strict=True)
        ]

    def pairs_found(self) -> float:
        """Share of inner nodes whose two children outscore every other token they see."""
        found = [
            np.asarray(_found(products, _pairs(self.tree, level)))
            for level, products in enumerate(self.products)
        ]
        return float(np.mean(np.concatenate(found)))

    def forward(self, key: int | Array, inputs: int = 10_000, part: int = 1024) -> ForwardPass:
        """One pass through all layers on fresh inputs, a part of them at a time."""
        units = [np.float32(unit) for unit in self.per_unit()]
        leaves = np.asarray(self.tree.leaves, np.int32)
        shape, wrong, bad, largest = Wide(self.tree.n, self.tree.k, 1, part), 0, 0, 0.0
        parts = -(-inputs // part)
        for number in range(parts):
            truth = draw_columns(jax.random.fold_in(as_key(key), number), leaves, shape)
            start, hidden = 0, truth[: self.tree.n].astype(jnp.float32)
            for tokens, unit, products in zip(
                level_tokens(*shape[:2], "prev"), units, self.products, strict=True
            ):
                start += tokens
                nodes = products.shape[1]
                hidden = _layer(self.link, hidden, products, unit)
                bad += int(_wrong_signs(hidden, truth[start : start + nodes]))
            root, y = np.asarray(hidden[0]), np.asarray(truth[-2], np.float32)
            wrong += int(np.sum(~(root * y > 0)))
            largest = max(largest, float(np.abs(root - y).max()))
        rows = parts * part
        return ForwardPass(1 - wrong / rows, 1 - bad / (rows * (self.tree.k - 1)), largest, rows)


def wide_layers(
    tree: ParityTree,
    key: int | Array,
    samples: int,
    *,
    link: LinkPart = "cos",
    rows: int = ROWS,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> WideLayers:
    """The products of one step per level from W = 0, batch after batch; batch i draws its rows from
    fold_in(key, i).

    >>> from paritylab.problem import random_tree
    >>> wide_layers(random_tree(0, 32, 8), 1, 20_000, rows=2048).pairs_found()
    1.0
    """
    if samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples}")
    if rows % 32 or rows < 32:
        raise ValueError(f"rows must be a multiple of 32, got {rows}")
    rule, shape = as_link(link), Wide(tree.n, tree.k, 1, rows)
    seen = level_tokens(tree.n, tree.k, "prev")
    scale = np.concatenate([residual_scale(rule, Wide(tokens, 2, 1, rows)) for tokens in seen])
    sums = [
        Sums(
            jnp.zeros((tokens, tree.k >> level), jnp.int32),
            jnp.zeros(tree.k >> level, jnp.float32),
        )
        for level, tokens in enumerate(seen, start=1)
    ]
    given = _Given(rule, shape, jnp.asarray(tree.leaves, jnp.int32), jnp.asarray(scale))
    batches, interval = -(-samples // rows), max(1, _BETWEEN_CHECKS // rows)
    for batch in range(batches):
        counts = np.asarray([batch, min(rows, samples - batch * rows)], np.int32)
        sums = _one_batch((given, as_key(key), counts), sums)
        if (batch + 1) % interval == 0:
            sums = with_room(sums, 127 * rows * interval)
        progress(batch + 1, batches)
    return WideLayers(tree, rule, tuple(total_of(each) for each in sums), scale, samples)


class _Given(NamedTuple):
    """What every batch needs besides the sums."""

    link: AbstractLink
    shape: Wide
    leaves: Int[Array, " k"]
    scale: Float[Array, " levels"]


@eqx.filter_jit(donate="all-except-first")
def _one_batch(given: tuple[_Given, Array, Int[AnyArray, "2"]], sums: list[Sums]) -> list[Sums]:
    """The sums with one batch more, in the memory of the old ones."""
    (link, shape, leaves, scale), key, (batch, kept) = given
    tokens = draw_columns(jax.random.fold_in(key, batch), leaves, shape)
    once: Callable[[Array], Array] = jax.lax.optimization_barrier
    start, added = 0, []
    for level, old in enumerate(sums):
        seen, nodes = old.products.shape
        below, own = tokens[start : start + seen], tokens[start + seen : start + seen + nodes]
        start += seen
        z = jnp.sum(below, axis=0, dtype=jnp.int32).astype(jnp.float32) / seen
        residual = (link(z)[None, :] - own) * (link.slope(z) / scale[level])[None, :]
        residual = jnp.where(jnp.arange(shape.rows)[None, :] < kept, residual, 0)
        whole = jnp.clip(jnp.round(residual), -127, 127).astype(jnp.int8)
        whole = once(whole)  # it is read twice
        sizes = old.sizes + jnp.sum(jnp.abs(whole), axis=1, dtype=jnp.float32)
        added.append(Sums(old.products + whole_product(below, whole), sizes, old.high))
    return added


def _pairs(tree: ParityTree, level: int) -> Int[np.ndarray, "nodes 2"]:
    """The children of a level's nodes as places in the level below."""
    below = np.asarray(tree.leaves) if level == 0 else np.arange(tree.k >> level)
    return below.reshape(-1, 2).astype(np.int32)


@eqx.filter_jit
def _found(products: Array, children: Int[AnyArray, "nodes 2"]) -> Array:
    """Per node whether both children lie below every other product it sees."""
    nodes = jnp.arange(products.shape[1])
    pair = products[children.T, nodes[None, :]]
    others = products.at[children.T, nodes[None, :]].set(LARGEST)
    alone = products.shape[0] == children.shape[1]
    return jnp.max(pair, axis=0) < jnp.where(alone, LARGEST, jnp.min(others, axis=0))


@eqx.filter_jit
def _layer(
    link: AbstractLink, below: Float[Array, "tokens rows"], products: Array, unit: np.float32
) -> Float[Array, "nodes rows"]:
    """What one layer writes on its level."""
    attention = jax.nn.softmax(products.astype(jnp.float32) * unit, axis=0)
    with jax.default_matmul_precision("highest"):
        return link(attention.T @ below)


@jax.jit
def _wrong_signs(hidden: Array, truth: Array) -> Array:
    return jnp.sum(~(hidden * truth > 0))

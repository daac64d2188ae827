"""What a wide step leaves: its products, the pairs they find, and answers on fresh inputs.

The scores themselves would not fit into memory at n = 65,536; products are whole numbers, and one
number per node or level turns them into scores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from paritylab.learning.chain.chain_accuracy import tree_children
from paritylab.models.links import AbstractLink
from paritylab.precision import AnyArray
from paritylab.problem.keys import as_key
from paritylab.problem.tree import ParityTree
from paritylab.theory.layers import level_steps, level_tokens

LARGEST = 2**31 - 1


class Wide(NamedTuple):
    """What compiled code is specialised on; rows: of a batch."""

    n: int
    k: int
    columns: int
    rows: int

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """First and last (exclusive) node of every block; node k - 1 is empty."""
        starts = range(0, self.k, self.columns)
        return [(start, min(start + self.columns, self.k)) for start in starts]


@partial(jax.jit, static_argnames="shape")
def draw_columns(key: Array, leaves: Int[AnyArray, " k"], shape: Wide) -> Int[Array, "tokens rows"]:
    """Random input signs and the true tokens of their chain, one column per row, as int8."""
    words = jax.random.bits(key, (shape.n, -(-shape.rows // 32)), jnp.uint32)
    words = computed_once(words)
    parts, below = [words], words[leaves]
    while below.shape[0] > 1:
        below = below[0::2] ^ below[1::2]  # a product of signs, 32 rows at a time
        parts.append(below)
    # Kept as words: fused with the unpacking, every sign would draw its word anew.
    packed = computed_once(jnp.concatenate([*parts, jnp.zeros_like(below)]))
    bits = (packed[:, None, :] >> jnp.arange(32, dtype=jnp.uint32)[None, :, None]) & 1
    return (1 - 2 * bits.astype(jnp.int8)).reshape(packed.shape[0], -1)[:, : shape.rows]


def computed_once(array: Array) -> Array:
    barrier: Callable[[Array], Array] = jax.lax.optimization_barrier
    return barrier(array)


@dataclass(frozen=True, eq=False)
class WideChain:
    """The accumulated products XᵀR of one step: per block (tokens seen, nodes) whole numbers.

    scale: what one unit of R is worth, per node. samples: rows behind it. The gradient of node m on
    token j is (scale_m·products_jm/N - shift_m)/M_m with a shift that softmax does not see.
    """

    tree: ParityTree
    link: AbstractLink
    shape: Wide
    products: tuple[Array, ...]
    scale: Float[np.ndarray, " nodes"]
    samples: int

    def per_unit(self, eta: float) -> Float[np.ndarray, " nodes"]:
        """Scores after the step, per unit of the products."""
        seen = np.arange(self.shape.n, self.shape.n + self.shape.k - 1)
        return (-eta * self.scale / (self.samples * seen)).astype(np.float32)

    @property
    def _parts(self) -> list[tuple[int, int, Array]]:
        """First node, last node and products of every block, without the empty node."""
        last = self.shape.k - 1
        blocks = zip(self.shape.blocks, self.products, strict=True)
        whole = [(start, min(end, last), block) for (start, end), block in blocks]
        return [(start, end, block) for start, end, block in whole if start < end]

    def scores(self, eta: float) -> Float[np.ndarray, "tokens nodes"]:
        """W after a step of size η, up to a constant per node; zero where a node does not see."""
        tokens = self.shape.n + self.shape.k - 1
        whole = np.zeros((tokens, self.shape.k - 1), np.float32)
        for start, end, block in self._parts:
            whole[: self.shape.n + end, start:end] = np.asarray(block)[
                : self.shape.n + end, : end - start
            ]
        visible = np.arange(tokens)[:, None] < self.shape.n + np.arange(self.shape.k - 1)[None, :]
        return np.where(visible, whole * self.per_unit(eta)[None, :], 0)

    def pairs_found(self) -> float:
        """Share of inner nodes whose two children outscore every other token they see."""
        children = np.asarray(tree_children(np.asarray(self.tree.leaves), self.shape.n))
        found = [
            np.asarray(_found(block, children[start:end], self.shape.n + start))
            for start, end, block in self._parts
        ]
        return float(np.mean(np.concatenate(found)))

    def accuracy(self, eta: float, key: int | Array, rows: int = 1024) -> tuple[float, float]:
        """Share of fresh inputs whose generated root has the right sign; largest error."""
        shape = self.shape._replace(rows=rows)
        leaves = np.asarray(self.tree.leaves, np.int32)
        truth = draw_columns(as_key(key), leaves, shape)
        tokens = jnp.where(jnp.arange(truth.shape[0])[:, None] < shape.n, truth, 0)
        tokens, units = tokens.astype(jnp.float32), self.per_unit(eta)
        for start, end, block in self._parts:
            tokens = _generate(self.link, tokens, block, units[start:end], shape.n + start)
        root, y = np.asarray(tokens[-2]), np.asarray(truth[-2], np.float32)
        return float(np.mean(root * y > 0)), float(np.abs(root - y).max())


@eqx.filter_jit
def _found(
    products: Int[Array, "tokens nodes"], children: Int[AnyArray, "own 2"], first: int
) -> Array:
    """Per node of a block whether both children lie below every other product it sees."""
    products = products[:, : children.shape[0]]
    nodes = jnp.arange(products.shape[1])
    visible = jnp.arange(products.shape[0])[:, None] < (first + nodes)[None, :]
    pair = products[children.T, nodes[None, :]]
    others = jnp.where(visible, products, LARGEST).at[children.T, nodes[None, :]].set(LARGEST)
    return jnp.max(pair, axis=0) < jnp.min(others, axis=0)


@eqx.filter_jit
def _generate(
    link: AbstractLink,
    tokens: Float[Array, "tokens rows"],
    products: Array,
    units: Float[AnyArray, " nodes"],
    first: int,
) -> Float[Array, "tokens rows"]:
    """Write the tokens of a block one by one: each attends to what is there already."""
    places, unit = jnp.arange(products.shape[0]), jnp.asarray(units)

    def write(node: Array, tokens: Array) -> Array:
        scores = jnp.where(places < first + node, products[:, node] * unit[node], -jnp.inf)
        value = link(jax.nn.softmax(scores) @ tokens[: products.shape[0]])
        return tokens.at[first + node].set(value)

    with jax.default_matmul_precision("highest"):
        written: Array = jax.lax.fori_loop(0, units.shape[0], write, tokens)
        return written


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
            np.asarray(_level_found(products, _pairs(self.tree, level)))
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


def _pairs(tree: ParityTree, level: int) -> Int[np.ndarray, "nodes 2"]:
    """The children of a level's nodes as places in the level below."""
    below = np.asarray(tree.leaves) if level == 0 else np.arange(tree.k >> level)
    return below.reshape(-1, 2).astype(np.int32)


@eqx.filter_jit
def _level_found(products: Array, children: Int[AnyArray, "nodes 2"]) -> Array:
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

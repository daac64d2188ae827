"""One step of the chain at the rate of the chip: int8 products, exact int32 sums, n = 65,536.

`wide_step` trains the visible chain of thought, `wide_layers` the hidden one, as `TeacherStep` and
`Layers` do: by the product XᵀR of tokens and residuals at W = 0, here with R rounded to bytes. The
products stay whole numbers, which one number per node or level turns into scores.

Tokens lie as (token, row); the residual of every node has a scale of its own. A product contracts
the last axis of both, which accelerators do fastest; its sums are the same in any order of batches.

The visible chain: nodes come in blocks of columns that see only the tokens before them. One empty
node at the end makes their number k: odd sizes would leave the fast path of the product.

The hidden chain: every node of a level sees the whole level below and nothing else, so a level's
residual needs one mean per row, and its product is (M tokens) × (nodes of the level). A level
trained on what the layers below make, rounded to int8, gets the same sums bit for bit as long as
those round to the true tokens, which `hidden_right` looks at.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from paritylab._support.checks import whole
from paritylab._support.precision import AnyArray, float64
from paritylab.learning.chain.chain_learner import tree_children
from paritylab.learning.contract import LinkPart
from paritylab.models.links import AbstractLink, as_link
from paritylab.problem.keys import as_key
from paritylab.problem.tree import ParityTree
from paritylab.theory.layers import level_steps, level_tokens

#: Nodes per block: every product stays below 2^31 entries up to n = 10^5.
COLUMNS = 8192
#: Rows per batch: the sums are read and written once per batch.
ROWS = 32768
#: The residual's root mean square times this is 127; what lies beyond is cut off.
REACH = 5.5
#: Terms of one stage of a running sum: eight signs add up within a byte.
_STAGE = 8
#: The largest sum, and the rows that are sure to stay below it: the mean of |R| is at most its root
#: mean square, which is 127/REACH by design, and the bound leaves room for twice as much.
LARGEST = 2**31 - 1
MOST_ROWS = int(LARGEST / (2 * 127 / REACH))
#: Keeps the compiler from computing an array again wherever it is used.
_computed_once: Callable[[Array], Array] = jax.lax.optimization_barrier


class Wide(NamedTuple):
    """What compiled code is specialised on; columns: nodes per block. rows: of a batch."""

    n: int
    k: int
    columns: int
    rows: int

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """First and last (exclusive) node of every block; node k - 1 is empty."""
        starts = range(0, self.k, self.columns)
        return [(start, min(start + self.columns, self.k)) for start in starts]


def wide_step(
    tree: ParityTree,
    key: int | Array,
    samples: int,
    *,
    link: LinkPart = "cos",
    columns: int = COLUMNS,
    rows: int = ROWS,
) -> "WideChain":
    """The products of one teacher-forced step from W = 0, batch after batch.

    Batch i draws its rows from fold_in(key, i). columns: nodes per block.

    >>> from paritylab.problem import random_tree
    >>> wide_step(random_tree(0, 32, 8), 1, 20_000, rows=2048).pairs_found()
    1.0
    """
    shape, rule = Wide(tree.n, tree.k, columns, rows), as_link(link)
    scale = residual_scale(rule, np.arange(shape.n, shape.n + shape.k - 1))
    units = jnp.append(jnp.asarray(scale), np.float32(np.inf))  # the empty node adds nothing
    sizes = [(shape.n + end, end - start) for start, end in shape.blocks]
    products = _all_batches(_chain_batch, tree, key, samples, _Given(rule, shape, units), sizes)
    return WideChain(tree, rule, shape, products, scale, samples)


def wide_layers(
    tree: ParityTree, key: int | Array, samples: int, *, link: LinkPart = "cos", rows: int = ROWS
) -> "WideLayers":
    """The products of one step per level from W = 0; batches draw as those of `wide_step` do."""
    rule, seen = as_link(link), level_tokens(tree.n, tree.k)
    scale = residual_scale(rule, np.asarray(seen))
    sizes = [(m, tree.k >> level) for level, m in enumerate(seen, start=1)]
    given = _Given(rule, Wide(tree.n, tree.k, 1, rows), jnp.asarray(scale))
    products = _all_batches(_layers_batch, tree, key, samples, given, sizes)
    return WideLayers(tree, rule, products, scale, samples)


class _Given(NamedTuple):
    """What every batch needs besides its tokens. scale: of every node, or of every level."""

    link: AbstractLink
    shape: Wide
    scale: Float[AnyArray, " nodes"]


def _all_batches(
    one: Callable[..., list[Array]],
    tree: ParityTree,
    key: int | Array,
    samples: int,
    given: _Given,
    sizes: list[tuple[int, int]],
) -> tuple[Array, ...]:
    """The sums after all batches: one((given, leaves, key, counts), sums) adds a batch to them.

    counts: number of the batch, and of its rows that count. sizes: of the sums.
    """
    rows, seed, leaves = given.shape.rows, as_key(key), jnp.asarray(tree.leaves, jnp.int32)
    whole("samples", samples, 1, MOST_ROWS)
    if rows % 32 or rows < 32 or given.shape.columns < 1:
        raise ValueError(f"rows must be a multiple of 32 and columns ≥ 1, got {given.shape}")
    sums = [jnp.zeros(size, jnp.int32) for size in sizes]
    for batch in range(-(-samples // rows)):
        counts = np.asarray([batch, min(rows, samples - batch * rows)], np.int32)
        sums = one((given, leaves, seed, counts), sums)
    return tuple(sums)


@eqx.filter_jit(donate="all-except-first")
def _chain_batch(given: tuple[_Given, Array, Array, Array], sums: list[Array]) -> list[Array]:
    """The sums of all blocks with one batch more, in the memory of the old ones."""
    (link, shape, scale), leaves, key, (batch, kept) = given
    tokens = draw_columns(jax.random.fold_in(key, batch), leaves, shape)
    before = jnp.sum(tokens[: shape.n], axis=0, dtype=jnp.int32)
    added: list[Array] = []
    for (start, end), old in zip(shape.blocks, sums, strict=True):
        own = tokens[shape.n + start : shape.n + end]
        seen = jnp.arange(shape.n + start, shape.n + end, dtype=jnp.float32)
        z = (before[None, :] + running_sums(own)).astype(jnp.float32) / seen[:, None]
        residual = (link(z) - own) * link.slope(z) / scale[start:end, None]
        added.append(old + _product(tokens[: shape.n + end], residual, kept))
        before = before + jnp.sum(own, axis=0, dtype=jnp.int32)
    return added


@eqx.filter_jit(donate="all-except-first")
def _layers_batch(given: tuple[_Given, Array, Array, Array], sums: list[Array]) -> list[Array]:
    """The sums of all levels with one batch more, in the memory of the old ones."""
    (link, shape, scale), leaves, key, (batch, kept) = given
    tokens = draw_columns(jax.random.fold_in(key, batch), leaves, shape)
    start, added = 0, []
    for level, old in enumerate(sums):
        seen, nodes = old.shape
        below, own = tokens[start : start + seen], tokens[start + seen : start + seen + nodes]
        start += seen
        z = jnp.sum(below, axis=0, dtype=jnp.int32).astype(jnp.float32) / seen
        residual = (link(z)[None, :] - own) * (link.slope(z) / scale[level])[None, :]
        added.append(old + _product(below, residual, kept))
    return added


def _product(
    tokens: Int[Array, "tokens rows"], residual: Float[Array, "nodes rows"], kept: Array
) -> Int[Array, "tokens nodes"]:
    """Tokens times residuals rounded to bytes; rows beyond those kept add nothing."""
    residual = jnp.where(jnp.arange(residual.shape[1])[None, :] < kept, residual, 0)
    rounded = jnp.clip(jnp.round(residual), -127, 127).astype(jnp.int8)
    return whole_product(tokens, rounded)


def whole_product(left: Int[Array, "a rows"], right: Int[Array, "b rows"]) -> Int[Array, "a b"]:
    """left·rightᵀ of int8 arrays in whole numbers: int8 units, or float32 where it is faster.

    On a CPU float32 is exact too: a batch of 2^17 rows stays below 2^24.
    """
    over_rows = (((1,), (1,)), ((), ()))

    def in_floats(left: Array, right: Array) -> Array:
        floats = (left.astype(jnp.float32), right.astype(jnp.float32))
        return jax.lax.dot_general(*floats, over_rows).astype(jnp.int32)

    def in_bytes(left: Array, right: Array) -> Array:
        return jax.lax.dot_general(left, right, over_rows, preferred_element_type=jnp.int32)

    product: Array = jax.lax.platform_dependent(left, right, cpu=in_floats, default=in_bytes)
    return product


def residual_scale(link: AbstractLink, seen: Int[np.ndarray, " nodes"]) -> np.ndarray:
    """What one unit of an int8 residual is worth: REACH root mean squares are 127.

    seen: M, how many tokens each node sees. r = (φ(z) - x)φ'(z) with z the mean of M signs, nearly
    Gaussian of variance 1/M, and x = ±1 nearly independent of it: E r² = E[(φ² + 1)φ'²], by
    Gauss-Hermite quadrature of 24 points.
    """
    points, weights = np.polynomial.hermite_e.hermegauss(24)
    z = np.clip(points[None, :] / np.sqrt(seen)[:, None], -1, 1)
    with float64():
        value, slope = np.asarray(link(jnp.asarray(z))), np.asarray(link.slope(jnp.asarray(z)))
    spread = np.sqrt((value**2 + 1) * slope**2 @ weights / weights.sum())
    return np.asarray(REACH / 127 * spread, dtype=np.float32)


def running_sums(own: Int[Array, "nodes rows"]) -> Int[Array, "nodes rows"]:
    """Sum of the rows above each row: eights first, then eights of their totals, and so on."""
    nodes, rows = own.shape
    padded = jnp.pad(own, ((0, -nodes % _STAGE), (0, 0))).reshape(-1, _STAGE, rows)
    window, reach = (1, _STAGE, 1), ((0, 0), (_STAGE - 1, 0), (0, 0))
    zero = np.zeros((), own.dtype)
    upto: Array = jax.lax.reduce_window(padded, zero, jax.lax.add, window, (1, 1, 1), reach)
    inner = (upto - padded).astype(jnp.int32)
    if nodes > _STAGE:
        inner += running_sums(jnp.sum(padded, axis=1, dtype=jnp.int32))[:, None, :]
    return inner.reshape(-1, rows)[:nodes]


@partial(jax.jit, static_argnames="shape")
def draw_columns(key: Array, leaves: Int[AnyArray, " k"], shape: Wide) -> Int[Array, "tokens rows"]:
    """Random input signs and the true tokens of their chain, one column per row, as int8."""
    # Kept as words: fused with the unpacking, every sign would draw its word anew.
    words = _computed_once(jax.random.bits(key, (shape.n, -(-shape.rows // 32)), jnp.uint32))
    parts, below = [words], words[leaves]
    while below.shape[0] > 1:
        below = below[0::2] ^ below[1::2]  # a product of signs, 32 rows at a time
        parts.append(below)
    packed = _computed_once(jnp.concatenate([*parts, jnp.zeros_like(below)]))
    bits = (packed[:, None, :] >> jnp.arange(32, dtype=jnp.uint32)[None, :, None]) & 1
    return (1 - 2 * bits.astype(jnp.int8)).reshape(packed.shape[0], -1)[:, : shape.rows]


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
        ends = [(start, min(end, self.shape.k - 1)) for start, end in self.shape.blocks]
        blocks = zip(ends, self.products, strict=True)
        return [(start, end, block) for (start, end), block in blocks if start < end]

    def pairs_found(self) -> float:
        """Share of inner nodes whose two children outscore every other token they see."""
        children = np.asarray(tree_children(np.asarray(self.tree.leaves), self.shape.n))
        return _share_found(
            (block, children[start:end], self.shape.n + start) for start, end, block in self._parts
        )

    def accuracy(self, eta: float, key: int | Array, rows: int = 1024) -> tuple[float, float]:
        """Share of fresh inputs whose generated root has the right sign; largest error."""
        shape = self.shape._replace(rows=rows)
        truth = draw_columns(as_key(key), np.asarray(self.tree.leaves, np.int32), shape)
        tokens = jnp.where(jnp.arange(truth.shape[0])[:, None] < shape.n, truth, 0)
        tokens, units = tokens.astype(jnp.float32), self.per_unit(eta)
        for start, end, block in self._parts:
            tokens = _generate(self.link, tokens, block, units[start:end], shape.n + start)
        root, y = np.asarray(tokens[-2]), np.asarray(truth[-2], np.float32)
        return float(np.mean(root * y > 0)), float(np.abs(root - y).max())


def _share_found(blocks: Iterable[tuple[Array, np.ndarray, int]]) -> float:
    """Share of nodes found, over blocks of products, children and how many tokens node 0 sees."""
    return float(np.mean(np.concatenate([np.asarray(_found(*block)) for block in blocks])))


@eqx.filter_jit
def _found(
    products: Int[Array, "tokens nodes"], children: Int[AnyArray, "own 2"], seen: int
) -> Array:
    """Per node of a block whether both children lie below every other product it sees.

    Scores are minus a positive number times the products. Node i sees the first seen + i tokens.
    """
    products = products[:, : children.shape[0]]
    nodes = jnp.arange(products.shape[1])
    visible = jnp.arange(products.shape[0])[:, None] < (seen + nodes)[None, :]
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

    def per_unit(self) -> Float[np.ndarray, " levels"]:
        """Scores of every level per unit of its products, after the step predicted best."""
        steps = level_steps(self.tree.n, self.tree.k, self.samples, self.link)
        etas, seen = (np.array([getattr(s, name) for s in steps]) for name in ("eta", "tokens"))
        return np.asarray(-etas * self.scale.astype(float) / (self.samples * seen))

    def pairs_found(self) -> float:
        """Share of inner nodes whose two children outscore every other token they see."""
        # Children as places in the level below: the leaves, then every two neighbours.
        inner = [np.arange(self.tree.k >> level) for level in range(1, len(self.products))]
        pairs = zip(self.products, [np.asarray(self.tree.leaves), *inner], strict=True)
        return _share_found((block, each.reshape(-1, 2), len(block)) for block, each in pairs)

    def forward(self, key: int | Array, inputs: int = 10_000, part: int = 1024) -> ForwardPass:
        """One pass through all layers on fresh inputs, a part of them at a time."""
        units, leaves = self.per_unit(), np.asarray(self.tree.leaves, np.int32)
        shape, parts = Wide(self.tree.n, self.tree.k, 1, part), -(-inputs // part)
        wrong, bad, largest = 0, 0, 0.0
        for number in range(parts):
            truth = draw_columns(jax.random.fold_in(as_key(key), number), leaves, shape)
            start, hidden = 0, truth[: self.tree.n].astype(jnp.float32)
            for unit, products in zip(units, self.products, strict=True):
                start += len(products)
                hidden = _layer(self.link, hidden, products, np.float32(unit))
                own = truth[start : start + len(hidden)]
                bad += int(jnp.sum(~(hidden * own > 0)))
            root, y = np.asarray(hidden[0]), np.asarray(truth[-2], np.float32)
            wrong += int(np.sum(~(root * y > 0)))
            largest = max(largest, float(np.abs(root - y).max()))
        rows = parts * part
        return ForwardPass(1 - wrong / rows, 1 - bad / (rows * (self.tree.k - 1)), largest)


@eqx.filter_jit
def _layer(
    link: AbstractLink, below: Float[Array, "tokens rows"], products: Array, unit: np.float32
) -> Float[Array, "nodes rows"]:
    """What one layer writes on its level."""
    attention = jax.nn.softmax(products.astype(jnp.float32) * unit, axis=0)
    with jax.default_matmul_precision("highest"):
        return link(attention.T @ below)

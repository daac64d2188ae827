"""One teacher-forced step at the rate of the chip: int8 products, exact int32 sums.

`wide_step` trains the visible chain of thought, `wide_layers` the hidden one, at n = 65,536.

Tokens lie as (token, row) and are ±1; the residual of every node is rounded to int8 with a scale of
its own. A product contracts the last axis of both, which accelerators do fastest, and its sums are
whole numbers: the same bits in any order of batches.

The visible chain: nodes come in blocks of columns that see only the tokens before them. One empty
node at the end makes their number k: odd sizes would leave the fast path of the product.

The hidden chain: every node of a level sees the whole level below and nothing else, so a level's
residual needs one mean per row, and its product is (M tokens) × (nodes of the level). A level
trained on what the layers below make, rounded to int8, gets the same sums bit for bit as long as
those round to the true tokens, which `hidden_right` looks at.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from paritylab.checks import check_kind, whole
from paritylab.learning.chain.wide_models import (
    LARGEST,
    Wide,
    WideChain,
    WideLayers,
    computed_once,
    draw_columns,
)
from paritylab.learning.parts import LinkPart
from paritylab.models.links import AbstractLink, as_link
from paritylab.precision import AnyArray, float64
from paritylab.problem.keys import as_key
from paritylab.problem.tree import ParityTree
from paritylab.theory.layers import level_tokens

#: Nodes per block: every product stays below 2^31 entries up to n = 10^5.
COLUMNS = 8192
#: Rows per batch: the sums are read and written once per batch.
ROWS = 32768
#: The residual's root mean square times this is 127; what lies beyond is cut off.
REACH = 5.5
#: Terms of one stage of a running sum: eight signs add up within a byte.
_STAGE = 8
#: Rows between two looks at how large the sums may be by now.
_BETWEEN_CHECKS = 2**22
#: What the low part of a sum in two numbers holds.
_LOW = 2**16


class Sums(NamedTuple):
    """The sums of a block: products + 2^16·high, high only once int32 got too small.

    sizes: Σ|R| per node since then, which bounds every product.
    """

    products: Int[Array, "tokens nodes"]
    sizes: Float[Array, " nodes"]
    high: Int[Array, "tokens nodes"] | None = None


def with_room(state: list[Sums], coming: int) -> list[Sums]:
    """The same sums, moved to two numbers each where what is coming could overflow one."""
    largest = max(float(each.sizes.max()) for each in state)
    return [_flushed(each) for each in state] if largest + coming > LARGEST else state


@eqx.filter_jit(donate="all")
def _flushed(sums: Sums) -> Sums:
    above = sums.products // _LOW
    high = above if sums.high is None else sums.high + above
    return Sums(sums.products - above * _LOW, jnp.full_like(sums.sizes, _LOW), high)


def total_of(sums: Sums) -> Array:
    """Whole numbers, or float32 where they outgrew int32."""
    if sums.high is None:
        return sums.products
    return sums.high.astype(jnp.float32) * _LOW + sums.products


def wide_step(
    tree: ParityTree,
    key: int | Array,
    samples: int,
    *,
    link: LinkPart = "cos",
    columns: int = COLUMNS,
    rows: int = ROWS,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> WideChain:
    """The products of one teacher-forced step from W = 0, batch after batch.

    Batch i draws its rows from fold_in(key, i). columns: nodes per block. progress: called with the
    number of batches that were sent off, and of all.

    >>> from paritylab.problem import random_tree
    >>> wide_step(random_tree(0, 32, 8), 1, 20_000, rows=2048).pairs_found()
    1.0
    """
    shape = _shape(tree, samples, columns, rows)
    rule, leaves = as_link(link), jnp.asarray(tree.leaves, jnp.int32)
    scale = residual_scale(rule, shape)
    units = jnp.append(jnp.asarray(scale), np.float32(np.inf))  # the empty node adds nothing
    sums = [_zeros(shape.n + end, end - start) for start, end in shape.blocks]
    given = _Given(rule, shape, leaves, units, as_key(key))
    sums = _all_batches(_chain_batch, given, sums, samples, progress)
    return WideChain(tree, rule, shape, tuple(map(total_of, sums)), scale, samples)


def _shape(tree: ParityTree, samples: int, columns: int, rows: int) -> Wide:
    check_kind("tree", tree, ParityTree, "a ParityTree")
    whole("samples", samples, 1)
    if rows % 32 or rows < 32 or columns < 1:
        raise ValueError(f"rows must be a multiple of 32 and columns ≥ 1, got {rows} and {columns}")
    return Wide(tree.n, tree.k, columns, rows)


def _zeros(tokens: int, nodes: int) -> "Sums":
    return Sums(jnp.zeros((tokens, nodes), jnp.int32), jnp.zeros(nodes, jnp.float32))


class _Given(NamedTuple):
    """What every batch needs besides the sums. scale: of every node, or of every level."""

    link: AbstractLink
    shape: Wide
    leaves: Int[Array, " k"]
    scale: Float[Array, " nodes"]
    key: Array


#: The sums with one batch more: (given, number of the batch and of its rows that count), sums.
_Batch = Callable[[tuple[_Given, Int[AnyArray, "2"]], list[Sums]], list[Sums]]


def _all_batches(
    one: _Batch,
    given: _Given,
    sums: list[Sums],
    samples: int,
    progress: Callable[[int, int], None],
) -> list[Sums]:
    rows = given.shape.rows
    batches, interval = -(-samples // rows), max(1, _BETWEEN_CHECKS // rows)
    for batch in range(batches):
        counts = np.asarray([batch, min(rows, samples - batch * rows)], np.int32)
        sums = one((given, counts), sums)
        if (batch + 1) % interval == 0:
            sums = with_room(sums, 127 * rows * interval)
        progress(batch + 1, batches)
    return sums


@eqx.filter_jit(donate="all-except-first")
def _chain_batch(given: tuple[_Given, Int[AnyArray, "2"]], sums: list[Sums]) -> list[Sums]:
    """The sums of all blocks with one batch more, in the memory of the old ones."""
    (link, shape, leaves, scale, key), (batch, kept) = given
    tokens = draw_columns(jax.random.fold_in(key, batch), leaves, shape)
    before = jnp.sum(tokens[: shape.n], axis=0, dtype=jnp.int32)
    added: list[Sums] = []
    for (start, end), old in zip(shape.blocks, sums, strict=True):
        own = tokens[shape.n + start : shape.n + end]
        seen = jnp.arange(shape.n + start, shape.n + end, dtype=jnp.float32)
        z = (before[None, :] + running_sums(own)).astype(jnp.float32) / seen[:, None]
        residual = (link(z) - own) * link.slope(z) / scale[start:end, None]
        added.append(_added(old, tokens[: shape.n + end], residual, kept))
        before = before + jnp.sum(own, axis=0, dtype=jnp.int32)
    return added


def _added(
    sums: Sums, tokens: Int[Array, "tokens rows"], residual: Float[Array, "nodes rows"], kept: Array
) -> Sums:
    """The sums of a block with its tokens times R in bytes; rows beyond those kept add nothing."""
    residual = jnp.where(jnp.arange(residual.shape[1])[None, :] < kept, residual, 0)
    rounded = jnp.clip(jnp.round(residual), -127, 127).astype(jnp.int8)
    rounded = computed_once(rounded)  # it is read twice
    sizes = sums.sizes + jnp.sum(jnp.abs(rounded), axis=1, dtype=jnp.float32)
    return Sums(sums.products + whole_product(tokens, rounded), sizes, sums.high)


def residual_scale(link: AbstractLink, shape: Wide) -> Float[np.ndarray, " nodes"]:
    """What one unit of an int8 residual is worth: REACH root mean squares are 127.

    r = (φ(z) - x)φ'(z) with z the mean of the M tokens a node sees, nearly Gaussian, and x = ±1.
    """
    seen = np.arange(shape.n, shape.n + shape.k - 1)
    points, weights = np.polynomial.hermite_e.hermegauss(24)
    z = np.clip(points[None, :] / np.sqrt(seen)[:, None], -1, 1)
    with float64():
        value, slope = np.asarray(link(jnp.asarray(z))), np.asarray(link.slope(jnp.asarray(z)))
    square = (value**2 + 1) * slope**2
    spread = np.sqrt(square @ weights / weights.sum())
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
    shape, rule = _shape(tree, samples, 1, rows), as_link(link)
    seen = level_tokens(tree.n, tree.k, "prev")
    scale = np.concatenate([residual_scale(rule, Wide(tokens, 2, 1, rows)) for tokens in seen])
    sums = [_zeros(tokens, tree.k >> level) for level, tokens in enumerate(seen, start=1)]
    leaves = jnp.asarray(tree.leaves, jnp.int32)
    given = _Given(rule, shape, leaves, jnp.asarray(scale), as_key(key))
    sums = _all_batches(_layers_batch, given, sums, samples, progress)
    return WideLayers(tree, rule, tuple(map(total_of, sums)), scale, samples)


@eqx.filter_jit(donate="all-except-first")
def _layers_batch(given: tuple[_Given, Int[AnyArray, "2"]], sums: list[Sums]) -> list[Sums]:
    """The sums of all levels with one batch more, in the memory of the old ones."""
    (link, shape, leaves, scale, key), (batch, kept) = given
    tokens = draw_columns(jax.random.fold_in(key, batch), leaves, shape)
    start, added = 0, []
    for level, old in enumerate(sums):
        seen, nodes = old.products.shape
        below, own = tokens[start : start + seen], tokens[start + seen : start + seen + nodes]
        start += seen
        z = jnp.sum(below, axis=0, dtype=jnp.int32).astype(jnp.float32) / seen
        residual = (link(z)[None, :] - own) * (link.slope(z) / scale[level])[None, :]
        added.append(_added(old, below, residual, kept))
    return added

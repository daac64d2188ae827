"""One teacher-forced step at the rate of the chip: int8 products, exact int32 sums.

Tokens lie as (token, row) and are ±1; the residual of every node is rounded to int8 with a scale of
its own. A product contracts the last axis of both, which accelerators do fastest, and its sums are
whole numbers: the same bits in any order of batches and for any split of the nodes over devices.
Nodes come in blocks of columns that see only the tokens before them. One empty node at the end
makes their number k: odd sizes would leave the fast path of the product.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from paritylab.checks import check_kind, whole
from paritylab.learning.chain.chain_accuracy import tree_children
from paritylab.learning.chain.wide_sums import (
    LARGEST,
    Sums,
    Wide,
    no_sums,
    resume_sums,
    save_sums,
    total_of,
    with_room,
)
from paritylab.learning.parts import LinkPart
from paritylab.models.links import AbstractLink, as_link
from paritylab.precision import AnyArray, float64
from paritylab.problem.keys import as_key
from paritylab.problem.tree import ParityTree

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


def _checked(devices: Sequence[jax.Device]) -> list[jax.Device]:
    for place in devices:
        check_kind("devices", place, jax.Device, "devices of jax")
    return list(devices)


def wide_step(
    tree: ParityTree,
    key: int | Array,
    samples: int,
    *,
    link: LinkPart = "cos",
    columns: int = COLUMNS,
    rows: int = ROWS,
    devices: Sequence[jax.Device] | None = None,
    checkpoint: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> WideChain:
    """The products of one teacher-forced step from W = 0, batch after batch.

    Batch i draws its rows from fold_in(key, i). devices: blocks of nodes are dealt out to them, and
    each draws the same rows for itself. checkpoint: a folder from which a broken-off call goes on;
    what it holds is written after every tenth of the batches.

    >>> from paritylab.problem import random_tree
    >>> wide_step(random_tree(0, 32, 8), 1, 20_000, rows=2048).pairs_found()
    1.0
    """
    check_kind("tree", tree, ParityTree, "a ParityTree")
    samples, rows = whole("samples", samples, 1), whole("rows", rows)
    columns = whole("columns", columns)
    checkpoint = None if checkpoint is None else Path(checkpoint)
    if rows % 32 or rows < 32 or columns < 1:
        raise ValueError(f"rows must be a multiple of 32 and columns ≥ 1, got {rows} and {columns}")
    rule, shape = as_link(link), Wide(tree.n, tree.k, columns, rows)
    scale, leaves = residual_scale(rule, shape), np.asarray(tree.leaves, np.int32)
    units = np.append(scale, np.float32(np.inf))  # the empty node adds nothing
    devices = jax.devices()[:1] if devices is None else _checked(devices)
    state, first = no_sums(shape, checkpoint), 0
    if checkpoint is not None and (checkpoint / "at.json").is_file():
        state, first = resume_sums(checkpoint, shape, samples)
    work = [
        (place, _Task(shape, tuple(range(number, len(shape.blocks), len(devices)))))
        for number, place in enumerate(devices[: len(shape.blocks)])
    ]
    for place, task in work:
        for number in task.numbers:
            state[number] = jax.device_put(state[number], place)
    held = {
        place: _Given(rule, task, *jax.device_put((leaves, units, as_key(key)), place))
        for place, task in work
    }
    batches, interval = -(-samples // rows), max(1, _BETWEEN_CHECKS // rows)
    for batch in range(first, batches):
        counts = np.asarray([batch, min(rows, samples - batch * rows)], np.int32)
        for place, task in work:
            when = jax.device_put(counts, place)
            added = _one_batch((held[place], when), [state[number] for number in task.numbers])
            for number, sums in zip(task.numbers, added, strict=True):
                state[number] = sums
        if (batch + 1) % interval == 0:
            state = with_room(state, 127 * rows * interval)
        progress(batch + 1, batches)
        if checkpoint is not None and (batch + 1) % max(1, batches // 10) == 0:
            save_sums(checkpoint, state, shape, samples, batch + 1)
    return WideChain(tree, rule, shape, tuple(total_of(each) for each in state), scale, samples)


class _Task(NamedTuple):
    """What one device does in every batch: which blocks of nodes are its own."""

    shape: Wide
    numbers: tuple[int, ...]


class _Given(NamedTuple):
    """What every batch on a device needs besides the sums."""

    link: AbstractLink
    task: _Task
    leaves: Int[Array, " k"]
    scale: Float[Array, " nodes"]
    key: Array


@eqx.filter_jit(donate="all-except-first")
def _one_batch(given: tuple[_Given, Int[Array, "2"]], sums: list[Sums]) -> list[Sums]:
    """The sums of a device's blocks with one batch more, in the memory of the old ones.

    given: what every batch needs; the batch's number and how many of its rows count.
    """
    (link, task, leaves, scale, key), (batch, kept) = given
    shape = task.shape
    tokens = draw_columns(jax.random.fold_in(key, batch), leaves, shape)
    before = jnp.sum(tokens[: shape.n], axis=0, dtype=jnp.int32)
    added: list[Sums] = []
    for number, (start, end) in enumerate(shape.blocks[: max(task.numbers) + 1]):
        own = tokens[shape.n + start : shape.n + end]
        if number in task.numbers:
            whole = _residual(link, own, before, scale[start:end], shape.n + start, kept)
            added.append(_add(sums[len(added)], tokens[: shape.n + end], whole))
        before = before + jnp.sum(own, axis=0, dtype=jnp.int32)
    return added


def _residual(
    link: AbstractLink,
    own: Int[Array, "nodes rows"],
    before: Int[Array, " rows"],
    scale: Float[Array, " nodes"],
    first: int,
    kept: Int[Array, ""],
) -> Int[Array, "nodes rows"]:
    """R of a block in bytes; zero in the rows beyond those kept."""
    seen = jnp.arange(first, first + own.shape[0], dtype=jnp.float32)
    z = (before[None, :] + running_sums(own)).astype(jnp.float32) / seen[:, None]
    residual = (link(z) - own) * link.slope(z) / scale[:, None]
    residual = jnp.where(jnp.arange(own.shape[1])[None, :] < kept, residual, 0)
    whole = jnp.clip(jnp.round(residual), -127, 127).astype(jnp.int8)
    return _computed_once(whole)  # it is read twice


def _computed_once(array: Array) -> Array:
    barrier: Callable[[Array], Array] = jax.lax.optimization_barrier
    return barrier(array)


def _add(sums: Sums, tokens: Array, whole: Array) -> Sums:
    sizes = sums.sizes + jnp.sum(jnp.abs(whole), axis=1, dtype=jnp.float32)
    return Sums(sums.products + whole_product(tokens, whole), sizes, sums.high)


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


@partial(jax.jit, static_argnames="shape")
def draw_columns(key: Array, leaves: Int[AnyArray, " k"], shape: Wide) -> Int[Array, "tokens rows"]:
    """Random input signs and the true tokens of their chain, one column per row, as int8."""
    words = jax.random.bits(key, (shape.n, -(-shape.rows // 32)), jnp.uint32)
    words = _computed_once(words)
    parts, below = [words], words[leaves]
    while below.shape[0] > 1:
        below = below[0::2] ^ below[1::2]  # a product of signs, 32 rows at a time
        parts.append(below)
    # Kept as words: fused with the unpacking, every sign would draw its word anew.
    packed = _computed_once(jnp.concatenate([*parts, jnp.zeros_like(below)]))
    bits = (packed[:, None, :] >> jnp.arange(32, dtype=jnp.uint32)[None, :, None]) & 1
    return (1 - 2 * bits.astype(jnp.int8)).reshape(packed.shape[0], -1)[:, : shape.rows]


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

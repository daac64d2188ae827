"""The compiled training of ordinary transformers: one program per shape, many runs.

Every run is trained on its own until it writes its chain without a mistake or its steps are over.
On a CPU the runs follow one another, which costs the same as side by side and lets each stop at its
own end; elsewhere they are mapped.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, PyTree

from paritylab._support.precision import AnyArray
from paritylab.learning.contract import OptimiserPart
from paritylab.learning.descent import as_optimiser
from paritylab.models.transformer import MARK, Build, Decoder
from paritylab.problem.sampling import draw_bits
from paritylab.risk.objective import Target as Arrays
from paritylab.risk.rows import every_row

#: Fresh rows of one test, and the share of them that must be right in every slot.
TEST_ROWS, SOLVED_SHARE = 512, 0.98
#: Rows of all inputs that are worked on at a time.
AT_ONCE = 4096
#: Fresh rows that judge what a run ended with.
JUDGING_ROWS = 1024


class Shape(NamedTuple):
    """What a program is compiled for. kind: name of the data's class; rows of a "Sample" are drawn
    once per run, of "Fresh" at every step, and "Population" reads all inputs. records: how many
    tests are kept, all or 0."""

    optimiser: OptimiserPart
    batch: int
    kind: str
    uniform: bool
    records: int


class Dials(NamedTuple):
    """Numbers that change without compiling anew. eta: step size. flips, wrong: shares of chain
    tokens and of labels flipped in training. steps: at most. check: steps between two tests. rows:
    of a sample."""

    eta: AnyArray
    flips: AnyArray
    wrong: AnyArray
    steps: AnyArray
    check: AnyArray
    rows: AnyArray


class Task(NamedTuple):
    """What a run learns. target: of the parity. sums, parents: of its chain, see `Plan`."""

    target: Arrays
    sums: Int[AnyArray, "... slots n"]
    parents: Bool[AnyArray, "... slots length"]


class Rows(NamedTuple):
    """bits: (rows, n). chain: what the slots hold, marks included. All are tokens."""

    bits: Int[Array, "rows n"]
    chain: Int[Array, "rows slots"]

    def sequences(self) -> Int[Array, "rows length"]:
        """What is read: bits, mark, slots without the last."""
        mark = jnp.full((len(self.bits), 1), MARK, self.bits.dtype)
        return jnp.concatenate([self.bits, mark, self.chain[:, :-1]], axis=1)


class Test(NamedTuple):
    """On fresh rows: mean cross-entropy, share of rows right by slot, share right in every slot.

    attention: mean over unknown parents of the largest weight that a head of the last layer gives
    one, averaged over rows first.

    "Every slot right after the true prefix" is "the chain written freely is right": the likelier
    token after a right prefix is the next right one.
    """

    risk: Float[Array, ""]
    by_slot: Float[Array, " slots"]
    right: Float[Array, ""]
    attention: Float[Array, ""]


class Ended(NamedTuple):
    """model: at the end. steps: done. last: the last test. seen: the tests kept, (records, …).
    risk, error: ½ mean (ŷ - y)² of free writing and its standard error. accuracy: of its answers.
    """

    model: Decoder
    steps: Int[Array, ""]
    last: Test
    seen: Test
    risk: Float[Array, ""]
    error: Float[Array, ""]
    accuracy: Float[Array, ""]


def draw_chains(
    key: Array,
    task: Task,
    written: tuple[bool, ...],
    size: int,
    uniform: bool,
    flips: Array,
    wrong: Array | float = 0.0,
) -> Rows:
    """Fresh rows. Label noise and the sign of the target belong to the last slot; `flips`
    is the share of chain tokens that are wrong, each on its own, without changing later ones, and
    `wrong` that of labels on top of their noise."""
    row_key, chain_key = jax.random.split(key)
    label_noise = (1 - jnp.abs(task.target.contrast)) / 2
    label_noise = label_noise + wrong * jnp.abs(task.target.contrast)
    bits, signs = draw_bits(row_key, task.target.probabilities, label_noise, size, uniform)
    bits, chain = bits.astype(jnp.int32), _right_chains(bits, task, signs)
    changed = jax.random.uniform(chain_key, chain.shape, jnp.float32) < flips
    chain = chain ^ changed.astype(jnp.int32)
    return Rows(bits, jnp.where(np.asarray(written)[None, :], chain, MARK))


def _right_chains(bits: Array, task: Task, signs: Array | float) -> Int[Array, "rows slots"]:
    """The chains of rows; signs: by which noise multiplies their labels."""
    chain = (bits.astype(jnp.int32) @ jnp.asarray(task.sums).T) % 2
    last = (jnp.sign(task.target.contrast) * signs < 0).astype(jnp.int32)
    return chain.at[:, -1].set(chain[:, -1] ^ last)


def every_chain(task: Task, written: tuple[bool, ...]) -> tuple[Rows, Float[Array, " rows"]]:
    """All 2^n rows without errors, and their probabilities."""
    rows = every_row(task.target)
    bits = rows.bits.astype(jnp.int32)
    chain = jnp.where(np.asarray(written)[None, :], _right_chains(bits, task, 1.0), MARK)
    return Rows(bits, chain), rows.shares


def slot_losses(model: Decoder, logits: Array, chain: Array) -> Array:
    """Cross-entropy of every slot, (rows, slots), over the slots that are written; 0 at marks."""
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, jnp.minimum(chain, 1))
    asked = np.asarray(model.written)
    scored: Array = jnp.where(asked[None, :], losses, 0) * (asked.size / asked.sum())
    return scored


def test_on(model: Decoder, rows: Rows, parents: AnyArray) -> Test:
    """What a model is worth on rows that it did not see."""
    out = jax.vmap(model.outcome)(rows.sequences())
    asked = np.asarray(model.written)[None, :]
    right = (jnp.argmax(out.logits, axis=-1) == rows.chain) | ~asked
    best = jnp.max(jnp.mean(out.attention, axis=0), axis=0)
    return Test(
        jnp.mean(slot_losses(model, out.logits, rows.chain)),
        jnp.mean(right, axis=0, dtype=jnp.float32),
        jnp.mean(jnp.all(right, axis=1), dtype=jnp.float32),
        jnp.sum(jnp.where(parents, best, 0)) / jnp.maximum(jnp.sum(parents), 1),
    )


@eqx.filter_jit
def train_all(build: Build, tasks: Task, keys: Array, dials: Dials, shape: Shape) -> Ended:
    """All runs; every leaf has an axis of runs first. build: what a run's key draws at its start.

    The start of run i draws from the second half of its key.
    """

    def one(given: tuple[Task, Array]) -> PyTree:
        start = build.draw(jax.random.split(given[1])[1])
        return eqx.filter(_train_one(start, *given, dials, shape), eqx.is_array)

    over_runs = partial(jax.lax.map, one) if jax.default_backend() == "cpu" else jax.vmap(one)
    ended: Ended = over_runs((tasks, keys))
    return ended


class _State(NamedTuple):
    """weights: trained numbers. rule: the optimiser's state. steps: done. last: the last test."""

    weights: PyTree
    rule: PyTree
    steps: Array
    last: Test
    seen: Test


def _train_one(start: Decoder, task: Task, key: Array, dials: Dials, shape: Shape) -> Ended:
    data_key, test_key = jax.random.fold_in(key, 2), jax.random.fold_in(key, 3)
    weights, rest = eqx.partition(start, eqx.is_inexact_array)
    clean = task._replace(target=task.target._replace(contrast=jnp.sign(task.target.contrast)))
    rule = as_optimiser(shape.optimiser, jnp.asarray(dials.eta))
    batch_of = _batches(task, start.written, data_key, dials, shape)

    def fresh(number: Array | int, size: int) -> Rows:
        key = jax.random.fold_in(test_key, number)
        zero = jnp.zeros((), jnp.float32)
        return draw_chains(key, clean, start.written, size, shape.uniform, zero)

    def losses_on(weights: PyTree, rows: Rows) -> Array:
        model = eqx.combine(weights, rest)
        logits = jax.vmap(lambda each: model.outcome(each).logits)(rows.sequences())
        return slot_losses(model, logits, rows.chain)

    def loss(weights: PyTree, number: Array) -> Array:
        if shape.kind == "Population":
            return mean_loss(partial(losses_on, weights), task, start.written)
        return jnp.mean(losses_on(weights, batch_of(number)))

    def step(number: Array, carry: tuple[PyTree, PyTree]) -> tuple[PyTree, PyTree]:
        weights, state = carry
        gradient = jax.grad(loss)(weights, number)
        updates, state = rule.update(gradient, state, weights)
        return optax.apply_updates(weights, updates), state

    def stretch(state: _State) -> _State:
        until = jnp.minimum(state.steps + dials.check, dials.steps)
        begin = (state.weights, state.rule)
        weights, held = jax.lax.fori_loop(jnp.maximum(state.steps, 0), until, step, begin)
        last = test_on(eqx.combine(weights, rest), fresh(until, TEST_ROWS), task.parents)
        # A record holds until a later one replaces it: ended runs keep their last test.
        later = jnp.arange(shape.records) >= -(-until // dials.check)
        seen = jax.tree.map(
            lambda kept, new: jnp.where(later.reshape(-1, *[1] * new.ndim), new[None], kept),
            state.seen,
            last,
        )
        return _State(weights, held, until, last, seen)

    def unfinished(state: _State) -> Array:
        return (state.steps < dials.steps) & (state.last.right < SOLVED_SHARE)

    # The first stretch has no steps: it tests the start.
    nothing = Test(*map(jnp.zeros, ((), len(start.written), (), ())))
    seen = jax.tree.map(lambda zero: jnp.zeros((shape.records, *zero.shape)), nothing)
    begin = _State(weights, rule.init(weights), -jnp.asarray(dials.check), nothing, seen)
    end = jax.lax.while_loop(unfinished, stretch, begin)
    model = eqx.combine(end.weights, rest)
    worth = _worth(model, fresh(2**30, JUDGING_ROWS), task)
    return Ended(model, end.steps, end.last, end.seen, *worth)


def _batches(
    task: Task, written: tuple[bool, ...], key: Array, dials: Dials, shape: Shape
) -> Callable[[Array], Rows]:
    """The rows of a step by its number: new ones, or some of a sample drawn once."""
    errors = jnp.asarray(dials.flips), jnp.asarray(dials.wrong)
    if shape.kind == "Fresh":
        return lambda number: draw_chains(
            jax.random.fold_in(key, number), task, written, shape.batch, shape.uniform, *errors
        )
    once, choice = jax.random.split(key)

    def some(number: Array) -> Rows:
        """Row i of the sample has a key of its own, so the sample need not be held."""
        key = jax.random.fold_in(choice, number)
        chosen = jax.random.randint(key, (shape.batch,), 0, dials.rows)
        own = jax.vmap(partial(jax.random.fold_in, once))(chosen)
        rows = jax.vmap(lambda key: draw_chains(key, task, written, 1, shape.uniform, *errors))(own)
        return Rows(*(each[:, 0] for each in rows))

    return some


def mean_loss(
    losses_on: Callable[[Rows], Array], task: Task, written: tuple[bool, ...]
) -> Float[Array, ""]:
    """The mean over all inputs, some of them at a time; label noise enters as its expectation."""
    rows, shares = every_chain(task, written)
    noise = (1 - jnp.abs(task.target.contrast)) / 2
    flipped = rows._replace(chain=rows.chain.at[:, -1].set(1 - rows.chain[:, -1]))
    size = min(len(shares), AT_ONCE)

    def part(given: tuple[Rows, Rows, Array]) -> Array:
        kept, other, shares = given
        losses = losses_on(kept)
        # The last token is read by nobody, so only its own loss depends on the label.
        last = (1 - noise) * losses[:, -1] + noise * losses_on(other)[:, -1]
        return shares @ jnp.mean(losses.at[:, -1].set(last), axis=1)

    parts = jax.tree.map(
        lambda leaf: leaf.reshape(-1, size, *leaf.shape[1:]), (rows, flipped, shares)
    )
    return jnp.sum(jax.lax.map(jax.checkpoint(part), parts))


def _worth(model: Decoder, rows: Rows, task: Task) -> tuple[Array, Array, Array]:
    """½ mean (ŷ - y)² of free writing with its standard error, and the share of right answers.

    Label noise enters the risk as its expectation.
    """
    _, answers = jax.vmap(model.write)(rows.bits)
    labels = 1 - 2 * rows.chain[:, -1].astype(answers.dtype)
    noise = (1 - jnp.abs(task.target.contrast)) / 2
    losses = ((1 - noise) * (answers - labels) ** 2 + noise * (answers + labels) ** 2) / 2
    error = jnp.std(losses) / np.sqrt(JUDGING_ROWS - 1)
    return jnp.mean(losses), error, jnp.mean(answers * labels > 0)

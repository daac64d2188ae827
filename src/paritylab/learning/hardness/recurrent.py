"""Recurrent networks on k-parity, with and without the running parity as intermediate labels."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PyTree

from paritylab.learning.contract import Trained, check_fields, register_learner
from paritylab.learning.data import Fresh, Target, Unknown, are_uniform, parities_of
from paritylab.learning.descent import (
    Path,
    Schedule,
    descend,
    stacked,
    traced,
)
from paritylab.learning.judging import judge_models
from paritylab.learning.own_model import judged_networks
from paritylab.models.recurrent import BitReader, Recurrent as Network, reader_inputs
from paritylab.problem.sampling import draw_bits
from paritylab.risk.objective import Target as Arrays, target_of

#: Fresh strings on which the accuracy of a trained network is counted.
TEST_STRINGS = 1000

# A string costs a network n steps one after another: fewer of them than for other models.
_judge = partial(judge_models, most_bits=14, samples=2048)


@register_learner("recurrent")
@dataclass(frozen=True, eq=False)
class RecurrentNet:
    """An Elman network or an LSTM that reads the bits one by one; Adam on fresh strings.

    Every step it is given one bit with its position. labels: the running parity of the hidden set
    is the target of every step and, teacher-forced, an input of the next; label noise flips the
    running parities of a string together. Without labels only the last answer is scored.

    The trained model is fed with its own answers and predicts by the last one. A run is solved if
    the squared-hinge risk of that is below 0.05. Stats: accuracy on 1,000 fresh strings.
    """

    cell: str = "elman"
    labels: bool = True
    width: int = 64
    eta: float = 3e-3
    steps: int = 1500

    takes = (Fresh,)

    def __post_init__(self) -> None:
        check_fields(self)

    def train(self, data: Fresh, keys: jax.Array, trace: int | None) -> Trained:
        parities = parities_of(data, "a recurrent net")
        schedule = Schedule("adam", self.steps, trace)
        uniform = are_uniform(data)
        shape = _Shape(data.n, self.cell, self.labels, self.width, data.samples, uniform, schedule)
        # float32 whatever the caller's mode: twice as fast, and the same key gives the same run.
        with jax.enable_x64(False), jax.default_matmul_precision("highest"):
            targets = stacked(jax.tree.map(np.float32, target_of(each)) for each in parities)
            path, accuracy = _train_all(keys, targets, np.float32(self.eta), shape)
        numbers = tuple(np.asarray(leaf) for leaf in jax.tree.leaves(path.parameters))
        stats = {"accuracy": np.asarray(accuracy)}
        way = traced(path, schedule)
        return judged_networks(self, numbers, data, keys, judge=_judge, trace=way, stats=stats)

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> BitReader:
        shape = eqx.filter_eval_shape(Network.random, 0, target.n + 2, self.width, self.cell)
        leaves = [np.asarray(leaf) for leaf in numbers]
        return BitReader(jax.tree.unflatten(jax.tree.structure(shape), leaves), self.labels)


class _Shape(NamedTuple):
    """What a compiled training is specialised on. batch: strings per step. uniform: fair bits."""

    n: int
    cell: str
    labels: bool
    width: int
    batch: int
    uniform: bool
    schedule: Schedule


@eqx.filter_jit
def _train_all(
    keys: jax.Array, targets: Arrays, eta: np.float32, shape: _Shape
) -> tuple[Path, Array]:
    """The descent of every run and its accuracy on fresh strings."""
    steps, every = shape.schedule.steps, shape.schedule.every
    rule = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(eta))

    def one(key: jax.Array, target: Arrays) -> tuple[Path, Array]:
        start_key = jax.random.split(key)[1]
        network = Network.random(start_key, shape.n + 2, shape.width, shape.cell)
        weights, rest = eqx.partition(network, eqx.is_inexact_array)

        def loss(weights: PyTree, step_key: jax.Array) -> Float[Array, ""]:
            signs, parities = _strings(step_key, target, shape.batch, shape.uniform)
            before = jnp.roll(parities, 1, axis=1).at[:, 0].set(1.0)
            inputs = reader_inputs(signs, before if shape.labels else jnp.zeros_like(signs))
            answers = jax.vmap(eqx.combine(weights, rest))(inputs)
            errors = (answers - parities) ** 2
            return jnp.mean(errors if shape.labels else errors[:, -1])

        data_key, test_key = jax.random.fold_in(key, 2), jax.random.fold_in(key, 4)
        path = descend(loss, weights, rule, steps=steps, every=every, key=data_key)
        clean = target._replace(contrast=jnp.sign(target.contrast))
        signs, parities = _strings(test_key, clean, TEST_STRINGS, shape.uniform)
        reader = BitReader(eqx.combine(path.parameters, rest), shape.labels)
        answers = jax.vmap(reader)((1 - signs) / 2)
        return path._replace(path=()), jnp.mean(answers * parities[:, -1] > 0)

    path, accuracy = jax.vmap(one)(keys, targets)
    return path, accuracy


def _strings(
    key: jax.Array, target: Arrays, rows: int, uniform: bool
) -> tuple[Float[Array, "rows n"], Float[Array, "rows n"]]:
    """Fresh strings as signs, and sign·Π_{j≤t, j∈B} of each at every t, flipped by the noise."""
    noise = (1 - jnp.abs(target.contrast)) / 2
    bits, flips = draw_bits(key, target.probabilities, noise, rows, uniform)
    signs = 1 - 2 * bits.astype(jnp.float32)
    running = jnp.cumprod(jnp.where(target.indicator[None, :] > 0, signs, 1.0), axis=1)
    return signs, jnp.sign(target.contrast) * running * flips.astype(jnp.float32)[:, None]

"""Recurrent networks on k-parity, with and without the running parity as intermediate labels."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PyTree

from paritylab.learning.contract import register_learner
from paritylab.learning.data import Data, Fresh, Target, Unknown, are_uniform, parities_of
from paritylab.learning.descent import Path, Schedule, descend, stacked, traced
from paritylab.learning.networks import Ended, Network, saved_numbers
from paritylab.models.recurrent import BitReader, Recurrent, reader_inputs
from paritylab.options import Choice, Doc, Ge, Gt
from paritylab.problem.sampling import draw_bits
from paritylab.risk.objective import Target as Arrays, target_of


@register_learner("recurrent")
@dataclass(frozen=True, eq=False)
class RecurrentNet(Network):
    """An Elman network or an LSTM that reads the bits one by one; Adam on fresh strings.

    Every step it is given one bit with its position. labels: the running parity of the hidden set
    is the target of every step and, teacher-forced, an input of the next; label noise flips the
    running parities of a string together. Without labels only the last answer is scored.

    The trained model is fed with its own answers and predicts by the last one. A run is solved if
    the squared-hinge risk of that is below 0.05. Stats: accuracy.
    """

    cell: Annotated[str, Choice(("elman", "lstm")), Doc("Kind of cell.")] = "elman"
    labels: Annotated[bool, Doc("Show the running parity at every step.")] = True
    width: Annotated[int, Ge(1), Doc("Units of the cell.")] = 64
    eta: Annotated[float, Gt(0), Doc("Step size.")] = 3e-3
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 1500

    takes = (Fresh,)
    # A string costs a network n steps one after another: fewer of them than for other models.
    judged_by = (14, 2048)

    def draw(self, key: jax.Array, target: Target | Unknown) -> BitReader:
        return BitReader(Recurrent.random(key, target.n + 2, self.width, self.cell), self.labels)

    def descended(self, data: Data, keys: jax.Array, trace: int | None) -> Ended:
        """Adam on fresh strings in float32."""
        assert isinstance(data, Fresh)
        parities = parities_of(data, "a recurrent net")
        schedule = Schedule("adam", self.steps, trace)
        shape = _Shape(data.samples, are_uniform(data), schedule)
        # float32 whatever the caller's mode: twice as fast, and the same key gives the same run.
        with jax.enable_x64(False), jax.default_matmul_precision("highest"):
            targets = stacked(jax.tree.map(np.float32, target_of(each)) for each in parities)
            start = jax.tree.map(lambda *each: jnp.stack(each), *self.starts(data, keys))
            path = _train_all(start, keys, targets, np.float32(self.eta), shape)
        numbers = jax.tree.map(np.asarray, saved_numbers(path.parameters))
        return Ended(numbers, traced(path, schedule), {})


class _Shape(NamedTuple):
    """What a compiled training is specialised on. batch: strings per step. uniform: fair bits."""

    batch: int
    uniform: bool
    schedule: Schedule


@eqx.filter_jit
def _train_all(
    starts: BitReader, keys: jax.Array, targets: Arrays, eta: np.float32, shape: _Shape
) -> Path:
    """The descent of every run. starts: stacked over runs."""
    # Gradients through n time steps may explode: a step of a long gradient has norm 1.
    rule = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(eta))

    def one(start: BitReader, key: jax.Array, target: Arrays) -> Path:
        weights, rest = eqx.partition(start, eqx.is_inexact_array)

        def loss(weights: PyTree, step_key: jax.Array) -> Float[Array, ""]:
            reader = eqx.combine(weights, rest)
            signs, parities = _strings(step_key, target, shape.batch, shape.uniform)
            before = jnp.roll(parities, 1, axis=1).at[:, 0].set(1.0)
            inputs = reader_inputs(signs, before if start.labels else jnp.zeros_like(signs))
            answers = jax.vmap(reader.network)(inputs)
            errors = (answers - parities) ** 2
            return jnp.mean(errors if start.labels else errors[:, -1])

        return descend(
            loss,
            weights,
            rule,
            steps=shape.schedule.steps,
            every=shape.schedule.every,
            key=jax.random.fold_in(key, 2),
            keep=lambda _: (),
        )

    path: Path = eqx.filter_vmap(one)(starts, keys, targets)
    return path


def _strings(
    key: jax.Array, target: Arrays, rows: int, uniform: bool
) -> tuple[Float[Array, "rows n"], Float[Array, "rows n"]]:
    """Fresh strings as signs, and sign·Π_{j≤t, j∈B} of each at every t, flipped by the noise."""
    noise = (1 - jnp.abs(target.contrast)) / 2
    bits, flips = draw_bits(key, target.probabilities, noise, rows, uniform)
    signs = 1 - 2 * bits.astype(jnp.float32)
    running = jnp.cumprod(jnp.where(target.indicator[None, :] > 0, signs, 1.0), axis=1)
    return signs, jnp.sign(target.contrast) * running * flips.astype(jnp.float32)[:, None]

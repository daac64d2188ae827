"""Recurrent networks on k-parity, with and without the running parity as intermediate labels."""

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from paritylab.models.recurrent import Recurrent
from paritylab.problem.sampling import as_key


class RecurrentRuns(NamedTuple):
    """Accuracy of the final answer on fresh strings, one entry per run, and the number of steps."""

    accuracy: np.ndarray
    steps: int


def train_recurrent(
    n: int,
    k: int,
    *,
    labels: bool,
    cell: str = "elman",
    width: int = 64,
    steps: int = 1500,
    batch: int = 64,
    rate: float = 3e-3,
    runs: int = 5,
    seed: int = 0,
) -> RecurrentRuns:
    """Adam on fresh batches; a run has its own hidden set and its own start.

    The network reads one bit per step together with its position. labels: the running parity of
    the hidden set is the target of every step and, teacher-forced, an input of the next; at test
    time the network is fed its own answers. Without labels only the last answer is scored.
    """
    if not 1 <= k <= n:
        raise ValueError(f"k must be between 1 and n={n}, got {k}")
    keys = jax.random.split(as_key(seed), runs)
    accuracy = _train(keys, n, k, labels, cell, width, steps, batch, rate)
    return RecurrentRuns(np.asarray(accuracy), steps)


@partial(jax.jit, static_argnums=(1, 2, 3, 4, 5, 6, 7))
def _train(keys, n, k, labels, cell, width, steps, batch, rate):
    return jax.vmap(lambda key: _one(key, n, k, labels, cell, width, steps, batch, rate))(keys)


def _one(key, n, k, labels, cell, width, steps, batch, rate):
    set_key, start_key, data_key, test_key = jax.random.split(key, 4)
    member = jax.random.permutation(set_key, jnp.arange(n) < k)
    network = Recurrent.random(start_key, n + 2, width, cell)
    weights, shape = eqx.partition(network, eqx.is_inexact_array)
    rule = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(rate))

    def draw(key, rows):
        signs = jax.random.rademacher(key, (rows, n), jnp.float32)
        return signs, jnp.cumprod(jnp.where(member[None, :], signs, 1), axis=1)

    def loss(weights, key):
        signs, parities = draw(key, batch)
        before = jnp.concatenate([jnp.ones((batch, 1)), parities[:, :-1]], axis=1)
        inputs = _inputs(signs, before if labels else jnp.zeros_like(signs))
        answers = jax.vmap(eqx.combine(weights, shape))(inputs)
        errors = (answers - parities) ** 2
        return jnp.mean(errors if labels else errors[:, -1])

    def step(carry, number):
        weights, state = carry
        gradient = jax.grad(loss)(weights, jax.random.fold_in(data_key, number))
        update, state = rule.update(gradient, state, weights)
        return (optax.apply_updates(weights, update), state), None

    (weights, _), _ = jax.lax.scan(step, (weights, rule.init(weights)), jnp.arange(steps))
    signs, parities = draw(test_key, 1000)
    answers = jax.vmap(partial(_free_run, eqx.combine(weights, shape), labels))(signs)
    return jnp.mean(answers * parities[:, -1] > 0)


def _inputs(signs, before):
    """Bit, previous answer and one-hot position of every time step."""
    rows, n = signs.shape
    positions = jnp.broadcast_to(jnp.eye(n)[None], (rows, n, n))
    return jnp.concatenate([signs[..., None], before[..., None], positions], axis=-1)


def _free_run(network: Recurrent, labels: bool, signs):
    """The last answer when the network is fed the signs of its own answers."""
    n = signs.shape[0]

    def step(carry, t):
        state, previous = carry
        given = jnp.concatenate([jnp.stack([signs[t], previous]), jnp.eye(n)[t]])
        state, answer = network.step(state, given)
        following = jnp.sign(answer) if labels else jnp.zeros(())
        return (state, following), answer

    start = (network.start(), jnp.asarray(1.0 if labels else 0.0))
    return jax.lax.scan(step, start, jnp.arange(n))[1][-1]

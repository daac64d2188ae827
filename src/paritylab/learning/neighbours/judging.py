"""Many shallow nets judged in one compiled call, each on fresh strings of its own target."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning.data import Fresh, Population, functions_of
from paritylab.learning.judging import Scores, judging_loss
from paritylab.learning.neighbours.strings import Strings, draw_strings, generator_of, signs_of
from paritylab.models.shallow import ShallowNet
from paritylab.problem import as_loss
from paritylab.problem.sampling import each_key

#: Strings per run.
STRINGS = 8192


def judge_nets(nets: ShallowNet, data: Population | Fresh, keys: jax.Array) -> Scores:
    """Risk and accuracy of every run. nets: one net whose arrays have a leading axis of runs."""
    drawn = [
        draw_strings(generator_of(key, 1), target, (STRINGS,))
        for key, target in zip(each_key(keys), functions_of(data, "a shallow net"), strict=True)
    ]
    rows = Strings(*(np.stack(part) for part in zip(*drawn, strict=True)))
    with jax.enable_x64(False), jax.default_matmul_precision("highest"):
        found = _judged(jax.tree.map(np.float32, nets), rows, judging_loss(data))
    risk, spread, accuracy = (np.asarray(part, np.float64) for part in found)
    # A loss that no string happened to meet is still possible: never an error of 0.
    error = np.hypot(spread / np.sqrt(STRINGS), 1 / STRINGS)
    return Scores(risk, error, "sampled", accuracy)


@partial(jax.jit, static_argnames="loss")
def _judged(nets: ShallowNet, rows: Strings, loss: str) -> tuple[jax.Array, jax.Array, jax.Array]:
    def one(net: ShallowNet, rows: Strings) -> tuple[jax.Array, jax.Array, jax.Array]:
        y = jnp.asarray(rows.labels)
        made = net.at_signs(signs_of(rows.packed, net.hidden.shape[-1]))
        values = as_loss(loss).pointwise(y, made)
        return jnp.mean(values), jnp.std(values), jnp.mean(y * made > 0)

    risk, spread, accuracy = jax.vmap(one)(nets, rows)
    return risk, spread, accuracy

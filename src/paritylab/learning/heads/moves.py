"""Greedy relocations: a head leaves for where the model's own correlation is larger.

Annealing meets the trap of every mixture: two heads on one cluster of bits, one head on two. No
small step leaves it, because the spare head would have to cross what the others hold. A relocation
does, and it needs nothing but |c|, the correlation of the learner's own model with the label.
"""

import math

import jax
import jax.numpy as jnp
from jax.scipy.special import ndtri
from jaxtyping import Array, Float, PyTree

from paritylab.learning.heads.fields import Field

#: Moves are tried at every second step until this share of the steps is done.
EVERY, LAST = 2, 0.95


def candidates(k: int) -> int:
    """Relocations that k heads compare at a time: k/4, and at least 2.

    >>> candidates(3), candidates(64)
    (2, 16)
    """
    return max(2, math.ceil(k / 4))


def relocate(
    field: Field,
    seen: PyTree,
    loss: Array,
    angles: Float[Array, " k"],
    tau: Array,
    key: Array,
    *,
    tries: int,
    greedy: bool,
) -> tuple[Array, Array, Array]:
    """The head that moves, where to, and whether it does.

    A candidate is a random head that goes, with probability ½ each, one width √τ times a normal
    number away from a random head, or to a uniform angle. greedy: the best of them, if it raises
    |c|. Otherwise Metropolis: the first, with probability |c'|/|c|.
    """
    k, width = len(angles), jnp.sqrt(jnp.minimum(tau, 1.0))
    # One draw for all: every call of the generator costs seconds of compiling.
    draws = jax.random.uniform(key, (6, tries), jnp.float64)
    heads, hosts = (jnp.minimum((k * each).astype(int), k - 1) for each in draws[:2])
    nearby = angles[hosts] + width * ndtri(draws[2])
    places = jnp.where(draws[3] < 0.5, nearby, 2 * jnp.pi * draws[4])
    losses = field.after(seen, heads, places, tau)
    gains = field.compared(seen, loss) - jnp.where(jnp.isnan(losses), jnp.inf, losses)
    if greedy:
        best = jnp.argmax(gains)
        return heads[best], places[best], gains[best] > 0
    return heads[0], places[0], gains[0] > jnp.log(draws[5, 0])

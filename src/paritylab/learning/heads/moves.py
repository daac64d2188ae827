"""Moves: one head jumps if what the model knows of itself then looks better.

Annealing meets the trap of every mixture, two heads on one cluster of bits and one head on two. No
small step leaves it, because the spare head would have to cross what the others hold. A move does,
and it needs nothing but the risk of the learner's own model.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy.special import ndtri
from jaxtyping import Array, Float

from paritylab.learning.heads.objective import at_angles
from paritylab.learning.objective import StepRisk
from paritylab.models import HeadAttention

#: Moves are tried at every second step until this share of the steps is done.
EVERY, LAST = 2, 0.95


def candidates(k: int) -> int:
    """Moves that k heads compare at a time: k/4, and at least 2.

    >>> candidates(3), candidates(64)
    (2, 16)
    """
    return max(2, math.ceil(k / 4))


class Attended:
    """Heads known by the weights of the bits alone, which is enough for their risk."""

    def __init__(self, like: HeadAttention, weights: Array) -> None:
        self.like, self._weights = like, weights

    @classmethod
    def by(cls, like: HeadAttention, attention: Array) -> "Attended":
        """Heads with this attention (heads, n)."""
        return cls(like, like.k / attention.shape[0] * jnp.sum(attention, axis=0))

    def weights(self) -> Array:
        """g_j, the weight of bit j."""
        return self._weights

    def __call__(self, bits: Array) -> Array:
        return self.like.predict(self._weights, bits)


def relocate(
    like: HeadAttention,
    risk: StepRisk,
    before: Array,
    attention: Float[Array, "heads positions"],
    angles: Float[Array, " heads"],
    key: Array,
    *,
    tries: int,
) -> tuple[Array, Array, Array]:
    """The head that moves, where to, and whether it does: the best one, if it lowers the risk.

    like: the heads. risk: what judges moves. before: the risk of the heads as they are. attention:
    theirs, at their angles. tries: candidates compared. A candidate is a random head that goes,
    with probability ½ each, one width √τ times a normal number away from a random head, or to a
    uniform angle.
    """
    heads, width = len(angles), jnp.sqrt(jnp.minimum(jnp.asarray(like.tau), 1.0))
    scale, total = like.k / heads, jnp.sum(attention, axis=0)
    # One draw for all: every call of the generator costs seconds of compiling.
    draws = jax.random.uniform(key, (5, tries), jnp.float64)
    movers, hosts = (jnp.minimum((heads * each).astype(int), heads - 1) for each in draws[:2])
    nearby = angles[hosts] + width * ndtri(draws[2])
    places = jnp.where(draws[3] < 0.5, nearby, 2 * jnp.pi * draws[4])
    weights = total[None] - attention[movers] + at_angles(like, places).attention()
    after: Any = jax.vmap(lambda each: risk.of(Attended(like, scale * each)))(weights)
    gains = before - jnp.where(jnp.isnan(after), jnp.inf, after)
    best = jnp.argmax(gains)
    return movers[best], places[best], gains[best] > 0

"""What annealed heads know: -log|c| of their own model, and after one head would move.

c = E[y cos πs] is the correlation of the model with the label, s = Σ_j g_j x_j the attended sum.

Greedy relocations: annealing meets the trap of every mixture, two heads on one cluster of bits and
one head on two. No small step leaves it, because the spare head would have to cross what the others
hold. A relocation does, and it needs nothing but |c| of the learner's own model.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.special import ndtri
from jaxtyping import Array, Float, Int

from paritylab._support.precision import AnyArray
from paritylab.models import Circle, softmax_attention
from paritylab.risk.objective import JuntaTarget, Target, labelled
from paritylab.risk.routes.cosine import correlation_wave, log_correlation
from paritylab.risk.routes.pieces import SIGNS
from paritylab.risk.rows import WeightedRows as Table

#: Attention of so many heads to so many positions is held at a time, 80 MB.
NUMBERS = 10_000_000
#: Added to a correlation before its logarithm is taken, which is finite then at 0 too.
TINY = 1e-300
#: Moves are tried at every second step until this share of the steps is done.
EVERY, LAST = 2, 0.95


class Field(NamedTuple):
    """-log|c| of heads at given angles, (k,), and a temperature.

    n: positions. loss: from the weights g, (n,), what is descended. judge: the same from other
    rows, by which moves are judged; None if they are judged by `loss`.
    """

    n: int
    loss: Callable[[Array], Array]
    judge: Callable[[Array], Array] | None = None

    def seen(
        self, angles: Float[Array, " k"], tau: Array
    ) -> tuple[Array, Float[Array, "k positions"]]:
        """The loss of these heads, and the attention of each, which `after` needs."""
        attention = attention_of(angles, tau, self.n)
        return self.loss(jnp.sum(attention, axis=0)), attention

    def gains(
        self,
        attention: Float[Array, "k positions"],
        loss: Array,
        heads: Int[Array, " C"],
        angles: Float[Array, " C"],
        tau: Array,
    ) -> Float[Array, " C"]:
        """How much the loss that judges moves falls if head heads[c] goes to angles[c], for each
        candidate c; -∞ where it is not a number."""
        total, judge = jnp.sum(attention, axis=0), self.judge or self.loss
        before = loss if self.judge is None else judge(total)
        weights = total[None] - attention[heads] + attention_of(angles, tau, self.n)
        after: Array = jax.vmap(judge)(weights)
        return before - jnp.where(jnp.isnan(after), jnp.inf, after)


def attention_of(angles: Float[Array, " heads"], tau: Array | float, n: int) -> Array:
    """Attention of heads at given angles to all n positions, (heads, n)."""
    directions = jnp.stack([jnp.sin(angles), jnp.cos(angles)], axis=1)
    attention: Array = softmax_attention(Circle(n).scores(directions) / tau)
    return attention


@partial(jax.jit, static_argnames="n")
def final_weights(angles: Float[AnyArray, "runs k"], tau_end: float, n: int) -> Array:
    """What every bit weighs at temperature tau_end/n², (runs, n); some runs at a time."""

    def weigh(angles: Array) -> Array:
        return jnp.sum(attention_of(angles, tau_end / n**2, n), axis=0)

    at_once = max(1, NUMBERS // (angles.shape[1] * n))
    weights: Array = jax.lax.map(weigh, jnp.asarray(angles), batch_size=at_once)
    return weights


def exact_loss(target: Target | JuntaTarget, fair: bool) -> Callable[[Array], Array]:
    """-log|E[y cos πs]| as a function of the weights. fair: all bits are, and B is a parity's."""

    def loss(weights: Array) -> Array:
        if isinstance(target, JuntaTarget) or not fair:
            return -log_cosine(weights, target)
        # Fair bits: E[e^{iπs}χ_B] is a product over positions, cos(πg/2) off B and sin(πg/2) on
        # it; the phase e^{iπk/2}·(-i)^k is 1 because the weights add up to k. The logarithm turns
        # a product that underflows at large n into a sum.
        half = jnp.pi / 2 * weights
        factors = jnp.where(target.indicator > 0, jnp.sin(half), jnp.cos(half))
        return -jnp.sum(jnp.log(jnp.abs(factors) + TINY)) - jnp.log(jnp.abs(target.contrast))

    return loss


def rows_loss(rows: Table) -> Callable[[Array], Array]:
    """The same as measured on rows, which may be a part of all."""

    shares = rows.shares / jnp.sum(rows.shares)

    def loss(weights: Array) -> Array:
        mean = shares @ (rows.labels * jnp.cos(jnp.pi * (rows.bits @ weights)))
        return -jnp.log(jnp.abs(mean) + TINY)

    return loss


def log_cosine(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
    """log|E[y cos πs]|, s = Σ_j g_j x_j of weights g, from the closed form for any bits.

    Of a junta only the mean of y enters, and two labels carry it for real values too; a correlation
    that is mere rounding gives no direction.
    """
    if isinstance(target, Target):
        plain: Array = log_correlation(weights, target.arrays())[0]
        return plain
    modulus, factor, share = correlation_wave(weights, labelled(target, SIGNS), SIGNS)
    known = jnp.abs(share) > 1e-12
    size = modulus + jnp.log(jnp.where(known, jnp.abs(factor), 1.0))
    return jnp.where(known, size, jnp.log(TINY))


def candidates(k: int) -> int:
    """Relocations that k heads compare at a time: k/4, and at least 2.

    >>> candidates(3), candidates(64)
    (2, 16)
    """
    return max(2, math.ceil(k / 4))


def relocate(
    field: Field,
    attention: Float[Array, "k positions"],
    loss: Array,
    angles: Float[Array, " k"],
    tau: Array,
    key: Array,
    *,
    tries: int,
) -> tuple[Array, Array, Array]:
    """The head that moves, where to, and whether it does: the best candidate, if it raises |c|.

    attention, loss: what `field.seen` gave at these angles. tries: candidates compared. A candidate
    is a random head that goes, with probability ½ each, one width √τ times a normal number away
    from a random head, or to a uniform angle.
    """
    k, width = len(angles), jnp.sqrt(jnp.minimum(tau, 1.0))
    # One draw for all: every call of the generator costs seconds of compiling.
    draws = jax.random.uniform(key, (5, tries), jnp.float64)
    heads, hosts = (jnp.minimum((k * each).astype(int), k - 1) for each in draws[:2])
    nearby = angles[hosts] + width * ndtri(draws[2])
    places = jnp.where(draws[3] < 0.5, nearby, 2 * jnp.pi * draws[4])
    gains = field.gains(attention, loss, heads, places, tau)
    best = jnp.argmax(gains)
    return heads[best], places[best], gains[best] > 0

"""What annealed heads know: -log|c| of their own model, and after one head would move.

c = E[y cos πs] is the correlation of the model with the label. Two routes share one shape: `Dense`
keeps every head's attention to every position, `Windows` only the stretch of the circle that a head
sees, so that a step costs k² windows at any n: at n = 1000 and k = 3 three to ten times less than
the dense one on a processor.

Greedy relocations: annealing meets the trap of every mixture, two heads on one cluster of bits and
one head on two. No small step leaves it, because the spare head would have to cross what the others
hold. A relocation does, and it needs nothing but |c| of the learner's own model.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax.scipy.special import ndtri
from jaxtyping import Array, Float, Int, PyTree

from paritylab.models import Circle, softmax_attention
from paritylab.precision import AnyArray
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
#: Points of a window, and how many widths √τ it reaches to either side: beyond 6 lies 2e-9 of a
#: head. While a head is wider than POINTS/(2·REACH) = 4 positions the points lie a quarter of a
#: width apart and the sum over them is a trapezoidal rule; after that they are the positions.
POINTS, REACH = 48, 6.0


class Dense(NamedTuple):
    """-log|c| of heads at given angles, (k,), and temperature, from all n positions.

    loss: from the weights g, (n,), what is descended. judge: the same from other rows, for moves.
    `seen` gives the loss and what the others need of these heads, `compared` the loss by which
    moves are judged, `after` that loss if one head went to another angle, for each candidate (C,).
    """

    n: int
    loss: Callable[[Array], Array]
    judge: Callable[[Array], Array] | None = None

    def seen(self, angles: Float[Array, " k"], tau: Array) -> tuple[Array, PyTree]:
        attention = attention_of(angles, tau, self.n)
        return self.loss(jnp.sum(attention, axis=0)), attention

    def compared(self, seen: PyTree, loss: Array) -> Array:
        return loss if self.judge is None else self.judge(jnp.sum(seen, axis=0))

    def after(
        self, seen: PyTree, heads: Int[Array, " C"], angles: Float[Array, " C"], tau: Array
    ) -> Float[Array, " C"]:
        staying = jnp.sum(seen, axis=0)[None] - seen[heads]
        weights = staying + attention_of(angles, tau, self.n)
        losses: Array = jax.vmap(self.judge or self.loss)(weights)
        return losses


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
        if isinstance(target, JuntaTarget):
            return _junta_loss(weights, target)
        if not fair:
            return -log_correlation(weights, target.arrays())[0]
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


def _junta_loss(weights: Array, target: JuntaTarget) -> Array:
    """The same for a junta; a correlation that is mere rounding gives no direction.

    Only the mean of y enters, and two labels carry it for real values too.
    """
    modulus, factor, share = correlation_wave(weights, labelled(target, SIGNS), SIGNS)
    known = jnp.abs(share) > 1e-12
    size = modulus + jnp.log(jnp.where(known, jnp.abs(factor), 1.0))
    return jnp.where(known, -size, -jnp.log(TINY))


class HiddenSet(NamedTuple):
    """A parity of fair bits as windows need it. subset: B (k,). contrast: sign·(1 - 2ν)."""

    subset: Array
    contrast: Array


class Seen(NamedTuple):
    """Heads and their windows of P points.

    angles: (k,). normal: log Σ_j exp((cos(θ-θ_j) - 1)/τ) of each head (k,). points: their angles
    (k, P). own: a head's attention to its points, 0 on B (k, P). each: attention of every head to
    them (k, P, heads). logs: log-attention to B (b, heads).
    """

    angles: Array
    normal: Array
    points: Array
    own: Array
    each: Array
    logs: Array


class Windows(NamedTuple):
    """-log|c| = -Σ_{j∈B} log sin(πg_j/2) - Σ_{j∉B} log cos(πg_j/2) from the windows of the heads.

    With γ_i the attention of head i and F(g) = log cos(πg/2)/g, the second sum is Σ_i Σ_j γ_ij
    F(g_j): every head sums over its own window, and windows may overlap. Methods as of `Dense`.
    """

    n: int
    hidden: HiddenSet

    def seen(self, angles: Float[Array, " k"], tau: Array) -> tuple[Array, Seen]:
        points, normal, own = self._windows(angles, tau)
        each = jnp.exp(_score(points[..., None], angles[None, None], tau) - normal[None, None])
        logs = _score(self._hidden_angles()[:, None], angles[None], tau) - normal[None]
        off = jnp.sum(own * _log_cos_share(jnp.sum(each, axis=-1)))
        return self._total(logs, off, tau), Seen(angles, normal, points, own, each, logs)

    def compared(self, seen: Seen, loss: Array) -> Array:
        return loss

    def after(
        self, seen: Seen, heads: Int[Array, " C"], angles: Float[Array, " C"], tau: Array
    ) -> Float[Array, " C"]:
        windows, total = self._windows(angles, tau), jnp.sum(seen.each, axis=-1)

        def one(head: Array, angle: Array, points: Array, normal: Array, own: Array) -> Array:
            stay = jnp.arange(len(seen.angles)) != head
            arrived = jnp.exp(_score(seen.points, angle, tau) - normal)
            left = jnp.maximum(total - seen.each[..., head], 0.0) + arrived
            kept = jnp.sum(stay[:, None] * seen.own * _log_cos_share(left))
            others = _score(points[:, None], seen.angles[None], tau) - seen.normal[None]
            met = jnp.sum(jnp.exp(others) * stay[None], axis=1)
            alone = jnp.exp(_score(points, angle, tau) - normal)
            off = kept + jnp.sum(own * _log_cos_share(met + alone))
            moved = _score(self._hidden_angles(), angle, tau) - normal
            return self._total(seen.logs.at[:, head].set(moved), off, tau)

        losses: Array = jax.vmap(one)(heads, angles, *windows)
        return losses

    def _windows(self, angles: Float[Array, " some"], tau: Array) -> tuple[Array, Array, Array]:
        """points, normal and own of `Seen`; own counts the positions that a point stands for."""
        apart, spacing = 2 * jnp.pi / self.n, self._spacing(tau)
        # The points move with the head but carry no derivative: they are a rule for a sum, and
        # the attention at each point has the derivative that counts.
        centres = jax.lax.stop_gradient(angles)[:, None]
        nearest = jnp.round(centres / apart)
        steps = (jnp.arange(POINTS) - POINTS // 2)[None]
        points = jnp.where(spacing > apart, centres + spacing * steps, apart * (nearest + steps))
        scores = _score(points, angles[:, None], tau)
        stands_for = spacing / apart
        normal = jax.nn.logsumexp(scores, axis=1) + jnp.log(stands_for)
        place = jnp.mod(nearest + steps, self.n)[..., None]
        hit = (spacing <= apart) & jnp.any(place == self.hidden.subset[None, None], axis=-1)
        own = jnp.where(hit, 0.0, stands_for * jnp.exp(scores - normal[:, None]))
        return points, normal, own

    def _spacing(self, tau: Array) -> Array:
        """Angle between two points: a share of the width, at most the circle's, at least a step."""
        wide = jnp.minimum(2 * jnp.pi, 2 * REACH * jnp.sqrt(tau)) / POINTS
        return jnp.maximum(wide, 2 * jnp.pi / self.n)

    def _hidden_angles(self) -> Array:
        return 2 * jnp.pi / self.n * self.hidden.subset

    def _total(self, logs: Float[Array, "b heads"], off: Array, tau: Array) -> Array:
        """-log|c|; while points stand for many positions `off` holds B too, where g is small."""
        # log sin(πg/2) = log g + log(π/2·sinc(g/2)): the first term comes from the logarithms of
        # attention, so a hidden bit that no head sees yet still pulls, with g = e^-400 if need be.
        size = jax.nn.logsumexp(logs, axis=1)
        g = jnp.exp(size)
        on = jnp.sum(size + jnp.log(jnp.pi / 2 * jnp.abs(jnp.sinc(g / 2)) + TINY))
        twice = jnp.sum(jnp.log(jnp.abs(jnp.cos(jnp.pi / 2 * g)) + TINY))
        off = off - jnp.where(self._spacing(tau) > 2 * jnp.pi / self.n, twice, 0.0)
        return -on - off - jnp.log(jnp.abs(self.hidden.contrast))


def _score(points: Array, angles: Array, tau: Array) -> Array:
    """(cos(θ - φ) - 1)/τ, accurate for angles that nearly agree."""
    return -2 * jnp.sin((points - angles) / 2) ** 2 / tau


def _log_cos_share(weights: Array) -> Array:
    """log|cos(πg/2)|/g; 0 at 0."""
    g = jnp.maximum(weights, 1e-12)
    return jnp.log(jnp.abs(jnp.cos(jnp.pi / 2 * g)) + TINY) / g


#: What annealed heads descend.
Field: TypeAlias = Dense | Windows


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
) -> tuple[Array, Array, Array]:
    """The head that moves, where to, and whether it does: the best candidate, if it raises |c|.

    A candidate is a random head that goes, with probability ½ each, one width √τ times a normal
    number away from a random head, or to a uniform angle.
    """
    k, width = len(angles), jnp.sqrt(jnp.minimum(tau, 1.0))
    # One draw for all: every call of the generator costs seconds of compiling.
    draws = jax.random.uniform(key, (5, tries), jnp.float64)
    heads, hosts = (jnp.minimum((k * each).astype(int), k - 1) for each in draws[:2])
    nearby = angles[hosts] + width * ndtri(draws[2])
    places = jnp.where(draws[3] < 0.5, nearby, 2 * jnp.pi * draws[4])
    losses = field.after(seen, heads, places, tau)
    gains = field.compared(seen, loss) - jnp.where(jnp.isnan(losses), jnp.inf, losses)
    best = jnp.argmax(gains)
    return heads[best], places[best], gains[best] > 0

"""The risk of heads over all inputs, as compiled loops descend it.

Heads whose attention sums to one are a function of s = Σ_j g_j x_j, whose risk the engine knows at
any n; for cos(πs) and the logarithm of the correlation it is one product over positions.
"""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from paritylab._support.precision import AnyArray
from paritylab.learning.xor.exact import xor_risk
from paritylab.models import HeadAttention
from paritylab.problem import Loss
from paritylab.problem.losses import LOSSES
from paritylab.risk.objective import JuntaTarget, Target, WeightRisk, labelled
from paritylab.risk.routes.cosine import correlation_wave, log_correlation
from paritylab.risk.routes.pieces import SIGNS

#: Attention of so many heads to so many positions is held at a time, 80 MB.
NUMBERS = 10_000_000
#: Added to a correlation before its logarithm is taken, which is finite then at 0 too.
TINY = 1e-300

#: -log|E[yŷ]|, finite where the correlation is 0.
GUARDED = Loss(
    "log_correlation",
    LOSSES["log_correlation"].pointwise,
    lambda mean: -jnp.log(jnp.abs(mean) + TINY),
    quadratic_pieces=True,
)


@dataclass(frozen=True)
class PopulationRisk:
    """risk(model, target) of heads by the engine; equal for equal settings, so that compiled loops
    are found again."""

    risk: WeightRisk

    def __call__(self, model: Any, target: Target | JuntaTarget) -> Array:
        return self.risk(model.weights(), target)


@dataclass(frozen=True)
class ProductRisk:
    """-log|E[y cos πs]| of heads in its product form. fair: all bits are fair."""

    fair: bool

    def __call__(self, model: Any, target: Target | JuntaTarget) -> Array:
        return product_risk(model.weights(), target, self.fair)


@dataclass(frozen=True)
class PairRisk:
    """The risk of 1 - 2z² on y = -x_i·x_j, z = Σ_l g_l x_l, for weights g of any size and sign."""

    loss: str

    def __call__(self, model: Any, target: Target) -> Array:
        noise = (1 - jnp.abs(jnp.asarray(target.contrast))) / 2
        return xor_risk(model.weights() / 2, jnp.asarray(target.indicator) > 0, self.loss, noise)


def product_risk(
    weights: Float[Array, " n"], target: Target | JuntaTarget, fair: bool
) -> Float[Array, ""]:
    """-log|E[y cos πs]|, s = Σ_j g_j x_j. fair: all bits are."""
    if isinstance(target, JuntaTarget) or not fair:
        return -log_cosine(weights, target)
    # Fair bits: E[e^{iπs}χ_B] is a product over positions, cos(πg/2) off B and sin(πg/2) on it; the
    # phase e^{iπk/2}·(-i)^k is 1 because the weights add up to k. The logarithm turns a product
    # that underflows at large n into a sum.
    half = jnp.pi / 2 * weights
    factors = jnp.where(target.indicator > 0, jnp.sin(half), jnp.cos(half))
    return -jnp.sum(jnp.log(jnp.abs(factors) + TINY)) - jnp.log(jnp.abs(target.contrast))


def at_angles(heads: HeadAttention, angles: Float[AnyArray, " heads"]) -> HeadAttention:
    """The heads with unit directions on the circle."""
    directions = jnp.stack([jnp.sin(angles), jnp.cos(angles)], axis=1)
    return heads.with_parameters(directions)


@eqx.filter_jit
def weights_at_angles(heads: HeadAttention, angles: Float[AnyArray, "runs heads"]) -> Array:
    """What every bit weighs, (runs, n); some runs at a time."""
    at_once = max(1, NUMBERS // (angles.shape[1] * heads.code.n))

    def weigh(angles: Array) -> Array:
        return at_angles(heads, angles).weights()

    weights: Array = jax.lax.map(weigh, jnp.asarray(angles), batch_size=at_once)
    return weights


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

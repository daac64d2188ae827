"""The series with its plan computed inside compiled code, for weights that move during training.

The expansion is that of `series.kinked_mean`, with a fixed number of enumerated weights and terms
and a factor for every position, so that one compiled loop serves a whole training run.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Complex, Float

from paritylab.precision import AnyArray
from paritylab.risk.routes.pieces import Pieces
from paritylab.risk.routes.series import cosine_coefficients, joined_waves, powers
from paritylab.risk.routes.sums import head_sums
from paritylab.risk.routes.targets import Labelled, Target

HEAVY = 6
TERMS = 128
#: How far the mean may be off beside `scale_of` its pieces: three times the largest gap measured,
#: which was that of heads split evenly between two positions each (k = 5).
LOOP_ERROR = 3e-4


def moving_mean(
    weights: Float[Array, " n"], target: Target | Labelled, pieces: Pieces
) -> Float[Array, ""]:
    """What `half_sum_mean` gives, at any n, differentiable in g.

    Beside the exact routes it is off by 1e-14 … 1e-3, by up to
    0.2 where equal weights pile their sums up on a kink (uniform heads, halves), and its gradient
    by a few percent; `population_risk` says what a trained model is worth.
    """
    heavy, rest = _split(jax.lax.stop_gradient(weights), target)
    head = head_sums(weights, target, heavy)
    light, probabilities = weights.at[heavy].set(0.0), jnp.asarray(target.probabilities)
    start, reach = _interval(jax.lax.stop_gradient(light), probabilities)
    frequencies = jnp.pi / reach * jnp.arange(TERMS)
    coefficients, _ = cosine_coefficients(
        head.sums + start, head.chances, pieces, frequencies, reach
    )
    waves = dense_characteristic(light, rest, probabilities, jnp.pi / reach, TERMS)
    terms = joined_waves(coefficients, *waves, target)
    return jnp.sum((terms * jnp.exp(-1j * frequencies * start)).real)


def _split(weights: Float[Array, " n"], target: Target | Labelled) -> tuple[Array, Array]:
    """Positions to enumerate, and what is left of the indicator of B outside them."""
    n = weights.shape[0]
    if isinstance(target, Labelled):
        k = target.subset.shape[0]
        others = jax.lax.top_k(weights.at[target.subset].set(-1.0), min(max(HEAVY - k, 2), n - k))
        return jnp.concatenate([target.subset, others[1]]), jnp.zeros_like(weights)
    heavy = jax.lax.top_k(weights, min(HEAVY, n))[1]
    return heavy, jnp.asarray(target.indicator).at[heavy].set(0.0)


def dense_characteristic(
    weights: Float[Array, " n"],
    indicator: Float[AnyArray, " n"],
    probabilities: Float[AnyArray, " n"],
    base: Float[AnyArray, ""] | float,
    terms: int,
) -> tuple[Complex[Array, " M"], Complex[Array, " M"]]:
    """E[e^{iωs}] and E[e^{iωs} χ_B] at ω = 0, base, 2·base, …: one factor per position."""
    turns = powers(jnp.exp(1j * base * weights), terms)
    p, signs = jnp.asarray(probabilities)[None, :], 1 - 2 * jnp.asarray(indicator)[None, :]
    return _product(1 - p + p * turns), _product(1 - p + signs * p * turns)


def _interval(light: Float[Array, " n"], probabilities: Float[Array, " n"]) -> tuple[Array, Array]:
    """Start and length of Hoeffding's interval around the mean of the light sum."""
    half_width = jnp.minimum(jnp.sum(light), 4.2 * jnp.sqrt(jnp.sum(light**2))) + 1e-9
    return light @ probabilities - half_width, 2 * half_width


def _product(factors: Complex[Array, "M n"]) -> Complex[Array, " M"]:
    """Product over positions, pairwise: its derivative is as cheap as itself."""
    n = factors.shape[1]
    padding = jnp.ones((factors.shape[0], (1 << (n - 1).bit_length()) - n), factors.dtype)
    factors = jnp.concatenate([factors, padding], axis=1)
    while (size := factors.shape[1]) > 1:
        factors = factors[:, : size // 2] * factors[:, size // 2 :]
    return factors[:, 0]

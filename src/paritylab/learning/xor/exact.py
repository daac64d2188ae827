"""Exact quantities of the two-head XOR model: risk, worst case over every input, first gradient.

z = Σ_l g_l x_l with signs x and weights g; y = -x_i·x_j.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from scipy.stats import binom

from paritylab.models.attention import attend
from paritylab.models.readouts import Readout
from paritylab.precision import AnyArray, float64
from paritylab.problem.losses import as_loss

#: Losses whose mean over inputs has a closed form here.
XOR_LOSSES = ("squared", "correlation")


def xor_risk(
    weights: Float[AnyArray, " n"],
    on_pair: Bool[AnyArray, " n"],
    loss: str = "squared",
    noise: Float[AnyArray, ""] | float = 0.0,
) -> Float[Array, ""]:
    """E[loss] over all inputs for the readout 1 - 2z², at any weights g.

    With S₂ = Σ g², S₄ = Σ g⁴: E[yŷ] = 4 g_i g_j (1-2ν), E[ŷ²] = 1 - 4S₂ + 4(3S₂² - 2S₄).
    on_pair: true at i and j. noise: ν, the probability of a flipped label.

    >>> round(float(xor_risk(jnp.array([0.5, 0.5, 0.0]), jnp.array([True, True, False]))), 6)
    0.0
    """
    _check_loss(loss)
    g = jnp.asarray(weights)
    inside = jnp.where(jnp.asarray(on_pair), g, 0)
    agreement = 2 * (jnp.sum(inside) ** 2 - jnp.sum(inside**2)) * (1 - 2 * noise)
    if loss == "correlation":
        return -agreement
    second, fourth = jnp.sum(g**2), jnp.sum(g**4)
    return 1 - 2 * second + 6 * second**2 - 4 * fourth - agreement


class WorstCase(NamedTuple):
    """The largest error |ŷ - y| over all 2^n inputs, and what it is made of.

    error: exact if outside ≤ |g_i + g_j|, otherwise an upper bound. outside: Σ |g_l| off the pair.
    imbalance: |g_i - g_j|.
    """

    error: Float[AnyArray, "..."]
    outside: Float[AnyArray, "..."]
    imbalance: Float[AnyArray, "..."]

    @property
    def loss(self):
        """½(ŷ-y)² at the worst input."""
        return self.error**2 / 2


def worst_case(
    weights: Float[AnyArray, " n"], on_pair: Bool[AnyArray, " n"], readout: Readout
) -> WorstCase:
    """The worst input for given weights and a readout that is even and monotone in |z|."""
    g, on_pair = jnp.asarray(weights), jnp.asarray(on_pair)
    pair_sum = jnp.sum(jnp.where(on_pair, g, 0))
    squares = jnp.sum(jnp.where(on_pair, g**2, 0))
    imbalance = jnp.sqrt(jnp.maximum(2 * squares - pair_sum**2, 0))
    outside = jnp.sum(jnp.where(on_pair, 0, jnp.abs(g)))
    return worst_of(jnp.abs(pair_sum), imbalance, outside, readout)


def worst_of(pair_sum, imbalance, outside, readout: Readout) -> WorstCase:
    """`worst_case` from |g_i + g_j|, |g_i - g_j| and Σ|g| outside: z sweeps [c-R, c+R]."""
    errors = [
        jnp.abs(readout(jnp.maximum(centre + side * outside, 0)) - label)
        for centre, label in ((pair_sum, -1), (imbalance, 1))
        for side in (-1, 1)
    ]
    return WorstCase(jnp.max(jnp.stack(errors), axis=0), outside, imbalance)


class FirstGradient(NamedTuple):
    """∂risk/∂g_l at g = 1/n: one number per relevant bit, one for all other positions."""

    relevant: Float[np.ndarray, " bits"]
    other: float

    @property
    def signal(self) -> float:
        """How much faster the slowest relevant bit gains weight than the others; > 0 ranks them."""
        return float(self.other - self.relevant.max())


def first_gradient(
    n: int,
    function: Callable[[np.ndarray], float],
    bits: int,
    readout: Readout,
    loss: str = "squared",
    noise: float = 0.0,
) -> FirstGradient:
    """Exact gradient at uniform weights for a label that depends on a few signs, in O(n).

    function: label in {+1, -1} from `bits` signs. The other n - bits signs enter only through
    their sum, a binomial variable.

    >>> from paritylab.models import Bowl
    >>> xor = first_gradient(100, lambda x: -x[0] * x[1], 2, Bowl(), "correlation")
    >>> np.round(xor.relevant, 12).tolist(), abs(round(xor.other, 12))
    ([-0.04, -0.04], 0.0)
    """
    _check_loss(loss)
    if not 1 <= bits < n:
        raise ValueError(f"need 1 ≤ bits < n, got bits={bits}, n={n}")
    rest = n - bits
    ones = np.arange(rest + 1)
    chance, total = binom.pmf(ones, rest, 0.5), rest - 2.0 * ones
    relevant, other = np.zeros(bits), 0.0
    with float64():
        slope = jax.vmap(jax.grad(lambda z, y: as_pointwise(loss)(y, readout(z), noise)), (0, None))
        for index in range(1 << bits):
            signs = 1.0 - 2.0 * ((index >> np.arange(bits)) & 1)
            z = (signs.sum() + total) / n
            force = np.asarray(slope(jnp.asarray(z), float(function(signs)))) * chance
            relevant += signs * force.sum() / (1 << bits)
            other += force @ total / rest / (1 << bits)
    return FirstGradient(relevant, float(other))


def as_pointwise(loss: str) -> Callable:
    """loss(y, ŷ, ν) of one input with its sign, the label flip averaged out."""
    _check_loss(loss)
    chosen = as_loss(loss)
    sign = -1 if loss == "correlation" else 1
    return lambda y, prediction, noise: sign * chosen.noisy(y, prediction, noise)


def score_slope(attention: str, n: int) -> float:
    """dα/dscore at score 0 for one position, before softmax subtracts the mean."""
    if attention == "softmax":
        return 1 / n
    with float64():
        return float(jax.grad(lambda s: attend(jnp.zeros(n).at[0].set(s), attention)[0])(0.0))


def _check_loss(loss: str) -> None:
    if loss not in XOR_LOSSES:
        raise ValueError(f"loss must be one of {', '.join(XOR_LOSSES)}, got {loss!r}")

"""Exact quantities of the two-head XOR model: risk, worst case, first gradient, unit of a step.

z = Σ_l g_l x_l with signs x and weights g; ŷ = 1 - 2z²; y = -x_i·x_j.
"""

import sys
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from scipy.stats import binom

from paritylab._support.precision import AnyArray, float64
from paritylab.learning.contract import AttentionPart
from paritylab.learning.data import Target
from paritylab.models.attention import Kind, attend
from paritylab.models.readouts import Bowl
from paritylab.problem import Parity

#: Losses whose mean over inputs has a closed form at any weights.
XOR_LOSSES = ("squared", "correlation")
#: A run is solved if |ŷ - y| is at most this on every input: ½(ŷ-y)² ≤ 0.01.
SOLVED_ERROR = 0.02**0.5


def xor_risk(
    weights: Float[AnyArray, " n"],
    on_pair: Bool[AnyArray, " n"],
    loss: str = "squared",
    noise: Float[AnyArray, ""] | float = 0.0,
) -> Float[Array, ""]:
    """E[loss] over all inputs, at any weights g.

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
    second = jnp.sum(g**2)
    return 1 - 2 * second + 6 * second**2 - 4 * jnp.sum(g**4) - agreement


def risk_rounding(weights: Float[AnyArray, " n"]) -> Float[Array, ""]:
    """How far rounding of n-term sums may carry `xor_risk`; S₄ ≤ S₂² and |E[yŷ]| ≤ 2S₂."""
    second = jnp.sum(jnp.asarray(weights) ** 2)
    return weights.shape[0] * sys.float_info.epsilon * (1 + 4 * second + 10 * second**2)


class WorstCase(NamedTuple):
    """The largest error |ŷ - y| over all 2^n inputs, and what it is made of.

    error is exact if outside ≤ |g_i + g_j|, otherwise an upper bound. outside: Σ |g_l| off the
    pair. imbalance: |g_i - g_j|.
    """

    error: Float[AnyArray, "..."]
    outside: Float[AnyArray, "..."]
    imbalance: Float[AnyArray, "..."]


def worst_case(weights: Float[AnyArray, " n"], on_pair: Bool[AnyArray, " n"]) -> WorstCase:
    """The worst input for given weights g."""
    g, on_pair = jnp.asarray(weights), jnp.asarray(on_pair)
    pair_sum = jnp.sum(jnp.where(on_pair, g, 0))
    squares = jnp.sum(jnp.where(on_pair, g**2, 0))
    imbalance = jnp.sqrt(jnp.maximum(2 * squares - pair_sum**2, 0))
    outside = jnp.sum(jnp.where(on_pair, 0, jnp.abs(g)))
    return worst_of(jnp.abs(pair_sum), imbalance, outside)


@eqx.filter_jit
def worst_of(
    pair_sum: Float[Array, "..."],
    imbalance: Float[Array, "..."],
    outside: Float[Array, "..."],
) -> WorstCase:
    """`worst_case` from c = |g_i + g_j|, d = |g_i - g_j| and R = Σ|g| outside the pair.

    |z| lies between max(c-R, 0) and c+R where y = -1, between max(d-R, 0) and d+R where y = 1. As
    ŷ falls with |z|, the ends decide.
    """
    errors = [
        jnp.abs(Bowl()(end) - label)
        for centre, label in ((pair_sum, -1), (imbalance, 1))
        for end in (jnp.maximum(centre - outside, 0), centre + outside)
    ]
    error = jnp.max(jnp.stack(errors), axis=0)
    # A maximum over many runs at once may drop NaN, and weights that diverged are never right.
    finite = jnp.isfinite(pair_sum + imbalance + outside)
    return WorstCase(jnp.where(finite, error, jnp.nan), outside, imbalance)


class FirstGradient(NamedTuple):
    """∂risk/∂g_l at equal weights: one number per relevant bit, one for all other positions."""

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
    loss: str = "squared",
    *,
    weight: float | None = None,
) -> FirstGradient:
    """Exact gradient at equal weights for a label that depends on a few signs, in O(n).

    function: label from `bits` signs. weight: g_l of every position, 1/n if None. The other n -
    bits signs enter only through their sum, a binomial variable.

    >>> xor = first_gradient(100, lambda x: -x[0] * x[1], 2, "correlation")
    >>> np.round(xor.relevant, 12).tolist(), abs(round(xor.other, 12))
    ([-0.04, -0.04], 0.0)
    """
    if not 1 <= bits < n:
        raise ValueError(f"need 1 ≤ bits < n, got bits={bits}, n={n}")
    _check_loss(loss)
    rest = n - bits
    ones = np.arange(rest + 1)
    # chance: of one assignment of the relevant bits together with a number of ones elsewhere.
    chance, total = binom.pmf(ones, rest, 0.5) / (1 << bits), rest - 2.0 * ones
    relevant, other = np.zeros(bits), 0.0
    for index in range(1 << bits):
        signs = 1.0 - 2.0 * ((index >> np.arange(bits)) & 1)
        z = (signs.sum() + total) * (1 / n if weight is None else weight)
        # ∂loss/∂z, from ∂ŷ/∂z = -4z; ½(ŷ-y)² and -yŷ differ by the term ŷ²/2.
        predicted = 1 - 2 * z**2 if loss == "squared" else 0.0
        force = 4 * z * (float(function(signs)) - predicted) * chance
        # ∂/∂g_l of loss(Σ g x) is force·x_l; off the set x_l averages to total/rest.
        relevant += signs * force.sum()
        other += force @ total / rest
    return FirstGradient(relevant, float(other))


def first_response(attention: str | Kind, n: int) -> tuple[float, float]:
    """What an attention kind gives at equal scores: each weight, and how much more of it a
    position gains than the others when its own score rises; a clear error if it does not.

    >>> first_response("softmax", 50)
    (0.02, 0.02)
    """
    with float64():
        zero = jnp.zeros(n)
        weights, moved = jax.jvp(
            lambda scores: attend(scores, attention), (zero,), (zero.at[0].set(1.0),)
        )
        weights, slope = np.asarray(weights), float(moved[0] - moved[1])
    if np.ptp(weights) > 1e-9 * np.abs(weights).max() or not slope > 0:
        raise ValueError(
            "a gain is measured at equal scores, where this attention gives unequal weights or "
            "does not respond"
        )
    return float(weights[0]), slope


def unit_step(
    n: int, *, attention: AttentionPart = "softmax", loss: str = "squared", heads: int = 2
) -> float:
    """The step size at which one exact step gives the pair a score of 1 above the rest, up to the
    overlaps of positions: heads/(dα/dscore · signal), as each head's gradient is a share of
    1/heads. A gain multiplies it.

    >>> round(unit_step(100), 6)  # n²/2 for softmax and ½(ŷ-y)²
    5000.0
    """
    weight, slope = first_response(attention, n)
    signal = first_gradient(n, xor_label, 2, loss, weight=weight).signal
    if not signal > 0:
        raise ValueError(
            f"from equal weights this attention does not raise the pair (signal {signal:.3g}), so "
            "a gain has no unit"
        )
    return heads / (slope * signal)


def default_gain(n: int) -> float:
    """A gain inside the window of softmax for every width that ranks the pair.

    With the pair at score β and all others below β/2 (the overlaps of random positions), the rest
    weighs at most n·e^(-β/2) beside the pair: 2·ln n makes that 1, and the 6 makes it e^-3. A
    larger gain magnifies the difference of the pair's own two scores instead.
    """
    return 2 * float(np.log(n)) + 6


def usual_width(n: int) -> int:
    """12·ln n: enough to rank the pair in every draw tried."""
    return int(np.ceil(12 * np.log(n)))


def xor_label(signs: np.ndarray) -> float:
    """y = -x_0·x_1."""
    return float(-signs[0] * signs[1])


def _check_loss(loss: str) -> None:
    if loss not in XOR_LOSSES:
        raise ValueError(f"loss must be one of {', '.join(XOR_LOSSES)}, got {loss!r}")


def is_pair(target: Target) -> bool:
    """Whether a target is y = -x_i·x_j of fair bits among others."""
    if not isinstance(target, Parity) or target.k != 2 or target.sign != -1:
        return False
    return target.n >= 3 and target.is_uniform


def pairs_of(targets: tuple[Target, ...], who: str) -> tuple[Parity, ...]:
    """The targets, or one clear error unless every one is y = -x_i·x_j among others; who: the
    subject of the error."""
    pairs = []
    for target in targets:
        if not isinstance(target, Parity) or target.k != 2 or target.sign != -1:
            shown = target if isinstance(target, Parity) else f"a {type(target).__name__}"
            raise ValueError(
                f"{who} is -x_i·x_j on a pair: give Parity(n, (i, j), sign=-1), such as "
                f"random_parities(n, 2, runs, sign=-1); got {shown}"
            )
        pairs.append(target)
    if pairs[0].n < 3:
        raise ValueError(f"the XOR of two bits among others needs n ≥ 3, got n={pairs[0].n}")
    return tuple(pairs)

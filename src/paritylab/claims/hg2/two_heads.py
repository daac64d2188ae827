"""Two heads that weigh n signs: positions, and whether the readout 1 - 2z² is right on every input.

The hidden pair is always positions 0 and 1, since random positions are exchangeable.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from paritylab.learning.xor.exact import SOLVED_ERROR, worst_of
from paritylab.models.positions import PackedSigns
from paritylab.models.readouts import Bowl
from paritylab.precision import float64


def sign_positions(
    generator: np.random.Generator, n: int, width: int, *, balanced: bool = True
) -> Float[np.ndarray, "n width"]:
    """Random sign positions; balanced: every coordinate is +1 as often as -1."""
    code = PackedSigns.draw(generator, n, width, balanced=balanced)
    return np.asarray(code.vectors(np.arange(n)))


def pair_sums(g: Float[np.ndarray, "*cases n"]) -> Float[np.ndarray, "3 *cases"]:
    """|g_0 + g_1|, |g_0 - g_1| and Σ_{l>1}|g_l|: all that the largest error of weights g needs."""
    with np.errstate(over="ignore", invalid="ignore"):
        total, apart = np.abs(g[..., 0] + g[..., 1]), np.abs(g[..., 0] - g[..., 1])
        return np.stack([total, apart, np.abs(g[..., 2:]).sum(axis=-1)])


def right_on_every_input(sums: Any) -> Bool[np.ndarray, "*cases"]:
    """Whether ½(ŷ - y)² ≤ 0.01 on the worst of all inputs, from `pair_sums`."""
    with float64():
        total, apart, rest = (jnp.asarray(part) for part in sums)
        return np.asarray(worst_of(total, apart, rest, Bowl()).error) <= SOLVED_ERROR

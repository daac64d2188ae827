"""How one input moves the heads: its loss, its attended sum and their derivatives.

Where only directions are given, B is the first k positions, k the number of heads, and positions
sit on the circle.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab._support.precision import AnyArray
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.models.readouts import smooth_relu

Scalar = Float[Array, ""]
Heads = Float[AnyArray, "k 2"]
Bits = Float[AnyArray, " n"]


def heads_of(directions: Heads, n: int, *, tau: Any) -> HeadAttention:
    """The paper's model with these directions: as many heads as bits in B, zigzag readout."""
    k = directions.shape[0]
    return HeadAttention(directions, Circle(n), k, Zigzag(k), tau)


def prediction(directions: Heads, bits: Bits, *, tau: Any, b: Any = 0.0) -> Scalar:
    """ŷ of one input; tau and b may be traced."""
    zigzag, s = Zigzag(directions.shape[0]), attended_sum(directions, bits, tau)
    return 1 + smooth_relu(s - jnp.asarray(zigzag.thresholds), b) @ zigzag.output_weights


def example_loss(
    directions: Heads, bits: Bits, *, tau: Any, b: Any = 0.0, subset: tuple[int, ...] = ()
) -> Scalar:
    """Squared hinge of one input. subset: B, the first k positions if it is empty."""
    hidden = bits[np.array(subset)] if subset else bits[: directions.shape[0]]
    label = 1 - 2 * jnp.mod(jnp.sum(hidden), 2)
    return jnp.maximum(0, 1 - label * prediction(directions, bits, tau=tau, b=b)) ** 2


def attended_sum(directions: Heads, bits: Bits, tau: Any) -> Scalar:
    """s = Σ_i Σ_j γ_i[j] x_j."""
    return heads_of(directions, bits.shape[0], tau=tau).weights() @ bits


def random_heads_and_inputs(
    generator: np.random.Generator, k: int, n: int, inputs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Random directions of log-normal norm (k, 2), and random inputs (inputs, n)."""
    directions = generator.normal(size=(k, 2)) * np.exp(generator.normal(size=(k, 1)))
    return directions, generator.integers(0, 2, (inputs, n)).astype(float)


def prediction_jet(
    directions: Heads, bits: Bits, *, tau: Any, b: Any = 0.0
) -> tuple[Scalar, Float[Array, " m"], Float[Array, "m m"]]:
    """ŷ of one input with its gradient and Hessian in the m = 2k numbers of the heads."""

    def of(flat: Array) -> Scalar:
        return prediction(flat.reshape(directions.shape), bits, tau=tau, b=b)

    flat = jnp.ravel(directions)
    value, gradient = jax.value_and_grad(of)(flat)
    return value, gradient, jax.hessian(of)(flat)


def example_hessians(
    directions: Heads, bits: Bits, *, tau: Any, b: Any = 0.0
) -> tuple[Float[Array, " m"], list[Float[Array, "m m"]]]:
    """∇ŷ of one input, and the Hessians of ŷ, of ŷ²/2 and of the squared hinge ℓ(ŷ).

    With g and H of ŷ the last two are ggᵀ + ŷH and ℓ″ggᵀ + ℓ′H.
    """
    value, slope, hessian = prediction_jet(directions, bits, tau=tau, b=b)
    label = 1 - 2 * jnp.mod(jnp.sum(bits[: directions.shape[0]]), 2)
    missing = jnp.maximum(0, 1 - label * value)
    square = jnp.outer(slope, slope)
    of_loss = 2 * (missing > 0) * square - 2 * label * missing * hessian
    return slope, [hessian, square + value * hessian, of_loss]

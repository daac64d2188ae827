"""How one input moves the heads: its loss, its attended sum and their derivatives.

B is the first k positions throughout, k the number of heads, and positions sit on the circle.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.precision import AnyArray

Scalar = Float[Array, ""]
Heads = Float[AnyArray, "k 2"]
Bits = Float[AnyArray, " n"]


def heads_of(directions: Heads, n: int, *, tau: Any, b: float = 0.0) -> HeadAttention:
    """The paper's model with these directions: as many heads as bits in B, zigzag readout."""
    k = directions.shape[0]
    return HeadAttention(directions, Circle(n), k, Zigzag(k, b), tau)


def prediction(directions: Heads, bits: Bits, *, tau: Any, b: float = 0.0) -> Scalar:
    """ŷ of one input."""
    return heads_of(directions, bits.shape[0], tau=tau, b=b)(bits)


def example_loss(directions: Heads, bits: Bits, *, tau: Any, b: float = 0.0) -> Scalar:
    """Squared hinge of one input."""
    label = 1 - 2 * jnp.mod(jnp.sum(bits[: directions.shape[0]]), 2)
    return jnp.maximum(0, 1 - label * prediction(directions, bits, tau=tau, b=b)) ** 2


def attended_sum(directions: Heads, bits: Bits, tau: Any) -> Scalar:
    """s = Σ_i Σ_j γ_i[j] x_j."""
    return heads_of(directions, bits.shape[0], tau=tau).weights() @ bits


def squared_motion(directions: Heads, bits: Bits, tau: Any) -> Scalar:
    """Σ_i ‖∂s/∂a_i‖², by automatic differentiation."""
    return jnp.sum(jax.grad(attended_sum)(directions, bits, tau) ** 2)


def squared_covariance(directions: Heads, bits: Bits, tau: Any) -> Scalar:
    """Σ_i ‖Cov_{γ_i}(x, p)‖²/τ², which equals Σ_i ‖∂s/∂a_i‖².

    Cov is over a position drawn from the attention γ_i: of its bit x with its vector p.
    """
    model = heads_of(directions, bits.shape[0], tau=tau)
    attention, table = model.attention(), jnp.asarray(Circle(bits.shape[0]).table)
    together = attention @ (bits[:, None] * table)
    apart = (attention @ bits)[:, None] * (attention @ table)
    return jnp.sum((together - apart) ** 2) / tau**2


def slope_size(function: Callable[[Heads, Bits], Scalar]) -> Callable[[Heads, Bits], Scalar]:
    """‖∇f‖ in the heads as a function of heads and bits."""
    return lambda directions, bits: jnp.linalg.norm(jax.grad(function)(directions, bits).ravel())


def hessian_of(function: Callable[[Heads, Bits], Scalar]) -> Callable[[Heads, Bits], Array]:
    """The 2k×2k Hessian of f in the heads as a function of heads and bits."""

    def hessian(directions: Heads, bits: Bits) -> Array:
        flat = jnp.ravel(directions)
        return jax.hessian(lambda each: function(each.reshape(directions.shape), bits))(flat)

    return hessian

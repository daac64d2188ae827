"""FFNN-1: one hidden layer, equation (1) of HG1."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.models.readouts import smooth_relu
from paritylab.precision import AnyArray, keep_float64
from paritylab.problem.sampling import as_key


@final
class FeedForward(eqx.Module):
    """ŷ = Σ_i α_i σ(β_iᵀx + b_i) + c with q neurons.

    hidden: β (q, n). thresholds: b (q,). output: α (q,). offset: c. b: smoothing of σ.
    edges: 0/1 mask of the input edges that exist (q, n); absent edges never gain weight.
    """

    hidden: Float[AnyArray, "q n"] = eqx.field(converter=keep_float64)
    thresholds: Float[AnyArray, " q"] = eqx.field(converter=keep_float64)
    output: Float[AnyArray, " q"] = eqx.field(converter=keep_float64)
    offset: Float[AnyArray, ""] = eqx.field(converter=keep_float64)
    edges: Float[AnyArray, "q n"]
    b: float = eqx.field(static=True, default=0.0)

    @classmethod
    def random(cls, key, n: int, width: int, *, missing=(), b: float = 0.0) -> "FeedForward":
        """Gaussian weights of variance 1/n (hidden) and 1/width (output).

        missing: positions without any outgoing edge.
        """
        draws = np.asarray(jax.random.normal(as_key(key), (width, n + 2)), dtype=np.float64)
        edges = np.ones((width, n))
        edges[:, list(missing)] = 0.0
        hidden, output = draws[:, :n] / np.sqrt(n), draws[:, n + 1] / np.sqrt(width)
        return cls(hidden, draws[:, n], output, np.zeros(()), edges, b)

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        z = (self.hidden * self.edges) @ jnp.asarray(bits, jnp.result_type(float)) + self.thresholds
        return jnp.asarray(self.output) @ smooth_relu(z, self.b) + self.offset

    def parameters(self):
        return (self.hidden, self.thresholds, self.output, self.offset)

    def with_parameters(self, parameters) -> "FeedForward":
        hidden, thresholds, output, offset = parameters
        return type(self)(hidden, thresholds, output, offset, self.edges, self.b)

    def distinct_numbers(self) -> int:
        """Distinct values per role (hidden weights on edges, thresholds, outputs, offset)."""
        on_edges = np.asarray(self.hidden)[self.edges > 0]
        roles = (on_edges, self.thresholds, self.output, self.offset)
        return sum(len(np.unique(np.asarray(values))) for values in roles)

    def edge_numbers(self) -> int:
        """Numbers if no two edges shared a weight."""
        return int(np.sum(self.edges)) + 2 * self.output.shape[0] + 1

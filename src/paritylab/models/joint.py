"""Heads together with a trainable feed-forward head."""

from typing import Any, final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.models.feedforward import FeedForward
from paritylab.models.heads import HeadAttention
from paritylab.models.readouts import Zigzag
from paritylab.precision import AnyArray


@final
class JointAttention(eqx.Module):
    """ŷ = FFNN-1(s), s = (k/heads) Σ_i Σ_j γ_i[j] x_j, with attention and network both trainable.

    heads: the attention; its own readout is not used. network: a net of one input, s.
    """

    heads: HeadAttention
    network: FeedForward

    @classmethod
    def from_zigzag(cls, heads: HeadAttention) -> "JointAttention":
        """The network starts as the paper's frozen head."""
        zigzag, k = Zigzag(heads.k), heads.k
        ones = np.ones((k, 1))
        network = FeedForward(ones, -zigzag.thresholds, zigzag.output_weights, np.ones(()), ones)
        return cls(heads, network)

    @classmethod
    def from_random(
        cls, heads: HeadAttention, key: Any, width: int | None = None
    ) -> "JointAttention":
        """The network starts at random, k neurons wide by default."""
        return cls(heads, FeedForward.random(key, 1, heads.k if width is None else width))

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        return self.network((self.heads.weights() @ jnp.asarray(bits))[None])

    def parameters(self) -> Any:
        return {"directions": self.heads.directions, "network": self.network.parameters()}

    def with_parameters(self, parameters: Any) -> "JointAttention":
        heads = self.heads.with_parameters(parameters["directions"])
        return type(self)(heads, self.network.with_parameters(parameters["network"]))

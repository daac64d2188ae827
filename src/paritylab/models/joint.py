"""Heads with a trainable feed-forward net on top; the heads train too, or stay frozen."""

from typing import TypedDict, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.models.feedforward import FeedForward
from paritylab.models.full_form import FullFormAttention
from paritylab.models.heads import HeadAttention
from paritylab.models.positions import Circle
from paritylab.models.readouts import Zigzag
from paritylab.precision import AnyArray
from paritylab.problem.keys import Key, as_key
from paritylab.problem.sampling import normals


class JointParameters(TypedDict):
    """directions: of the heads, (heads, width). network: as `FeedForward.parameters` has them."""

    directions: Float[AnyArray, "heads width"]
    network: dict[str, AnyArray]


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
        cls, heads: HeadAttention, key: Key, width: int | None = None
    ) -> "JointAttention":
        """The network starts at random, k neurons wide by default."""
        return cls(heads, FeedForward.random(key, 1, heads.k if width is None else width))

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        return self.network((self.heads.weights() @ jnp.asarray(bits))[None])

    def parameters(self) -> JointParameters:
        return {"directions": self.heads.directions, "network": self.network.parameters()}

    def with_parameters(self, parameters: JointParameters) -> "JointAttention":
        heads = self.heads.with_parameters(parameters["directions"])
        return type(self)(heads, self.network.with_parameters(parameters["network"]))


@final
class FrozenHeads(eqx.Module):
    """ŷ = FFNN-1(v), v the mean output [x, 1-x, sin, cos] of heads that never train.

    heads: the frozen attention; its own readout is not used. network: a net of the four numbers v,
    the only part that trains.
    """

    heads: FullFormAttention
    network: FeedForward

    @classmethod
    def random(
        cls, key: Key, n: int, *, heads: int, width: int, token: bool, tau: float
    ) -> "FrozenHeads":
        """Gaussian scores of variance 1/τ² and a random net of `width` neurons.

        token: the scores depend on the bits as well as on the positions.
        """
        first, second = jax.random.split(as_key(key))
        entries = normals(first, (heads, 4), np.float32).astype(np.float64)
        if not token:
            entries[:, :2] = 0.0
        return cls.of(entries, FeedForward.random(second, 4, width), n, tau)

    @classmethod
    def of(
        cls, entries: Float[AnyArray, "heads 4"], network: FeedForward, n: int, tau: float
    ) -> "FrozenHeads":
        """From the rows of the heads' matrices that the query reads, and a net."""
        matrices = np.zeros((entries.shape[0], 4, 4))
        matrices[:, 0, :] = entries
        # The heads' own k and readout play no part.
        heads = FullFormAttention(matrices, Circle(n), 1, Zigzag(1), tau, masked=False)
        return cls(heads, network)

    @property
    def entries(self) -> Float[AnyArray, "heads 4"]:
        """The four numbers of every frozen head: score of a one, of a zero, of sin and of cos."""
        return self.heads.matrices[:, 0, :]

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        return self.network(self.heads.attended(bits))

    def parameters(self) -> dict[str, AnyArray]:
        return self.network.parameters()

    def with_parameters(self, parameters: dict[str, AnyArray]) -> "FrozenHeads":
        return type(self)(self.heads, self.network.with_parameters(parameters))

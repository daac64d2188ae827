"""HG1's transformer as printed: a 4×4 matrix per head over [token, position] embeddings.

`FullFormAttention` has the frozen readout on top and trainable heads; `FrozenHeads` has it the
other way round, heads that never train below a feed-forward net that does.
"""

from typing import ClassVar, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab._support.checks import whole
from paritylab._support.precision import AnyArray, keep_float64
from paritylab.models.attention import HeadAttention, check_temperature, softmax_attention
from paritylab.models.feedforward import FeedForward
from paritylab.models.positions import Circle
from paritylab.models.protocol import TrainsOneArray
from paritylab.models.readouts import Readout, Zigzag
from paritylab.problem.keys import Key, as_key
from paritylab.problem.sampling import normals

#: Entries (1,3) and (1,4) of a head's matrix, the ones the paper trains.
POSITION_MASK = np.zeros((4, 4))
POSITION_MASK[0, 2:] = 1.0


@final
class FullFormAttention(TrainsOneArray):
    """w_j = [x_j, 1-x_j, sin 2πj/n, cos 2πj/n], query w_0 = [1,0,0,0], s_j = w_0ᵀ A_i w_j / τ.

    matrices: A, one 4×4 matrix per head. masked: only `POSITION_MASK` entries take part, which
    makes it the reduced `HeadAttention`; unmasked, the attention depends on the bits.
    """

    trained: ClassVar[str] = "matrices"
    matrices: Float[AnyArray, "heads 4 4"] = eqx.field(converter=keep_float64)
    code: Circle
    k: int = eqx.field(static=True)
    readout: Readout
    tau: Float[AnyArray, ""] | float = eqx.field(converter=keep_float64, default=1.0)
    masked: bool = eqx.field(static=True, default=True)

    def __check_init__(self) -> None:
        check_temperature(self.tau)
        whole("k", self.k, 0)

    @classmethod
    def embed(cls, model: HeadAttention, *, masked: bool = True) -> "FullFormAttention":
        """The full form of a k-head model on the circle."""
        if not isinstance(model.code, Circle):
            raise ValueError(
                f"the 4×4 form is defined on the circle, got {type(model.code).__name__}"
            )
        matrices = np.zeros((model.directions.shape[0], 4, 4))
        matrices[:, 0, 2:] = np.asarray(model.directions)
        return cls(matrices, model.code, model.k, model.readout, model.tau, masked)

    def embeddings(self, bits: Float[AnyArray, " n"]) -> Float[Array, "n 4"]:
        """Token and position embedding of every bit."""
        bits = jnp.asarray(bits, dtype=jnp.result_type(float))
        return jnp.concatenate([jnp.stack([bits, 1 - bits], axis=1), self.code.table], axis=1)

    def attention(self, bits: Float[AnyArray, " n"]) -> Float[Array, "heads n"]:
        """γ for one bit string."""
        matrices = self.matrices * POSITION_MASK[None] if self.masked else self.matrices
        query = jnp.array([1.0, 0.0, 0.0, 0.0])
        keys = jnp.einsum("q,hqe->he", query, jnp.asarray(matrices))
        shares: Array = softmax_attention(keys @ self.embeddings(bits).T / self.tau)
        return shares

    def attended(self, bits: Float[AnyArray, " n"]) -> Float[Array, " 4"]:
        """v = (1/heads) Σ_i Σ_j γ_i[j] w_j, the mean output of the heads."""
        return jnp.mean(self.attention(bits) @ self.embeddings(bits), axis=0)

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        return self.readout(self.k * self.attended(bits)[0])


@final
class FrozenHeads(eqx.Module):
    """ŷ = FFNN-1(v), v the mean output [x, 1-x, sin, cos] of heads that never train.

    heads: the frozen attention; its own readout is not used. network: a net of the four numbers v,
    the only part that trains.
    """

    heads: FullFormAttention
    network: FeedForward

    @classmethod
    def random(cls, key: Key, n: int, *, heads: int, width: int, tau: float) -> "FrozenHeads":
        """Gaussian scores of the positions, of variance 1/τ², and a net of `width` neurons."""
        first, second = jax.random.split(as_key(key))
        entries = normals(first, (heads, 4), np.float32).astype(np.float64)
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

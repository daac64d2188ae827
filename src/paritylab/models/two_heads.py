"""HG2's model, reconstructed: two heads average two signs, a frozen readout takes their XOR.

The full text of HG2 is not public; this model is our reconstruction, consistent with its abstract.
"""

from typing import ClassVar, final

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from paritylab.models.attention import Kind, as_attention, attend
from paritylab.models.positions import AbstractPositionCode
from paritylab.models.protocol import TrainsOneArray
from paritylab.models.readouts import Bowl, Readout
from paritylab.precision import AnyArray, keep_float64


@final
class TwoHeads(TrainsOneArray):
    """α_h = attend(<w_h, p_l>), z = ½ Σ_h Σ_l α_h[l] x_l with signs x, ŷ = readout(z).

    directions: w, one trainable row per head. code: the positions p. kind: how scores become
    weights (softmax unless given). readout: 1 - 2z² unless given.

    >>> from paritylab.models.positions import OneHot
    >>> model = TwoHeads(100.0 * OneHot(5).vectors([1, 3]), OneHot(5))
    >>> [round(float(model(jnp.array(bits))), 3) for bits in ([0.0, 1, 0, 1, 0], [0.0, 1, 0, 0, 0])]
    [-1.0, 1.0]
    """

    trained: ClassVar[str] = "directions"
    directions: Float[AnyArray, "heads width"] = eqx.field(converter=keep_float64)
    code: AbstractPositionCode
    kind: str | Kind = eqx.field(static=True, default="softmax")
    readout: Readout = Bowl()

    def __check_init__(self) -> None:
        as_attention(self.kind)

    def attention(self) -> Float[Array, "heads n"]:
        """α, one row per head."""
        return attend(self.code.scores(jnp.asarray(self.directions)), self.kind)

    def weights(self) -> Float[Array, " n"]:
        """g_l = ½ Σ_h α_h[l], the weight of sign l in z."""
        return jnp.mean(self.attention(), axis=0)

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        """The prediction ŷ for one string of bits in {0, 1}; use `jax.vmap` for many."""
        return self.readout(self.weights() @ (1 - 2 * jnp.asarray(bits)))

"""A chain of thought that nobody sees: one layer per level of the tree, one forward pass."""

from typing import ClassVar, final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.checks import whole
from paritylab.models.attention import softmax_attention
from paritylab.models.chain import visible_tokens
from paritylab.models.links import AbstractLink, CosineLink, as_link
from paritylab.models.protocol import TrainsOneArray
from paritylab.precision import AnyArray, keep_float64
from paritylab.problem.tree import level_ends


@final
class LayeredChain(TrainsOneArray):
    """h⁰ = (x, 0, …, 0); layer t: h_m ← (1 - g_tm)·h_m + g_tm·φ(Σ_j softmax(w_m)_j h_j).

    A node sees the level just below its own. scores: W, one column per inner node, one row per
    token. n: number of input bits. gates: g, one row per layer and one column per node; None
    prescribes them from the tree: layer t writes level t and keeps the rest. tied: every layer uses
    all of W; otherwise layer t has the columns of level t and zeros elsewhere.

    There are log2 k layers. With prescribed gates this is what `ChainModel` generates from the same
    W if its scores outside the level below are -∞.

    >>> model = LayeredChain(np.zeros((11, 3)), 8)
    >>> model.layers, model(jnp.zeros(8)).shape, model.tokens(jnp.zeros(8)).shape
    (2, (), (11,))
    """

    trained: ClassVar[str] = "scores"
    scores: Float[AnyArray, "tokens nodes"] = eqx.field(converter=keep_float64)
    n: int = eqx.field(static=True)
    link: AbstractLink = eqx.field(converter=as_link, default=CosineLink())
    gates: Float[AnyArray, "layers nodes"] | None = None
    tied: bool = eqx.field(static=True, default=False)

    def __check_init__(self) -> None:
        whole("n", self.n, 1)

    @property
    def k(self) -> int:
        return self.scores.shape[1] + 1

    @property
    def layers(self) -> int:
        """log2 k."""
        return self.k.bit_length() - 1

    def attention(self) -> Float[Array, "tokens nodes"]:
        """softmax(w_m)_j; every column sums to one over what its node may see."""
        seen = visible_tokens(self.n, self.k, "prev")
        shares: Array = softmax_attention(jnp.where(seen, jnp.asarray(self.scores), -jnp.inf).T)
        return shares.T

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        """The prediction of y from one string of bits: the last token after the last layer."""
        return self.tokens(bits)[-1]

    def tokens(self, bits: Float[AnyArray, " n"]) -> Float[Array, " tokens"]:
        """All hidden tokens after the last layer, from one string of bits."""
        return self.generate(1 - 2 * jnp.asarray(bits))

    def generate(
        self, signs: Float[Array, "... n"], layers: int | None = None
    ) -> Float[Array, "... tokens"]:
        """The tokens after so many layers, all if None, from one or many rows of signs."""
        layers = self.layers if layers is None else layers
        attention = self.attention().astype(signs.dtype)
        if self.gates is None:
            return self._level_by_level(signs, attention, layers)
        empty = jnp.zeros((*signs.shape[:-1], self.k - 1), signs.dtype)
        tokens = jnp.concatenate([signs, empty], axis=-1)
        for layer in range(layers):
            old, made = tokens[..., self.n :], self.written(layer, tokens, attention)
            gate = jnp.broadcast_to(jnp.asarray(self.gates[layer], signs.dtype), made.shape)
            new = old + gate * (made - old)
            tokens = jnp.concatenate([tokens[..., : self.n], new], axis=-1)
        return tokens

    def written(
        self,
        layer: int,
        tokens: Float[Array, "... tokens"],
        attention: Float[Array, "tokens nodes"],
    ) -> Float[Array, "... nodes"]:
        """What layer number `layer`, from 0, would write on every node with its gates open."""
        if not self.tied:
            seen = visible_tokens(self.n, self.k, "prev")
            uniform = seen / np.maximum(seen.sum(axis=0), 1)
            own = self._columns(layer)
            trained = (np.arange(self.k - 1) >= own.start) & (np.arange(self.k - 1) < own.stop)
            attention = jnp.where(trained[None, :], attention, uniform.astype(attention.dtype))
        return self.link(tokens @ attention)

    def _level_by_level(self, signs: Array, attention: Array, layers: int) -> Array:
        """Unwritten tokens are zero, so only those that are there already count."""
        tokens, written = signs, self.n
        for layer in range(layers):
            made = self.link(tokens @ attention[:written, self._columns(layer)])
            tokens, written = jnp.concatenate([tokens, made], axis=-1), written + made.shape[-1]
        empty = jnp.zeros((*signs.shape[:-1], self.n + self.k - 1 - written), signs.dtype)
        return jnp.concatenate([tokens, empty], axis=-1)

    def _columns(self, layer: int) -> slice:
        ends = level_ends(0, self.k)
        return slice(ends[layer], ends[layer + 1])

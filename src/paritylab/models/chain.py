"""KS's model and its layers: one softmax head over positions, applied to its own output.

`ChainModel` writes a chain of thought that is seen; `LayeredChain` hides it, one layer per level.
"""

from typing import ClassVar, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from paritylab._support.checks import shortened, whole
from paritylab._support.precision import AnyArray, keep_float64
from paritylab._support.user_functions import mark_of
from paritylab.models.attention import softmax_attention
from paritylab.models.links import AbstractLink, CosineLink, as_link
from paritylab.models.protocol import TrainsOneArray
from paritylab.problem.tree import level_ends

#: What a node may see: earlier tokens, lower levels, or everything.
MASKS = ("token", "level", "none")


@final
class ChainModel(TrainsOneArray):
    """x̂_m = φ(ẑ_m), ẑ_m = Σ_j softmax(w_m)_j x̂_j over the tokens that the mask lets m see.

    scores: W, one column per inner node, one row per token. n: number of input bits. mask: "token"
    lets node m see every earlier token, "level" only the levels below its own, "none" all tokens,
    itself and later ones too, of which those that are not written yet count as 0. link: φ, by name
    or one's own.

    >>> model = ChainModel.untrained(8, 4)
    >>> model(jnp.zeros(8)).shape, model.tokens(jnp.zeros(8)).shape, int(model.visible().sum())
    ((), (11,), 27)
    """

    trained: ClassVar[str] = "scores"
    scores: Float[AnyArray, "tokens nodes"] = eqx.field(converter=keep_float64)
    n: int = eqx.field(static=True)
    link: AbstractLink = eqx.field(converter=as_link, default=CosineLink())
    mask: str = eqx.field(static=True, default="token")

    @classmethod
    def untrained(
        cls,
        n: int,
        k: int,
        link: object = "cos",
        mask: str = "token",
    ) -> "ChainModel":
        """W = 0, the start of every theorem."""
        return cls(np.zeros((n + k - 1, k - 1)), n, as_link(link), mask)

    def __check_init__(self) -> None:
        whole("n", self.n, 1)
        if self.mask not in MASKS:
            raise ValueError(f"mask must be one of {', '.join(MASKS)}, got {shortened(self.mask)}")

    @property
    def k(self) -> int:
        return self.scores.shape[1] + 1

    def visible(self) -> Bool[np.ndarray, "tokens nodes"]:
        """Whether node m may attend to token j."""
        return visible_tokens(self.n, self.k, self.mask)

    def attention(self) -> Float[Array, "tokens nodes"]:
        """softmax(w_m)_j; every column sums to one over what its node may see."""
        open_scores = jnp.where(self.visible(), jnp.asarray(self.scores), -jnp.inf)
        shares: Array = softmax_attention(open_scores.T)
        return shares.T

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        """The prediction of y from one string of bits: the last token generated."""
        return self.tokens(bits)[-1]

    def tokens(self, bits: Float[AnyArray, " n"]) -> Float[Array, " tokens"]:
        """All tokens generated from one string of bits."""
        return self.generate(1 - 2 * jnp.asarray(bits))

    def generate(
        self, signs: Float[AnyArray, "... n"], passes: Float[AnyArray, " levels"] | None = None
    ) -> Float[Array, "... tokens"]:
        """Generation from one or many rows of signs: token by token, or level by level.

        passes: a factor per level; 0 silences it, as the filter does.
        """
        attention = self.attention().astype(signs.dtype)
        if self.mask == "level":
            return self._by_level(signs, attention, passes)
        sizes = np.diff(level_ends(0, self.k))
        levels = jnp.ones(len(sizes), signs.dtype) if passes is None else jnp.asarray(passes)
        factors = jnp.repeat(levels, sizes, total_repeat_length=self.k - 1)
        sums = jnp.asarray(signs) @ attention[: self.n]
        return jnp.concatenate([signs, self._in_turn(sums, attention[self.n :], factors)], axis=-1)

    def _by_level(self, signs: AnyArray, attention: Array, passes: AnyArray | None) -> Array:
        """A whole level at a time: no node sees its own level."""
        tokens, factors = jnp.asarray(signs), None if passes is None else jnp.asarray(passes)
        for level in range(self.k.bit_length() - 1):
            factor = None if factors is None else factors[level]
            tokens = self.next_level(tokens, attention, factor)
        return tokens

    def next_level(
        self,
        tokens: Float[Array, "... written"],
        attention: Float[Array, "tokens nodes"],
        factor: Float[AnyArray, ""] | None = None,
    ) -> Float[Array, "... more"]:
        """The tokens up to some level, and those of the next one, times a factor.

        attention: of the model, in the tokens' precision.
        """
        start, ends = tokens.shape[-1], level_ends(self.n, self.k)
        nodes = slice(start - self.n, ends[ends.index(start) + 1] - self.n)
        sums = tokens @ attention[:start, nodes]
        if self.mask == "level":
            made = self.link(sums)
            made = made if factor is None else jnp.asarray(factor) * made
            return jnp.concatenate([tokens, made], axis=-1)
        factors = jnp.broadcast_to(jnp.asarray(1 if factor is None else factor), sums.shape[-1:])
        shares = attention[start:, nodes][: sums.shape[-1]]
        return jnp.concatenate([tokens, self._in_turn(sums, shares, factors)], axis=-1)

    def _in_turn(
        self,
        sums: Float[Array, "... nodes"],
        shares: Float[Array, "nodes nodes"],
        factors: Float[Array, " nodes"],
    ) -> Float[Array, "... nodes"]:
        """Nodes written one after the other, each added at once to the sums of those that see it.

        shares: attention among these nodes, one row per node that is read.
        """

        def write(sums: Array, node: tuple[Array, Array, Array]) -> tuple[Array, Array]:
            index, factor, read = node
            token = factor.astype(sums.dtype) * self.link(sums[..., index])
            return sums + token[..., None] * read.reshape(*[1] * token.ndim, -1), token

        nodes = (jnp.arange(sums.shape[-1]), factors, shares)
        written: Array = jax.lax.scan(write, sums, nodes)[1]
        return jnp.moveaxis(written, 0, -1)

    def forced(self, tokens: Float[Array, "... tokens"]) -> Float[Array, "... nodes"]:
        """What every node writes if it reads the true tokens: one product for all nodes."""
        made: Array = self.link(tokens @ self.attention().astype(tokens.dtype))
        return made

    def hard(self) -> "ChainModel":
        """The same model with hard attention: every node attends evenly to its two highest tokens.

        Tokens that reach the second highest score that a node sees share its attention; all others
        get none, their scores are -∞. If these are the children, every token is exactly right.

        >>> scores = np.array([[3.0], [0.1], [2.0], [9.0]])  # the last token is the node itself
        >>> ChainModel(scores, 3).hard().attention().ravel().tolist()
        [0.5, 0.0, 0.5, 0.0]
        """
        return self.with_parameters(hard_scores(self.scores, self.visible()))

    def iterate(self, tokens: Float[Array, "... tokens"]) -> Float[Array, "... tokens"]:
        """One application of the layer to all tokens at once; inputs stay as they are."""
        nodes = self.link(tokens @ self.attention().astype(tokens.dtype))
        return jnp.concatenate([tokens[..., : self.n], nodes], axis=-1)

    def settle(self, signs: Float[Array, "rows n"]) -> tuple[int, Float[Array, "rows tokens"]]:
        """Rounds of `iterate` from unwritten tokens until nothing moves by 1e-13, and the end."""
        mark = mark_of(self.link)
        empty = jnp.zeros((signs.shape[0], self.k - 1), signs.dtype)
        tokens = jnp.concatenate([signs, empty], axis=1)
        following, rounds = _layer(self, tokens, mark), 0
        while float(jnp.abs(following - tokens).max()) >= 1e-13:
            tokens, following = following, _layer(self, following, mark)
            rounds += 1
        return rounds, tokens


@eqx.filter_jit
def _layer(model: ChainModel, tokens: Array, mark: object) -> Array:
    """`ChainModel.iterate`, compiled; mark: of a user's link, so that it is traced anew."""
    return model.iterate(tokens)


def visible_tokens(n: int, k: int, mask: str) -> Bool[np.ndarray, "tokens nodes"]:
    """What every node sees: "token" every earlier token, "level" every token of a lower level,
    "prev" the level just below, "none" all tokens."""
    tokens = np.arange(n + k - 1)
    if mask == "none":
        return np.ones((n + k - 1, k - 1), bool)
    if mask == "token":
        return tokens[:, None] < tokens[None, n:]
    ends = level_ends(n, k)
    sizes = np.diff(ends)
    limits = np.repeat(ends[:-1], sizes)
    first = np.repeat((0, *ends[:-2]) if mask == "prev" else np.zeros_like(sizes), sizes)
    return (tokens[:, None] >= first[None, :]) & (tokens[:, None] < limits[None, :])


def hard_scores(
    scores: Float[AnyArray, "tokens nodes"], visible: Bool[np.ndarray, "tokens nodes"]
) -> Float[np.ndarray, "tokens nodes"]:
    """0 where a score reaches the second highest of those that its node sees, -∞ elsewhere."""
    seen = np.where(visible, np.asarray(scores), -np.inf)
    second = np.sort(seen, axis=0)[-2]
    return np.where(seen >= second, 0.0, -np.inf)


@final
class LayeredChain(TrainsOneArray):
    """h⁰ = (x, 0, …, 0); layer t: h_m ← (1 - g_tm)·h_m + g_tm·φ(Σ_j softmax(w_m)_j h_j).

    mask: "prev" lets a node see the level just below its own, "level" all lower ones. scores: W,
    one column per inner node, one row per token. n: number of input bits. gates: g, one row per
    layer and one column per node; None prescribes them from the tree: layer t writes level t and
    keeps the rest. tied: every layer uses all of W; otherwise layer t has the columns of level t
    and zeros elsewhere.

    There are log2 k layers. With prescribed gates this is what `ChainModel` generates from the same
    W if its scores outside of what a node sees here are -∞.

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
    mask: str = eqx.field(static=True, default="prev")

    def __check_init__(self) -> None:
        whole("n", self.n, 1)
        if self.mask not in ("prev", "level"):
            raise ValueError(f"mask must be one of prev, level, got {shortened(self.mask)}")

    @property
    def k(self) -> int:
        return self.scores.shape[1] + 1

    @property
    def layers(self) -> int:
        """log2 k."""
        return self.k.bit_length() - 1

    def attention(self) -> Float[Array, "tokens nodes"]:
        """softmax(w_m)_j; every column sums to one over what its node may see."""
        seen = visible_tokens(self.n, self.k, self.mask)
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

    def hard(self) -> "LayeredChain":
        """The same model with hard attention, as `ChainModel.hard`."""
        seen = visible_tokens(self.n, self.k, self.mask)
        return self.with_parameters(hard_scores(self.scores, seen))

    def written(
        self,
        layer: int,
        tokens: Float[Array, "... tokens"],
        attention: Float[Array, "tokens nodes"],
    ) -> Float[Array, "... nodes"]:
        """What layer number `layer`, from 0, would write on every node with its gates open."""
        if not self.tied:
            seen = visible_tokens(self.n, self.k, self.mask)
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

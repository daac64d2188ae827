"""An ordinary decoder-only transformer that reads bits and writes a chain of bits.

Its tokens are 0, 1 and a mark. A sequence is n bits, the mark, then the slots of the chain. The
token at one place is asked for the next one, so slot m is answered from place n + m.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from paritylab._support.precision import AnyArray
from paritylab._support.user_functions import name_of

#: The token between bits and chain, and in slots that say nothing.
MARK = 2


class AbstractPlaces(eqx.Module):
    """How a transformer knows where a token stands: a subclass changes vectors by their places.

    Floating arrays among its fields train.
    """

    def add(self, vectors: Float[Array, "length width"]) -> Float[Array, "length width"]:
        """Token vectors with what the places add to them, before the first layer."""
        return vectors

    def turn(self, vectors: Float[Array, "length heads size"]) -> Float[Array, "length heads size"]:
        """Queries or keys of every place, changed by the place."""
        return vectors


@final
class LearnedPlaces(AbstractPlaces):
    """One trained vector per place is added. table: (places, width)."""

    table: Float[AnyArray, "places width"]

    def add(self, vectors: Float[Array, "length width"]) -> Float[Array, "length width"]:
        return vectors + self.table[: len(vectors)]


@final
class FixedPlaces(AbstractPlaces):
    """A table that does not train is added. table_of: (length, width) to an array of that shape."""

    table_of: Callable[[int, int], Any] = eqx.field(static=True)

    def add(self, vectors: Float[Array, "length width"]) -> Float[Array, "length width"]:
        return vectors + jnp.asarray(self.table_of(*vectors.shape), vectors.dtype)


@final
class RotaryPlaces(AbstractPlaces):
    """Queries and keys turn by angles that grow with the place: scores see distances alone.

    Numbers i and i + size/2 of the vector at place t turn by t·10000^(-2i/size).
    """

    def turn(self, vectors: Float[Array, "length heads size"]) -> Float[Array, "length heads size"]:
        half = vectors.shape[-1] // 2
        speed = 10_000.0 ** (-np.arange(half) / half)
        angle = jnp.asarray(np.arange(len(vectors))[:, None, None] * speed, vectors.dtype)
        first, second = vectors[..., :half], vectors[..., half : 2 * half]
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        turned = [first * cos - second * sin, first * sin + second * cos, vectors[..., 2 * half :]]
        return jnp.concatenate(turned, axis=-1)


def sinusoids(length: int, width: int) -> Float[np.ndarray, "length width"]:
    """sin and cos of t·10000^(-2i/width) at every place t, the table of the first transformers.

    >>> sinusoids(3, 4).round(2).tolist()[0]
    [0.0, 0.0, 1.0, 1.0]
    """
    half = -(-width // 2)
    angle = np.arange(length)[:, None] * 10_000.0 ** (-np.arange(half) / half)
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)[:, :width]


PLACES = ("learned", "sinusoidal", "rotary")
#: A name, a table of your own as a function of (length, width), or a subclass of AbstractPlaces.
Places = str | Callable[[int, int], Any] | AbstractPlaces


def as_places(given: Places, table: Float[Array, "length width"]) -> AbstractPlaces:
    """The places of one run; learned ones start from the table."""
    length, width = table.shape
    if isinstance(given, AbstractPlaces):
        return given
    if given == "learned":
        return LearnedPlaces(table)
    if given == "rotary":
        return RotaryPlaces()
    if given == "sinusoidal":
        return FixedPlaces(sinusoids)
    if not callable(given):
        raise ValueError(f"positions must be one of {', '.join(PLACES)} or your own, got {given!r}")
    shape = np.shape(given(length, width))
    if shape != (length, width):
        raise ValueError(
            f"positions {name_of(given)}({length}, {width}) must return an array of shape "
            f"({length}, {width}), got {shape}"
        )
    return FixedPlaces(given)


class Block(eqx.Module):
    """One layer: attention, then a net of one hidden layer of 4·width ReLUs.

    query, key, value, out: (width, width), heads side by side. norms: scale and shift of two layer
    norms, (2, 2, width).
    """

    query: Float[AnyArray, "width width"]
    key: Float[AnyArray, "width width"]
    value: Float[AnyArray, "width width"]
    out: Float[AnyArray, "width width"]
    inner: Float[AnyArray, "width hidden"]
    bias: Float[AnyArray, " hidden"]
    outer: Float[AnyArray, "hidden width"]
    norms: Float[AnyArray, "2 2 width"]


class Outcome(NamedTuple):
    """logits: of token 0 and token 1 in every slot. attention: of the last layer, from each slot's
    place to all places."""

    logits: Float[Array, "slots 2"]
    attention: Float[Array, "heads slots length"]


@final
class Decoder(eqx.Module):
    """ŷ = P(+1) - P(-1) in the last slot, after the earlier ones were written by the model itself.

    tokens: vectors of 0, 1 and the mark. readout: from a place's vector to two logits. heads: per
    layer. Layer norms stand before each part. n: bits it reads. written: for every slot whether the
    model writes it; in the others it finds the mark.
    """

    tokens: Float[AnyArray, "3 width"]
    places: AbstractPlaces
    blocks: tuple[Block, ...]
    readout: Float[AnyArray, "width 2"]
    heads: int = eqx.field(static=True)
    n: int = eqx.field(static=True)
    written: tuple[bool, ...] = eqx.field(static=True)

    def outcome(
        self,
        sequence: Int[AnyArray, " length"],
        nudge: Float[AnyArray, "heads slots length"] | None = None,
    ) -> Outcome:
        """All slots in one pass. sequence: bits, mark and every slot but the last, n + slots.

        nudge: added to the scores of the last layer before softmax, so that a derivative by it is
        the gradient on the attention of each slot to each token.
        """
        vectors = self.places.add(jnp.asarray(self.tokens)[jnp.asarray(sequence)])
        first, attention = 0, jnp.zeros(())
        for number, block in enumerate(self.blocks):
            # In the last layer only the slots' places are read, so only they are computed.
            last = number == len(self.blocks) - 1
            first = self.n if last else 0
            vectors, attention = self._layer(block, vectors, first, nudge if last else None)
        return Outcome(_normed(vectors) @ self.readout, attention)

    def _layer(
        self, block: Block, vectors: Array, first: int, nudge: AnyArray | None
    ) -> tuple[Array, Array]:
        """The vectors of places `first`, … after one layer, and its attention."""
        length, seen = len(vectors), _normed(vectors, block.norms[0])
        split = (length, self.heads, -1)
        query, key = (
            self.places.turn((seen @ each).reshape(split)) for each in (block.query, block.key)
        )
        value = (seen @ block.value).reshape(split)
        scores = jnp.einsum("shd,thd->hst", query[first:], key) / np.sqrt(query.shape[-1])
        scores = scores if nudge is None else scores + nudge
        causal = np.arange(length)[None, :] <= np.arange(first, length)[:, None]
        attention = jax.nn.softmax(jnp.where(causal[None], scores, -jnp.inf), axis=-1)
        mixed = jnp.einsum("hst,thd->shd", attention, value).reshape(length - first, -1)
        added = vectors[first:] + mixed @ block.out
        hidden = _normed(added, block.norms[1]) @ block.inner + block.bias[None]
        return added + jax.nn.relu(hidden) @ block.outer, attention

    def write(self, bits: Int[Array, " n"]) -> tuple[Int[Array, " slots"], Float[Array, ""]]:
        """The chain that the model writes by itself, always the likelier token, and ŷ."""
        slots = len(self.written)
        marks = jnp.full(slots, MARK, bits.dtype)
        start = jnp.concatenate([bits, marks])  # the mark, then slots without the last
        own = jnp.asarray(self.written)

        def advance(sequence: Array, slot: Array) -> tuple[Array, tuple[Array, Array]]:
            logits = self.outcome(sequence).logits[slot]
            token = jnp.where(own[slot], jnp.argmax(logits).astype(bits.dtype), MARK)
            # The last slot is no input of anything: its place does not exist and is dropped.
            after = sequence.at[self.n + 1 + slot].set(token, mode="drop")
            return after, (token, jnp.tanh((logits[0] - logits[1]) / 2))

        _, (chain, answers) = jax.lax.scan(advance, start, jnp.arange(slots))
        return chain, answers[-1]

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        return self.write(jnp.asarray(bits).astype(jnp.int32))[1]


class Build(NamedTuple):
    """What a `Decoder` is drawn for; see there. positions: a name or your own."""

    n: int
    written: tuple[bool, ...]
    layers: int = 1
    heads: int = 4
    width: int = 32
    positions: Places = "learned"

    def draw(self, key: Array) -> Decoder:
        """A usual random start: normal numbers, of spread 1 in embeddings, of variance 1/inputs in
        matrices; biases and shifts are 0."""
        w, length = self.width, self.n + len(self.written)
        of_block = [(w, w)] * 4 + [(w, 4 * w), (4 * w, w)]
        shapes = [(3, w), (length, w), (w, 2), *of_block * self.layers]
        ends = np.cumsum([0, *map(np.prod, shapes)])
        numbers = jax.random.normal(key, (ends[-1],))  # one draw compiles faster than many
        parts = [
            numbers[start:end].reshape(shape) / (1 if place < 2 else np.sqrt(shape[0]))
            for place, (start, end, shape) in enumerate(zip(ends, ends[1:], shapes, strict=False))
        ]
        norms = jnp.tile(jnp.stack([jnp.ones(w), jnp.zeros(w)]), (2, 1, 1))
        blocks = [
            Block(q, k, v, o, inner, jnp.zeros(4 * w), outer, norms)
            for q, k, v, o, inner, outer in (parts[at : at + 6] for at in range(3, len(parts), 6))
        ]
        places, how = as_places(self.positions, parts[1]), (self.heads, self.n, self.written)
        return Decoder(parts[0], places, tuple(blocks), parts[2], *how)


def _normed(vectors: Array, scale_and_shift: AnyArray | None = None) -> Array:
    """Layer norm over the last axis."""
    centred = vectors - jnp.mean(vectors, axis=-1, keepdims=True)
    spread = jnp.mean(centred**2, axis=-1, keepdims=True)
    plain = centred * jax.lax.rsqrt(spread + 1e-5)
    if scale_and_shift is None:
        return plain
    return plain * scale_and_shift[0][None] + scale_and_shift[1][None]

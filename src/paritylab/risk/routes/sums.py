"""Sums over chosen positions with their chances, one row of chances per row of the statistic."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from paritylab.precision import AnyArray
from paritylab.risk.routes.targets import Labelled, Target


class Half(NamedTuple):
    """Partial sums with their chances.

    Rows of chances: plain and times χ for a parity; one per label for a junta, or a single plain
    row where B lies elsewhere.
    """

    sums: Float[Array, " size"]
    chances: Float[Array, "rows size"]


def _bit_table(size: int) -> Bool[Array, "size bits"]:
    """Whether bit j of i is set; only ever a fused operand, never stored."""
    bits = size.bit_length() - 1
    index = jnp.arange(size, dtype=jnp.int32)[:, None]
    return ((index >> jnp.arange(bits, dtype=jnp.int32)[None, :]) & 1) == 1


def partial_sums(
    weights: Float[AnyArray, " m"], indicator: Float[AnyArray, " m"], probabilities: Any
) -> Half:
    """All 2^m partial sums, plain and times χ; entry number i has bit j equal to (i >> j) & 1."""
    plain = plain_sums(weights, probabilities)
    signs = 1 - 2 * indicator[None, :]
    bits = _bit_table(1 << weights.shape[0])
    signed = plain.chances * jnp.prod(jnp.where(bits, signs, 1.0), axis=1)[None, :]
    return Half(plain.sums, jnp.concatenate([plain.chances, signed]))


def plain_sums(weights: Float[AnyArray, " m"], probabilities: Any) -> Half:
    """All 2^m partial sums with their probabilities."""
    bits = _bit_table(1 << weights.shape[0])
    sums = jnp.sum(jnp.where(bits, weights[None, :], 0.0), axis=1)
    p = probabilities[None, :]
    return Half(sums, jnp.prod(jnp.where(bits, p, 1 - p), axis=1)[None, :])


def gather(slopes: Float[Array, " size"]) -> Float[Array, " bits"]:
    """Σ over entries with bit j set, for every j: the transpose of the partial sums."""
    return jnp.sum(jnp.where(_bit_table(slopes.shape[0]), slopes[:, None], 0.0), axis=0)


def head_sums(weights: Float[AnyArray, " n"], target: Any, positions: Any) -> Half:
    """Partial sums over the positions, label noise included in the chances.

    For a junta (`Labelled`) the positions must begin with B.
    """
    part = weights[positions], target.probabilities[positions]
    if isinstance(target, Target):
        half = partial_sums(part[0], target.indicator[positions], part[1])
        one = jnp.ones_like(target.contrast)
        return half._replace(chances=half.chances * jnp.stack([one, target.contrast])[:, None])
    half = plain_sums(*part)
    repeats = len(half.sums) // target.shares.shape[-1]
    return half._replace(chances=half.chances * jnp.tile(target.shares, (1, repeats)))


class Halves(NamedTuple):
    """All positions in two parts; left carries B of a junta. order: of the positions, left first;
    None if it is theirs."""

    left: Half
    right: Half
    order: Int[Array, " n"] | None

    def gathered(self, left: Float[Array, " a"], right: Float[Array, " b"]) -> Float[Array, " n"]:
        """Slopes of every weight from those of both parts' partial sums."""
        slopes = jnp.concatenate([gather(left), gather(right)])
        return slopes if self.order is None else jnp.zeros_like(slopes).at[self.order].set(slopes)


def halves(weights: Float[AnyArray, " n"], target: Any, size: int) -> Halves:
    """The first `size` positions (at least those of B for a junta) and the rest."""
    if isinstance(target, Labelled):
        size = max(size, target.subset.shape[0])
        order = jnp.argsort(jnp.ones_like(weights).at[target.subset].set(0.0), stable=True)
        rest = plain_sums(weights[order[size:]], target.probabilities[order[size:]])
        return Halves(head_sums(weights, target, order[:size]), rest, order)
    rest = partial_sums(weights[size:], target.indicator[size:], target.probabilities[size:])
    return Halves(head_sums(weights, target, slice(size)), rest, None)

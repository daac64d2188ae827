"""Sums over chosen positions with their chances, one row of chances per row of the statistic."""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from paritylab.precision import AnyArray
from paritylab.risk.routes.targets import Labelled, Target

#: Bits whose 2^bits choices are taken one by one; more are split in two parts.
_AT_ONCE = 5


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


def _choices(
    present: Float[AnyArray, " m"],
    absent: Float[AnyArray, " m"],
    join: Callable[[Array, Array], Array],
) -> Float[Array, " size"]:
    """Entry number i joins present_j where bit j of i is set and absent_j elsewhere.

    join: jnp.add or jnp.multiply.
    """
    bits = present.shape[0]
    if bits <= _AT_ONCE:
        picked = jnp.where(_bit_table(1 << bits), present[None, :], absent[None, :])
        return (jnp.sum if join is jnp.add else jnp.prod)(picked, axis=1)
    some = slice(bits // 2), slice(bits // 2, None)
    low, high = (_choices(present[part], absent[part], join) for part in some)
    return jnp.asarray(join(high[:, None], low[None, :])).reshape(-1)


def partial_sums(
    weights: Float[AnyArray, " m"],
    indicator: Float[AnyArray, " m"],
    probabilities: Float[AnyArray, " m"],
) -> Half:
    """All 2^m partial sums, plain and times χ; entry number i has bit j equal to (i >> j) & 1."""
    plain = plain_sums(weights, probabilities)
    signed = _choices(probabilities * (1 - 2 * indicator), 1 - probabilities, jnp.multiply)
    return Half(plain.sums, jnp.concatenate([plain.chances, signed[None, :]]))


def plain_sums(weights: Float[AnyArray, " m"], probabilities: Float[AnyArray, " m"]) -> Half:
    """All 2^m partial sums with their probabilities."""
    chances = _choices(probabilities, 1 - probabilities, jnp.multiply)
    return Half(_choices(weights, jnp.zeros_like(weights), jnp.add), chances[None, :])


def gather(slopes: Float[Array, " size"]) -> Float[Array, " bits"]:
    """Σ over entries with bit j set, for every j: the transpose of the partial sums."""
    bits = slopes.shape[0].bit_length() - 1
    if bits <= _AT_ONCE:
        return jnp.sum(jnp.where(_bit_table(1 << bits), slopes[:, None], 0.0), axis=0)
    table = slopes.reshape(-1, 1 << bits // 2)
    return jnp.concatenate([gather(jnp.sum(table, axis=axis)) for axis in (0, 1)])


def head_sums(
    weights: Float[AnyArray, " n"],
    target: Target | Labelled,
    positions: Int[AnyArray, " some"] | slice,
) -> Half:
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


def halves(weights: Float[AnyArray, " n"], target: Target | Labelled, size: int) -> Halves:
    """The first `size` positions (at least those of B for a junta) and the rest."""
    if isinstance(target, Labelled):
        size = max(size, target.subset.shape[0])
        order = jnp.argsort(jnp.ones_like(weights).at[target.subset].set(0.0), stable=True)
        rest = plain_sums(weights[order[size:]], target.probabilities[order[size:]])
        return Halves(head_sums(weights, target, order[:size]), rest, order)
    rest = partial_sums(weights[size:], target.indicator[size:], target.probabilities[size:])
    return Halves(head_sums(weights, target, slice(size)), rest, None)

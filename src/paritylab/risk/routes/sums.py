"""Sums over chosen positions with their chances, one row of chances per row of the statistic.

The same code serves numpy arrays (a single risk, nothing to compile) and jax arrays (inside
compiled loops): `namespace` says which library an array belongs to.
"""

from types import ModuleType
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from paritylab.precision import AnyArray
from paritylab.problem import Junta, Parity
from paritylab.risk.routes.targets import Labelled, Target

#: Bits whose 2^bits choices are taken one by one; more are split in two parts.
_AT_ONCE = 5


def namespace(array: AnyArray) -> ModuleType:
    """numpy for numpy arrays, jax.numpy for everything else."""
    return np if isinstance(array, np.ndarray) else jnp


class Half(NamedTuple):
    """Partial sums with their chances.

    Rows of chances: plain and times χ for a parity; one per label for a junta, or a single plain
    row where B lies elsewhere.
    """

    sums: Float[AnyArray, " size"]
    chances: Float[AnyArray, "rows size"]


def _bit_table(size: int, xp: ModuleType) -> Bool[AnyArray, "size bits"]:
    """Whether bit j of i is set; inside compiled code a fused operand that is never stored."""
    bits = size.bit_length() - 1
    index = xp.arange(size, dtype=xp.int32)[:, None]
    table: AnyArray = ((index >> xp.arange(bits, dtype=xp.int32)[None, :]) & 1) == 1
    return table


def _choices(
    present: Float[AnyArray, " m"], absent: Float[AnyArray, " m"], *, add: bool
) -> Float[AnyArray, " size"]:
    """Entry number i joins present_j where bit j of i is set and absent_j elsewhere.

    add: join by addition, or else by multiplication.
    """
    bits, xp = present.shape[0], namespace(present)
    if bits <= _AT_ONCE:
        picked = xp.where(_bit_table(1 << bits, xp), present[None, :], absent[None, :])
        few: AnyArray = (xp.sum if add else xp.prod)(picked, axis=1)
        return few
    some = slice(bits // 2), slice(bits // 2, None)
    low, high = (_choices(present[part], absent[part], add=add) for part in some)
    low, high = low[None, :], high[:, None]
    return (high + low if add else high * low).reshape(-1)


def partial_sums(
    weights: Float[AnyArray, " m"],
    indicator: Float[AnyArray, " m"],
    probabilities: Float[AnyArray, " m"],
) -> Half:
    """All 2^m partial sums, plain and times χ; entry number i has bit j equal to (i >> j) & 1."""
    plain = plain_sums(weights, probabilities)
    signed = _choices(probabilities * (1 - 2 * indicator), 1 - probabilities, add=False)
    joined = namespace(weights).concatenate([plain.chances, signed[None, :]])
    return Half(plain.sums, joined)


def plain_sums(weights: Float[AnyArray, " m"], probabilities: Float[AnyArray, " m"]) -> Half:
    """All 2^m partial sums with their probabilities."""
    chances = _choices(probabilities, 1 - probabilities, add=False)
    return Half(_choices(weights, 0 * weights, add=True), chances[None, :])


def gather(slopes: Float[AnyArray, " size"]) -> Float[AnyArray, " bits"]:
    """Σ over entries with bit j set, for every j: the transpose of the partial sums."""
    bits, xp = slopes.shape[0].bit_length() - 1, namespace(slopes)
    if bits <= _AT_ONCE:
        few: AnyArray = xp.sum(xp.where(_bit_table(1 << bits, xp), slopes[:, None], 0.0), axis=0)
        return few
    table = slopes.reshape(-1, 1 << bits // 2)
    both: AnyArray = xp.concatenate([gather(xp.sum(table, axis=axis)) for axis in (0, 1)])
    return both


def head_sums(
    weights: Float[AnyArray, " n"],
    target: Target | Labelled,
    positions: Int[AnyArray, " some"] | slice,
) -> Half:
    """Partial sums over the positions, label noise included in the chances.

    For a junta (`Labelled`) the positions must begin with B.
    """
    xp, part = namespace(weights), (weights[positions], target.probabilities[positions])
    if isinstance(target, Target):
        half = partial_sums(part[0], target.indicator[positions], part[1])
        factors = xp.stack([xp.ones_like(target.contrast), target.contrast])
        return half._replace(chances=half.chances * factors[:, None])
    half = plain_sums(*part)
    repeats = len(half.sums) // target.shares.shape[-1]
    return half._replace(chances=half.chances * xp.tile(target.shares, (1, repeats)))


class Halves(NamedTuple):
    """All positions in two parts; left carries B of a junta. order: of the positions, left first;
    None if it is theirs."""

    left: Half
    right: Half
    order: Int[AnyArray, " n"] | None

    def gathered(
        self, left: Float[AnyArray, " a"], right: Float[AnyArray, " b"]
    ) -> Float[AnyArray, " n"]:
        """Slopes of every weight from those of both parts' partial sums."""
        xp = namespace(left)
        slopes: AnyArray = xp.concatenate([gather(left), gather(right)])
        return slopes if self.order is None else slopes[xp.argsort(self.order)]


def halves(weights: Float[AnyArray, " n"], target: Target | Labelled, size: int) -> Halves:
    """The first `size` positions (at least those of B for a junta) and the rest."""
    if isinstance(target, Labelled):
        xp, size = namespace(weights), max(size, target.subset.shape[0])
        places = xp.arange(len(weights))
        hidden = xp.any(places[:, None] == xp.asarray(target.subset)[None, :], axis=1)
        order = xp.argsort(~hidden, stable=True)
        rest = plain_sums(weights[order[size:]], target.probabilities[order[size:]])
        return Halves(head_sums(weights, target, order[:size]), rest, order)
    rest = partial_sums(weights[size:], target.indicator[size:], target.probabilities[size:])
    return Halves(head_sums(weights, target, slice(size)), rest, None)


def enumerated_always(problem: Parity | Junta) -> np.ndarray:
    """Positions that every plan enumerates: the hidden bits of a junta."""
    return np.array(problem.subset if isinstance(problem, Junta) else (), dtype=int)


def largest_besides(weights: np.ndarray, without: np.ndarray, count: int) -> np.ndarray:
    """Positions of the largest weights outside a few positions, largest first."""
    if not len(without):
        return largest(weights, count)
    others = largest(weights, count + len(without))
    return others[~np.isin(others, without)][:count]


def largest(weights: np.ndarray, count: int) -> np.ndarray:
    """Positions of the largest weights, largest first.

    The `count` largest lie in the `count` blocks with the largest maxima, so one pass for the
    maxima leaves little to sort.
    """
    block = 512
    pool = np.arange(len(weights))
    if len(weights) > block * 2 * count:
        whole = len(weights) // block * block
        maxima = weights[:whole].reshape(-1, block).max(axis=1)
        blocks = np.argsort(-maxima, kind="stable")[:count]
        inside = (blocks[:, None] * block + np.arange(block)[None, :]).ravel()
        pool = np.sort(np.append(inside, np.arange(whole, len(weights))))
    return pool[np.argsort(-weights[pool], kind="stable")][:count]

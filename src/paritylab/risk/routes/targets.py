"""Targets as arrays, and sums over their positions with chances: what the routes compute with.

Parities and juntas become arrays, so that one compiled call serves many of them. Partial sums over
chosen positions carry their chances, one row of chances for each row of the statistic. The same
code serves numpy arrays (a single risk, nothing to compile) and jax arrays (inside compiled loops):
`namespace` says which library an array belongs to.
"""

import math
from collections.abc import Sequence
from itertools import chain
from types import ModuleType
from typing import NamedTuple, cast, overload

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from paritylab.precision import AnyArray
from paritylab.problem import Junta, Parity
from paritylab.problem.losses import LOSSES, Loss

#: Values at which a statistic is asked for a label; None stands for the signs of a parity, where
#: even and odd part are kept instead.
Labels = tuple[float, ...] | None

SIGNS = (1.0, -1.0)
#: Losses that are polynomials of degree ≤ 2 in the label.
_QUADRATIC = ("squared", "correlation", "log_correlation")
#: Distinct values of a real table that other losses serve.
MAX_VALUES = 32


class Target(NamedTuple):
    """A parity problem as arrays.

    indicator: 1 on B (n,). probabilities: P(x_j = 1), (n,). contrast: sign·(1-2ν), ().
    """

    indicator: AnyArray
    probabilities: AnyArray
    contrast: AnyArray

    def arrays(self) -> "Target":
        """The same as jax arrays of the precision in force."""
        return Target(*map(jnp.asarray, self))


class JuntaTarget(NamedTuple):
    """A junta as arrays. subset: B (k,). table: f (2^k,). contrast: 1-2ν, ()."""

    subset: AnyArray
    probabilities: AnyArray
    table: AnyArray
    contrast: AnyArray

    @property
    def indicator(self) -> Float[Array, " n"]:
        """1 on B (n,)."""
        return jnp.zeros(self.probabilities.shape[-1]).at[jnp.asarray(self.subset)].set(1.0)


class Labelled(NamedTuple):
    """A junta as the routes need it: y is label r for share_r(u) of the inputs with hidden bits u.

    subset: B (k,). probabilities: (n,). shares: (R, 2^k); they sum to one over the labels and may
    be negative where labels are nodes of an interpolation in y.
    """

    subset: AnyArray
    probabilities: AnyArray
    shares: AnyArray


@overload
def target_of(problem: Parity) -> Target: ...
@overload
def target_of(problem: Junta) -> JuntaTarget: ...
@overload
def target_of(problem: Parity | Junta) -> Target | JuntaTarget: ...
def target_of(problem: Parity | Junta) -> Target | JuntaTarget:
    """The problem's arrays; the contrast says how much of the label survives noise."""
    kept = 1 - 2 * problem.noise
    if isinstance(problem, Junta):
        subset = np.array(problem.subset, dtype=np.int32)
        return JuntaTarget(subset, problem.probabilities, problem.values, np.asarray(kept))
    contrast = np.asarray(problem.sign * kept, dtype=np.float64)
    return Target(problem.indicator, problem.probabilities, contrast)


def stacked_targets(problems: Sequence[Parity | Junta]) -> Target | JuntaTarget:
    """`target_of` every problem, of one kind and equal n, with a leading axis of runs.

    Parities are written into one table: 100,000 of them take longer one by one than to train on.
    """
    if any(issubclass(kind, Junta) for kind in set(map(type, problems))):
        together: JuntaTarget = jax.tree.map(
            lambda *leaves: np.stack(leaves), *map(target_of, problems)
        )
        return together
    parities = cast(Sequence[Parity], problems)
    shape = len(parities), parities[0].n
    indicator, subsets = np.zeros(shape), [each.subset for each in parities]
    sizes = np.fromiter(map(len, subsets), np.int64, len(subsets))
    members = np.fromiter(chain.from_iterable(subsets), np.int64, sizes.sum())
    indicator[np.repeat(np.arange(len(subsets)), sizes), members] = 1.0
    if len({each.bias for each in parities}) == 1:
        probabilities = np.broadcast_to(parities[0].probabilities, shape)
    else:
        probabilities = np.stack([each.probabilities for each in parities])
    contrast = np.array([each.sign * (1 - 2 * each.noise) for each in parities], np.float64)
    return Target(indicator, probabilities, contrast)


def labels_of(problems: Parity | Junta | Sequence[Parity | Junta], loss: Loss) -> Labels:
    """At which labels a statistic is needed for these targets.

    ±1 for Boolean juntas. Real tables: three nodes for losses that are quadratic in y, all values
    for others.
    """
    given = [problems] if isinstance(problems, Parity | Junta) else list(problems)
    if not any(issubclass(kind, Junta) for kind in set(map(type, given))):
        return None
    juntas = [each for each in given if isinstance(each, Junta)]
    if len(juntas) < len(given):
        raise ValueError("one call takes parities or juntas, not both; write a parity as a Junta")
    if all(junta.is_boolean for junta in juntas):
        return SIGNS
    values = sorted({value for junta in juntas for value in junta.table})
    if loss in (LOSSES[name] for name in _QUADRATIC):
        # A table of zeros has no scale of its own; any three nodes interpolate it.
        reach = 2.0 ** math.ceil(math.log2(max(map(abs, values)) or 1.0))
        return (-reach, 0.0, reach)
    if len(values) > MAX_VALUES:
        raise ValueError(
            f"loss {loss.name} serves real tables of at most {MAX_VALUES} values, got "
            f"{len(values)}; use one of {', '.join(_QUADRATIC)}"
        )
    return tuple(values)


@overload
def labelled(target: Target, labels: Labels) -> Target: ...
@overload
def labelled(target: JuntaTarget, labels: Labels) -> Labelled: ...
@overload
def labelled(target: Target | JuntaTarget, labels: Labels) -> Target | Labelled: ...
def labelled(target: Target | JuntaTarget, labels: Labels) -> Target | Labelled:
    """What a route computes with: a `Target`, or a `Labelled` for a junta.

    Shares are the Lagrange polynomials of the labels at (1-2ν)·f: probabilities of both signs for
    ±1 tables, weights of the nodes for losses quadratic in y, 0 or 1 for a list of values.
    """
    if isinstance(target, Target):
        return target.arrays()
    assert labels is not None
    # A problem's own arrays stay in numpy: nothing to compile for a single case.
    array: ModuleType = np if isinstance(target.table, np.ndarray) else jnp
    values, nodes = array.asarray(target.table), array.asarray(labels)
    if len(labels) > 3:
        shares = array.where(values[None, :] == nodes[:, None], 1.0, 0.0)
    else:
        mean = array.asarray(target.contrast) * values
        shares = array.stack(
            [
                math.prod(
                    ((mean - other) / (label - other) for other in labels if other != label),
                    start=array.ones_like(mean),
                )
                for label in labels
            ]
        )
    return Labelled(array.asarray(target.subset), array.asarray(target.probabilities), shares)


def labels_at(bits: Float[Array, "N n"], target: Target | JuntaTarget) -> Float[Array, " N"]:
    """Noiseless labels of bit strings."""
    if isinstance(target, JuntaTarget):
        hidden = bits[:, target.subset].astype(jnp.int32)
        digits = jnp.arange(hidden.shape[1], dtype=jnp.int32)[None, :]
        return jnp.asarray(target.table, bits.dtype)[jnp.sum(hidden << digits, axis=1)]
    return jnp.sign(target.contrast) * (1 - 2 * jnp.mod(bits @ target.indicator, 2))


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

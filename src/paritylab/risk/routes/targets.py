"""Targets as arrays: what the routes compute with.

Parities and juntas become arrays, so that one compiled call serves many of them.
"""

import math
from collections.abc import Sequence
from itertools import chain
from types import ModuleType
from typing import NamedTuple, cast, overload

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

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

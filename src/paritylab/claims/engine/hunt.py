"""Active search for violations: push the margin of an inequality down from many random starts."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from paritylab.learning.descent import descend
from paritylab.precision import float64
from paritylab.problem.keys import as_key


class Find(NamedTuple):
    """The smallest margin met and where.

    margin: its value; negative means the inequality is violated. moving, fixed: the point. first:
    margins of all random starts before any descent.
    """

    margin: float
    moving: Any
    fixed: Any
    first: np.ndarray


def hunt(
    margin: Callable[[Any, Any], jax.Array],
    draw: Callable[[jax.Array], tuple[Any, Any]],
    *,
    starts: int = 64,
    steps: int = 200,
    rate: float = 0.05,
    seed: int = 0,
) -> Find:
    """Minimise margin(moving, fixed) over `moving` by Adam from `starts` random draws.

    margin: what a claim says is nonnegative, differentiable almost everywhere in `moving`. draw:
    from a key to (moving, fixed), such as head directions and a pair of inputs. Discrete choices
    belong in `fixed` and are explored by the draws alone.

    >>> find = hunt(lambda x, shift: (x - shift) ** 2 - 1, lambda key: (jnp.zeros(()), 3.0),
    ...             starts=2, steps=400)
    >>> round(find.margin, 3)
    -1.0
    """
    one_case = jnp.zeros(1)
    found = hunts(
        lambda moving, fixed, _: margin(moving, fixed),
        draw,
        one_case,
        starts=starts,
        steps=steps,
        rate=rate,
        seed=seed,
    )
    return found[0]


def hunts(
    margin: Callable[[Any, Any, Any], jax.Array],
    draw: Callable[[jax.Array], tuple[Any, Any]],
    cases: Any,
    *,
    starts: int = 64,
    steps: int = 200,
    rate: float = 0.05,
    seed: int = 0,
) -> list[Find]:
    """As `hunt`, for many margins that one compiled program computes: margin(moving, fixed, case).

    cases: arrays whose first axis counts the margins; all start from the same draws.
    """
    with float64():
        keys = jax.random.split(as_key(seed), starts)
        moving, fixed = jax.jit(jax.vmap(draw))(keys)

        def one(
            case: Any, moving: Any, fixed: Any, key: jax.Array
        ) -> tuple[jax.Array, Any, jax.Array]:
            found = descend(
                lambda p, _: margin(p, fixed, case),
                moving,
                optax.adam(rate),
                steps=steps,
                every=1,
                key=key,
            )
            best = jnp.nanargmin(found.risks)
            return found.risks[best], jax.tree.map(lambda a: a[best], found.path), found.risks[0]

        over_starts = jax.vmap(one, in_axes=(None, 0, 0, 0))
        every = jax.jit(jax.vmap(over_starts, in_axes=(0, None, None, None)))
        margins, places, first = jax.tree.map(np.asarray, every(cases, moving, fixed, keys))
        finds = []
        for number, values in enumerate(margins):
            best = int(np.nanargmin(values))
            place = jax.tree.map(lambda a, i=number, j=best: a[i, j], places)
            at = jax.tree.map(lambda a, j=best: np.asarray(a)[j], fixed)
            finds.append(Find(float(values[best]), place, at, first[number]))
        return finds

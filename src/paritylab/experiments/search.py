"""Search for violations: push the margin of an inequality down from many random starts."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from paritylab._support.precision import float64
from paritylab.learning.descent import descend, stacked
from paritylab.problem.keys import as_key

#: From a generator to one start: what moves, and what stays.
Draw = Callable[[np.random.Generator], tuple[Any, Any]]


class Find(NamedTuple):
    """The smallest margin met, and the point. A negative margin violates the inequality."""

    margin: float
    moving: Any
    fixed: Any


def hunt(
    margin: Callable[[Any, Any, Any], jax.Array],
    draw: Draw,
    cases: Any,
    *,
    starts: int = 64,
    steps: int = 200,
    rate: float = 0.05,
    seed: int = 0,
) -> list[Find]:
    """Minimise margin(moving, fixed, case) over `moving` by Adam from random draws, for each case.

    margin: what is to be nonnegative, differentiable almost everywhere in `moving`. draw:
    from numpy's generator to (moving, fixed), such as head directions and a pair of inputs.
    Discrete choices belong in `fixed` and are explored by the draws alone. cases: arrays whose
    first axis counts the margins; all start from the same draws, in one compiled program.

    >>> (find,) = hunt(lambda x, shift, case: (x - shift) ** 2 - case,
    ...                lambda generator: (0.0, 3.0), jnp.ones(1), starts=2, steps=400)
    >>> round(find.margin, 3)
    -1.0
    """
    # Numbers so few are drawn by numpy: jax would compile a program for every draw.
    generator = np.random.default_rng(seed)
    moving, fixed = stacked(draw(generator) for _ in range(starts))
    with float64():
        keys = jax.random.split(as_key(seed), starts)

        def one(case: Any, moving: Any, fixed: Any, key: jax.Array) -> tuple[jax.Array, Any]:
            adam = optax.adam(rate)
            found = descend(
                lambda p, *_: margin(p, fixed, case), moving, adam, steps=steps, every=1, key=key
            )
            best = jnp.nanargmin(found.noted)
            return found.noted[best], jax.tree.map(lambda a: a[best], found.path)

        over_starts = jax.vmap(one, in_axes=(None, 0, 0, 0))
        every = jax.jit(jax.vmap(over_starts, in_axes=(0, None, None, None)))
        margins, places = jax.tree.map(np.asarray, every(cases, moving, fixed, keys))
        finds = []
        for number, values in enumerate(margins):
            best = int(np.nanargmin(values))
            place = jax.tree.map(lambda a, i=number, j=best: a[i, j], places)
            at = jax.tree.map(lambda a, j=best: np.asarray(a)[j], fixed)
            finds.append(Find(float(values[best]), place, at))
        return finds

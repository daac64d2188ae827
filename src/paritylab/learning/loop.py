"""The one loop of everything that descends step by step inside compiled code."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

State = TypeVar("State")


class Walk(NamedTuple, Generic[State]):
    """end: the state after the last step. noted: what every step returned besides. path: the states
    before steps 0, every, 2·every, …; empty if none were kept."""

    end: State
    noted: PyTree
    path: PyTree


def walk(
    step: Callable[[State, jax.Array], tuple[State, PyTree]],
    start: State,
    *,
    steps: int,
    every: int | None,
    keep: Callable[[State], PyTree] = lambda state: state,
) -> Walk[State]:
    """`steps` calls of step(state, number) -> (state, noted); call it under jit.

    every: how many steps lie between two entries of the path; None keeps none. keep: the part of a
    state that belongs on the path.
    """

    def stretch(state: State, first: jax.Array, length: int) -> tuple[State, PyTree]:
        after, noted = jax.lax.scan(step, state, first + jnp.arange(length))
        return after, (keep(state), noted)

    if every is None:
        end, noted = jax.lax.scan(step, start, jnp.arange(steps))
        return Walk(end, noted, ())
    whole, rest = divmod(steps, every)
    starts = jnp.arange(0, whole * every, every)
    end, (path, noted) = jax.lax.scan(lambda state, at: stretch(state, at, every), start, starts)
    noted = jax.tree.map(lambda many: many.reshape(whole * every, *many.shape[2:]), noted)
    if rest:
        end, (last, more) = stretch(end, jnp.asarray(whole * every), rest)
        path = jax.tree.map(lambda many, one: jnp.concatenate([many, one[None]]), path, last)
        noted = jax.tree.map(lambda many, few: jnp.concatenate([many, few]), noted, more)
    return Walk(end, noted, path)

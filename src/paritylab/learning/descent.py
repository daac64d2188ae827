"""Steps in one compiled loop, and optimisers by name: what the loop of `learn` is made of."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import PyTree

from paritylab._support.precision import AnyArray
from paritylab.learning.contract import OptimiserPart
from paritylab.options import Choice

#: Optimisers by name; each takes the step size.
OPTIMISERS: dict[str, Callable[..., optax.GradientTransformation]] = {
    "sgd": optax.sgd,
    "momentum": lambda eta: optax.sgd(eta, momentum=0.9),
    "normalised": lambda eta: optax.chain(optax.normalize_by_update_norm(), optax.sgd(eta)),
    "adam": optax.adam,
    "adam99": lambda eta: optax.adam(eta, b2=0.99),
    "adamw": optax.adamw,
    "rmsprop": optax.rmsprop,
}
OPTIMISER = Choice(
    OPTIMISERS, own="an optax optimiser or a function of the step size that gives one"
)

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
    first: AnyArray | int = 0,
) -> Walk[State]:
    """`steps` calls of step(state, number) -> (state, noted); call it under jit.

    every: how many steps lie between two entries of the path; None keeps none. keep: the part of a
    state that belongs on the path. first: number of the first step.
    """

    begin = jnp.asarray(first)

    def stretch(state: State, first: jax.Array, length: int) -> tuple[State, PyTree]:
        after, noted = jax.lax.scan(step, state, first + jnp.arange(length))
        return after, (keep(state), noted)

    if every is None:
        end, noted = jax.lax.scan(step, start, begin + jnp.arange(steps))
        return Walk(end, noted, ())
    whole, rest = divmod(steps, every)
    starts = begin + jnp.arange(0, whole * every, every)
    end, (path, noted) = jax.lax.scan(lambda state, at: stretch(state, at, every), start, starts)
    noted = jax.tree.map(lambda many: many.reshape(whole * every, *many.shape[2:]), noted)
    if rest:
        end, (last, more) = stretch(end, begin + jnp.asarray(whole * every), rest)
        path = jax.tree.map(lambda many, one: jnp.concatenate([many, one[None]]), path, last)
        noted = jax.tree.map(lambda many, few: jnp.concatenate([many, few]), noted, more)
    return Walk(end, noted, path)


def descend(
    risk: Callable[[Any, jax.Array, jax.Array], jax.Array],
    parameters: PyTree,
    optimiser: optax.GradientTransformation,
    *,
    steps: int,
    every: int | None = None,
    key: jax.Array,
) -> Walk[PyTree]:
    """`steps` steps of the optimiser on risk(parameters, key of the step, its number), under jit.

    every: how many steps lie between two entries of the path; None keeps no path. The walk has
    parameters; noted are the risks that the optimiser saw at the steps of the path.
    """
    optimiser = optax.with_extra_args_support(optimiser)

    def step(
        carry: tuple[PyTree, PyTree], number: jax.Array
    ) -> tuple[tuple[PyTree, PyTree], jax.Array]:
        parameters, state = carry
        given = (jax.random.fold_in(key, number), number)
        value, gradient = jax.value_and_grad(risk)(parameters, *given)
        # Line searches (L-BFGS) ask for more than the gradient; others ignore it.
        updates, state = optimiser.update(
            gradient,
            state,
            parameters,
            value=value,
            grad=gradient,
            value_fn=lambda p: risk(p, *given),
        )
        return (optax.apply_updates(parameters, updates), state), value

    start = (parameters, optimiser.init(parameters))
    found = walk(step, start, steps=steps, every=every, keep=lambda state: state[0])
    risks = jnp.zeros(0) if every is None else found.noted[::every]
    return Walk(found.end[0], risks, found.path)


def as_optimiser(optimiser: OptimiserPart, eta: float | AnyArray) -> optax.GradientTransformation:
    """An optax optimiser from its name, or from a function of the step size such as `optax.adam`;
    a ready one passes unchanged.

    A function is called inside compiled code, whatever the step size; a ready optimiser that is
    built anew for every call compiles anew.
    """
    if isinstance(optimiser, str) and optimiser in OPTIMISERS:
        return OPTIMISERS[optimiser](eta)
    if isinstance(optimiser, optax.GradientTransformation):
        return optimiser
    if not callable(optimiser):
        raise ValueError(f"optimiser must be a name or from optax, got {optimiser!r}")
    name = getattr(optimiser, "__name__", type(optimiser).__name__)
    try:
        rule = optimiser(eta)
    except Exception as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ValueError(f"the optimiser {name} fails on a step size: {reason}") from None
    if not isinstance(rule, optax.GradientTransformation):
        raise ValueError(f"{name}(eta) must give an optax optimiser, got {type(rule).__name__}")
    return rule


def stacked(trees: Iterable[PyTree]) -> PyTree:
    """Trees of one shape as one, with a leading axis of runs."""
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)

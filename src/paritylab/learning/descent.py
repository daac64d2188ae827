"""Gradient descent in one compiled loop, for any risk and any optax optimiser."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

#: Optimisers by name; each takes the step size.
OPTIMISERS: dict[str, Callable[..., optax.GradientTransformation]] = {
    "sgd": optax.sgd,
    "momentum": lambda rate: optax.sgd(rate, momentum=0.9),
    "normalised": lambda rate: optax.chain(optax.normalize_by_update_norm(), optax.sgd(rate)),
    "adam": optax.adam,
    "adamw": optax.adamw,
    "rmsprop": optax.rmsprop,
}


class Descent(NamedTuple):
    """Where a run ended and the way there.

    parameters: at the end. path: parameters before steps 0, every, 2·every, … risks: the risk the
    optimiser saw at the same steps.
    """

    parameters: Any
    path: Any
    risks: jax.Array


def descend(
    risk: Callable[[Any, jax.Array], jax.Array],
    parameters: Any,
    optimiser: optax.GradientTransformation,
    *,
    steps: int,
    every: int,
    key: jax.Array,
) -> Descent:
    """`steps` steps of the optimiser on risk(parameters, key of the step); call it under jit.

    every: how many steps lie between two entries of the path; must divide `steps`.
    """
    value_and_gradient = jax.value_and_grad(risk)

    def step(carry, number):
        parameters, state = carry
        value, gradient = value_and_gradient(parameters, jax.random.fold_in(key, number))
        updates, state = optimiser.update(gradient, state, parameters)
        return (optax.apply_updates(parameters, updates), state), value

    def stretch(carry, first):
        after, values = jax.lax.scan(step, carry, first + jnp.arange(every))
        return after, (carry[0], values[0])

    start = (parameters, optimiser.init(parameters))
    (parameters, _), (path, risks) = jax.lax.scan(stretch, start, jnp.arange(0, steps, every))
    return Descent(parameters, path, risks)


def as_optimiser(optimiser: str | optax.GradientTransformation, rate):
    """An optax optimiser from its name and a step size; a ready one passes unchanged."""
    if isinstance(optimiser, str):
        if optimiser not in OPTIMISERS:
            known = ", ".join(OPTIMISERS)
            raise ValueError(f"optimiser must be one of {known} or from optax, got {optimiser!r}")
        return OPTIMISERS[optimiser](rate)
    if isinstance(optimiser, optax.GradientTransformation):
        return optimiser
    raise ValueError(f"optimiser must be a name or from optax, got {type(optimiser).__name__}")

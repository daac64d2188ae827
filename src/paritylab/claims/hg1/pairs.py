"""Lemma 17: can the gradients of two inputs oppose each other?"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.claims import HG1, Trial, claim
from paritylab.claims.engine.hunt import hunt
from paritylab.claims.engine.rule import at_least, instead, note
from paritylab.claims.hg1.example_gradients import (
    every_gradient,
    example_loss,
    random_heads_and_inputs,
)
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.problem import Parity
from paritylab.statistics import Rate

#: Below this an inner product that is 0 on paper is 0 but for rounding.
ROUNDING = 1e-9
#: n, k, tau, b.
Cell = tuple[int, int, float, float]


def _norm_of_heads(directions: Any, bits: Any, **rest: Any) -> Any:
    """A loss that no input enters, so that all gradients agree."""
    return jnp.sum(directions**2) / 2


@claim(
    "hg1-lemma17",
    HG1("Lemma 17"),
    quick={"cells": [(8, 3, 1 / 8, 0.0)], "starts": 256, "steps": 30},
    full={"starts": 4096, "steps": 200},
    evidence="exact",
    certificate="hg1-lemma17",
    planted=(
        "a loss that no input enters, so that all gradients agree",
        {"starts": 32, "steps": 5, "loss": _norm_of_heads},
        "holds",
    ),
)
def lemma17(
    trial: Trial,
    cells: Sequence[Cell] = [(8, 3, 1 / 8, 0.0), (16, 2, 1 / 16, 0.01), (8, 3, 1.0, 0.01)],
    starts: int = 512,
    steps: int = 60,
    *,
    loss: Callable[..., Any] = example_loss,
) -> Iterator[Any]:
    """Gradients of two examples never oppose each other, n = 8 and 16, k up to 3.

    For two different inputs the inner product of the gradients of their losses in any one head is
    nonnegative. Adam searches heads (and lets pairs of inputs vary from start to start) for the
    smallest cosine between two gradients.
    """
    first = []
    for n, k, tau, b in trial.track(cells):
        find = hunt(
            partial(_cosine, loss=loss, tau=tau, b=b),
            partial(random_heads_and_inputs, k=k, n=n, inputs=2),
            starts=starts,
            steps=steps,
            seed=trial.seed,
        )
        first.append(find.first[find.first < 1])
        name = f"n = {n}, k = {k}, tau = {tau:.3g}, b = {b:g}"
        yield at_least(f"smallest cosine of two gradients, {name}", find.margin, -ROUNDING)
    opposed = Rate.of(np.concatenate(first) < -ROUNDING)
    yield note("random pairs of inputs whose gradients oppose each other", opposed)
    zero = HeadAttention(np.zeros((2, 2)), Circle(8), 2, Zigzag(2), tau=1 / 8)
    each = every_gradient(zero, Parity(8, (1, 5)))[:, 0]
    mean, single = np.sum(each.mean(axis=0) ** 2), np.mean(np.sum(each**2, axis=1))
    yield note("‖E∇ℓ‖² of a head at zero, n = 8, B two opposite positions", mean)
    yield note("E‖∇ℓ‖² of that head", single)
    yield instead(
        "Averaged over all pairs the inner product is ‖E∇ℓ‖² ≥ 0, and the pairs can cancel all of "
        f"it: for heads at zero and B two opposite positions ‖E∇ℓ‖² is {mean:.0e} and E‖∇ℓ‖² "
        f"{single:.1f}, so Lemma 8 cannot drop them."
    )


def _cosine(directions: Any, pair: Any, *, loss: Callable[..., Any], tau: float, b: float) -> Any:
    """Cosine between the first head's gradients of two inputs; 1 where one of them is 0."""
    first, second = (jax.grad(loss)(directions, x, tau=tau, b=b)[0] for x in pair)
    product = jnp.linalg.norm(first) * jnp.linalg.norm(second)
    return jnp.where(product > 1e-9, first @ second / jnp.maximum(product, 1e-9), 1.0)

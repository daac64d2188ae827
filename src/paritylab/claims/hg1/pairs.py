"""Lemma 17: can the gradients of two inputs oppose each other?"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.claims import (
    HG1,
    Histogram,
    Judged,
    Mark,
    Trial,
    claim,
    derived,
    drawn,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.claims.engine.hunt import hunt
from paritylab.claims.hg1.example_gradients import (
    every_gradient,
    example_loss,
    random_heads_and_inputs,
)
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.problem import Parity
from paritylab.statistics import share_text

#: Below this an inner product that is 0 on paper is 0 but for rounding.
ROUNDING = 1e-9
#: n, k, tau, b.
Cell = tuple[int, int, float, float]


@record(evidence="exact")
class Cosines:
    """Cosines between the gradients of two inputs in one head.

    smallest: what the search reaches, per cell. first: cosines of random pairs before any search,
    all cells. mean_gap: relative, over all pairs of inputs at a random start. flat_mean, flat_each:
    for heads at zero, B two opposite positions. starts: searches per cell.
    """

    cells: Sequence[Cell]
    smallest: np.ndarray = shown("smallest cosine", by="names")
    first: np.ndarray
    mean_gap: float = shown("gap between the mean inner product and ‖E∇ℓ‖²")
    flat_mean: float = shown("‖E∇ℓ‖² of a head at zero")
    flat_each: float = shown("E‖∇ℓ‖² of a head at zero")
    starts: int = drawn(by="cells")

    @property
    def names(self) -> list[str]:
        return [f"n = {n}, k = {k}, tau = {tau:.3g}, b = {b:g}" for n, k, tau, b in self.cells]

    @derived("random pairs that oppose each other", predicted=0)
    def opposed(self) -> str:
        return share_text(int(np.sum(self.first < -ROUNDING)), len(self.first))


@claim(
    "hg1-lemma17",
    certificate="hg1-lemma17",
    source=HG1("Lemma 17"),
    title="Gradients of two examples never oppose each other",
    statement="For N ≠ M the inner product of the loss gradients of two inputs in any one head is "
    "nonnegative.",
    quick={"cells": [(8, 3, 1 / 8, 0.0)], "starts": 256, "steps": 30},
    full={
        "cells": [
            (8, 3, 1 / 8, 0.0),
            (16, 2, 1 / 16, 0.01),
            (8, 3, 1.0, 0.01),
            (32, 4, 1 / 32, 0),
        ],
        "starts": 4096,
        "steps": 200,
    },
    settings={"search": "Adam from random heads and pairs of inputs"},
    seconds=(9, 8, 60),
)
def lemma17(
    trial: Trial,
    cells: Sequence[Cell] = [(8, 3, 1 / 8, 0.0), (16, 2, 1 / 16, 0.01), (8, 3, 1.0, 0.01)],
    starts: int = 512,
    steps: int = 60,
    *,
    draw: Callable[..., tuple[Any, Any]] = random_heads_and_inputs,
) -> Cosines:
    smallest, first = [], []
    for n, k, tau, b in trial.track(cells):
        find = hunt(
            partial(_cosine, tau=tau, b=b),
            partial(draw, k=k, n=n, inputs=2),
            starts=starts,
            steps=steps,
            seed=trial.seed,
        )
        smallest.append(find.margin)
        first.append(find.first[find.first < 1])
    problem = Parity(8, (0, 1, 2))
    _, each = every_gradient(HeadAttention.random(trial.seed, problem, tau=1 / 8), problem)
    pairs, mean = np.mean(each[:, 0] @ each[:, 0].T), np.sum(each[:, 0].mean(axis=0) ** 2)
    zero = HeadAttention(np.zeros((2, 2)), Circle(8), 2, Zigzag(2), tau=1 / 8)
    _, flat = every_gradient(zero, Parity(8, (1, 5)))
    return Cosines(
        cells,
        np.array(smallest),
        np.concatenate(first),
        mean_gap=float(abs(pairs - mean) / mean),
        flat_mean=float(np.sum(flat[:, 0].mean(axis=0) ** 2)),
        flat_each=float(np.mean(np.sum(flat[:, 0] ** 2, axis=1))),
        starts=starts,
    )


def _cosine(directions: Any, pair: Any, *, tau: float, b: float) -> Any:
    """Cosine between the first head's gradients of two inputs; 1 where one of them is 0."""
    first, second = (jax.grad(example_loss)(directions, x, tau=tau, b=b)[0] for x in pair)
    product = jnp.linalg.norm(first) * jnp.linalg.norm(second)
    return jnp.where(product > 1e-9, first @ second / jnp.maximum(product, 1e-9), 1.0)


@lemma17.judge
def _lemma17(c: Cosines) -> Judged:
    clear, worst = 0.1, float(c.smallest.max())
    cells = "one cell" if len(c.cells) == 1 else f"{len(c.cells)} cells"
    reach = f"{c.smallest.min():.3f} to {worst:.3f} in {cells}"
    if c.smallest.min() >= -ROUNDING:
        text = f"No pair with a negative inner product is found: smallest cosines {reach}."
        return holds(text, margin=float(c.smallest.min()) + ROUNDING)
    if c.smallest.min() > -clear or c.mean_gap > ROUNDING:
        return undecided(f"The smallest cosine is {reach}.")
    return refuted(
        f"{c.opposed} of random pairs of inputs whose gradients are not 0 oppose each other, and "
        f"the search reaches a cosine of {reach}.",
        instead="Averaged over all pairs the inner product is ‖E∇ℓ‖² ≥ 0 (to "
        f"{c.mean_gap:.0e}); the pairs can cancel all of it: for heads at zero and B two opposite "
        f"positions ‖E∇ℓ‖² is {c.flat_mean:.0e} and E‖∇ℓ‖² {c.flat_each:.1f}, so Lemma 8 cannot "
        "drop them.",
        margin=-clear - float(c.smallest.min()),
        counterexample=True,
    )


@lemma17.planted("pairs that are one input twice", turns="holds")
def _one_input_twice(trial: Trial) -> Cosines:
    def draw(
        generator: np.random.Generator, k: int, n: int, inputs: int
    ) -> tuple[np.ndarray, np.ndarray]:
        heads, bits = random_heads_and_inputs(generator, k, n, 1)
        return heads, np.repeat(bits, inputs, axis=0)

    return lemma17.measure(trial, [(8, 3, 1 / 8, 0.0)], 32, 5, draw=draw)


@lemma17.figure
def _lemma17_figure(c: Cosines) -> Histogram:
    return Histogram(
        c.first,
        x="cosine between the gradients of two random inputs",
        y="pairs",
        marks=[Mark(0, "claimed least", axis="x")],
        caption="Lemma 17 says that nothing lies left of zero.",
    )

"""Slopes and curvatures of the prediction and the risk, over the paper's constants."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from paritylab._support.precision import float64
from paritylab.experiments.hg1_example_gradients import example_hessians, random_heads_and_inputs
from paritylab.experiments.search import hunt
from paritylab.theory import hg1

#: n, k, tau, b.
Cell = tuple[int, int, float, float]
#: What is bounded, in the order of `shares_of_constants` and `smoothness_constants`.
LEMMAS = (
    "slope of ŷ (Lemma 15)",
    "curvature of ŷ (Lemma 14)",
    "slope of ŷ∇ŷ (Lemma 16)",
    "curvature of the loss (Lemma 7)",
)


class LargestShares(NamedTuple):
    """Largest values found over their constants, one row per cell, one column per lemma.

    frobenius: with the Frobenius norm of the Hessian, which the search pushes up. spectral: with
    the spectral norm at the same heads and input.
    """

    frobenius: Float[np.ndarray, "cells lemmas"]
    spectral: Float[np.ndarray, "cells lemmas"]


def search_largest_shares(
    cells: Sequence[Cell],
    *,
    starts: int,
    steps: int,
    seed: int,
    smaller: float = 1.0,
    track: Callable[[Sequence[Any]], Iterable[Any]] = iter,
) -> LargestShares:
    """Search heads and inputs by Adam for the largest slopes and curvatures, over their constants.

    smaller: divides the constants. track: shows progress over the sizes (n, k).
    """
    shape = (len(cells), len(LEMMAS))
    frobenius, spectral = np.zeros(shape), np.zeros(shape)
    for n, k in track(sorted({cell[:2] for cell in cells})):
        mine = [i for i, cell in enumerate(cells) if cell[:2] == (n, k)]
        cases = [(i, lemma) for i in mine for lemma in range(len(LEMMAS))]
        facts = {
            i: np.array([*cells[i][2:], *np.divide(smoothness_constants(*cells[i][1:]), smaller)])
            for i in mine
        }
        finds = hunt(
            _margin,
            partial(random_heads_and_inputs, k=k, n=n, inputs=1),
            np.array([[*facts[i], lemma] for i, lemma in cases]),
            starts=starts,
            steps=steps,
            seed=seed,
        )
        for (i, lemma), find in zip(cases, finds, strict=True):
            frobenius[i, lemma] = 1 - find.margin
            spectral[i, lemma] = _spectral_shares(find.moving, find.fixed[0], facts[i])[lemma]
    return LargestShares(frobenius, spectral)


def _margin(directions: Any, bits: Any, case: Any) -> Any:
    """1 - the share of the lemma that the last number of the case names."""
    return 1 - shares_of_constants(directions, bits[0], case[:-1])[case[-1].astype(int)]


def smoothness_constants(k: int, tau: float, b: float, *, mended: bool = False) -> list[float]:
    """The paper's constants, lemma by lemma; mended: with a bound on |ŷ| that grows with b."""
    return [
        hg1.prediction_slope(k, tau),
        hg1.prediction_smoothness(k, tau, b),
        hg1.product_smoothness(k, tau, b, any_b=mended),
        hg1.risk_smoothness(k, tau, b, any_b=mended),
    ]


def shares_of_constants(directions: Any, bits: Any, facts: Any, order: int | None = None) -> Any:
    """Sizes over their constants for one input; facts: tau, b and the constants.

    order: None for Frobenius, 2 for spectral norms.
    """
    slope, hessians = example_hessians(directions, bits, tau=facts[0], b=facts[1])
    sizes = [jnp.linalg.norm(each, ord=order) for each in hessians]
    return jnp.stack([jnp.linalg.norm(slope), *sizes]) / facts[2:]


_compiled_shares = jax.jit(shares_of_constants, static_argnums=3)


def _spectral_shares(heads: np.ndarray, bits: np.ndarray, facts: np.ndarray) -> Any:
    with float64():
        return np.asarray(_compiled_shares(heads, bits, facts, 2))

"""Lipschitz constants of the prediction and the risk, with an active search for violations."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.claims import (
    HG1,
    Bars,
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
from paritylab.claims.engine.hunt import hunts
from paritylab.claims.hg1.example_gradients import example_hessians, random_heads_and_inputs
from paritylab.precision import float64
from paritylab.theory import hg1

#: n, k, tau, b.
Cell = tuple[int, int, float, float]
QUICK: list[Cell] = [(8, 2, 1 / 8, 0.01), (16, 3, 1.0, 0.01)]
DEFAULT: list[Cell] = [
    *QUICK,
    (8, 4, 0.5, 1.0),
    (16, 3, 1 / 16, 1e-4),
    (32, 2, 1 / 32, 0.01),
    (6, 1, 1 / 6, 1e-4),
]
FULL: list[Cell] = [
    *DEFAULT,
    (64, 3, 1 / 64, 0.01),
    (16, 5, 1 / 16, 0.01),
    (16, 6, 1.0, 1e-6),
    (8, 8, 1 / 64, 1.0),
]


@record()
class Constants:
    """Largest values found over their claimed constants, one row per cell, one column per lemma.

    frobenius: with the Frobenius norm of the Hessian, which is at least the spectral norm.
    spectral: with the spectral norm at the same heads and input. step: the step 1/max{…} of
    Theorem 5's proof, per cell. searches: from how many starts, all cells and lemmas.
    """

    cells: Sequence[Cell]
    names: list[str]
    frobenius: np.ndarray
    spectral: np.ndarray
    step: np.ndarray = shown("step that the constants allow", by="places")
    searches: int = drawn()

    @property
    def places(self) -> list[str]:
        return [f"n = {n}, k = {k}, tau = {tau:.3g}, b = {b:g}" for n, k, tau, b in self.cells]

    @derived("largest share of the constant", by="names", predicted="≤ 1")
    def largest(self) -> np.ndarray:
        return np.asarray(self.frobenius.max(axis=0))


@claim(
    "hg1-lemma6-smooth",
    source=HG1("Lemmas 6, 7, 14, 15, 16"),
    title="Smoothness constants of the prediction and the risk",
    statement="In the heads ŷ is 8k²√(2k)/τ-Lipschitz, its gradient 2k(20/τ² + 32k²/(τ²√b))-"
    "Lipschitz, and ŷ·∇ŷ and the risk's gradient have the constants l₂ and max{2l₁C, 2(l₂+B)}.",
    quick={"cells": QUICK, "starts": 24, "steps": 30},
    full={"cells": FULL, "starts": 256, "steps": 200},
    settings={"search": "Adam from random heads and inputs"},
    seconds=(10, 20, 300),
)
def lemma6_smooth(
    trial: Trial, cells: Sequence[Cell] = DEFAULT, starts: int = 48, steps: int = 60
) -> Constants:
    shape = (len(cells), len(LEMMAS))
    frobenius, spectral = np.zeros(shape), np.zeros(shape)
    for n, k, b in trial.track(sorted({(n, k, b) for n, k, _, b in cells})):
        mine = [i for i, cell in enumerate(cells) if (*cell[:2], cell[3]) == (n, k, b)]
        cases = [(i, lemma) for i in mine for lemma in range(len(LEMMAS))]
        facts = {i: np.array([cells[i][2], *_constants(*cells[i][1:])]) for i in mine}
        finds = hunts(
            partial(_room, b=b),
            partial(random_heads_and_inputs, k=k, n=n, inputs=1),
            np.array([[*facts[i], lemma] for i, lemma in cases]),
            starts=starts,
            steps=steps,
            seed=trial.seed,
        )
        for (i, lemma), find in zip(cases, finds, strict=True):
            frobenius[i, lemma] = 1 - find.margin
            spectral[i, lemma] = _spectral_shares(find.moving, find.fixed[0], facts[i], b)[lemma]
    step = np.array([hg1.step_size(k, tau, b) for _, k, tau, b in cells])
    return Constants(cells, list(LEMMAS), frobenius, spectral, step, starts * frobenius.size)


#: What is bounded, in the order of `_shares` and `_constants`.
LEMMAS = (
    "Lemma 15 (slope of ŷ)",
    "Lemma 14 (curvature of ŷ)",
    "Lemma 16 (slope of ŷ∇ŷ)",
    "Lemma 7 (curvature of the loss)",
)


def _room(directions: Any, bits: Any, case: Any, b: float) -> Any:
    """1 - the share of the lemma that the last number of the case names."""
    return 1 - _shares(directions, bits[0], case[:-1], b)[case[-1].astype(int)]


def _constants(k: int, tau: float, b: float) -> list[float]:
    """The paper's constants, lemma by lemma."""
    return [
        hg1.prediction_slope(k, tau),
        hg1.prediction_smoothness(k, tau, b),
        hg1.product_smoothness(k, tau, b),
        hg1.risk_smoothness(k, tau, b),
    ]


def _shares(directions: Any, bits: Any, facts: Any, b: float, order: int | None = None) -> Any:
    """Sizes over their constants for one input; facts: tau and the constants.

    order: None for Frobenius, 2 for spectral norms.
    """
    slope, hessians = example_hessians(directions, bits, tau=facts[0], b=b)
    sizes = [jnp.linalg.norm(each, ord=order) for each in hessians]
    return jnp.stack([jnp.linalg.norm(slope), *sizes]) / facts[1:]


_compiled_shares = jax.jit(_shares, static_argnums=(3, 4))


def _spectral_shares(heads: np.ndarray, bits: np.ndarray, facts: np.ndarray, b: float) -> Any:
    with float64():
        return np.asarray(_compiled_shares(heads, bits, facts, b, 2))


@lemma6_smooth.judge
def _lemma6_smooth(c: Constants) -> Judged:
    largest, broken = float(c.frobenius.max()), float(c.spectral.max())
    row, column = np.unravel_index(c.spectral.argmax(), c.spectral.shape)
    if largest <= 1:
        shares = zip(c.names, c.largest, strict=True)
        listed = ", ".join(f"{name} {share:.0e}" for name, share in shares)
        return holds(
            f"In {len(c.cells)} cells of n, k, tau and b the search finds at most these shares of "
            f"the constants: {listed}. The step they allow is {c.step.min():.0e} to "
            f"{c.step.max():.0e}.",
            margin=1 - largest,
        )
    place = f"{c.names[int(column)]} at {c.places[int(row)]}"
    if broken > 1:
        return refuted(
            f"{place} reaches {broken:.2f} times its constant.",
            instead=f"A constant {broken:.2f} times as large covers every case tried.",
            margin=broken - 1,
        )
    text = f"Frobenius norms reach {largest:.2f} of a constant, spectral norms {broken:.2f}."
    return undecided(text)


@lemma6_smooth.figure
def _lemma6_figure(c: Constants) -> Bars:
    return Bars(
        dict(zip(c.names, c.largest.tolist(), strict=True)),
        y="largest value ÷ claimed constant",
        log="y",
        marks=[Mark(1, "claimed")],
        caption="The largest slopes and curvatures that the search finds, over what is claimed.",
    )

"""Lipschitz constants of the prediction and the risk, with an active search for violations."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab._support.precision import float64
from paritylab.claims import HG1, Trial, at_most, claim, instead, repair
from paritylab.claims.engine.hunt import hunt
from paritylab.claims.hg1.example_gradients import example_hessians, random_heads_and_inputs
from paritylab.statistics import Estimate
from paritylab.theory import hg1

#: n, k, tau, b.
Cell = tuple[int, int, float, float]
QUICK: list[Cell] = [(8, 2, 1 / 8, 0.01), (2, 1, 1.0, 1e6)]
#: Of the smoothings, 4 and 64 are 4k⁴, where the correction says that the printed constants end.
DEFAULT: list[Cell] = [
    *QUICK,
    (16, 3, 1.0, 0.01),
    (6, 1, 1 / 6, 1e-4),
    (2, 1, 1.0, 4.0),
    (8, 2, 1 / 8, 64.0),
    (8, 2, 1 / 8, 1e8),
]
#: One small cell within b ≤ 4k⁴, for planted cases.
SMALL: list[Cell] = [(2, 1, 1.0, 4.0)]

#: What is bounded, in the order of `_shares` and `_constants`.
LEMMAS = (
    "slope of ŷ (Lemma 15)",
    "curvature of ŷ (Lemma 14)",
    "slope of ŷ∇ŷ (Lemma 16)",
    "curvature of the loss (Lemma 7)",
)


@claim(
    "hg1-lemma6-smooth",
    HG1("Lemmas 6, 7, 14, 15, 16"),
    quick={"cells": QUICK, "starts": 24, "steps": 30},
    full={"starts": 256, "steps": 200},
    planted=(
        ("every constant divided by 200", {"cells": SMALL, "smaller": 200.0}, "refuted"),
        ("no smoothing above 4k⁴", {"cells": SMALL}, "holds"),
    ),
    certificates=("hg1-lemma6-smooth",),
)
def lemma6_smooth(
    trial: Trial,
    cells: Sequence[Cell] = DEFAULT,
    starts: int = 48,
    steps: int = 60,
    *,
    smaller: float = 1.0,  # divides the constants
) -> Iterator[Any]:
    """Smoothness constants of the prediction and the risk, for every smoothing b.

    In the heads ŷ is 8k²√(2k)/τ-Lipschitz, its gradient 2k(20/τ² + 32k²/(τ²√b))-Lipschitz, and
    ŷ·∇ŷ and the risk's gradient have the constants l₂ and max{2l₁C, 2(l₂+B)}, for every smoothing
    b > 0: no upper bound on it is printed. Adam from random heads and inputs searches for the
    largest slopes and curvatures.
    """
    frobenius, spectral = _largest_shares(trial, cells, starts, steps, smaller)
    mended = np.array(
        [np.divide(_constants(*c[1:]), _constants(*c[1:], mended=True)) for c in cells]
    )
    covered = np.array([b <= 4 * k**4 for _, k, _, b in cells])
    for inside, where in ((covered, "b ≤ 4k⁴"), (~covered, "b > 4k⁴")):
        if not inside.any():
            continue
        # A Lipschitz constant is about the spectral norm, which is at most the Frobenius norm.
        low, high = spectral[inside].max(axis=0), frobenius[inside].max(axis=0)
        for name, least, most in zip(LEMMAS, low, high, strict=True):
            share = Estimate(float(least), float(least), float(max(least, most)), starts)
            yield at_most(f"{name} over its printed constant, {where}", share, 1)
    for name, share in zip(LEMMAS, (frobenius * mended).max(axis=0), strict=True):
        yield repair(at_most(f"{name} over its mended constant, every b", share, 1))
    yield instead(
        "The constants hold for b ≤ 4k⁴, and for every b once 4k³ in Lemma 16 is 4k³ + 2k√b: its "
        "proof uses |ŷ| ≤ 4k³, but |ŷ| is about 2k√b once b is large."
    )


def _largest_shares(
    trial: Trial, cells: Sequence[Cell], starts: int, steps: int, smaller: float
) -> tuple[np.ndarray, np.ndarray]:
    """Largest values found over their constants, one row per cell, one column per lemma.

    First with the Frobenius norm of the Hessian, which the search pushes up, then with the
    spectral norm at the same heads and input.
    """
    shape = (len(cells), len(LEMMAS))
    frobenius, spectral = np.zeros(shape), np.zeros(shape)
    for n, k in trial.track(sorted({cell[:2] for cell in cells})):
        mine = [i for i, cell in enumerate(cells) if cell[:2] == (n, k)]
        cases = [(i, lemma) for i in mine for lemma in range(len(LEMMAS))]
        facts = {
            i: np.array([*cells[i][2:], *np.divide(_constants(*cells[i][1:]), smaller)])
            for i in mine
        }
        finds = hunt(
            _room,
            partial(random_heads_and_inputs, k=k, n=n, inputs=1),
            np.array([[*facts[i], lemma] for i, lemma in cases]),
            starts=starts,
            steps=steps,
            seed=trial.seed,
        )
        for (i, lemma), find in zip(cases, finds, strict=True):
            frobenius[i, lemma] = 1 - find.margin
            spectral[i, lemma] = _spectral_shares(find.moving, find.fixed[0], facts[i])[lemma]
    return frobenius, spectral


def _room(directions: Any, bits: Any, case: Any) -> Any:
    """1 - the share of the lemma that the last number of the case names."""
    return 1 - _shares(directions, bits[0], case[:-1])[case[-1].astype(int)]


def _constants(k: int, tau: float, b: float, *, mended: bool = False) -> list[float]:
    """The paper's constants, lemma by lemma; mended: with a bound on |ŷ| that grows with b."""
    return [
        hg1.prediction_slope(k, tau),
        hg1.prediction_smoothness(k, tau, b),
        hg1.product_smoothness(k, tau, b, any_b=mended),
        hg1.risk_smoothness(k, tau, b, any_b=mended),
    ]


def _shares(directions: Any, bits: Any, facts: Any, order: int | None = None) -> Any:
    """Sizes over their constants for one input; facts: tau, b and the constants.

    order: None for Frobenius, 2 for spectral norms.
    """
    slope, hessians = example_hessians(directions, bits, tau=facts[0], b=facts[1])
    sizes = [jnp.linalg.norm(each, ord=order) for each in hessians]
    return jnp.stack([jnp.linalg.norm(slope), *sizes]) / facts[2:]


_compiled_shares = jax.jit(_shares, static_argnums=3)


def _spectral_shares(heads: np.ndarray, bits: np.ndarray, facts: np.ndarray) -> Any:
    with float64():
        return np.asarray(_compiled_shares(heads, bits, facts, 2))

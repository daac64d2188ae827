"""Which entries of a head receive a gradient, and the derivatives as printed."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import numpy as np

from paritylab.claims import HG1, Trial, claim
from paritylab.claims.engine.rule import at_most, instead, note, repair
from paritylab.models import FullFormAttention, HeadAttention, smooth_relu
from paritylab.precision import float64
from paritylab.problem import Parity, random_parity
from paritylab.risk import enumerated_gradient
from paritylab.theory import hg1

#: Below this a gap between a formula and automatic differentiation is rounding.
ROUNDING = 1e-9


@claim(
    "hg1-lemma14-sign",
    HG1("Lemma 14, proof"),
    counted_with="hg1-misprints",
    quick={"heads": 20},
    full={"heads": 1000},
    evidence="exact",
    planted=(
        "the mended lines in place of the printed ones",
        {"heads": 5, "printed": False},
        "holds",
    ),
    certificate="hg1-lemma14-sign",
)
def lemma14_sign(trial: Trial, heads: int = 100, *, printed: bool = True) -> Iterator[Any]:
    """Two derivatives printed in the proof of Lemma 14.

    For the attention γ of a head and its entry a₁₃, ∂γ_p/∂a₁₃ = (1/τ)[γ_p(1-γ_p) sin(2πp/n) +
    Σ_{j≠p} γ_pγ_j sin(2πj/n)]; for the smoothed ReLU σ with smoothing b, σ''(z) = (2√(z²+b) -
    z/√(z²+b))/(4(z²+b)). Tried for random heads at n = 20, τ = 0.2, b = 0.1. The constant of the
    lemma itself is judged by hg1-lemma6-smooth.
    """
    n, tau, b = 20, 0.2, 0.1
    model = HeadAttention.random(trial.seed, Parity(n, (0,)), heads=heads, tau=tau)
    z = np.linspace(-2, 2, 81)
    with float64():
        attention = np.asarray(model.attention())
        of_one = jax.jacobian(lambda a: model.with_parameters(a[None, :]).attention()[0])
        exact = np.asarray(jax.jit(jax.vmap(of_one))(model.directions))[:, :, 0]
        curved = jax.grad(jax.grad(lambda t: smooth_relu(t, b)))
        curvature = np.asarray(jax.jit(jax.vmap(curved))(z))
    sine = model.code.vectors(range(n))[:, 0]

    def gaps(as_printed: bool) -> tuple[float, float]:
        derive = partial(hg1.attention_derivative, tau=tau, as_printed=as_printed)
        gamma = np.array([derive(row, sine) for row in attention])
        sigma = hg1.smooth_relu_curvature(z, b, as_printed=as_printed)
        return float(np.abs(gamma - exact).max()), float(np.abs(sigma - curvature).max())

    gamma_gap, sigma_gap = gaps(printed)
    label = f"largest gap of the printed ∂γ/∂a₁₃ from the derivative, {heads} heads, n = {n}"
    yield at_most(label, gamma_gap, ROUNDING)
    yield at_most(f"largest gap of σ'' as printed, |z| ≤ 2, b = {b:g}", sigma_gap, ROUNDING)
    yield repair(at_most("largest gap of the two mended lines", max(gaps(False)), ROUNDING))
    gamma_share = float(np.max(np.sum(np.abs(exact), axis=1))) * tau / 2
    sigma_share = float(np.max(np.abs(curvature))) * np.sqrt(b) / 2
    yield repair(at_most("largest Στ|∂γ/∂a₁₃| over the proof's bound 2", gamma_share, 1))
    yield repair(at_most("largest σ'' over the proof's bound 2/√b", sigma_share, 1))
    yield instead(
        "∂γ_p/∂a₁₃ = (1/τ)[γ_p(1-γ_p) sin(2πp/n) - Σ_{j≠p} γ_pγ_j sin(2πj/n)] and σ''(z) = "
        "b/(2(z²+b)^{3/2}). The bounds that the proof draws from the two lines stay true."
    )


#: A gradient up to this is none.
NO_GRADIENT = 1e-6


@claim(
    "hg1-mask",
    HG1("Theorem 5, proof"),
    quick={"n": 8, "starts": 10},
    full={"n": 14, "starts": 200},
    evidence="exact",
    planted=(
        "a mask on all entries but a₁₃ and a₁₄",
        {"n": 6, "starts": 3, "masked": True},
        "holds",
    ),
)
def mask(trial: Trial, n: int = 10, starts: int = 50, *, masked: bool = False) -> Iterator[Any]:
    """Only a₁₃ and a₁₄ of an unmasked 4×4 head receive a gradient, k = 3.

    There is no gradient update for any entry a_rl when r ≠ 1 and l ∉ {3, 4}; in the following A
    refers to (a₁₃, a₁₄) of each head: two numbers per head. Tried at random starts, τ = 1/n,
    squared hinge.
    """
    ratios, below, opposed = [], [], []
    for index in trial.track(range(starts)):
        problem = random_parity(trial.seed + index, n, 3)
        heads = HeadAttention.random(trial.seed + index, problem, tau=1 / n)
        model = FullFormAttention.embed(heads, masked=masked)
        gradient = enumerated_gradient(model, problem).gradient
        ratios.extend(np.abs(gradient[:, 0, 0]) / np.linalg.norm(gradient[:, 0, 2:], axis=1))
        below.append(np.max(np.abs(gradient[:, 1:])))
        opposed.append(np.max(np.abs(gradient[:, 0, 0] + gradient[:, 0, 1])))
    least, middle, most = np.quantile(ratios, (0, 0.5, 1))
    ratio = "|∂L/∂a₁₁| over ‖∂L/∂(a₁₃, a₁₄)‖"
    yield at_most(f"largest {ratio}, {starts} starts, n = {n}", most, NO_GRADIENT)
    yield at_most(f"largest gradient in rows 2 to 4, n = {n}", max(below), NO_GRADIENT)
    label = "largest gradient off the three numbers a₁₃, a₁₄, a₁₁ - a₁₂"
    yield repair(at_most(label, max(*below, *opposed), NO_GRADIENT))
    yield note(f"least {ratio}", least)
    yield note(f"median {ratio}", middle)
    yield instead(
        "A head has three numbers, a₁₃, a₁₄ and a₁₁ - a₁₂, whose derivative is Σγx(1-Σγx)/τ; two "
        "numbers need a mask on all entries but (1,3) and (1,4)."
    )

"""Which entries of a head receive a gradient, and the derivative of softmax as printed."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.claims.engine import Trial
from paritylab.claims.registry import claim
from paritylab.claims.verdict import Evidence, Finding, Status
from paritylab.models import FullFormAttention, HeadAttention, smooth_relu
from paritylab.precision import float64
from paritylab.problem import Parity, random_parity
from paritylab.risk import enumerated_gradient
from paritylab.theory import hg1


@claim(
    "hg1-lemma14-sign",
    paper="hg1",
    title="Derivatives printed in the proof of Lemma 14",
    statement="Lemma 14, proof: ∂γ_p/∂a₁₃ = (1/τ)[γ_p(1-γ_p) sin(2πp/n) + Σ_{j≠p} γ_pγ_j "
    "sin(2πj/n)], and the second derivative of σ as printed.",
    seconds=(2, 3, 6),
)
def lemma14_sign(trial: Trial) -> Finding:
    runs = trial.pick(quick=20, default=100, full=1000)
    n, tau = 20, 0.2
    model = HeadAttention.random(trial.seed, Parity(n, (0,)), heads=runs, tau=tau)
    with float64():
        attention = np.asarray(model.attention())
        exact = np.asarray(jax.vmap(jax.jacobian(_one_head(model)))(model.directions)[:, :, 0])
    gaps, sine = {}, model.code.vectors(range(n))[:, 0]
    for name, as_printed in (("printed", True), ("corrected", False)):
        formula = [
            hg1.attention_derivative(row, sine, tau, as_printed=as_printed) for row in attention
        ]
        gaps[name] = np.max(np.abs(formula - exact), axis=1)
    z, b = np.linspace(-2, 2, 81), 0.1
    with float64():
        curvature = np.asarray(jax.vmap(jax.grad(jax.grad(lambda t: smooth_relu(t, b))))(z))
    sigma = {
        "printed": hg1.smooth_relu_curvature(z, b, as_printed=True),
        "corrected": hg1.smooth_relu_curvature(z, b),
    }
    sigma_gap = {name: float(np.max(np.abs(value - curvature))) for name, value in sigma.items()}
    printed, corrected = max(gaps["printed"]), max(gaps["corrected"])
    right = corrected < 1e-12 and sigma_gap["corrected"] < 1e-12
    wrong = min(gaps["printed"]) > 1e-6 and sigma_gap["printed"] > 1e-6
    return Finding(
        Status.CORRECTED if right and wrong else Status.HOLDS if right else Status.REFUTED,
        Evidence.EXACT,
        measured={
            "finding": f"Against automatic differentiation the printed softmax derivative is off "
            f"by up to {printed:.2f} and never less than {min(gaps['printed']):.2f}; with a minus "
            f"before the sum it agrees to {corrected:.0e}. The printed σ'' is off by up to "
            f"{sigma_gap['printed']:.2f}; b/(2(z²+b)^1.5) agrees to {sigma_gap['corrected']:.0e}.",
            "instead": "∂γ_p/∂a₁₃ = (1/τ)[γ_p(1-γ_p) sin(2πp/n) - Σ_{j≠p} γ_pγ_j sin(2πj/n)] and "
            "σ''(z) = b/(2(z²+b)^{3/2}).",
            "largest_gap_printed": printed,
            "largest_gap_corrected": corrected,
            "sigma_gap_printed": sigma_gap["printed"],
            "sigma_gap_corrected": sigma_gap["corrected"],
        },
        predicted={"largest_gap_printed": 0, "sigma_gap_printed": 0},
        margin=float(min(gaps["printed"])) - 1e-6,
        runs=runs,
        settings={"n": n, "tau": tau, "b": b},
        counterexample=_SIGN_COUNTEREXAMPLE,
        series={
            "kind": "lines",
            "x": {"label": "z"},
            "y": {"label": "σ''(z) at b = 0.1"},
            "lines": [
                {"label": "automatic differentiation", "x": z, "y": curvature},
                {"label": "as printed", "x": z, "y": sigma["printed"], "style": "--"},
            ],
            "caption": "The second derivative of the smoothed ReLU: a bell, not what is printed.",
        },
    )


def _one_head(model: HeadAttention) -> Any:
    """Attention of a single head as a function of its direction."""

    def attention(direction: Any) -> Any:
        return model.with_parameters(direction[None, :]).attention()[0]

    return attention


_SIGN_COUNTEREXAMPLE = """\
import numpy as np
from paritylab.theory import hg1

gamma = np.full(4, 0.25)  # uniform attention over 4 positions
printed = hg1.attention_derivative(gamma, np.ones(4), tau=1.0, as_printed=True)
right = hg1.attention_derivative(gamma, np.ones(4), tau=1.0)
print(printed, right)  # adding one constant to every score changes no attention
assert np.allclose(right, 0) and np.all(printed > 0.3)
"""


@claim(
    "hg1-mask",
    paper="hg1",
    title="Only a₁₃ and a₁₄ of a head receive a gradient",
    statement="Theorem 5, proof: training moves only the entries (1,3) and (1,4) of each head, so "
    "the model has two numbers per head.",
    seconds=(3, 5, 20),
)
def mask(trial: Trial) -> Finding:
    n, k = trial.pick(quick=(8, 3), default=(10, 3), full=(14, 3))
    runs = trial.pick(quick=10, default=50, full=200)
    ratios, formula_gap, outside_row = [], 0.0, 0.0
    for index in trial.track(range(runs)):
        problem = random_parity(trial.seed + index, n, k)
        heads = HeadAttention.random(trial.seed + index, problem, tau=1 / n)
        model = FullFormAttention.embed(heads, masked=False)
        gradient = enumerated_gradient(model, problem).gradient
        positions = np.linalg.norm(gradient[:, 0, 2:], axis=1)
        ratios.extend(np.abs(gradient[:, 0, 0]) / positions)
        outside_row = max(outside_row, float(np.max(np.abs(gradient[:, 1:]))))
        formula_gap = max(formula_gap, _token_formula_gap(model, trial.seed + index))
    refuted = min(ratios) > 1e-6 and formula_gap < 1e-9
    return Finding(
        Status.REFUTED if refuted else Status.HOLDS if max(ratios) == 0 else Status.UNDECIDED,
        Evidence.EXACT,
        measured={
            "finding": f"The entries a₁₁ and a₁₂, which weigh the bit itself, receive a gradient "
            f"{min(ratios):.2f} to {max(ratios):.2f} times that of (a₁₃, a₁₄), median "
            f"{np.median(ratios):.2f}, in {runs} random starts. Their derivative is "
            f"±Σγx(1-Σγx)/τ (checked to {formula_gap:.0e}).",
            "instead": "Rows 2 to 4 receive none, which is all the sentence says if read to the "
            "letter; the proof goes on to leave a₁₁ and a₁₂ out as well. Two numbers per head are "
            "right for the model with a mask on all entries but (1,3) and (1,4); without it there "
            "is a third, a₁₁ - a₁₂, and attention depends on the bits after one step.",
            "smallest_ratio": min(ratios),
            "median_ratio": float(np.median(ratios)),
            "largest_ratio": max(ratios),
            "largest_outside_row_1": outside_row,
            "formula_gap": formula_gap,
        },
        predicted={"largest_ratio": 0},
        margin=min(ratios),
        runs=runs,
        settings={"n": n, "k": k, "tau": "1/n", "loss": "squared_hinge"},
        counterexample=_MASK_COUNTEREXAMPLE,
        series={
            "kind": "histogram",
            "x": {"label": "|∂L/∂a₁₁| ÷ ‖∂L/∂(a₁₃, a₁₄)‖", "scale": "log"},
            "y": {"label": "heads"},
            "values": ratios,
            "caption": "Gradient on the token entry beside that on the position entries, one count "
            "per head.",
        },
    )


_MASK_COUNTEREXAMPLE = """\
import numpy as np
from paritylab import FullFormAttention, HeadAttention, Parity, enumerated_gradient

problem = Parity(8, (1, 4, 6))
heads = HeadAttention.random(0, problem, tau=1 / 8)
model = FullFormAttention.embed(heads, masked=False)
gradient = enumerated_gradient(model, problem).gradient
print(np.round(gradient[:, 0], 2))  # columns: a11, a12, a13, a14
assert np.all(np.abs(gradient[:, 0, 0]) > 0.01)
"""


def _token_formula_gap(model: FullFormAttention, seed: int) -> float:
    """Largest gap between ∂(Σγx)/∂a₁₁ by automatic differentiation and its formula."""
    bits = np.random.default_rng(seed).integers(0, 2, model.code.n).astype(float)

    def attended(matrices: Any) -> Any:
        return model.with_parameters(matrices).attention(bits) @ bits

    with float64():
        matrices = jnp.asarray(model.matrices)
        exact = jnp.diagonal(jax.jacobian(attended)(matrices)[:, :, 0, 0])
        formula = hg1.token_entry_derivative(attended(matrices), model.tau)
        return float(jnp.max(jnp.abs(exact - formula)))

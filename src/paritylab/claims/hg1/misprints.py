"""Misprinted lines in the proofs of Lemmas 8 to 19 and Theorem 11, and the lines that are right."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.claims import (
    HG1,
    Judged,
    Trial,
    claim,
    corrected,
    drawn,
    holds,
    record,
    refuted,
    shown,
)
from paritylab.claims.hg1.example_gradients import (
    attended_sum,
    example_loss,
    heads_of,
    prediction_jet,
)
from paritylab.models import Circle, Zigzag, smooth_relu
from paritylab.precision import float64
from paritylab.theory import hg1

#: Below this a gap that is 0 on paper is 0 but for rounding.
ROUNDING = 1e-9


@record(evidence="numerical")
class Misprints:
    """Printed lines and mended ones against automatic differentiation.

    The gap of an equation is relative to its largest value; that of an inequality is by how much
    its right side is exceeded, relative to it.
    """

    lines: list[str]
    printed: np.ndarray = shown("largest relative gap of the printed line", by="lines", predicted=0)
    mended: np.ndarray = shown("largest relative gap of the mended line", by="lines")
    cases: int = drawn(by="lines")


@claim(
    "hg1-misprints",
    certificate="hg1-misprints",
    source=HG1("Lemmas 8, 14, 17, 18, 19, Theorem 11, proofs"),
    title="Lines in the proofs of Lemmas 8, 14, 17, 18, 19 and of Theorem 11",
    statement="Twelve displayed lines of these proofs as printed: derivatives, bounds on them, "
    "closed forms of ŷ, values at s = 0 and s = k. The lemmas themselves have claims of their own.",
    quick={"draws": 8},
    full={"draws": 400},
    settings={"n": 6, "k": 3, "tau": 0.25, "b": 0.1},
    seconds=(3, 4, 8),
)
def misprints(trial: Trial, draws: int = 40, *, as_printed: bool = True) -> Misprints:
    n, k, tau, b = 6, 3, 0.25, 0.1
    generator = np.random.default_rng(trial.seed)
    heads = generator.standard_normal((draws, k, 2))
    inputs = (np.arange(1, 2**n)[:, None] >> np.arange(n) & 1).astype(float)
    bits = inputs[generator.integers(len(inputs), size=draws)]
    gaps: dict[str, tuple[float, float]] = {}
    with float64():
        gaps |= _gradient_lines(heads, bits, inputs, tau)
        gaps |= _curvature_line(b)
        gaps |= _readout_lines(k)
        gaps |= _bounds_of_lemma14(heads, bits, b)
        gaps |= _slope_of_theorem11(generator, draws, b)
    printed, mended = np.transpose(list(gaps.values()))
    return Misprints(list(gaps), printed if as_printed else mended, mended, draws)


def _largest(formula: Any, exact: Any) -> float:
    """Largest gap, in units of the largest exact value."""
    exact = np.asarray(exact)
    return float(np.max(np.abs(np.asarray(formula) - exact)) / np.max(np.abs(exact)))


def _gradient_lines(
    heads: np.ndarray, bits: np.ndarray, inputs: np.ndarray, tau: float
) -> dict[str, tuple[float, float]]:
    """Lemma 8's second line, and Lemmas 17 and 18's derivatives of s."""
    n = bits.shape[1]
    loss = jax.vmap(lambda a, x: example_loss(a, x, tau=tau), (None, 0))
    one = jax.grad(lambda a, x: example_loss(a, x, tau=tau))
    each = jax.jit(jax.vmap(lambda a: jax.vmap(one, (None, 0))(a, inputs)))(heads)
    whole = jax.jit(jax.vmap(jax.grad(lambda a: loss(a, inputs).mean())))(heads)
    norm = np.sum(np.asarray(whole) ** 2, axis=(1, 2))
    squares = np.mean(np.asarray(each) ** 2, axis=1).sum(axis=(1, 2))
    means = np.sum(np.mean(np.asarray(each), axis=1) ** 2, axis=(1, 2))
    slope = tau * np.asarray(jax.vmap(jax.grad(attended_sum), (0, 0, None))(heads, bits, tau))
    attention = np.asarray(jax.vmap(lambda a: heads_of(a, n, tau=tau).attention())(heads))
    parts = {as_printed: _slopes(attention, bits, as_printed) for as_printed in (True, False)}
    sums = {key: (value**2).sum(axis=(1, 2)) for key, value in parts.items()}
    product = (parts[True] ** 2).prod(axis=2).sum(axis=1)
    moved = (slope**2).sum(axis=(1, 2))
    return {
        "Lemma 8: E[(∂ℓ)²] for (E ∂ℓ)²": (_largest(squares, norm), _largest(means, norm)),
        "Lemmas 14 and 17: plus for minus in ∂s/∂a": (
            _largest(parts[True], slope),
            _largest(parts[False], slope),
        ),
        "Lemma 18: product for sum, plus for minus": (
            _largest(product, moved),
            _largest(sums[False], moved),
        ),
    }


def _slopes(attention: np.ndarray, bits: np.ndarray, as_printed: bool) -> np.ndarray:
    """τ∂s/∂a_i by formula, one row per draw and head, columns sine and cosine."""
    table = np.asarray(Circle(bits.shape[1]).table)
    derive: Callable[..., Any] = hg1.attention_derivative
    return np.array(
        [
            [[x @ derive(row, c, 1.0, as_printed=as_printed) for c in table.T] for row in rows]
            for rows, x in zip(attention, bits, strict=True)
        ]
    )


def _curvature_line(b: float) -> dict[str, tuple[float, float]]:
    """Lemma 14's σ''."""
    z = np.linspace(-2, 2, 41)
    exact = np.asarray(jax.vmap(jax.grad(jax.grad(lambda t: smooth_relu(t, b))))(z))
    curve = hg1.smooth_relu_curvature
    gaps = (_largest(curve(z, b, as_printed=printed), exact) for printed in (True, False))
    return {"Lemma 14: σ''": (next(gaps), next(gaps))}


def _readout_lines(k: int) -> dict[str, tuple[float, float]]:
    """Closed form of ŷ in Lemma 17; values at s = 0, s = k and the losses in Lemma 19."""
    s = np.linspace(0, k, 12 * k + 1) + 0.01
    up = np.ceil(s - 0.5)
    sizes = np.arange(1, 7)
    exact = np.asarray(Zigzag(k)(jnp.asarray(s)))
    start = np.array([float(Zigzag(int(each))(0.0)) for each in sizes])
    end = np.array([float(Zigzag(int(each))(float(each))) for each in sizes])
    mean = float(attended_sum(jnp.eye(k, 2), jnp.ones(6), 0.25)) / k
    line = (-1.0) ** up * (4 * up * np.stack([s / k, s]) - 4 * up**2 + 1)
    wrong = 2 * float(np.maximum(0, 1 - (-1.0)) ** 2)
    return {
        "Lemma 17: v* for k·v* in ŷ": (_largest(line[0], exact), _largest(line[1], exact)),
        "Lemma 19: ŷ = 0 for 1 at s = 0": (
            _largest(0 * start, start),
            _largest(1 + 0 * start, start),
        ),
        "Lemma 19: ŷ = 0, 1 for 1, -1 at s = k": (
            _largest(sizes % 2, end),
            _largest(1 - 2 * (sizes % 2), end),
        ),
        "Lemma 19: ℓ + ℓ̄ = 2 for 8 at ŷy = -1": (_largest(2, wrong), _largest(8, wrong)),
        "Lemma 19: v* = k for 1 at all ones": (_largest(k, mean), _largest(1, mean)),
    }


def _excess(value: Any, bound: float) -> float:
    """By how much a bound is exceeded, relative to it."""
    return max(0.0, float(np.max(np.abs(np.asarray(value)))) / bound - 1)


def _bounds_of_lemma14(
    heads: np.ndarray, bits: np.ndarray, b: float
) -> dict[str, tuple[float, float]]:
    """(11), the second derivative of v* in one entry, for many heads; and ‖H(ŷ)‖ at small tau."""
    many, tau = 40, 1.0
    zero, ones = jnp.zeros((many, 2)), np.cos(4 * np.pi * np.arange(many) / many) > 0

    def mean(entry: Any) -> Any:
        return attended_sum(zero.at[0, 1].set(entry), jnp.asarray(ones, float), tau) / many

    bend = jax.jit(jax.hessian(mean))(0.0)
    k, small = heads.shape[1], 0.02
    bound = hg1.prediction_smoothness(k, small, b)

    def bent(a: Any, x: Any) -> Any:
        return jnp.linalg.norm(prediction_jet(small * a, x, tau=small, b=b)[2])

    size = np.asarray(jax.jit(jax.vmap(bent))(heads, bits))
    return {
        "Lemma 14, (11): 5/(τ²k²) for 5/(τ²k)": (
            _excess(bend, 5 / (tau * many) ** 2),
            _excess(bend, 5 / (tau**2 * many)),
        ),
        "Lemma 14: ‖H‖² for ‖H‖ in its bound": (_excess(size**2, bound), _excess(size, bound)),
    }


def _slope_of_theorem11(
    generator: np.random.Generator, draws: int, b: float
) -> dict[str, tuple[float, float]]:
    """∂ŷ/∂γ_j in the proof of Theorem 11, one head and the paper's embeddings."""
    angle = generator.uniform(0, 2 * np.pi, draws)
    w = jnp.asarray(np.stack([0 * angle + 1, 0 * angle, np.sin(angle), np.cos(angle)], axis=1))

    def made(gamma: Any, w: Any) -> Any:
        beta = w / jnp.linalg.norm(w)  # one neuron along w, ‖α‖ = ‖β‖ = 1
        return smooth_relu(gamma * (beta @ w) + 10.0, b)

    slope = jax.vmap(jax.grad(made))(jnp.zeros(draws), w)
    length = float(jnp.linalg.norm(w, axis=1).max())
    return {
        "Theorem 11: ‖α‖‖β‖ for ‖α‖‖β‖‖w_j‖/m in |∂ŷ/∂γ_j|": (
            _excess(slope, 1.0),
            _excess(slope, length),
        )
    }


@misprints.judge
def _misprints(m: Misprints) -> Judged:
    printed, mended = float(m.printed.max()), float(m.mended.max())
    if printed <= ROUNDING:
        text = f"All {len(m.lines)} lines are right to {printed:.0e}."
        return holds(text, margin=ROUNDING - printed)
    wrong = [line for line, gap in zip(m.lines, m.printed, strict=True) if gap > ROUNDING]
    seen = (
        f"{len(wrong)} of {len(m.lines)} lines differ from the true values (printed for true): "
        f"{'; '.join(wrong)}."
    )
    if mended <= ROUNDING:
        instead = (
            f"With these replacements all {len(m.lines)} lines agree with automatic "
            f"differentiation and with the values of the model to {mended:.0e}."
        )
        margin = ROUNDING - mended
        return corrected(seen, instead=instead, margin=margin, counterexample=True)
    instead = f"The replacements tried still leave a gap of {mended:.1e}."
    return refuted(seen, instead=instead, margin=mended - ROUNDING)


@misprints.planted("the mended lines in place of the printed ones", turns="holds")
def _misprints_mended(trial: Trial) -> Misprints:
    return misprints.measure(trial, draws=4, as_printed=False)

"""Lines of HG1's proofs as printed and as mended, compared with the true values."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.experiments.hg1_example_gradients import (
    attended_sum,
    example_loss,
    heads_of,
    prediction_jet,
)
from paritylab.models import Circle, Zigzag, smooth_relu
from paritylab.theory import hg1

#: Largest relative gaps of a line as printed and as mended, by the line's name. The gap of an
#: equation is relative to its largest value; that of an inequality is by how much its right side
#: is exceeded, relative to it.
Gaps = dict[str, tuple[float, float]]


def relative_gap(formula: Any, exact: Any) -> float:
    """Largest gap, in units of the largest exact value."""
    exact = np.asarray(exact)
    return float(np.max(np.abs(np.asarray(formula) - exact)) / np.max(np.abs(exact)))


def relative_gaps(printed: Any, mended: Any, exact: Any) -> tuple[float, float]:
    """The largest gap of a line as printed, and as mended."""
    return relative_gap(printed, exact), relative_gap(mended, exact)


def relative_excess(value: Any, bound: float) -> float:
    """By how much a bound is exceeded, relative to it."""
    return max(0.0, float(np.max(np.abs(np.asarray(value)))) / bound - 1)


def compare_gradient_lines(
    heads: np.ndarray, bits: np.ndarray, inputs: np.ndarray, tau: float
) -> Gaps:
    """Lemma 8's second line, and Lemmas 17 and 18's derivatives of s."""
    one = jax.vmap(jax.grad(partial(example_loss, tau=tau)), (None, 0))
    each = np.asarray(jax.jit(jax.vmap(lambda a: one(a, inputs)))(heads))
    norm = np.sum(each.mean(axis=1) ** 2, axis=(1, 2))  # (E ∂ℓ)², which is ‖∇L‖²
    squares = np.mean(each**2, axis=1).sum(axis=(1, 2))
    whole = jax.vmap(jax.grad(lambda a: jax.vmap(partial(example_loss, a, tau=tau))(inputs).mean()))
    exact = np.sum(np.asarray(jax.jit(whole)(heads)) ** 2, axis=(1, 2))
    slope = tau * np.asarray(jax.vmap(jax.grad(attended_sum), (0, 0, None))(heads, bits, tau))
    attention = np.asarray(
        jax.vmap(lambda a: heads_of(a, bits.shape[1], tau=tau).attention())(heads)
    )
    printed, mended = (
        _slopes_by_formula(attention, bits, as_printed) for as_printed in (True, False)
    )
    product = (printed**2).prod(axis=2).sum(axis=1)
    total = (mended**2).sum(axis=(1, 2))
    return {
        "Lemma 8: E[(∂ℓ)²] for (E ∂ℓ)²": relative_gaps(squares, norm, exact),
        "Lemmas 14 and 17: plus for minus in ∂s/∂a": relative_gaps(printed, mended, slope),
        "Lemma 18: product for sum, plus for minus": relative_gaps(
            product, total, (slope**2).sum(axis=(1, 2))
        ),
    }


def _slopes_by_formula(attention: np.ndarray, bits: np.ndarray, as_printed: bool) -> np.ndarray:
    """τ∂s/∂a_i by formula, one row per draw and head, columns sine and cosine."""
    table = np.asarray(Circle(bits.shape[1]).table)
    derive = partial(hg1.attention_derivative, tau=1.0, as_printed=as_printed)
    return np.array(
        [
            [[x @ derive(row, c) for c in table.T] for row in rows]
            for rows, x in zip(attention, bits, strict=True)
        ]
    )


def compare_curvature_line(b: float) -> Gaps:
    """Lemma 14's σ''."""
    z = np.linspace(-2, 2, 41)
    exact = np.asarray(jax.vmap(jax.grad(jax.grad(lambda t: smooth_relu(t, b))))(z))
    printed, mended = (hg1.smooth_relu_curvature(z, b, as_printed=each) for each in (True, False))
    line = "Lemma 14: σ'' = (2√(z²+b) - z/√(z²+b))/(4(z²+b)) for b/(2(z²+b)^1.5)"
    return {line: relative_gaps(printed, mended, exact)}


def compare_readout_lines(k: int) -> Gaps:
    """ŷ and its slope: Lemma 17's closed form and sign step, Lemma 19's values at s = 0 and s = k.

    The sign step, for y = 1, is (ŷ - 1)·∂ŷ/∂s ≥ 4u(1 - (-1)^u), u = ⌈s - ½⌉. It asks for s ≥ u.
    """
    s = np.linspace(0, k, 12 * k + 1)[:-1] + 0.01
    up, zigzag, sizes = np.ceil(s - 0.5), Zigzag(k), np.arange(1, 7)
    exact = np.asarray(zigzag(jnp.asarray(s)))
    product = (exact - 1) * np.asarray(jax.vmap(jax.grad(zigzag))(jnp.asarray(s)))
    short = np.maximum(0, 4 * up * (1 - (-1.0) ** up) - product) / np.abs(product).max()
    start, end = (
        np.array([float(Zigzag(m)(float(at * m))) for m in sizes.tolist()]) for at in (0, 1)
    )
    steep = [abs(m * float(jax.grad(Zigzag(m))(float(m)))) for m in sizes.tolist()]
    mean = float(attended_sum(jnp.eye(k, 2), jnp.ones(6), 0.25)) / k
    line = (-1.0) ** up * (4 * up * np.stack([s / k, s]) - 4 * up**2 + 1)
    loss = 2 * np.maximum(0, 1 - (-1.0)) ** 2
    return {
        "Lemma 17: v* for k·v* in ŷ": relative_gaps(line[0], line[1], exact),
        "Lemma 17: all s for s ≥ ⌈s - ½⌉ in the sign step": (
            float(short.max()),
            float(short[s >= up].max(initial=0.0)),
        ),
        "Lemma 19: ŷ = 0 for 1 at s = 0": relative_gaps(0, 1, start),
        "Lemma 19: ŷ = 0, 1 for 1, -1 at s = k": relative_gaps(sizes % 2, 1 - 2 * (sizes % 2), end),
        "Lemma 19: ℓ + ℓ̄ = 2 for 8 at ŷy = -1": relative_gaps(2, 8, loss),
        "Lemma 19: v* = k for 1 at all ones": relative_gaps(k, 1, mean),
        "Lemma 19: 4k for 4k² in |∂ŷ/∂v*| at all ones": relative_gaps(
            4 * sizes, 4 * sizes**2, steep
        ),
    }


def compare_bounds_of_lemma14(heads: np.ndarray, bits: np.ndarray, b: float) -> Gaps:
    """(11), the second derivative of v* in one entry, for many heads; and ‖H(ŷ)‖ at small tau."""
    many, small = 40, 0.02
    zero, ones = jnp.zeros((many, 2)), np.cos(4 * np.pi * np.arange(many) / many) > 0

    def mean(entry: Any) -> Any:
        return attended_sum(zero.at[0, 1].set(entry), jnp.asarray(ones, float), 1.0) / many

    def bent(a: Any, x: Any) -> Any:
        return jnp.linalg.norm(prediction_jet(small * a, x, tau=small, b=b)[2])

    bend = jax.jit(jax.hessian(mean))(0.0)
    size = np.asarray(jax.jit(jax.vmap(bent))(heads, bits))
    bound = hg1.prediction_smoothness(heads.shape[1], small, b)
    return {
        "Lemma 14, (11): 5/(τ²k²) for 5/(τ²k)": (
            relative_excess(bend, 5 / many**2),
            relative_excess(bend, 5 / many),
        ),
        "Lemma 14: ‖H‖² for ‖H‖ in its bound": (
            relative_excess(size**2, bound),
            relative_excess(size, bound),
        ),
    }


def shares_of_lemma14(heads: np.ndarray, n: int, tau: float, b: float) -> tuple[float, float]:
    """Largest Στ|∂γ/∂a₁₃| and largest σ'' over the bounds 2 and 2/√b that Lemma 14's proof draws
    from its lines for them."""
    one = jax.jacobian(lambda a: heads_of(a[None], n, tau=tau).attention()[0])
    moved = np.abs(jax.jit(jax.vmap(one))(heads.reshape(-1, 2))[:, :, 0]).sum(axis=1)
    curved = jax.vmap(jax.grad(jax.grad(lambda t: smooth_relu(t, b))))(np.linspace(-2, 2, 81))
    return tau * moved.max() / 2, float(np.abs(curved).max()) * np.sqrt(b) / 2


def compare_slope_of_theorem11(generator: np.random.Generator, draws: int, b: float) -> Gaps:
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
            relative_excess(slope, 1.0),
            relative_excess(slope, length),
        )
    }


def compare_flip_of_theorem11(generator: np.random.Generator, draws: int) -> Gaps:
    """How v = Σ_j γ_j w_j changes when bit p is flipped: by attention, and by w_p itself."""
    n, gaps = 6, []
    place = np.asarray(Circle(n).table)
    for _ in range(draws):
        bits, p, head = generator.integers(0, 2, n), generator.integers(n), generator.normal(size=4)
        flipped = np.where(np.arange(n) == p, 1 - bits, bits)
        tokens = [np.column_stack([1 - x, x, place]) for x in (bits, flipped)]
        before, after = (np.exp(each @ head) / np.exp(each @ head).sum() for each in tokens)
        change = after @ tokens[1] - before @ tokens[0]
        printed = (after - before) @ tokens[0]
        mended = printed + after[p] * (tokens[1][p] - tokens[0][p])
        gaps.append(relative_gaps(printed, mended, change))
    line = "Theorem 11: Σ_j Δγ_j w_j for Σ_j Δγ_j w_j + γ_p Δw_p in the change of v"
    first, second = np.max(gaps, axis=0).tolist()
    return {line: (first, second)}


def compare_count_of_corollary20(generator: np.random.Generator, draws: int) -> Gaps:
    """Inputs X' that show every head its preferred token among its first R - 1 positions.

    R = ⌈(n - 1)/m⌉. The union bound gives |X'| ≥ 2^n - m·2^(n-R+1).
    """
    n, printed, mended = 6, [], []
    bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
    for _ in range(draws):
        m = int(generator.integers(1, 3))
        first = int(np.ceil((n - 1) / m)) - 1
        ranks = [generator.permutation(n)[:first] for _ in range(m)]
        shown = [(bits[:, rank] == generator.integers(2)).any(axis=1) for rank in ranks]
        inside = int(np.all(shown, axis=0).sum())
        printed.append(abs(inside - (2**n - inside)) / inside)
        mended.append(max(0.0, (2**n - m * 2 ** (n - first)) / inside - 1))
    line = "Corollary 20: |X'| = |X∖X'| for |X'| ≥ 2^n - m·2^(n-R+1)"
    return {line: (max(printed), max(mended))}

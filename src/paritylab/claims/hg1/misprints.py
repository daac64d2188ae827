"""Misprinted lines in HG1's proofs, and the lines that are right."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from paritylab._support.precision import float64
from paritylab.claims import HG1, Trial, at_most, claim, finding, instead, repair
from paritylab.experiments.hg1_misprints import (
    Gaps,
    compare_bounds_of_lemma14,
    compare_count_of_corollary20,
    compare_curvature_line,
    compare_flip_of_theorem11,
    compare_gradient_lines,
    compare_readout_lines,
    compare_slope_of_theorem11,
    shares_of_lemma14,
)

#: Below this a gap that is 0 on paper is 0 but for rounding.
ROUNDING = 1e-9


@claim(
    "hg1-misprints",
    HG1("Lemmas 8, 14, 17, 18, 19, Theorem 11, Corollary 20, proofs"),
    quick={"draws": 8},
    full={"draws": 400},
    evidence="numerical",
    planted=(
        "the mended lines in place of the printed ones",
        {"draws": 4, "as_printed": False},
        "holds",
    ),
    certificates=("hg1-misprints", "hg1-lemma14-sign"),
)
def misprints(trial: Trial, draws: int = 40, *, as_printed: bool = True) -> Iterator[Any]:
    """Sixteen lines in the proofs of Lemmas 8, 14, 17, 18, 19, Theorem 11 and Corollary 20.

    Sixteen displayed lines of these proofs as printed: derivatives, bounds on them, closed forms of
    ŷ, values at s = 0 and s = k, a count of inputs. Each label names what is printed for what is
    true. Tried on random heads and inputs at n = 6, k = 3, τ = 0.25, b = 0.1. The lemmas have
    claims of their own.
    """
    n, k, tau, b = 6, 3, 0.25, 0.1
    generator = np.random.default_rng(trial.seed)
    heads = generator.standard_normal((draws, k, 2))
    inputs = (np.arange(1, 2**n)[:, None] >> np.arange(n) & 1).astype(float)
    bits = inputs[generator.integers(len(inputs), size=draws)]
    gaps: Gaps = {}
    with float64():
        gaps |= compare_gradient_lines(heads, bits, inputs, tau)
        gaps |= compare_curvature_line(b)
        gaps |= compare_readout_lines(k)
        gaps |= compare_bounds_of_lemma14(heads, bits, b)
        gaps |= compare_slope_of_theorem11(generator, draws, b)
    gaps |= compare_flip_of_theorem11(generator, draws)
    gaps |= compare_count_of_corollary20(generator, draws)
    for line, (printed, mended) in gaps.items():
        value = printed if as_printed else mended
        yield at_most(f"relative gap as printed, {line}", value, ROUNDING)
        yield repair(at_most(f"relative gap as mended, {line}", mended, ROUNDING))
    with float64():
        slope, bend = shares_of_lemma14(heads, n, tau, b)
    yield repair(at_most("largest Στ|∂γ/∂a₁₃| over the proof's bound 2", slope, 1))
    yield repair(at_most("largest σ'' over the proof's bound 2/√b", bend, 1))
    wrong = sum(printed > ROUNDING for printed, _ in gaps.values())
    yield finding(
        f"{wrong} of {len(gaps)} printed lines differ from the true values at n = {n}, k = {k}, "
        f"tau = {tau:g}, b = {b:g}.",
        "corrected",
    )
    yield instead(
        f'In each label the words after "for" are right: with them all {len(gaps)} lines agree '
        "with automatic differentiation and with the values of the model."
    )

"""Without a chain, finite samples: how many targets an approximate oracle hides (Theorem 2)."""

from collections.abc import Sequence

import numpy as np

from paritylab.claims import (
    KS,
    Judged,
    Line,
    Lines,
    Trial,
    claim,
    corrected,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.claims.ks.gradient_spread import direct_model, gradient_spread, random_signs
from paritylab.learning.hardness.oracles import mean_label_square
from paritylab.statistics import Rate
from paritylab.theory.ks_hardness import separation_exponent, theorem2_bound, theorem2_exponent

#: Targets speak with one voice if the interval of their rate is above MOST.
MOST = 0.75
#: A loss E(p - f)² below this is "not near 1 or above".
NEAR_ONE = 0.95
#: Bits, leaves and the error of the oracle.
N, K, ERROR = 16, 8, 0.01
#: ν₁ … ν₄ of a chain's own bounds (Lemma 4, Theorem 5) at ε = 1, for a loss that stays above ½.
EXPONENTS = (0.5, 2.125, 0.25, 0.0)


@record()
class HiddenFrom:
    """One query at a random W over `rows` rows, fewer than there are inputs.

    hidden: random targets whose gradient is within ERROR of the mean over all. variance: of the
    gradient over targets, over the proof's bound on it. bound: what (5) says of the loss.
    """

    rows: int
    hidden: Rate = shown("targets hidden", predicted="more with more rows")
    variance: float = shown("variance over the proof's bound", predicted="≤ 1")
    bound: float = shown("bound (5) on E(p - f)²")

    def __str__(self) -> str:
        return f"N = {self.rows:,}"


@record()
class FixedAnswers:
    """E(p - f)² of the best answer f = E_p p that no query helped to find; by Parseval no hidden
    target can be answered better on average. whole: at the largest k that Θ(n) allows."""

    n: int
    k: int
    half: float = shown("E(p - f)² of the best fixed answer, k = n/2", predicted="near 1")
    whole: float = shown("E(p - f)² of the best fixed answer, largest k", predicted="near 1")


@record()
class FiniteSamples:
    """printed, ours: ν in N = n^ν, by KS's proof and by lab-separation."""

    cells: list[HiddenFrom]
    fixed: FixedAnswers
    printed: float = shown("ν at ν₁ … ν₄ = ½, 2⅛, ¼, 0, as printed")
    ours: float = shown("ν there by lab-separation")


@claim(
    "ks-thm2",
    source=KS("Theorem 2"),
    title="Finite samples: a hidden target keeps every learner without a chain at loss 1",
    statement="If k = Θ(n), an oracle with exponentially small error (e^Ω(n) samples) or "
    "polynomial error (n^ν samples) hides the target from every learner without a chain, which is "
    "left at E(p - f)² of at least 1 - e^(-Ω(n)), or 1 - O(n^(-ν₄)).",
    quick={"rows": (256, 4096, 16_384), "targets": 200},
    full={"rows": (256, 1024, 4096, 16_384, 32_768), "targets": 2000},
    settings={
        "n": N,
        "k": K,
        "error": ERROR,
        "model": "last token of the chain at W = 0, level mask",
        "that a hidden target is not learned": "Parseval",
    },
    seconds=(3, 4, 30),
)
def thm2(
    trial: Trial,
    rows: Sequence[int] = (256, 1024, 4096, 16_384),
    targets: int = 400,
    *,
    largest: int = N,
    error: float = ERROR,
) -> FiniteSamples:
    generator = np.random.default_rng(trial.seed)
    subsets = [tuple(generator.choice(N, K, replace=False)) for _ in range(targets)]
    return FiniteSamples(
        [_hidden_from(size, subsets, error, generator) for size in trial.track(rows)],
        FixedAnswers(N, largest, *(1 - mean_label_square(N, k) for k in (N // 2, largest))),
        theorem2_exponent(*EXPONENTS),
        separation_exponent(*EXPONENTS),
    )


def _hidden_from(
    rows: int, subsets: list[tuple[int, ...]], error: float, generator: np.random.Generator
) -> HiddenFrom:
    spread = gradient_spread(direct_model(N, K, 0.0, 0), random_signs(generator, rows, N), subsets)
    known = {"targets": round(1 / mean_label_square(N, K)), "samples": rows}
    allowed = 2 * max(1 / known["targets"], np.sqrt(4 * N / rows)) * spread.largest_gradient
    bound = theorem2_bound(N, queries=1, error=ERROR, gradient=spread.largest_gradient, **known)
    hidden = Rate.of(spread.distances <= error)
    return HiddenFrom(rows, hidden, spread.variance / allowed, bound)


@thm2.judge
def _thm2(f: FiniteSamples) -> Judged:
    few, many, fixed = f.cells[0], f.cells[-1], f.fixed
    variance = max(cell.variance for cell in f.cells)
    listed = ", ".join(f"{cell.hidden} at {cell}" for cell in f.cells)
    told = (
        f"One query at n = {N}, k = {K}, error {ERROR:g}: hidden are {listed} (of 2^{N} inputs). "
        f"The variance over targets is at most {variance:.2g} of the proof's bound, and bound (5) "
        f"says nothing yet ({many.bound:.0f} at {many}). By Parseval a hidden target is answered "
        f"at E(p - f)² = {fixed.half:.5f} at best for k = n/2."
    )
    margin = min(abs(many.hidden.low - MOST), abs(fixed.whole - NEAR_ONE))
    if variance > 1 or fixed.half < NEAR_ONE:
        instead = f"The variance is {variance:.2f} of the proof's bound on it."
        return refuted(told, instead=instead, margin=margin)
    if many.hidden.low <= MOST or few.hidden.high >= many.hidden.low:
        return undecided(f"More rows do not hide more targets. {told}", interval=many.hidden)
    if fixed.whole >= NEAR_ONE:
        return holds(told, margin=margin, interval=many.hidden)
    return corrected(
        f"{told} But k = Θ(n) allows k = n, with one target only: there the best fixed answer has "
        f"E(p - f)² = {fixed.whole:.2g}.",
        instead="n - k must be of order n as well, since a fixed answer reaches 1 - 1/C(n,k). Then "
        f"N = n^ν rows suffice with ν = {f.ours:g} where the printed formula has {f.printed:g} "
        "(ν₁ … ν₄ = ½, 2⅛, ¼, 0; lab-separation).",
        margin=margin,
        interval=many.hidden,
        counterexample=True,
    )


@thm2.planted("k = 3n/4 as the largest k, with many targets", turns="holds")
def _many_targets(trial: Trial) -> FiniteSamples:
    return thm2.measure(trial, **thm2.quick, largest=3 * N // 4)


@thm2.planted("an exact oracle, which hides nothing", turns="undecided")
def _exact_oracle(trial: Trial) -> FiniteSamples:
    return thm2.measure(trial, **thm2.quick, error=0.0)


@thm2.figure
def _thm2_figure(f: FiniteSamples) -> Lines:
    rates = [cell.hidden for cell in f.cells]
    return Lines(
        [Line.of_rates(f"n = {N}, k = {K}, W = 0", [cell.rows for cell in f.cells], rates)],
        x="N",
        y=f"share of targets hidden at error {ERROR:g}",
        log="x",
        caption="More samples make the direct problem harder for a learner with an approximate "
        "oracle.",
    )

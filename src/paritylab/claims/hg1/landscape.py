"""The scale of the temperature, how attention spreads, and where only the gradient vanishes."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from paritylab._support.precision import float64
from paritylab.claims import HG1, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, control, instead, repair
from paritylab.experiments.hg1_landscape import (
    BITS,
    SMOOTHING,
    LocalRisk,
    gradient_over_risk,
    largest_risks_on_set,
    measure_spread,
    risk_and_gradient,
    search_least_ratio,
)
from paritylab.figures import Line, Lines
from paritylab.models import Circle, HeadAttention
from paritylab.problem import random_parity
from paritylab.risk import population_risk
from paritylab.statistics import power_law
from paritylab.theory import hg1
from paritylab.theory.hg1_limits import smoothing_floor


@claim(
    "hg1-temperature",
    HG1("Limitations of Theorem 5, Appendix A; Proposition 3"),
    quick={"sizes": (1000, 10_000)},
    full={"sizes": (20, 100, 1000, 10_000, 100_000), "constants": (1, 0.1, 0.01, 0.001)},
    evidence="numerical",
    certificates=("hg1-temperature",),
    planted=(
        "a temperature of c/n² in place of c/n",
        {"sizes": (100, 1000), "power": 2},
        "holds",
    ),
)
def temperature(
    trial: Trial,
    sizes: Sequence[int] = (20, 100, 1000, 10_000),
    constants: Sequence[float] = (1, 0.1, 0.01),
    *,
    power: int = 1,
) -> Iterator[Any]:
    """A temperature of order 1/n makes softmax nearly hard, unit heads, n up to 10,000.

    With tau = c/n for a constant c softmax attention approximates hardmax: a head that points at
    its position gives it nearly all its attention, however large n is. Tried with k = 3 heads
    exactly on B; the c that serves best counts. At c = 1 k such heads express the parity of k bits
    (Proposition 3): risk 0, read as at most 0.001, for k = 1 to 4 and n = 8 to 16.
    """
    shape = (2, len(constants), len(sizes))  # at c/n and c/n², by c, by n
    peaks, risks, error = np.empty(shape), np.empty(shape), 0.0
    for column, n in enumerate(trial.track(sizes)):
        problem = random_parity(trial.seed, n, 3, neighbours=False)
        for row, c in enumerate(constants):
            for which, exponent in enumerate((power, 2)):
                at, tau = (which, row, column), c / n**exponent
                with float64():
                    heads = HeadAttention.on(problem, tau=tau)
                    peaks[at] = np.diagonal(heads.attention()[:, list(problem.subset)]).min()
                risk = population_risk(heads, problem)
                risks[at], error = risk.value, max(error, risk.error)
    slope = np.log(peaks[0, :, -1] / peaks[0, :, -2]) / np.log(sizes[-1] / sizes[-2])
    yield control(at_most("largest error of a risk", error, 1e-3))
    best = float(peaks[0].min(axis=1).max())
    yield at_least("least attention of a head on its own bit, tau = c/n, best c", best, 0.9)
    yield at_least("exponent of n in the attention at tau = c/n, best c", slope.max(), -0.1)
    sharp, clean = peaks[1].min(), risks[1].max()
    yield repair(at_least("least attention of a head on its own bit, tau = c/n²", sharp, 0.9))
    yield repair(at_most("largest risk, tau = c/n²", clean, 1e-3))
    soft, sharper = largest_risks_on_set(power)
    tried = "k = 1 to 4, n = 8 to 16"
    yield at_most(f"largest risk of k heads on B, tau = 1/n, {tried}", soft, 1e-3)
    yield repair(at_most(f"largest risk of k heads on B, tau = 2/n², {tried}", sharper, 1e-3))
    yield instead(
        f"tau = c/n²: attention within {1 - sharp:.0e} of 1, risk at most {clean:.0e} for every c "
        "and n tried. At tau = c/n a head spreads over about √(c·n) positions. With hard attention "
        "and b = 0 the risk of k heads on B is 0."
    )
    lines = [Line(f"tau = {c:g}/n", sizes, y) for c, y in zip(constants, peaks[0], strict=True)]
    lines.append(Line("tau = c/n², least over c", sizes, peaks[1].min(axis=0)))
    lines.append(Line("√(2π/n)", sizes, [hg1.peak_attention(n, 1 / n) for n in sizes], style="--"))
    yield Lines(lines, x="n", y="attention on its own position", log="xy")


#: Sets, three or more positions apart, and b of the heads on B.
SETS: list[tuple[int, ...]] = [(4,), (1, 4), (0, 3, 6)]
ON = [*((subset, 0.0) for subset in SETS[1:]), *((subset, SMOOTHING) for subset in SETS)]
#: μ of the inequality, as small as one may call positive.
LEAST = 1e-6


def _quadratic(directions: np.ndarray, subset: tuple[int, ...], b: float) -> tuple[float, float]:
    """½‖a - a*‖² of the heads in place of the risk: its ratio ½‖∇L‖²/L is 1 everywhere."""
    square = float(np.sum((directions - 10 * np.asarray(Circle(BITS).vectors(subset))) ** 2))
    return square / 2, square


@claim(
    "hg1-lemma8-pl",
    HG1("Lemma 8"),
    quick={"starts": 3, "points": 6},
    full={"starts": 60, "points": 30},
    evidence="exact",
    certificates=("hg1-lemma8-pl",),
    planted=(
        "a quadratic in the heads, whose ratio is 1 everywhere",
        {"starts": 2, "local": _quadratic},
        "holds",
    ),
)
def lemma8_pl(
    trial: Trial, starts: int = 8, points: int = 12, *, local: LocalRisk = risk_and_gradient
) -> Iterator[Any]:
    """A global Polyak–Łojasiewicz inequality for masked heads, n = 10, tau = 0.1.

    The squared 2-norm of the gradient of the expected risk is lower bounded by the expected risk
    times a factor: ½‖∇L‖² ≥ μ·L for some μ > 0 at every setting of the heads, so gradient descent
    cannot stall. The gradient is that of the paper's vectorisation, two numbers per head. Off B
    the readout is smoothed by b = 0.1; a μ below 1e-6 is called 0. On B the excess L - L* over the
    risk of hard heads there is tried in place of L.
    """
    ratio = partial(gradient_over_risk, local)
    flat = ratio(np.zeros((2, 2)), (1, 1 + BITS // 2))
    yield at_least("½‖∇L‖²/L, heads at zero, B two opposite positions", flat, LEAST)
    wrong = ratio(20 * np.asarray(Circle(BITS).vectors((7, 7))), (1, 4))
    label = "½‖∇L‖²/L, both heads on one wrong position, norm 20"
    yield at_least(label, wrong, LEAST)
    generator = np.random.default_rng(trial.seed)
    logs = [search_least_ratio(ratio, generator) for _ in trial.track(range(starts))]
    least = 10 ** min(logs)
    yield at_least(f"least ½‖∇L‖²/L of unit heads, {starts} searches", least, LEAST)
    norms = np.linspace(4, 6, points)
    for subset, b in ON:
        k, on = len(subset), np.asarray(Circle(BITS).vectors(subset))
        risk, square = np.transpose([local(norm * on, subset, b) for norm in norms])
        excess, half = risk - smoothing_floor(k, b), square / 2
        at = f"heads on B, k = {k}, b = {b:g}"
        law = power_law(excess, half)
        yield repair(at_most(f"exponent of L - L* in ½‖∇L‖², {at}", law, 1.1))
    yield instead(
        "On B the ratio vanishes even for the excess L - L* over the risk of hard heads there: for "
        "bits three or more apart ½‖∇L‖² = c·(L - L*)² as the heads grow, c = r²κ²/2k, κ = (1 - "
        "cos 2π/n)/τ, with r = 2 if b = 0 or k = 2 and r = 1 if b > 0 and k ≠ 2 (unless the first "
        "order of the excess vanishes at that b). Gradient flow then has L - L* = 1/(2ct)."
    )


def _level(n: int, tau: float, offset: float) -> np.ndarray:
    """An attention that keeps the bounds at c₁ = 1: level within π/4, nothing beyond; its log."""
    away = np.minimum(np.arange(n), n - np.arange(n))
    attention = np.where(away <= n / 8, tau / 2, 0.0)
    attention[0] += 1 - attention.sum()
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(attention))


@claim(
    "hg1-attention-bounds",
    HG1("Appendix A, before Lemma 17"),
    quick={"constants": (1, 3, 10), "sizes": (256, 1024, 4096)},
    full={"constants": (0.1, 0.3, 1, 3, 10), "sizes": (256, 1024, 4096, 16_384, 65_536)},
    evidence="exact",
    certificates=("hg1-attention-bounds",),
    planted=(
        "an attention that is level within π/4 and zero beyond",
        {"constants": (1,), "log_attention": _level},
        "holds",
    ),
)
def attention_bounds(
    trial: Trial,
    constants: Sequence[float] = (0.3, 1, 3, 10),
    sizes: Sequence[int] = (256, 1024, 4096, 16_384),
    *,
    log_attention: Callable[[int, float, float], np.ndarray] = hg1.log_attention,
) -> Iterator[Any]:
    """Attention on and off the peak at tau = c₁/n, unit heads, n up to 16,384.

    For a unit head between the positions p and p + 1, nearer to p, and tau = c₁/n: the peak has
    1/n ≤ γ_p ≤ 1 - c₁τ, positions more than π/4 away have attention close to 0, and all others
    c₂τ ≤ γ_j ≤ c₁τ for some 0 < c₂ < c₁. The head points 0, 0.25 and 0.49 positions beside p. As c₁
    and c₂ do not depend on n, neither γ_j/(c₁τ) may grow nor the least γ_j/τ fall with n; the c₁
    that serves best counts.
    """
    rows = [[measure_spread(log_attention, c1, n) for n in sizes] for c1 in trial.track(constants)]
    # Each has one row per c₁ and one column per n.
    peak, top, near, log_c2, far, gap = np.moveaxis(np.array(rows), -1, 0)
    growth = np.log(near[:, -1] / near[:, -2]) / np.log(sizes[-1] / sizes[-2])
    fall = log_c2[:, 0] - log_c2[:, -1]
    c1, n = np.asarray(constants)[:, None], np.asarray(sizes)[None, :]
    outside = np.count_nonzero((peak < 1 / n) | (top > 1 - c1**2 / n))
    first, last = sizes[0], sizes[-1]
    yield at_most("exponent of n in γ_j/(c₁τ) off the peak, best c₁", growth.min(), 0.1)
    yield at_most(f"fall of ln c₂ from n = {first} to {last:,}, best c₁", fall.min(), np.log(2))
    yield at_most("cells in which the peak leaves 1/n to 1 - c₁τ", outside, 0)
    yield at_most("largest total share beyond π/4", far.max(), 0.01)
    law = gap[:, -1].max()
    yield instead(
        f"The peak is √(2π/τ)/n (to {law:.1%} at n = {last:,}) and lies between 1/n and 1 - c₁τ. "
        "Position j has e^(-(1 - cos δ_j)/τ) times as much for a head on p, δ_j its angle from p, "
        f"so neighbours have nearly the same and those beyond π/4 at most {far.max():.0e} in all."
    )

"""Appendix A's bounds on the attention of a head."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import HG1, Trial, claim
from paritylab.claims.engine.rule import at_most, finding, instead, note
from paritylab.theory import hg1

#: How far a head points beside its position, in positions.
OFFSETS = (0.0, 0.25, 0.49)


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
    certificate="hg1-attention-bounds",
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
    rows = [[_spread(log_attention, c1, n) for n in sizes] for c1 in trial.track(constants)]
    # Each has one row per c₁ and one column per n.
    peak, top, near, log_c2, far, gap = np.moveaxis(np.array(rows), -1, 0)
    growth = np.log(near[:, -1] / near[:, -2]) / np.log(sizes[-1] / sizes[-2])
    fall = log_c2[:, 0] - log_c2[:, -1]
    c1, n = np.asarray(constants)[:, None], np.asarray(sizes)[None, :]
    outside = np.count_nonzero((peak < 1 / n) | (top > 1 - c1**2 / n))
    first, last = sizes[0], sizes[-1]
    for row, c in enumerate(constants):
        at = f"c₁ = {c:g}, n = {last:,}"
        yield note(f"exponent of n in the largest γ_j/(c₁τ) off the peak, {at}", growth[row])
        yield note(f"ln of the largest possible c₂, {at}", log_c2[row, -1])
        yield note(f"least share of the peak, {at}", peak[row, -1])
    yield at_most("exponent of n in γ_j/(c₁τ) off the peak, best c₁", growth.min(), 0.1)
    yield at_most(f"fall of ln c₂ from n = {first} to {last:,}, best c₁", fall.min(), np.log(2))
    yield at_most("cells in which the peak leaves 1/n to 1 - c₁τ", outside, 0)
    yield at_most("largest total share beyond π/4", far.max(), 0.01)
    law = gap[:, -1].max()
    yield note(f"largest gap of the peak from √(2π/τ)/n, n = {last:,}", law)
    yield finding(
        f"A position next to the peak has γ_j/(c₁τ) growing like n^{growth.min():.2f}, and c₂ "
        f"falls by e^{-fall.min():.0f} from n = {first} to {last:,}, at the best c₁.",
        "refuted",
    )
    yield instead(
        f"The peak is √(2π/τ)/n (to {law:.1%} at n = {last:,}) and lies between 1/n and 1 - c₁τ. "
        "Position j has e^(-(1 - cos δ_j)/τ) times as much for a head on p, δ_j its angle from p, "
        f"so neighbours have nearly the same and those beyond π/4 at most {far.max():.0e} in all."
    )


def _spread(log_attention: Callable[..., np.ndarray], c1: float, n: int) -> list[float]:
    """Attention at one c₁ and n, the worst over offsets.

    Least and largest share of the nearest position; largest γ_j/(c₁τ) of the others within π/4 and
    ln of the least γ_j/τ there; largest total share beyond π/4; relative distance of the peak from
    its formula.
    """
    tau = c1 / n
    logs = np.array([log_attention(n, tau, offset) for offset in OFFSETS])
    away = np.minimum(np.arange(n), n - np.arange(n))
    near, far = (away <= n / 8) & (away > 0), away > n / 8
    peak = np.exp(logs[:, 0])
    beyond = np.exp(logs[:, far]).sum(axis=1)
    return [
        peak.min(),
        peak.max(),
        np.exp(logs[:, near].max()) / (c1 * tau),
        logs[:, near].min() - np.log(tau),
        beyond.max(),
        np.abs(peak / hg1.peak_attention(n, tau) - 1).max(),
    ]

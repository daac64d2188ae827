"""Appendix A's bounds on the attention of a head."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims import HG1, Judged, Line, Lines, Mark, Trial, claim, holds, refuted, undecided
from paritylab.theory import hg1


class Spread(NamedTuple):
    """Appendix A's bounds for a unit head between two positions, one row per c₁, columns n.

    c1, n: tau = c₁/n. peak: share on the nearest position, least over offsets. top: largest such
    share. near: largest γ_j/(c₁τ) over other positions within π/4. log_c2: ln of the least γ_j/τ
    there. far: largest total share beyond π/4. law: largest relative gap of the peak from
    √(2π/τ)/n at the largest n, by c₁.
    """

    c1: np.ndarray
    n: np.ndarray
    peak: np.ndarray
    top: np.ndarray
    near: np.ndarray
    log_c2: np.ndarray
    far: np.ndarray
    law: np.ndarray


@claim(
    "hg1-attention-bounds",
    source=HG1("Appendix A, before Lemma 17"),
    title="Attention on and off the peak at tau = c₁/n",
    statement="For a head between p and p + 1, nearer to p, and tau = c₁/n: 1/n ≤ γ_p ≤ 1 - c₁τ, "
    "positions more than π/4 away have attention close to 0, and all others c₂τ ≤ γ_j ≤ c₁τ for "
    "some 0 < c₂ < c₁.",
    quick={"constants": (1, 3, 10), "sizes": (256, 1024, 4096)},
    full={"constants": (0.1, 0.3, 1, 3, 10), "sizes": (256, 1024, 4096, 16_384, 65_536)},
    settings={"norm of a head": 1, "offsets": (0, 0.25, 0.49)},
    seconds=(1, 1, 1),
)
def attention_bounds(
    trial: Trial,
    constants: Sequence[float] = (0.3, 1, 3, 10),
    sizes: Sequence[int] = (256, 1024, 4096, 16_384),
) -> Spread:
    rows = np.array([[_spread(c, n) for n in sizes] for c in trial.track(constants)])
    peak, top, near, log_c2, far, law = np.moveaxis(rows, -1, 0)
    return Spread(
        np.array(constants, dtype=float), np.array(sizes), peak, top, near, log_c2, far, law[:, -1]
    )


def _spread(c1: float, n: int) -> tuple[float, ...]:
    """One entry of each array of `Spread`, the worst over offsets."""
    tau = c1 / n
    logs = np.array([hg1.log_attention(n, tau, offset) for offset in (0.0, 0.25, 0.49)])
    away = np.minimum(np.arange(n), n - np.arange(n))
    near, far = (away <= n / 8) & (away > 0), away > n / 8
    law = np.abs(np.exp(logs[:, 0]) / hg1.peak_attention(n, tau) - 1).max()
    return (
        np.exp(logs[:, 0].min()),
        np.exp(logs[:, 0].max()),
        np.exp(logs[:, near].max()) / (c1 * tau),
        logs[:, near].min() - np.log(tau),
        np.exp(logs[:, far]).sum(axis=1).max(),
        law,
    )


@attention_bounds.judge
def _attention_bounds(s: Spread) -> Judged:
    tau = s.c1[:, None] / s.n
    peaks = (s.peak >= 1 / s.n) & (s.top <= 1 - s.c1[:, None] * tau)
    last = np.log(s.n[-1] / s.n[-2])
    growth = np.log(s.near[:, -1] / s.near[:, -2]) / last
    fall = s.log_c2[:, 0] - s.log_c2[:, -1]
    kept = peaks.all(axis=1) & (s.near.max(axis=1) <= 1) & (fall <= np.log(2))
    shared: dict[str, Any] = {
        "runs": s.near.size * 3,
        "measured": _spread_numbers(s, growth),
        "predicted": {f"largest γ_j/(c₁τ) off the peak, c₁ = {c:g}": "≤ 1" for c in s.c1},
    }
    if kept.any():
        c = s.c1[kept][0]
        room = 1 - float(s.near[kept].max(axis=1).min())
        return holds(f"With c₁ = {c:g} every bound is kept at every n.", margin=room, **shared)
    if growth.min() < 0.4 or fall.min() < np.log(10):
        text = f"Some bound fails for every c₁, but growth is n^{growth.min():.2f} at the least."
        return undecided(text, **shared)
    shared["counterexample"] = _SPREAD_COUNTEREXAMPLE
    return refuted(
        f"At n = {s.n[-1]:,} a position beside the peak has {s.near[:, -1].min():.2g} to "
        f"{s.near[:, -1].max():.2g} times c₁τ (c₁ = {s.c1.max():g} to {s.c1.min():g}), growing "
        f"like n^{growth.min():.2f} to n^{growth.max():.2f}, and c₂ would have to fall by "
        f"e^-{fall.min():.0f} or more from n = {s.n[0]} on.",
        instead=f"1/n ≤ γ_p ≤ 1 - c₁τ in {peaks.sum()} of {peaks.size} cells; beyond π/4 there is "
        f"at most {s.far.max():.0e} in all. The peak is √(2π/τ)/n (to {s.law.max():.1%} at the "
        "largest n), and position j has e^(-(1 - cos δ_j)/τ) times as much for a head on p, so "
        "neighbours have nearly the same and those at π/4 exponentially little.",
        margin=min(float(growth.min()) - 0.4, float(fall.min()) - float(np.log(10))),
        **shared,
    )


def _spread_numbers(s: Spread, growth: np.ndarray) -> dict[str, Any]:
    """Numbers of a record by the names a reader knows."""
    named: dict[str, Any] = {}
    for row, c in enumerate(s.c1):
        named[f"largest γ_j/(c₁τ) off the peak, c₁ = {c:g}"] = s.near[row]
        named[f"exponent of n in it, c₁ = {c:g}"] = float(growth[row])
        named[f"ln of the largest possible c₂, c₁ = {c:g}"] = s.log_c2[row]
        named[f"least share of the peak, c₁ = {c:g}"] = s.peak[row]
    named["largest share beyond π/4"] = float(s.far.max())
    named["largest gap of the peak from √(2π/τ)/n"] = float(s.law.max())
    return named


@attention_bounds.figure
def _spread_figure(s: Spread) -> Lines:
    return Lines(
        [Line(f"c₁ = {c:g}", s.n, row) for c, row in zip(s.c1, s.near, strict=True)],
        x="n",
        y="largest γ_j ÷ c₁τ off the peak",
        log="xy",
        marks=[Mark(1, "claimed")],
        caption="Attention beside the peak at tau = c₁/n against its claimed bound.",
    )


_SPREAD_COUNTEREXAMPLE = """\
import numpy as np
from paritylab.theory import hg1

n, c1 = 4096, 3
attention = np.exp(hg1.log_attention(n, c1 / n, 0.25))
print(attention[1] / (c1**2 / n), attention[n // 8] * n / c1)
assert attention[1] > 10 * c1**2 / n and attention[n // 8] * n / c1 < 1e-100
"""

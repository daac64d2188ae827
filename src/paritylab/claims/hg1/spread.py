"""Appendix A's bounds on the attention of a head."""

from collections.abc import Sequence

import numpy as np

from paritylab.claims import (
    HG1,
    Judged,
    Line,
    Lines,
    Mark,
    Trial,
    claim,
    derived,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.theory import hg1


@record(evidence="exact")
class Spread:
    """Appendix A's bounds for a unit head between two positions, one row per c₁, columns n.

    tau = c₁/n. peak: share on the nearest position, least over offsets. top: largest such share.
    near: over other positions within π/4. log_c2: ln of the least γ_j/τ there. far: largest total
    share beyond π/4. law: relative, at the largest n.
    """

    c1: np.ndarray
    n: np.ndarray
    peak: np.ndarray = shown("least share of the peak, by n", by="names", predicted="≥ 1/n")
    top: np.ndarray
    near: np.ndarray = shown("largest γ_j/(c₁τ) off the peak, by n", by="names", predicted="≤ 1")
    log_c2: np.ndarray = shown("ln of the largest possible c₂, by n", by="names")
    far: np.ndarray
    law: np.ndarray = shown("largest gap of the peak from √(2π/τ)/n", by="names")

    @property
    def names(self) -> list[str]:
        return [f"c₁ = {c:g}" for c in self.c1]

    @derived("exponent of n in it", by="names", predicted="0")
    def growth(self) -> np.ndarray:
        """Exponent of n in `near`, over the last two sizes."""
        return np.asarray(np.log(self.near[:, -1] / self.near[:, -2])) / np.log(
            self.n[-1] / self.n[-2]
        )

    @derived("largest share beyond π/4", predicted="close to 0")
    def beyond(self) -> float:
        return float(self.far.max())


@claim(
    "hg1-attention-bounds",
    certificate="hg1-attention-bounds",
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
    *,
    softness: float | None = None,
) -> Spread:
    """softness: a temperature for the heads that does not fall with n, a planted case."""
    rows = np.array([[_spread(c, n, softness) for n in sizes] for c in trial.track(constants)])
    peak, top, near, log_c2, far, law = np.moveaxis(rows, -1, 0)
    return Spread(
        np.array(constants, dtype=float), np.array(sizes), peak, top, near, log_c2, far, law[:, -1]
    )


def _spread(c1: float, n: int, softness: float | None) -> tuple[float, ...]:
    """One entry of each array of `Spread`, the worst over offsets."""
    tau = c1 / n
    logs = np.array([hg1.log_attention(n, softness or tau, at) for at in (0.0, 0.25, 0.49)])
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
    growth, fall = s.growth, s.log_c2[:, 0] - s.log_c2[:, -1]
    kept = peaks.all(axis=1) & (s.near.max(axis=1) <= 1) & (fall <= np.log(2))
    if kept.any():
        c = s.c1[kept][0]
        room = 1 - float(s.near[kept].max(axis=1).min())
        return holds(f"With c₁ = {c:g} every bound is kept at every n.", margin=room)
    if growth.min() < 0.4 or fall.min() < np.log(10):
        text = f"Some bound fails for every c₁, but growth is n^{growth.min():.2f} at the least."
        return undecided(text)
    return refuted(
        f"At n = {s.n[-1]:,} a position beside the peak has {s.near[:, -1].min():.2g} to "
        f"{s.near[:, -1].max():.2g} times c₁τ (c₁ = {s.c1.max():g} to {s.c1.min():g}), growing "
        f"like n^{growth.min():.2f} to n^{growth.max():.2f}, and c₂ would have to fall by "
        f"e^-{fall.min():.0f} or more from n = {s.n[0]} on.",
        instead=f"1/n ≤ γ_p ≤ 1 - c₁τ in {peaks.sum()} of {peaks.size} cells; beyond π/4 there is "
        f"at most {s.beyond:.0e} in all. The peak is √(2π/τ)/n (to {s.law.max():.1%} at the "
        "largest n), and position j has e^(-(1 - cos δ_j)/τ) times as much for a head on p, so "
        "neighbours have nearly the same and those at π/4 exponentially little.",
        margin=min(float(growth.min()) - 0.4, float(fall.min()) - float(np.log(10))),
        counterexample=True,
    )


@attention_bounds.planted("heads of temperature 1, bounds of temperature 3/n", turns="holds")
def _soft(trial: Trial) -> Spread:
    return attention_bounds.measure(trial, (3.0,), (256, 1024, 4096), softness=1.0)


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

"""How far Section 3 reaches: other inputs, noisy labels, and what a smooth readout leaves."""

from collections.abc import Callable, Sequence

import numpy as np

from paritylab.claims import (
    HG1,
    Judged,
    Line,
    Lines,
    Mark,
    Trial,
    claim,
    corrected,
    derived,
    holds,
    record,
    refuted,
    shown,
)
from paritylab.statistics import power_law, share_text
from paritylab.theory import hg1, hg1_limits

#: Below this a difference that is 0 on paper is 0 but for rounding.
ROUNDING = 1e-9


@record(evidence="exact")
class Marginals:
    """Section 3 with biased, arbitrary and degenerate inputs and with flipped labels.

    share: P(x = 1) of independent bits. blind: by search over predictions, one per share. formula:
    4p(1-p). scaled: risk of Proposition 3's net on the other bits of B, times 1-2p. arbitrary: one
    per random distribution of all inputs; arbitrary_gap: its largest distance from E 4q(1-q).
    noise: share ν of flipped labels. noisy_scaled: risk of the net times 1-2ν.
    """

    share: np.ndarray
    blind: np.ndarray = shown("least risk without an edge", by="shares", predicted=1)
    formula: np.ndarray
    scaled: np.ndarray
    arbitrary: np.ndarray
    arbitrary_gap: float
    copied: float = shown("least risk without an edge, the bit repeats another", predicted=1)
    net: float = shown("largest risk of the net, no noise", predicted=0)
    noise: np.ndarray
    noisy: np.ndarray = shown("risk of the net", by="flips", predicted=0)
    noisy_least: np.ndarray = shown("least risk of any function", by="flips")
    noisy_scaled: np.ndarray

    @derived("least risk without an edge, random distributions")
    def ends(self) -> list[float]:
        return [float(self.arbitrary.min()), float(self.arbitrary.max())]

    @property
    def shares(self) -> list[str]:
        return [f"P(x = 1) = {share:g}" for share in self.share]

    @property
    def flips(self) -> list[str]:
        return [f"{share_text(noise, 1)} of the labels flipped" for noise in self.noise]


@claim(
    "hg1-marginals",
    certificate="hg1-marginals",
    source=HG1("Section 3"),
    title="Other marginals and noisy labels",
    statement="“The results in this section also hold for other marginal distributions and noisy "
    "labels”: the net of Proposition 3 has risk 0, and without an edge to a bit of B the risk is "
    "1 (Proposition 4).",
    quick={"n": 5, "draws": 20},
    full={"n": 8, "draws": 400},
    settings={"k": 3, "loss": "squared_hinge", "predictions searched": "all"},
    seconds=(1, 1, 4),
)
def marginals(
    trial: Trial, n: int = 6, draws: int = 100, *, only_uniform: bool = False
) -> Marginals:
    """only_uniform: uniform inputs and clean labels throughout, a planted case."""
    generator, k = np.random.default_rng(trial.seed), 3
    share = np.array([0.5] if only_uniform else [0.5, 0.7, 0.9, 0.99])
    noise = np.array([0.0] if only_uniform else [0.05, 0.1, 0.2])
    bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
    labels = 1 - 2 * (bits[:, :k].sum(axis=1) % 2)
    net = _values(bits[:, :k])
    independent = np.array([np.prod(np.where(bits, p, 1 - p), axis=1) for p in share])
    anything = generator.dirichlet(np.full(2**n, 0.5), size=draws)
    uniform = np.full(2**n, 0.5**n)
    copied = np.where(bits[:, 0] == bits[:, 1], 2 * uniform, 0.0)
    if only_uniform:
        anything, copied = uniform[None], uniform
    rest = _values(bits[:, 1:k])
    found = np.array([_least(weights, labels) for weights in anything])
    exact = np.array([hg1_limits.risk_without_bit(weights, 0) for weights in anything])
    everything = [*independent, *anything, uniform, copied]
    return Marginals(
        share=share,
        blind=np.array([_least(weights, labels) for weights in independent]),
        formula=hg1_limits.least_pair_risk(share),
        scaled=np.array(
            [_risk(w, labels, (1 - 2 * p) * rest) for w, p in zip(independent, share, strict=True)]
        ),
        arbitrary=found,
        arbitrary_gap=float(np.abs(found - exact).max()),
        copied=_least(copied, labels),
        net=max(_risk(weights, labels, net) for weights in everything),
        noise=noise,
        noisy=np.array([_risk(uniform, labels, net, v) for v in noise]),
        noisy_least=np.array([_least(uniform, labels, v, blind=False) for v in noise]),
        noisy_scaled=np.array([_risk(uniform, labels, (1 - 2 * v) * net, v) for v in noise]),
    )


def _values(hidden: np.ndarray) -> np.ndarray:
    """What the net of Proposition 3 says, from the bits it sees."""
    k = hidden.shape[1]
    table = np.array([hg1.zigzag_at_integer(k, s) for s in range(k + 1)], dtype=float)
    return table[hidden.sum(axis=1)]


def _risk(
    weights: np.ndarray, labels: np.ndarray, prediction: np.ndarray, noise: float = 0.0
) -> float:
    """Squared-hinge risk when a share of the labels is flipped."""
    kept, turned = (np.maximum(0, 1 - y * prediction) ** 2 for y in (labels, -labels))
    return float(weights @ ((1 - noise) * kept + noise * turned))


def _least(
    weights: np.ndarray, labels: np.ndarray, noise: float = 0.0, *, blind: bool = True
) -> float:
    """Least risk over all functions, or over those blind to bit 0, by ternary search.

    Inputs that differ in bit 0 only are neighbours in the numbering and share a prediction.
    """
    size = 2 if blind else 1
    weights, labels = weights.reshape(-1, size), labels.reshape(-1, size)

    def loss(guess: np.ndarray) -> np.ndarray:
        kept, turned = (np.maximum(0, 1 - y * guess[:, None]) ** 2 for y in (labels, -labels))
        return (weights * ((1 - noise) * kept + noise * turned)).sum(axis=1)

    low, high = -np.ones(len(weights)), np.ones(len(weights))
    for _ in range(90):
        third = (high - low) / 3
        left = loss(low + third) < loss(high - third)
        low, high = np.where(left, low, low + third), np.where(left, high - third, high)
    return float(loss((low + high) / 2).sum())


@marginals.judge
def _marginals(m: Marginals) -> Judged:
    blind_off = max(abs(m.blind - 1).max(), abs(m.arbitrary - 1).max(), abs(m.copied - 1))
    printed_off = float(max(blind_off, m.noisy.max(), m.net))
    gaps = (
        m.blind - m.formula,
        m.scaled - m.formula,
        m.noisy - 4 * m.noise,
        m.noisy_least - hg1_limits.least_pair_risk(m.noise),
        m.noisy_scaled - m.noisy_least,
    )
    gap = float(max(m.arbitrary_gap, m.copied, m.net, *(np.abs(each).max() for each in gaps)))
    if printed_off <= ROUNDING:
        text = f"Risk 1 without an edge and 0 for the net, to {printed_off:.0e}, in every case."
        return holds(text, margin=ROUNDING - printed_off)
    at = int(m.blind.argmin())
    seen = (
        f"Without an edge to a bit with P(x = 1) = {m.share[at]:g} the least risk is "
        f"{m.blind[at]:.2g}, over {m.arbitrary.size} random distributions "
        f"{m.arbitrary.min():.2f} to {m.arbitrary.max():.2f}, and {m.copied:.0e} where the bit "
        f"repeats another. With {m.flips[-1]} the net has risk {m.noisy[-1]:.2f} and every "
        f"function at least {m.noisy_least[-1]:.2f}."
    )
    if gap <= ROUNDING:
        instead = (
            "For every distribution of the inputs the net has risk 0, and without an edge to bit i "
            "the least risk is E 4q(1-q), q = P(x_i = 1 | other bits): 4p(1-p) for independent "
            "bits, 0 if others determine it, so Ω(n) needs bits that none of the others determine. "
            "With labels flipped at rate ν the net has risk 4ν and, times 1-2ν, the least risk of "
            f"any function, 4ν(1-ν). All to {gap:.0e}."
        )
        margin = printed_off - ROUNDING
        return corrected(seen, instead=instead, margin=margin, counterexample=True)
    instead = f"4q(1-q) and 4ν(1-ν) are off by {gap:.1e}; the numbers found are the nearest truth."
    return refuted(seen, instead=instead, margin=gap - ROUNDING, counterexample=True)


@marginals.planted("uniform inputs and clean labels only", turns="holds")
def _only_uniform(trial: Trial) -> Marginals:
    return marginals.measure(trial, 5, 1, only_uniform=True)


@marginals.figure
def _marginals_figure(m: Marginals) -> Lines:
    return Lines(
        [Line("found", m.share, m.blind), Line("4p(1-p)", m.share, m.formula, style="--")],
        x="P(x = 1) of the unseen bit",
        y="least risk without an edge",
        marks=[Mark(1, "claimed")],
        caption="What is left of the risk of 1 when the unseen bit is biased.",
    )


@record(evidence="exact")
class Floor:
    """Hard heads exactly on B under a smooth readout.

    risk: one row per k, one column per smoothing b. constant: C_k by formula. exponent: by k, over
    the smaller smoothings. least: a lower bound on the risk of any k heads at n = k + 4, as risk.
    """

    k: np.ndarray
    b: np.ndarray
    risk: np.ndarray
    constant: np.ndarray = shown("risk ÷ b², by formula", by="sizes")
    exponent: np.ndarray = shown("exponent of b in the risk", by="sizes")
    least: np.ndarray

    @property
    def sizes(self) -> list[str]:
        return [f"k = {k}" for k in self.k]

    @derived("risk of hard heads on B", by="sizes", predicted=0)
    def risks(self) -> list[dict[str, float]]:
        return [
            {f"b = {b:g}": float(each) for b, each in zip(self.b, row, strict=True)}
            for row in self.risk
        ]

    @derived("least lower bound on the risk of any heads")
    def floor(self) -> float:
        return float(self.least.min())


@claim(
    "hg1-floor",
    certificate="hg1-floor",
    source=HG1("Proposition 3, Theorem 5"),
    title="Risk 0 with a smooth activation",
    statement="With the activation (x + √(x² + b))/2, b > 0, heads on B have risk 0, the optimal "
    "risk to which training converges.",
    quick={"sizes": (1, 2, 3, 4)},
    full={"sizes": (1, 2, 3, 4, 5, 6, 7, 8, 12, 16)},
    settings={"b": (1e-5, 1e-4, 1e-3, 1e-2, 1e-1), "attention": "hard, on B", "n": "k + 4"},
    seconds=(1, 1, 1),
)
def floor(
    trial: Trial,
    sizes: Sequence[int] = (1, 2, 3, 4, 5, 6, 7, 8),
    *,
    risk_on_set: Callable[[int, float], float] = hg1_limits.smoothing_floor,
) -> Floor:
    b = np.array([1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
    risk = np.array([[risk_on_set(k, each) for each in b] for k in sizes])
    return Floor(
        k=np.array(sizes),
        b=b,
        risk=risk,
        constant=np.array([hg1_limits.smoothing_constant(k) for k in sizes]),
        exponent=np.array([power_law(b[:3], row[:3]).exponent for row in risk]),
        least=np.array(
            [[hg1_limits.least_smoothed_risk(k + 4, k, each) for each in b] for k in sizes]
        ),
    )


@floor.judge
def _floor(f: Floor) -> Judged:
    off = float(np.abs(f.risk[:, 0] / (f.constant * f.b[0] ** 2) - 1).max())
    bend = float(np.abs(f.exponent - 2).max())
    column = int(np.abs(f.b - 1e-2).argmin())
    largest = float(f.risk.max())
    if largest <= 1e-30:
        return holds(f"The risk is at most {largest:.0e} at every b.", margin=1e-30)
    seen = (
        f"At b = {f.b[column]:g} hard heads exactly on B have risk {f.risk[:, column].min():.1e} "
        f"to {f.risk[:, column].max():.1e} for k = {f.k.min()} to {f.k.max()}, at b = "
        f"{f.b[-1]:g} up to {f.risk[:, -1].max():.2f}."
    )
    if off <= 0.01 and bend <= 0.02 and f.floor > 0:
        instead = (
            f"Hard heads on B leave C·b² (to {off:.1%} at b = {f.b[0]:g}), C = "
            f"{f.constant.min():.3g} to {f.constant.max():.3g}; any k heads have a risk above 0 "
            f"once b > 0, at least {f.floor:.0e} in the cells tried. Risk 0 needs b = 0."
        )
        margin = min(0.01 - off, 0.02 - bend)
        return corrected(seen, instead=instead, margin=margin, counterexample=True)
    instead = (
        f"The risk is positive and off C·b² by {off:.1%}, its exponent in b off 2 by {bend:.2f}."
    )
    return refuted(seen, instead=instead, margin=largest, counterexample=True)


@floor.planted("a readout smoothed by √b in place of b", turns="refuted")
def _rougher(trial: Trial) -> Floor:
    return floor.measure(
        trial, (2, 3), risk_on_set=lambda k, b: hg1_limits.smoothing_floor(k, float(np.sqrt(b)))
    )


@floor.figure
def _floor_figure(f: Floor) -> Lines:
    return Lines(
        [Line(f"k = {k}", f.b, row) for k, row in zip(f.k, f.risk, strict=True)],
        x="smoothing b",
        y="risk of hard heads on B",
        log="xy",
        caption="The risk that the smooth activation alone leaves.",
    )

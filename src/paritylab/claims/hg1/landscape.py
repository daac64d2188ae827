"""The scale of the temperature, and points where the gradient vanishes but the risk does not."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize

from paritylab.claims import (
    HG1,
    Judged,
    Line,
    Lines,
    SideBySide,
    Trial,
    claim,
    corrected,
    derived,
    drawn,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.precision import float64
from paritylab.problem import Parity, random_parity
from paritylab.risk import model_gradient, population_risk
from paritylab.statistics import PowerLaw, power_law
from paritylab.theory import hg1


@record(evidence="numerical")
class Peaks:
    """Heads of unit norm exactly on B; one row per constant c, one column per size n.

    soft, sharp: least attention a head gives its own position at tau = c/n and c/n². risk_soft,
    risk_sharp: their population risks. slope: exponent of soft in n between the two largest sizes,
    per c.
    """

    c: np.ndarray
    n: np.ndarray = shown("sizes n")
    soft: np.ndarray = shown("attention on its own position at c/n", by="rows", predicted="to 1")
    sharp: np.ndarray = shown("attention on its own position at c/n²", by="rows")
    risk_soft: np.ndarray = shown("risk at c/n", by="rows")
    risk_sharp: np.ndarray = shown("risk at c/n²", by="rows")
    slope: np.ndarray = shown("exponent of n in the attention at c/n", by="rows", predicted=0)
    excess: np.ndarray = shown(
        "attention off the position at c/n over Appendix A's c·tau", by="rows", predicted="≤ 1"
    )
    error: float = shown("largest error of a risk")

    @property
    def rows(self) -> list[str]:
        return [f"c = {c:g}" for c in self.c]


@claim(
    "hg1-temperature",
    certificate="hg1-temperature",
    source=HG1("Limitations of Theorem 5, Appendix A"),
    title="A temperature of order 1/n makes softmax nearly hard",
    statement="With tau = c/n for a constant c softmax attention approximates hardmax: a head "
    "that points at its position gives it nearly all its attention, however large n is.",
    quick={"sizes": (1000, 10_000)},
    full={"sizes": (20, 100, 1000, 10_000, 100_000), "constants": (1, 0.1, 0.01, 0.001)},
    settings={"k": 3, "norm of a head": 1, "loss": "squared_hinge"},
    seconds=(7, 7, 40),
)
def temperature(
    trial: Trial,
    sizes: Sequence[int] = (20, 100, 1000, 10_000),
    constants: Sequence[float] = (1, 0.1, 0.01),
) -> Peaks:
    shape = (2, len(constants), len(sizes))
    peaks, risks, others = np.empty(shape), np.empty(shape), np.empty(shape)
    error = 0.0
    for column, n in enumerate(trial.track(sizes)):
        problem = random_parity(trial.seed, n, 3, neighbours=False)
        for row, c in enumerate(constants):
            for power in (1, 2):
                tau, at = c / n**power, (power - 1, row, column)
                with float64():
                    heads = HeadAttention.on(problem, tau=tau)
                    attention = np.array(heads.attention())
                risk = population_risk(heads, problem)
                own = (np.arange(3), list(problem.subset))
                peaks[at], risks[at] = attention[own].min(), risk.value
                attention[own] = 0
                others[at] = attention.max() / (c * tau)
                error = max(error, risk.error)
    slope = np.log(peaks[0, :, -1] / peaks[0, :, -2]) / np.log(sizes[-1] / sizes[-2])
    return Peaks(
        c=np.asarray(constants),
        n=np.asarray(sizes),
        soft=peaks[0],
        sharp=peaks[1],
        risk_soft=risks[0],
        risk_sharp=risks[1],
        slope=slope,
        excess=others[0],
        error=error,
    )


@temperature.judge
def _temperature(p: Peaks) -> Judged:
    best = p.soft.min(axis=1).max()
    margin = float(min(abs(best - 0.9), abs(p.sharp.min() - 0.9), abs(p.slope.max() + 0.4)))
    last, soft = p.n[-1], p.soft[:, -1]
    if p.error > 1e-3:
        return undecided(f"The risks are known to {p.error:.0e} only.")
    if best > 0.9:
        return holds(
            f"At tau = c/n a head on B keeps at least {best:.2f} for itself.", margin=margin
        )
    seen = (
        f"At n = {last:,} a head exactly on its bit gives it {soft.min():.3f} to {soft.max():.3f} "
        f"of its attention at tau = c/n (c = {p.c.max():g} to {p.c.min():g}), with risk "
        f"{p.risk_soft[:, -1].min():.1f} to {p.risk_soft[:, -1].max():.1f}"
    )
    if p.slope.max() > -0.4:
        return undecided(f"{seen}; no clear fall in n (n^{p.slope.max():.2f}).")
    fall = f"it falls like n^{p.slope.min():.2f} to n^{p.slope.max():.2f}"
    shown_by = {"margin": margin, "counterexample": True}
    if p.sharp.min() > 0.9 and p.risk_sharp.max() < 1e-3:
        law = f"tau = c/n²: attention at least {p.sharp.min():.6f}, risk at most"
        instead = f"{law} {p.risk_sharp.max():.0e} for every c and n tried."
        return corrected(f"{seen}; {fall}.", instead=instead, **shown_by)
    instead = f"At tau = c/n² the least attention is {p.sharp.min():.2f}."
    return refuted(f"{seen}; {fall}, and tau = c/n² fails too.", instead=instead, **shown_by)


@temperature.figure
def _temperature_figure(p: Peaks) -> Lines:
    soft = [Line(f"tau = {c:g}/n", p.n, y) for c, y in zip(p.c, p.soft, strict=True)]
    formula = [hg1.peak_attention(int(n), 1 / int(n)) for n in p.n]
    return Lines(
        [
            Line("tau = c/n², least over c", p.n, p.sharp.min(axis=0)),
            *soft,
            Line("√(2π/n)", p.n, formula, style="--"),
        ],
        x="n",
        y="attention on its own position",
        log="xy",
        caption="At tau = c/n a head spreads over about √(c·n) positions, however exactly it "
        "points.",
    )


@record(evidence="exact")
class Slopes:
    """Risk L and gradient at chosen heads; ratios are ½‖∇L‖²/L.

    stuck_norm, stuck_risk, stuck_ratio: all heads on one wrong position, by norm of the heads. k:
    sizes. risk, half: L and ½‖∇L‖² for heads on B, one row per k, norm growing. c: the predicted
    factor of L², per k.
    """

    flat_risk: float = shown("risk with heads zero, B two opposite positions, n = 20")
    flat_slope: float = shown("gradient there", predicted="not 0 while the risk is not")
    stuck_norm: np.ndarray
    stuck_risk: np.ndarray
    stuck_ratio: np.ndarray
    least: float = shown("smallest ½‖∇L‖²/L found by search at unit norm")
    starts: int = drawn()
    k: np.ndarray
    risk: np.ndarray
    half: np.ndarray
    law: list[PowerLaw] = shown("exponent of L in ½‖∇L‖² on B", by="sizes", predicted="≤ 1")
    c: np.ndarray

    @property
    def sizes(self) -> list[str]:
        return [f"k = {k}" for k in self.k]

    @derived("½‖∇L‖²/L with heads on one wrong position, norm growing")
    def stuck(self) -> np.ndarray:
        return self.stuck_ratio

    @derived("least ½‖∇L‖²/L", predicted="some μ > 0")
    def least_ratio(self) -> float:
        flat = self.flat_slope**2 / 2 / self.flat_risk
        return float(min(flat, self.stuck_ratio[-1], self.least))

    @derived("½‖∇L‖²/L² at the largest norm on B", by="sizes", against="c")
    def factor(self) -> np.ndarray:
        return self.half[:, -1] / self.risk[:, -1] ** 2


@claim(
    "hg1-lemma8-pl",
    certificate="hg1-lemma8-pl",
    source=HG1("Lemma 8"),
    title="A global Polyak–Łojasiewicz inequality",
    statement="The squared 2-norm of the gradient of the expected risk is lower bounded by the "
    "expected risk times a factor: ½‖∇L‖² ≥ μ·L for some μ > 0 at every setting of the heads, so "
    "gradient descent cannot stall above risk 0.",
    quick={"starts": 3, "points": 6},
    full={"starts": 60, "points": 30},
    settings={"n": 10, "n at heads zero": 20, "tau": "1/n", "b": 0, "loss": "squared_hinge"},
    seconds=(9, 9, 60),
)
def lemma8_pl(trial: Trial, starts: int = 8, points: int = 12) -> Slopes:
    n, targets = 10, ((1, 4), (0, 3, 6))
    zero = HeadAttention(np.zeros((2, 2)), Circle(20), 2, Zigzag(2), tau=1 / 20)
    flat = _risk_and_slope(zero, Parity(20, (3, 13)))
    wrong, problem = np.geomspace(0.5, 20, points), Parity(n, (1, 4))
    heads = HeadAttention.at((7, 7), problem, tau=1 / n)
    stuck = np.transpose([_risk_and_slope(_longer(heads, norm), problem) for norm in wrong])
    on = np.empty((len(targets), points, 2))
    for row, subset in enumerate(targets):
        problem = Parity(n, subset)
        heads = HeadAttention.on(problem, tau=1 / n)
        for column, norm in enumerate(np.linspace(3, 6, points)):
            on[row, column] = _risk_and_slope(_longer(heads, norm), problem)
    risk, half = on[..., 0], on[..., 1] ** 2 / 2
    sizes = np.array([len(subset) for subset in targets])
    return Slopes(
        *flat,
        stuck_norm=wrong,
        stuck_risk=stuck[0],
        stuck_ratio=stuck[1] ** 2 / 2 / stuck[0],
        least=_least_ratio(trial, n, starts),
        starts=starts,
        k=sizes,
        risk=risk,
        half=half,
        law=[power_law(x, y) for x, y in zip(risk, half, strict=True)],
        c=np.array([hg1.slope_on_target(n, int(k), 1 / n) for k in sizes]),
    )


@lemma8_pl.judge
def _lemma8_pl(s: Slopes) -> Judged:
    low, high = min(law.low for law in s.law), max(law.high for law in s.law)
    least, factor = s.least_ratio, s.factor
    off = float(np.max(np.abs(factor / s.c - 1)))
    if least > 1e-6:
        text = f"½‖∇L‖²/L is at least {least:.1e} at every setting of the heads tried."
        return holds(text, margin=float(np.log10(least / 1e-6)))
    seen = (
        f"With heads zero and B two opposite positions the risk is {s.flat_risk:.2f} and the "
        f"gradient {s.flat_slope:.0e}; with all heads on one wrong position at norm "
        f"{s.stuck_norm[-1]:.0f} the risk is {s.stuck_risk[-1]:.2f} and ½‖∇L‖²/L "
        f"{s.stuck[-1]:.0e}; at unit norm {s.starts} searches reach {s.least:.0e}."
    )
    if least > 1e-20:
        return undecided(f"{seen} Small, but not shown to be 0.")
    if high < 1.1:
        mu = float((s.half / s.risk).min())
        instead = f"Near heads on B the inequality holds with μ = {mu:.2g}."
        return corrected(seen, instead=instead, margin=1.1 - high)
    if low > 1.9 and high < 2.1 and off < 0.01:
        laws = ", ".join(f"{c:.2f} at k = {k}" for c, k in zip(factor, s.k, strict=True))
        instead = (
            f"On B the ratio vanishes too: ½‖∇L‖² = c·L² as heads there grow, c = (2/k)((1 - cos "
            f"2π/n)/τ)² ({laws}; within {off:.0e} of the formula, fitted exponents {s.law[0]} and "
            f"{s.law[-1]}), for which gradient flow gives L = 1/(2ct)."
        )
        margin = min(low - 1.9, 2.1 - high)
        return refuted(seen, instead=instead, margin=margin, counterexample=True)
    return undecided(f"{seen} The law near heads on B is unclear: L^{s.law[0]}.")


@lemma8_pl.figure
def _lemma8_figure(s: Slopes) -> SideBySide:
    wrong = Line("all heads on one wrong position", s.stuck_norm, np.maximum(s.stuck_ratio, 1e-40))
    on = [Line(f"heads on B, k = {k}", x, y) for k, x, y in zip(s.k, s.risk, s.half, strict=True)]
    laws = [Line(f"{c:.2f}·L²", x, c * x**2, style="--") for c, x in zip(s.c, s.risk, strict=True)]
    return SideBySide(
        [
            Lines([wrong], x="norm of the heads", y="½‖∇L‖² / L", log="xy"),
            Lines([*on, *laws], x="risk L", y="½‖∇L‖²", log="xy"),
        ],
        caption="The ratio that Lemma 8 bounds from below goes to zero on wrong positions, where "
        "the risk stays, and on B, where it falls with the risk itself.",
    )


def _risk_and_slope(model: HeadAttention, problem: Parity) -> tuple[float, float]:
    """L and ‖∇L‖."""
    risk, gradient, _ = model_gradient(model, problem)
    return risk.value, float(np.linalg.norm(gradient))


def _longer(heads: HeadAttention, norm: float) -> HeadAttention:
    return heads.with_parameters(norm * heads.directions)


def _least_ratio(trial: Trial, n: int, starts: int) -> float:
    """The smallest ½‖∇L‖²/L found over two unit heads, by descent from random angles."""
    problem = Parity(n, (1, 4))
    generator = np.random.default_rng(trial.seed)

    def log_ratio(angles: Any) -> Any:
        directions = np.stack([np.sin(angles), np.cos(angles)], axis=1)
        model = HeadAttention(directions, Circle(n), 2, Zigzag(2), tau=1 / n)
        risk, slope = _risk_and_slope(model, problem)
        return np.log10(max(slope**2 / 2 / risk, 1e-40))

    found = [
        minimize(
            log_ratio,
            generator.uniform(0, 2 * np.pi, 2),
            method="Nelder-Mead",
            options={"maxfev": 150},
        ).fun
        for _ in trial.track(range(starts))
    ]
    return float(10 ** min(found))

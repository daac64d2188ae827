"""The scale of the temperature, and points where the gradient vanishes but the risk does not."""

from collections.abc import Sequence
from typing import Any, NamedTuple

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
    holds,
    refuted,
    undecided,
)
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.precision import float64
from paritylab.problem import Parity, random_parity
from paritylab.risk import model_gradient, population_risk
from paritylab.statistics import PowerLaw, power_law
from paritylab.theory import hg1


class Peaks(NamedTuple):
    """Heads of unit norm exactly on B; one row per constant c, one column per size n.

    c: constants. n: sizes. soft, sharp: least attention a head gives its own position at tau = c/n
    and c/n². risk_soft, risk_sharp: their population risks. slope: exponent of soft in n between
    the two largest sizes, per c. excess: largest attention off the head's position over Appendix
    A's bound c·tau, at tau = c/n. error: largest error of a risk. evidence: kind of the risks.
    """

    c: np.ndarray
    n: np.ndarray
    soft: np.ndarray
    sharp: np.ndarray
    risk_soft: np.ndarray
    risk_sharp: np.ndarray
    slope: np.ndarray
    excess: np.ndarray
    error: float
    evidence: str


@claim(
    "hg1-temperature",
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
    error, kinds = 0.0, set()
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
                kinds.add(str(risk.kind))
    slope = np.log(peaks[0, :, -1] / peaks[0, :, -2]) / np.log(sizes[-1] / sizes[-2])
    evidence = "exact" if kinds == {"exact"} else "numerical"
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
        evidence=evidence,
    )


@temperature.judge
def _temperature(p: Peaks) -> Judged:
    best = p.soft.min(axis=1).max()
    margin = min(abs(best - 0.9), abs(p.sharp.min() - 0.9), abs(p.slope.max() + 0.4))
    shared: dict[str, Any] = {
        "evidence": p.evidence,
        "margin": float(margin),
        "runs": p.soft.size + p.sharp.size,
        "measured": _temperature_numbers(p),
        "predicted": {f"attention on its own position at tau = {c:g}/n": 1 for c in p.c},
    }
    last, soft = p.n[-1], p.soft[:, -1]
    if p.error > 1e-3:
        return undecided(f"The risks are known to {p.error:.0e} only.", **shared)
    if best > 0.9:
        return holds(f"At tau = c/n a head on B keeps at least {best:.2f} for itself.", **shared)
    seen = (
        f"At n = {last:,} a head exactly on its bit gives it {soft.min():.3f} to {soft.max():.3f} "
        f"of its attention at tau = c/n (c = {p.c.max():g} to {p.c.min():g}), with risk "
        f"{p.risk_soft[:, -1].min():.1f} to {p.risk_soft[:, -1].max():.1f}"
    )
    if p.slope.max() > -0.4:
        return undecided(f"{seen}; no clear fall in n (n^{p.slope.max():.2f}).", **shared)
    fall = f"it falls like n^{p.slope.min():.2f} to n^{p.slope.max():.2f}"
    shared["counterexample"] = _TEMPERATURE_COUNTEREXAMPLE
    if p.sharp.min() > 0.9 and p.risk_sharp.max() < 1e-3:
        law = f"tau = c/n²: attention at least {p.sharp.min():.6f}, risk at most"
        instead = f"{law} {p.risk_sharp.max():.0e} for every c and n tried."
        return corrected(f"{seen}; {fall}.", instead=instead, **shared)
    instead = f"At tau = c/n² the least attention is {p.sharp.min():.2f}."
    return refuted(f"{seen}; {fall}, and tau = c/n² fails too.", instead=instead, **shared)


def _temperature_numbers(p: Peaks) -> dict[str, Any]:
    """Numbers of a record by the names a reader knows."""
    last = f"n = {p.n[-1]:,}"
    rows = {
        "attention on its own position at": (p.soft[:, -1], p.sharp[:, -1]),
        "risk at": (p.risk_soft[:, -1], p.risk_sharp[:, -1]),
    }
    named: dict[str, Any] = {}
    for words, (soft, sharp) in rows.items():
        for scale, values in (("n", soft), ("n²", sharp)):
            for c, value in zip(p.c, values, strict=True):
                named[f"{words} tau = {c:g}/{scale}, {last}"] = value
    named["attention off the position over Appendix A's c·tau, c = 1"] = p.excess[p.c.argmax()]
    named["largest error of a risk"] = p.error
    return named


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


_TEMPERATURE_COUNTEREXAMPLE = """\
from paritylab import HeadAttention, Parity, population_risk

problem = Parity(1000, (100, 400, 800))
for tau in (1 / 1000, 1 / 1000**2):
    heads = HeadAttention.on(problem, tau=tau)
    print(tau, heads.attention().max(), population_risk(heads, problem))
soft = HeadAttention.on(problem, tau=1 / 1000)
assert soft.attention().max() < 0.1 and population_risk(soft, problem).value > 4
"""


class Slopes(NamedTuple):
    """Risk L and gradient at chosen heads; ratios are ½‖∇L‖²/L.

    flat_risk, flat_slope: L and ‖∇L‖ at heads zero, B two opposite positions. stuck_norm,
    stuck_risk, stuck_ratio: all heads on one wrong position, by norm of the heads. least: smallest
    ratio the search found at unit norm, starts: its starts. k: sizes. risk, half: L and ½‖∇L‖² for
    heads on B, one row per k, norm growing. law: ½‖∇L‖² as a power of L, per k. c: the predicted
    factor of L², per k.
    """

    flat_risk: float
    flat_slope: float
    stuck_norm: np.ndarray
    stuck_risk: np.ndarray
    stuck_ratio: np.ndarray
    least: float
    starts: int
    k: np.ndarray
    risk: np.ndarray
    half: np.ndarray
    law: list[PowerLaw]
    c: np.ndarray


@claim(
    "hg1-lemma8-pl",
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
    flat = s.flat_slope**2 / 2 / s.flat_risk
    stuck, low = s.stuck_ratio[-1], min(law.low for law in s.law)
    least, high = min(flat, stuck, s.least), max(law.high for law in s.law)
    factor = s.half[:, -1] / s.risk[:, -1] ** 2
    off = float(np.max(np.abs(factor / s.c - 1)))
    shared: dict[str, Any] = {
        "runs": s.starts + s.risk.size + len(s.stuck_norm) + 1,
        "measured": _slope_numbers(s),
        "predicted": {"least ½‖∇L‖²/L": "some μ > 0"},
    }
    if least > 1e-6:
        text = f"½‖∇L‖²/L is at least {least:.1e} at every setting of the heads tried."
        return holds(text, margin=float(np.log10(least / 1e-6)), **shared)
    seen = (
        f"With heads zero and B two opposite positions the risk is {s.flat_risk:.2f} and the "
        f"gradient {s.flat_slope:.0e}; with all heads on one wrong position at norm "
        f"{s.stuck_norm[-1]:.0f} the risk is {s.stuck_risk[-1]:.2f} and ½‖∇L‖²/L {stuck:.0e}; "
        f"at unit norm {s.starts} searches reach {s.least:.0e}."
    )
    shared["counterexample"] = _PL_COUNTEREXAMPLE
    if least > 1e-20:
        return undecided(f"{seen} Small, but not shown to be 0.", **shared)
    if high < 1.1:
        mu = float((s.half / s.risk).min())
        instead = f"Near heads on B the inequality holds with μ = {mu:.2g}."
        return corrected(seen, instead=instead, margin=1.1 - high, **shared)
    if low > 1.9 and high < 2.1 and off < 0.01:
        laws = ", ".join(f"{c:.2f} at k = {k}" for c, k in zip(factor, s.k, strict=True))
        instead = (
            f"On B the ratio vanishes too: ½‖∇L‖² = c·L² as heads there grow, c = (2/k)((1 - cos "
            f"2π/n)/τ)² ({laws}; within {off:.0e} of the formula, fitted exponents {s.law[0]} and "
            f"{s.law[-1]}), for which gradient flow gives L = 1/(2ct)."
        )
        return refuted(seen, instead=instead, margin=min(low - 1.9, 2.1 - high), **shared)
    return undecided(f"{seen} The law near heads on B is unclear: L^{s.law[0]}.", **shared)


def _slope_numbers(s: Slopes) -> dict[str, Any]:
    """Numbers of a record by the names a reader knows."""
    named: dict[str, Any] = {
        "risk with heads zero, n = 20": s.flat_risk,
        "gradient with heads zero, n = 20": s.flat_slope,
        "risk with heads on one wrong position": s.stuck_risk[-1],
        "½‖∇L‖²/L with heads on one wrong position": s.stuck_ratio[-1],
        "least ½‖∇L‖²/L": min(s.least, s.stuck_ratio.min(), s.flat_slope**2 / 2 / s.flat_risk),
    }
    for row, k in enumerate(s.k):
        named[f"exponent of L in ½‖∇L‖² on B, k = {k}"] = str(s.law[row])
        named[f"½‖∇L‖²/L² on B, k = {k}"] = s.half[row, -1] / s.risk[row, -1] ** 2
        named[f"predicted ½‖∇L‖²/L² on B, k = {k}"] = s.c[row]
    return named


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


_PL_COUNTEREXAMPLE = """\
import numpy as np
from paritylab import Circle, HeadAttention, Parity, Zigzag, model_gradient

problem = Parity(20, (3, 13))  # two opposite positions
zero = HeadAttention(np.zeros((2, 2)), Circle(20), 2, Zigzag(2), tau=1 / 20)
risk, gradient, _ = model_gradient(zero, problem)
print(risk.value, np.linalg.norm(gradient))
assert risk.value > 2 and np.linalg.norm(gradient) < 1e-12
"""


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

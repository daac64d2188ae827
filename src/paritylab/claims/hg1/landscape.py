"""The scale of the temperature, and points where the gradient vanishes but the risk does not."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from paritylab.claims.engine import Trial
from paritylab.claims.figures import Line, Lines
from paritylab.claims.registry import Efforts, claim
from paritylab.claims.sources import HG1
from paritylab.claims.verdict import (
    Evidence,
    Finding,
    Judged,
    Status,
    corrected,
    holds,
    refuted,
    undecided,
)
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.precision import float64
from paritylab.problem import Parity, random_parity
from paritylab.risk import model_gradient, population_risk
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
    efforts=Efforts(
        quick={"sizes": (1000, 10_000), "constants": (1, 0.1, 0.01)},
        default={"sizes": (20, 100, 1000, 10_000), "constants": (1, 0.1, 0.01)},
        full={"sizes": (20, 100, 1000, 10_000, 100_000), "constants": (1, 0.1, 0.01, 0.001)},
    ),
    settings={"k": 3, "norm of a head": 1, "loss": "squared_hinge"},
    seconds=(6, 12, 40),
)
def temperature(trial: Trial, sizes: Sequence[int], constants: Sequence[float]) -> Peaks:
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


@claim(
    "hg1-lemma8-pl",
    paper="hg1",
    title="A global Polyak–Łojasiewicz inequality",
    statement="Lemma 8: ½‖∇L‖² ≥ μ·L for some μ > 0 at every setting of the heads, so gradient "
    "descent cannot stall above risk 0.",
    seconds=(5, 12, 60),
)
def lemma8_pl(trial: Trial) -> Finding:
    flat = _stationary_at_zero(20)
    stuck = _stuck_on_a_wrong_position(10)
    n, starts = 10, trial.pick(quick=3, default=8, full=60)
    smallest, where = _smallest_ratio(trial, n, starts)
    ratio = max(_ratio(*flat), _ratio(*stuck))
    line = _ratio_along_norm(trial.pick(quick=12, default=30, full=60))
    return Finding(
        Status.REFUTED if ratio < 1e-20 else Status.UNDECIDED,
        Evidence.EXACT,
        measured={
            "finding": f"Two exact counterexamples. k = 2, B = {{p, p+n/2}}, all heads zero, n = "
            f"20: risk {flat[0]:.3f}, gradient {flat[1]:.0e}. All heads far out on one wrong "
            f"position, n = 10: risk {stuck[0]:.3f}, gradient {stuck[1]:.0e}. Minimising the "
            f"ratio over heads of unit norm (n = {n}, k = 2, {starts} starts) reaches "
            f"{smallest:.0e}.",
            "instead": "No positive μ serves all heads: the ratio ½‖∇L‖²/L goes to 0 with the norm "
            "of heads on wrong positions, and is exactly 0 at symmetric points. A local inequality "
            "near heads on B is not excluded.",
            "risk_at_zero_heads": flat[0],
            "gradient_at_zero_heads": flat[1],
            "risk_on_wrong_position": stuck[0],
            "gradient_on_wrong_position": stuck[1],
            "smallest_ratio_at_unit_norm": smallest,
            "angles_of_smallest_ratio": where,
        },
        predicted={"smallest_ratio_at_unit_norm": "some μ > 0"},
        margin=1e-20 - ratio,
        runs=starts + 2,
        settings={"tau": "1/n", "loss": "squared_hinge", "search": "Nelder-Mead on two angles"},
        counterexample=_PL_COUNTEREXAMPLE,
        series={
            "kind": "lines",
            "x": {"label": "norm of the heads", "scale": "log"},
            "y": {"label": "½‖∇L‖² / L", "scale": "log"},
            "lines": [{"label": "all heads on one wrong position, n = 10", **line}],
            "caption": "The ratio that Lemma 8 bounds from below goes to zero while the risk stays "
            "at 2.",
        },
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


def _risk_and_norm(model: HeadAttention, problem: Parity) -> tuple[float, float]:
    risk, gradient, _ = model_gradient(model, problem)
    return risk.value, float(np.linalg.norm(gradient))


def _ratio(risk: float, norm: float) -> float:
    """½‖∇L‖²/L."""
    return norm**2 / 2 / risk


def _stationary_at_zero(n: int) -> tuple[float, float]:
    problem = Parity(n, (3, 3 + n // 2))
    zero = HeadAttention(np.zeros((2, 2)), Circle(n), 2, Zigzag(2), tau=1 / n)
    return _risk_and_norm(zero, problem)


def _stuck_on_a_wrong_position(n: int, norm: float = 20.0) -> tuple[float, float]:
    problem = Parity(n, (1, 4))
    heads = HeadAttention.at((7, 7), problem, tau=1 / n)
    return _risk_and_norm(heads.with_parameters(norm * heads.directions), problem)


def _ratio_along_norm(points: int) -> dict:
    norms = np.geomspace(0.5, 20, points)
    ratios = [_ratio(*_stuck_on_a_wrong_position(10, norm)) for norm in norms]
    return {"x": norms, "y": np.maximum(ratios, 1e-40)}


def _smallest_ratio(trial: Trial, n: int, starts: int) -> tuple[float, list[float]]:
    """The smallest ratio found over two unit heads, by descent from random angles."""
    problem = Parity(n, (1, 4))
    generator = np.random.default_rng(trial.seed)

    def log_ratio(angles: Any) -> Any:
        directions = np.stack([np.sin(angles), np.cos(angles)], axis=1)
        model = HeadAttention(directions, Circle(n), 2, Zigzag(2), tau=1 / n)
        return np.log10(max(_ratio(*_risk_and_norm(model, problem)), 1e-40))

    best = (np.inf, [0.0, 0.0])
    for _ in trial.track(range(starts)):
        start = generator.uniform(0, 2 * np.pi, 2)
        result = minimize(log_ratio, start, method="Nelder-Mead", options={"maxfev": 150})
        best = min(best, (float(result.fun), result.x.tolist()))
    return 10 ** best[0], best[1]

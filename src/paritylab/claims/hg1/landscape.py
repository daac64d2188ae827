"""The scale of the temperature, and points where the gradient vanishes but the risk does not."""

import numpy as np
from scipy.optimize import minimize

from paritylab.claims.engine import Trial
from paritylab.claims.registry import claim
from paritylab.claims.verdict import Evidence, Finding, Status
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.precision import float64
from paritylab.problem import Parity, random_parity
from paritylab.risk import model_gradient, population_risk
from paritylab.theory import hg1


@claim(
    "hg1-temperature",
    paper="hg1",
    title="A temperature of order 1/n makes softmax nearly hard",
    statement="Theorem 5 and its limitations: with tau = O(1/n) softmax attention approximates "
    "hardmax.",
    expected="refuted",
    seconds=(4, 8, 30),
)
def temperature(trial: Trial) -> Finding:
    sizes = trial.pick(
        quick=(20, 100, 1000),
        default=(20, 100, 1000, 10_000),
        full=(20, 100, 1000, 10_000, 100_000),
    )
    k = 3
    peaks: dict[str, list[float]] = {"1/n": [], "1/n²": []}
    risks: dict[str, list[float]] = {"1/n": [], "1/n²": []}
    error = 0.0
    for n in trial.track(sizes):
        problem = random_parity(trial.seed, n, k, neighbours=False)
        for name, tau in (("1/n", 1 / n), ("1/n²", 1 / n**2)):
            with float64():
                attention = np.asarray(HeadAttention.on(problem, tau=tau).attention())
            risk = population_risk(attention, problem)
            error = max(error, risk.error)
            peaks[name].append(float(attention.max()))
            risks[name].append(risk.value)
    formula = [hg1.peak_attention(n, 1 / n) for n in sizes]
    refuted = min(risks["1/n"]) > 1 and max(risks["1/n²"]) < 1e-3 and error < 1e-3
    return Finding(
        Status.REFUTED if refuted else Status.UNDECIDED,
        Evidence.EXACT,
        measured={
            "finding": f"Heads of unit norm exactly on B give their own position attention "
            f"{peaks['1/n'][0]:.3f} at n = {sizes[0]} and {peaks['1/n'][-1]:.4f} at n = "
            f"{sizes[-1]} for tau = 1/n, with risk {risks['1/n'][-1]:.2f}; for tau = 1/n² it is "
            f"{peaks['1/n²'][-1]:.6f} with risk {risks['1/n²'][-1]:.1e} at the same n.",
            "instead": "Neighbouring scores differ by 2π²/n², so the scale is tau = c/n². At tau = "
            "c/n the largest attention falls like √(2π/(c·n)).",
            "largest_attention_tau_1_over_n": dict(zip(sizes, peaks["1/n"], strict=True)),
            "largest_attention_tau_1_over_n2": dict(zip(sizes, peaks["1/n²"], strict=True)),
            "risk_tau_1_over_n": dict(zip(sizes, risks["1/n"], strict=True)),
            "risk_tau_1_over_n2": dict(zip(sizes, risks["1/n²"], strict=True)),
            "largest_risk_error": error,
        },
        predicted={"largest_attention_tau_1_over_n": 1},
        margin=min(risks["1/n"]) - 1,
        runs=len(sizes),
        settings={"n": list(sizes), "k": k, "norm": 1, "loss": "squared_hinge"},
        counterexample=_TEMPERATURE_COUNTEREXAMPLE,
        series={
            "kind": "lines",
            "x": {"label": "n", "scale": "log"},
            "y": {"label": "largest attention of a head on its position", "scale": "log"},
            "lines": [
                {"label": "tau = 1/n²", "x": list(sizes), "y": peaks["1/n²"]},
                {"label": "tau = 1/n", "x": list(sizes), "y": peaks["1/n"]},
                {"label": "√(2π/n)", "x": list(sizes), "y": formula, "style": "--"},
            ],
            "caption": "At tau = 1/n a head spreads over about √n positions, however exactly it "
            "points.",
        },
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
    expected="refuted",
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

    def log_ratio(angles):
        directions = np.stack([np.sin(angles), np.cos(angles)], axis=1)
        model = HeadAttention(directions, Circle(n), 2, Zigzag(2), tau=1 / n)
        return np.log10(max(_ratio(*_risk_and_norm(model, problem)), 1e-40))

    best = (np.inf, [0.0, 0.0])
    for _ in trial.track(range(starts)):
        start = generator.uniform(0, 2 * np.pi, 2)
        result = minimize(log_ratio, start, method="Nelder-Mead", options={"maxfev": 150})
        best = min(best, (float(result.fun), result.x.tolist()))
    return 10 ** best[0], best[1]

"""Propositions 3 and 4: what can be written down, and what cannot be learned without an edge."""

from functools import partial
from itertools import combinations

import numpy as np
import optax
from scipy.optimize import brentq

from paritylab.claims.engine import Trial
from paritylab.claims.registry import claim
from paritylab.claims.verdict import Evidence, Finding, Status
from paritylab.learning import AllInputs, Descent, learn
from paritylab.learning.hardness.networks import smallest_pair_loss
from paritylab.models import (
    FeedForward,
    FullFormAttention,
    HeadAttention,
    Zigzag,
    parity_network,
    parity_transformer,
)
from paritylab.problem import Parity, random_parity
from paritylab.risk import enumerated_risk
from paritylab.theory import hg1


@claim(
    "hg1-prop3-ffnn",
    paper="hg1",
    title="A feed-forward net with k neurons expresses k-parity",
    statement="Proposition 3: for every set B of size k there is a one-hidden-layer ReLU net with "
    "k neurons and 2k+2 distinct numbers whose risk is zero.",
    seconds=(2, 4, 15),
)
def prop3_ffnn(trial: Trial) -> Finding:
    n = trial.pick(quick=6, default=8, full=10)
    largest_k = trial.pick(quick=64, default=256, full=1024)
    risks, counts_agree = [], True
    sizes = range(1, n + 1)
    for k in trial.track(sizes):
        for subset in combinations(range(n), k):
            problem = Parity(n, subset)
            network = parity_network(problem)
            risks.append(enumerated_risk(network, problem).value)
            counts_agree &= network.distinct_numbers() == hg1.network_parameters(k)
    # The value at s involves only the first s neurons, so the largest k speaks for all smaller.
    off = max(abs(hg1.zigzag_at_integer(largest_k, s) - (-1) ** s) for s in range(largest_k + 1))
    holds = max(risks) == 0 and off == 0 and counts_agree
    example = parity_network(Parity(n, (0, 1, 2)))
    ks = list(sizes)
    return Finding(
        Status.HOLDS if holds else Status.REFUTED,
        Evidence.EXACT,
        measured={
            "finding": f"Risk exactly 0 for all {len(risks)} sets B at n = {n}, and the net's "
            f"value is exactly (-1)^s at every sum s for k up to {largest_k}, which settles every "
            f"n. "
            f"2k+2 counts a weight shared by many edges once; edge by edge it is k²+2k+1 "
            f"({example.edge_numbers()} against {example.distinct_numbers()} at k = 3).",
            "largest_risk": max(risks),
            "largest_error_at_sums": off,
            "numbers_k3": example.distinct_numbers(),
            "edge_numbers_k3": example.edge_numbers(),
        },
        predicted={"largest_risk": 0, "numbers_k3": hg1.network_parameters(3)},
        margin=-max(risks),
        runs=len(risks),
        settings={"n": n, "k": [1, n], "sets": "all", "largest_k_at_sums": largest_k},
        series={
            "kind": "lines",
            "x": {"label": "size k of the parity set"},
            "y": {"label": "numbers in the net"},
            "lines": [
                {"label": "distinct numbers, 2k+2", "x": ks, "y": [2 * k + 2 for k in ks]},
                {"label": "one per edge, k²+2k+1", "x": ks, "y": [k * k + 2 * k + 1 for k in ks]},
            ],
            "caption": "Size of the feed-forward construction, shared weights counted once or not.",
        },
    )


@claim(
    "hg1-prop3-transformer",
    paper="hg1",
    title="A transformer with k heads expresses k-parity",
    statement="Proposition 3: k heads of unit norm pointing at B and the frozen head, 18k+2 "
    "numbers in all, have risk zero.",
    seconds=(3, 8, 40),
)
def prop3_transformer(trial: Trial) -> Finding:
    sizes = trial.pick(quick=(8, 12), default=(8, 12, 16), full=(8, 12, 16, 20))
    k, tolerance = 3, 1e-3
    hard = max(
        enumerated_risk(parity_transformer(problem, hard=True), problem).value
        for n in sizes
        for problem in (random_parity(trial.seed, n, k), Parity(n, (0, 1, 2)))
    )
    lines, limits, at_inverse_n = [], {}, {}
    for n in trial.track(sizes):
        problem = random_parity(trial.seed, n, k, neighbours=False)
        scaled = np.geomspace(0.05, 4 * n, trial.pick(quick=9, default=25, full=49))
        risks = [_softmax_risk(problem, tau_n2 / n**2) for tau_n2 in scaled]
        lines.append({"label": f"n = {n}", "x": scaled, "y": np.maximum(risks, 1e-16)})
        limits[n] = _temperature_limit(problem, tolerance) * n**2
        at_inverse_n[n] = _softmax_risk(problem, 1 / n)
    smoothing = {b: _smoothing_risk(k, b) for b in (1e-1, 1e-2, 1e-3, 1e-4)}
    full_form = FullFormAttention.embed(parity_transformer(Parity(8, (0, 2, 5))))
    numbers = full_form.matrices.size + parity_network(Parity(k, (0, 1, 2))).distinct_numbers()
    corrected = hard == 0 and min(at_inverse_n.values()) > tolerance
    low, high = min(limits.values()), max(limits.values())
    return Finding(
        Status.CORRECTED if corrected else Status.HOLDS if hard == 0 else Status.REFUTED,
        Evidence.EXACT,
        measured={
            "finding": f"With hard attention the risk is exactly 0. With softmax it is positive at "
            f"every temperature: at tau = 1/n it is {at_inverse_n[sizes[-1]]:.2f} (n = "
            f"{sizes[-1]}), and it falls below {tolerance:g} only for tau ≤ {low:.2f}/n².",
            "instead": f"Hard attention with b = 0 has risk 0; softmax has risk ≤ {tolerance:g} at "
            f"tau ≤ {low:.2f}/n² (between {low:.2f} and {high:.2f} over the sizes tried) and b ≤ "
            f"1e-4 (risk {smoothing[1e-4]:.1e} from b alone).",
            "hard_risk": hard,
            "risk_at_tau_1_over_n": at_inverse_n,
            "largest_tau_times_n2": limits,
            "hard_risk_by_b": smoothing,
            "numbers_k3": int(numbers),
        },
        predicted={"risk": 0, "numbers_k3": hg1.transformer_parameters(k)},
        margin=min(at_inverse_n.values()) - tolerance,
        runs=len(sizes),
        settings={"n": list(sizes), "k": k, "tolerance": tolerance, "loss": "squared_hinge"},
        counterexample=_SOFTMAX_COUNTEREXAMPLE,
        series={
            "kind": "lines",
            "x": {"label": "tau · n²", "scale": "log"},
            "y": {"label": "population risk, heads exactly on B", "scale": "log"},
            "lines": lines,
            "marks": [{"axis": "y", "at": tolerance, "label": f"risk {tolerance:g}"}],
            "caption": "The scale of the temperature is 1/n²: curves for different n fall together "
            "where the risk becomes small.",
        },
    )


_SOFTMAX_COUNTEREXAMPLE = """\
from paritylab import Parity, enumerated_risk, parity_transformer

problem = Parity(12, (2, 5, 9))
soft = enumerated_risk(parity_transformer(problem, tau=1 / 12), problem)
hard = enumerated_risk(parity_transformer(problem, hard=True), problem)
print(soft.value, hard.value)
assert soft.value > 1 and hard.value == 0
"""


def _softmax_risk(problem: Parity, tau: float) -> float:
    return enumerated_risk(parity_transformer(problem, tau=tau), problem).value


def _temperature_limit(problem: Parity, tolerance: float) -> float:
    """The temperature at which the risk of heads exactly on B crosses the tolerance."""

    def excess(log_tau: float) -> float:
        return float(np.log(max(_softmax_risk(problem, np.exp(log_tau)), 1e-300) / tolerance))

    centre = np.log(1 / problem.n**2)
    return float(np.exp(brentq(excess, centre - 3, centre + 3, xtol=1e-3)))


def _smoothing_risk(k: int, b: float) -> float:
    """Risk that smoothing alone leaves, hard attention exactly on B."""
    problem = Parity(k, tuple(range(k)))
    model = HeadAttention.on(problem, readout=Zigzag(k, b), kind="hard")
    return enumerated_risk(model, problem).value


@claim(
    "hg1-prop4",
    paper="hg1",
    title="A feed-forward net without an edge to a bit of B cannot learn",
    statement="Proposition 4: a feed-forward net whose graph lacks an edge from some bit of B has "
    "risk 1, so gradient descent needs at least n numbers.",
    seconds=(4, 10, 60),
)
def prop4(trial: Trial) -> Finding:
    n, k = 8, 3
    problem = Parity(n, (1, 4, 6))
    widths = trial.pick(quick=(4,), default=(4, 16), full=(1, 4, 16, 64))
    starts = trial.pick(quick=2, default=6, full=16)
    missing, steps = problem.subset[0], 100
    initial, trained, worst_pair = [], [], np.inf
    for width in trial.track(widths):
        start = partial(FeedForward.random, n=n, width=width, missing=(missing,), b=1e-2)
        learner = Descent(start, optimiser=optax.lbfgs(), steps=steps)
        runs = learn(learner, AllInputs(problem), runs=starts, key=trial.seed, trace=steps)
        initial += runs.trace["risk"][:, 0].tolist()
        trained += runs.risk.tolist()
        pairs = [smallest_pair_loss(model, problem, missing) for model in runs.models]
        worst_pair = min(worst_pair, *pairs)
    bound = hg1.risk_without_edge()
    best, slack = min(trained), 1e-9
    holds = best >= bound - slack and worst_pair >= 2 * bound - slack
    return Finding(
        Status.CORRECTED if holds and max(initial) > bound + slack else Status.REFUTED,
        Evidence.EXACT,
        measured={
            "finding": f"The risk is at least 1, not equal to 1: {len(initial)} nets without an "
            f"edge to one bit of B start at up to {max(initial):.2f}; training as far as it goes "
            f"stops at {best:.6f}, and no pair of inputs that differ in that bit has losses "
            f"summing below {worst_pair:.6f}.",
            "instead": "Risk ≥ 1 with equality only for the prediction 0, hence at least one edge "
            "per position and at least n numbers for a net that can learn every B.",
            "smallest_risk": best,
            "largest_risk_at_start": max(initial),
            "smallest_pair_loss": worst_pair,
        },
        predicted={"risk": 1},
        margin=best - bound + slack,
        runs=len(initial),
        settings={
            "n": n,
            "k": k,
            "widths": list(widths),
            "missing": missing,
            "optimiser": "L-BFGS on the enumerated risk",
            "b": 1e-2,
        },
        counterexample=_EDGE_COUNTEREXAMPLE,
        series={
            "kind": "lines",
            "x": {"label": "net (width grows to the right)"},
            "y": {"label": "population risk"},
            "lines": [
                {"label": "at the start", "x": range(len(initial)), "y": initial, "style": "o"},
                {"label": "after training", "x": range(len(trained)), "y": trained, "style": "s"},
            ],
            "marks": [{"axis": "y", "at": bound, "label": "lower bound 1"}],
            "caption": "Nets that lack one input edge never get below risk 1, and start above it.",
        },
    )


_EDGE_COUNTEREXAMPLE = """\
from paritylab import FeedForward, Parity, enumerated_risk

problem = Parity(8, (1, 4, 6))
network = FeedForward.random(0, n=8, width=4, missing=(1,))
risk = enumerated_risk(network, problem)
print(risk.value)
assert risk.value > 1.01
"""

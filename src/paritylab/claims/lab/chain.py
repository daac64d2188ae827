"""The chain learned in one step: how many samples it needs, and what harmed rows do to it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims import OURS, Judged, Line, Lines, Trial, claim, holds, refuted, undecided
from paritylab.claims.lab.shifted_chain import Harm, harmed_steps, joined_bits
from paritylab.learning.chain.teacher import chain_curve, usual_step
from paritylab.models import CosineLink
from paritylab.problem import random_trees
from paritylab.statistics import (
    PowerLaw,
    Rate,
    half_point,
    half_point_interval,
    mean_interval,
    threshold_law,
)
from paritylab.theory.ks import samples_for_every_input, samples_for_every_pair, step_error
from paritylab.theory.shift import flips_limit, lies_limit, shift_limit

LINK = CosineLink()
#: A half point may be this factor from the predicted one.
NEAR = 1.25


class Needed(NamedTuple):
    """Samples at which half of the runs reach a goal.

    measured, predicted: N by size. low, high: ends of the interval of measured over predicted. law:
    the measured exponent of n. drift: the same of measured over predicted.
    """

    goal: str
    measured: list[float]
    predicted: list[float]
    low: list[float]
    high: list[float]
    law: PowerLaw
    drift: PowerLaw


class Samples(NamedTuple):
    """sizes: n, with k = n/2. runs: over all sizes. pairs, inputs: samples for either goal."""

    sizes: list[int]
    runs: int
    pairs: Needed
    inputs: Needed


@claim(
    "lab-chain-samples",
    source=OURS,
    title="One teacher-forced step needs nearly n·log n samples",
    statement="KS asks for n^(2+ε) samples as sufficient. Ours: with k = n/2 and a step of "
    "predicted least error, half of the targets have every pair found at the N at which "
    "Σ_m E[1 - Φ(SNR + ξ)^(M-2)] = ln 2, and every fresh input right where the expected number of "
    "broken nodes is ln 2; for large n both are n times a linear function of log n.",
    quick={"cells": ((128, 6), (256, 6)), "points": 5},
    full={
        "cells": ((128, 100), (256, 100), (512, 60), (1024, 40), (2048, 30), (4096, 24)),
        "points": 12,
    },
    settings={"k": "n/2", "link": "-cos(πt)", "fresh inputs": 500, "N": "0.65 … 1.6 of predicted"},
    seconds=(10, 30, 400),
)
def chain_samples(
    trial: Trial,
    cells: Sequence[tuple[int, int]] = ((128, 40), (256, 32), (512, 12)),
    points: int = 8,
) -> Samples:
    goals: dict[str, list[Any]] = {"pairs": [], "inputs": []}
    predicted: dict[str, list[float]] = {"pairs": [], "inputs": []}
    grids = []
    for n, runs in trial.track(cells):
        formulas = (samples_for_every_pair(n, n // 2), samples_for_every_input(n, n // 2))
        grid = np.geomspace(0.65 * formulas[0], 1.6 * formulas[1], points).astype(int)
        curve = chain_curve(n, n // 2, grid, runs=runs, seed=trial.seed, inputs=500)
        grids.append(grid)
        for goal, flags, formula in zip(goals, curve[1:], formulas, strict=True):
            goals[goal].append(flags)
            predicted[goal].append(formula)
    sizes = [n for n, _ in cells]
    needed = [
        _needed(name, sizes, grids, goals[goal], predicted[goal])
        for goal, name in (("pairs", "every pair found"), ("inputs", "every input right"))
    ]
    return Samples(sizes, sum(runs for _, runs in cells), *needed)


def _needed(
    name: str, sizes: Sequence[int], grids: list[Any], flags: list[Any], predicted: list[float]
) -> Needed:
    scaled = [grid / formula for grid, formula in zip(grids, predicted, strict=True)]
    ends = [half_point_interval(grid, each) for grid, each in zip(scaled, flags, strict=True)]
    return Needed(
        name,
        [half_point(grid, each) for grid, each in zip(grids, flags, strict=True)],
        predicted,
        [low for low, _ in ends],
        [high for _, high in ends],
        threshold_law(sizes, grids, flags),
        threshold_law(sizes, scaled, flags),
    )


def _per_bit(numbers: list[float], sizes: list[int]) -> str:
    return ", ".join(f"{each / n:.0f}" for each, n in zip(numbers, sizes, strict=True))


@chain_samples.judge
def _chain_samples(s: Samples) -> Judged:
    goals = (s.pairs, s.inputs)
    told = "; ".join(
        f"{each.goal} from N/n = {_per_bit(each.measured, s.sizes)} (predicted "
        f"{_per_bit(each.predicted, s.sizes)}), n^{each.law}, measured over predicted "
        f"n^{each.drift}"
        for each in goals
    )
    text = f"Half of the runs at n = {', '.join(map(str, s.sizes))}: {told}."
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "interval": (s.pairs.law.low, s.pairs.law.high),
        "runs": s.runs,
        "measured": {
            "n": s.sizes,
            **{f"N, {each.goal}": each.measured for each in goals},
            **{
                f"measured over predicted, {each.goal}": [
                    list(ends) for ends in zip(each.low, each.high, strict=True)
                ]
                for each in goals
            },
            **{f"exponent, {each.goal}": str(each.law) for each in goals},
            **{
                f"exponent of measured over predicted, {each.goal}": str(each.drift)
                for each in goals
            },
        },
        "predicted": {f"N, {each.goal}": each.predicted for each in goals},
    }
    lows, highs = np.ravel([each.low for each in goals]), np.ravel([each.high for each in goals])
    outside = float(np.max([*lows - NEAR, *1 / NEAR - highs]))
    if outside > 0:
        instead = "; ".join(f"{each.goal}: N of order n^{each.law}" for each in goals)
        return refuted(text, instead=f"{instead}.", margin=outside, **shared)
    inside = float(np.min([*NEAR - highs, *lows - 1 / NEAR]))
    if inside > 0:
        return holds(text, margin=inside, **shared)
    return undecided(f"{text} A half point is too uncertain.", **shared)


@chain_samples.figure
def _chain_samples_figure(s: Samples) -> Lines:
    per_bit = [
        (each.goal, [np.array(values) / s.sizes for values in (each.measured, each.predicted)])
        for each in (s.pairs, s.inputs)
    ]
    return Lines(
        [Line(goal, s.sizes, measured) for goal, (measured, _) in per_bit]
        + [Line(f"{goal}, predicted", s.sizes, p, style="--") for goal, (_, p) in per_bit],
        x="n",
        y="N/n at which half of the runs succeed",
        log="x",
        caption="Samples per bit that one teacher-forced step needs: a straight line here is "
        "n·log n.",
    )


#: Harms are tried at these multiples of the predicted limit.
MULTIPLES = (0.5, 0.8, 1.0, 1.25, 2.0)
#: A rate of runs counts as often from here; a measured limit may be this factor from its formula.
OFTEN, CLOSE = 0.7, 1.5


class HarmCurve(NamedTuple):
    """right: share of runs right on every fair input at MULTIPLES of the predicted limit.

    limit: what half of the runs stand. predicted: the formula.
    """

    name: str
    right: list[Rate]
    limit: float
    predicted: float


class Harmed(NamedTuple):
    """One step on harmed rows.

    curves: by harm. alpha: a shift of the parity set beyond its limit. gap: there, on shifted
    inputs, the accuracy of the chain minus that of the more frequent answer, mean and interval.
    """

    n: int
    k: int
    samples: int
    curves: list[HarmCurve]
    alpha: float
    gap: tuple[float, float, float]


@claim(
    "lab-chain-shift",
    source=OURS,
    title="A small shift leaves the one-step chain alone, a larger one makes it worse than none",
    statement="With probability α all bits of a set A share one sign, or intermediate steps are "
    "stated wrongly. Ours, for n ≥ 64: one teacher-forced step is right on fair inputs up to a "
    "limit with a closed form (near 1/(|A| - 1) for few bits outside the parity set, less a "
    "logarithm over the score; far less for the parity set itself; 0.8/s for a lie about one "
    "child) and wrong beyond; past it, on inputs with a shifted parity set, the chain does worse "
    "than one constant answer.",
    quick={"runs": 4},
    full={"size": (128, 64), "runs": 40},
    settings={"link": "-cos(πt)", "harm": f"{MULTIPLES} of the predicted limit", "inputs": 500},
    seconds=(15, 25, 200),
)
def chain_shift(
    trial: Trial, size: tuple[int, int] = (64, 32), samples: int = 65_536, runs: int = 12
) -> Harmed:
    n, k = size
    trees = random_trees(n, k, runs, key=trial.seed)
    score, eta = step_error(n, k, float(samples), LINK).score, usual_step(n, k, LINK, samples)
    few, none = 8, np.zeros((runs, n), bool)
    outside = np.stack([joined_bits(tree, few, False) for tree in trees])
    inside = np.stack([joined_bits(tree, k, True) for tree in trees])
    harms = {
        f"shift of {few} bits outside the parity set": (
            outside,
            "alpha",
            shift_limit(n, k, few, score, LINK).broken,
        ),
        "shift of the parity set": (
            inside,
            "alpha",
            shift_limit(n, k, k, score, LINK, inside=True).broken,
        ),
        "wrong steps at random": (none, "flips", flips_limit(n, k, float(samples), score, LINK)),
        "lies about one child": (none, "lies", lies_limit(n, k, score, LINK)),
    }
    curves = []
    for name, (joined, kind, limit) in trial.track(harms.items()):
        right = np.stack(
            [
                harmed_steps(
                    trees, joined, Harm(**{kind: m * limit}), samples, eta=eta, key=trial.seed
                ).uniform
                == 1
                for m in MULTIPLES
            ]
        )
        rates = [Rate.of(flags) for flags in right]
        curves.append(HarmCurve(name, rates, half_point(MULTIPLES, ~right) * limit, limit))
    alpha = 0.1
    worse = harmed_steps(trees, inside, Harm(alpha=alpha), samples, eta=eta, key=trial.seed)
    gaps = worse.shifted - worse.constant
    return Harmed(n, k, samples, curves, alpha, (float(gaps.mean()), *mean_interval(gaps)))


@chain_shift.judge
def _chain_shift(h: Harmed) -> Judged:
    ratios = [each.limit / each.predicted for each in h.curves]
    listed = "; ".join(
        f"{each.name} {each.limit:.3f} (predicted {each.predicted:.3f}; at half of it "
        f"{each.right[0]} of runs right, at twice {each.right[-1]})"
        for each in h.curves
    )
    mean, low, high = h.gap
    text = (
        f"n = {h.n}, k = {h.k}, N = {h.samples:,}: half of the runs stand {listed}. At α = "
        f"{h.alpha:g} on the parity set the chain's accuracy on shifted inputs is that of a "
        f"constant answer {mean:+.3f} [{low:+.3f}, {high:+.3f}]."
    )
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "interval": (low, high),
        "runs": sum(rate.runs for each in h.curves for rate in each.right),
        "measured": {
            "limit": {each.name: each.limit for each in h.curves},
            "accuracy minus a constant answer's": mean,
        },
        "predicted": {"limit": {each.name: each.predicted for each in h.curves}},
    }
    early = max(OFTEN - each.right[0].high for each in h.curves)
    unhurt = max(each.right[-1].low - OFTEN for each in h.curves)
    if max(early, unhurt, low) > 0:
        instead = f"Half of the runs stand {listed}."
        return refuted(text, instead=instead, margin=max(early, unhurt, low), **shared)
    rooms = [each.right[0].low - OFTEN for each in h.curves]
    rooms += [OFTEN - each.right[-1].high for each in h.curves]
    rooms += [CLOSE - max(ratio, 1 / ratio) for ratio in ratios]
    room = float(np.min([*rooms, -high]))
    if room > 0:
        return holds(text, margin=room, **shared)
    return undecided(f"{text} A rate, a limit or the gap does not decide.", **shared)


@chain_shift.figure
def _chain_shift_figure(h: Harmed) -> Lines:
    return Lines(
        [Line.of_rates(each.name, MULTIPLES, each.right) for each in h.curves],
        x="harm over its predicted limit",
        y="share of runs right on every fair input",
        log="x",
        caption=f"One teacher-forced step on harmed rows, n = {h.n}, k = {h.k}, 95 % intervals.",
    )

"""Finite data, and what a feed-forward network needs for the same task."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from paritylab.claims.engine import Trial
from paritylab.claims.hg2.one_step import RECONSTRUCTION
from paritylab.claims.registry import claim
from paritylab.claims.verdict import Evidence, Finding, Status
from paritylab.learning import FeedForwardNet, Fresh, learn
from paritylab.learning.xor.parts import usual_width
from paritylab.learning.xor.samples import sample_curve
from paritylab.problem import Parity
from paritylab.statistics import half_point, power_law, threshold_law


@claim(
    "hg2-samples",
    paper="hg2",
    title="Polynomially many samples suffice",
    statement="Abstract of HG2: a sample complexity bound for learning from finite data. Derived "
    "here: N of order n²·ln(n)/m for random positions and n·ln n for one-hot ones.",
    seconds=(8, 16, 60),
)
def samples_claim(trial: Trial) -> Finding:
    sizes = trial.pick(
        quick=(32, 64, 128), default=(32, 64, 128, 256), full=(32, 64, 128, 256, 512, 1024)
    )
    runs = trial.pick(quick=40, default=40, full=200)
    losses = ("squared", "correlation")
    curves = {
        (n, loss): sample_curve(
            n,
            usual_width(n),
            np.geomspace(n, 2.5 * n * n, 14),
            runs=runs,
            loss=loss,
            seed=trial.seed,
        )
        for n in trial.track(sizes)
        for loss in losses
    }
    noisy_n = sizes[-2]
    noisy_grid = np.geomspace(4 * noisy_n, 150 * noisy_n, 12)
    noisy = sample_curve(
        noisy_n, usual_width(noisy_n), noisy_grid, runs=runs, noise=0.2, seed=trial.seed
    )
    laws, halves = {}, {}
    for code in ("onehot", "signs"):
        for loss in losses:
            found = [curves[n, loss] for n in sizes]
            flags = [getattr(curve, code) for curve in found]
            laws[code, loss] = threshold_law(sizes, [curve.samples for curve in found], flags)
            halves[code, loss] = [
                half_point(c.samples, f) for c, f in zip(found, flags, strict=True)
            ]
    cost = half_point(noisy.samples, noisy.onehot) / halves["onehot", "squared"][-2]
    saved = np.array(halves["onehot", "squared"]) / np.array(halves["onehot", "correlation"])
    one, two = laws["onehot", "squared"], laws["signs", "squared"]
    return Finding(
        Status.HOLDS if max(one.high, two.high) < 3 else Status.UNDECIDED,
        Evidence.SAMPLED,
        measured={
            "finding": f"Half of the runs find the pair from N of order n^{one} with one-hot and "
            f"n^{two} with random positions (squared loss). The correlation loss needs "
            f"{np.median(saved):.1f} times fewer rows; 20 % flipped labels {cost:.1f} times more.",
            "exponents": {f"{code}, {loss}": str(law) for (code, loss), law in laws.items()},
            "half_points": {f"{code}, {loss}": each for (code, loss), each in halves.items()},
            "cost_of_20_percent_noise": cost,
        },
        predicted={
            "exponents": {
                "onehot": f"n·ln n: {_slope(sizes, lambda n: n * np.log(n)):.2f}",
                "signs": "n²·ln(n)/m: "
                f"{_slope(sizes, lambda n: n**2 * np.log(n) / usual_width(n)):.2f}",
            },
            "cost_of_20_percent_noise": f"{1 / 0.6**2:.1f}",
        },
        margin=3 - max(one.high, two.high),
        interval=(two.low, two.high),
        runs=runs * len(curves),
        settings={"m": "12 ln n", "threshold": "half of the runs", "model": RECONSTRUCTION},
        series=_samples_figure(sizes, laws, halves),
    )


def _samples_figure(
    sizes: tuple[int, ...], laws: dict[tuple[str, str], Any], halves: dict[tuple[str, str], list]
) -> dict:
    return {
        "kind": "lines",
        "x": {"label": "n", "scale": "log"},
        "y": {"label": "N at which half of the runs succeed", "scale": "log"},
        "lines": [
            {
                "label": f"{code}, {loss}: n^{laws[code, loss].exponent:.2f}",
                "x": list(sizes),
                "y": each,
            }
            for (code, loss), each in halves.items()
        ],
        "caption": "Samples the first step needs to put the pair on top.",
    }


def _slope(sizes: tuple[int, ...], law: Callable[[int], float]) -> float:
    """Exponent that a law shows when fitted over these sizes."""
    return power_law(sizes, [law(n) for n in sizes]).exponent


@claim(
    "hg2-ffnn-bottleneck",
    paper="hg2",
    title="Feed-forward networks need Ω(n) parameters for the same task",
    statement="Abstract of HG2: feed-forward networks need Ω(n) parameters to learn sparse XOR, "
    "which transformers avoid.",
    seconds=(9, 11, 120),
)
def ffnn_claim(trial: Trial) -> Finding:
    sizes = trial.pick(quick=(16, 32, 64), default=(16, 32, 64), full=(16, 32, 64, 128, 256))
    runs, steps = trial.pick(quick=(5, 1000), default=(8, 2000), full=(40, 4000))
    widths = (2, 4, 8, 16)
    needed, blind = {}, {}
    for n in trial.track(sizes):
        data = Fresh(Parity(n, (0, n - 1), sign=-1), 128)
        whole, cut = (
            partial(FeedForwardNet, missing=missing, inputs="signs", steps=steps)
            for missing in ((), (0,))
        )
        for width in widths:
            done = learn(whole(width), data, runs=runs, key=trial.seed)
            if np.any(done.stats["accuracy"] > 0.99):
                needed[n] = int(done.stats["numbers"][0])
                break
        chance = learn(cut(4), data, runs=runs, key=trial.seed)
        blind[n] = float(chance.stats["accuracy"].mean())
    found = len(needed) == len(sizes)
    law = power_law(list(needed), list(needed.values())) if len(needed) > 2 else None
    at_chance = all(abs(rate - 0.5) < 0.05 for rate in blind.values())
    good = found and law is not None and law.low > 0.5 and at_chance
    return Finding(
        Status.HOLDS if good else Status.UNDECIDED,
        Evidence.SAMPLED,
        measured={
            "finding": f"The smallest network that solves XOR from one of {runs} starts has "
            f"{', '.join(f'{v} numbers at n = {n}' for n, v in needed.items())}: n^{law}. Without "
            f"edges to one bit of the pair accuracy is {min(blind.values()):.0%} to "
            f"{max(blind.values()):.0%}: every position needs an edge, as any may be in the pair.",
            "numbers_needed": {str(n): value for n, value in needed.items()},
            "accuracy_without_an_edge": {str(n): value for n, value in blind.items()},
            "two_heads_with_12_ln_n": {str(n): 2 * usual_width(n) for n in sizes},
        },
        predicted={
            "numbers_needed": "≥ n - 1: a first layer blind to two positions is at "
            "chance on that pair"
        },
        margin=None if law is None else law.low - 0.5,
        interval=None if law is None else (law.low, law.high),
        runs=runs * len(sizes) * 2,
        settings={"network": "FFNN-1, Adam 0.01", "rows per step": 128, "widths": list(widths)},
        series={
            "kind": "lines",
            "x": {"label": "n", "scale": "log"},
            "y": {"label": "trained numbers", "scale": "log"},
            "lines": [
                {"label": "feed-forward", "x": list(needed), "y": list(needed.values())},
                {
                    "label": "two heads, m = 12 ln n",
                    "x": list(sizes),
                    "y": [2 * usual_width(n) for n in sizes],
                },
            ],
            "caption": "Numbers that learn the XOR of two unknown bits.",
        },
    )

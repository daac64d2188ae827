"""What Barak et al. derive: majority's Fourier gap, and the flow of a disjoint PolyNet."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from paritylab.claims import BARAK, Line, Lines, Trial, at_least, at_most, claim, note
from paritylab.learning import AllInputs, Descent, learn
from paritylab.learning.neighbours.strings import draw_strings, generator_of
from paritylab.learning.runs import run_keys
from paritylab.models.shallow import DisjointPolyNet
from paritylab.problem import Parity, random_parities
from paritylab.statistics import Rate
from paritylab.theory.neighbours import (
    fourier_gap,
    polynet_end,
    polynet_flow,
    rows_to_rank_by_majority,
)

#: Rows held at once.
PIECE = 1 << 16


def first_gradient(target: Parity, rows: int, key: jax.Array) -> tuple[np.ndarray, tuple[int, ...]]:
    """ĝ_j = mean of y·x_j·1[wᵀx > 0] over fresh rows, w of random signs, and its k largest |ĝ_j|.

    With ŷ = 0 at the start this is minus the gradient of hinge and correlation loss in w, up to the
    output weight. Its mean is half of majority's Fourier coefficient times a sign. n: odd.
    """
    generator = generator_of(key, 0)
    weights = generator.choice(np.array([-1.0, 1.0], np.float32), target.n)
    total = np.zeros(target.n)
    for begin in range(0, rows, PIECE):
        packed, labels = draw_strings(generator, target, (min(PIECE, rows - begin),))
        signs = 1 - 2 * np.unpackbits(packed, axis=-1, count=target.n).astype(np.float32)
        total += (labels * (signs @ weights > 0)) @ signs
    order = np.argsort(-np.abs(total), kind="stable")[: target.k]
    return total / rows, tuple(sorted(order.tolist()))


def names_the_set(targets: Sequence[Parity], rows: int, keys: jax.Array) -> np.ndarray:
    """Flags: the k largest entries of each target's first gradient are exactly B."""
    pairs = zip(targets, keys, strict=True)
    return np.array([first_gradient(t, rows, key)[1] == t.subset for t, key in pairs])


#: Rows over those derived for half of the batches; a ReLU neuron is silent on half of its rows,
#: which halves mean and variance of its gradient, so it needs twice majority's rows.
PLENTY, HALF_SEEN = 4, 2


@claim(
    "barak-fourier-gap",
    BARAK("Fourier gap of majority, k even and n odd"),
    quick={"most": 101, "cells": ((33, 2), (129, 2)), "runs": 12},
    full={"most": 2001, "cells": ((513, 2), (21, 4), (33, 4), (49, 4)), "runs": 60},
    more="runs",
    planted=("a fiftieth of the rows", {"most": 51, "plenty": PLENTY / 50}, "refuted"),
)
def gap(
    trial: Trial,
    most: int = 301,
    cells: Sequence[tuple[int, int]] = ((33, 2), (129, 2), (13, 4), (17, 4)),
    runs: int = 14,
    *,
    plenty: float = PLENTY,
) -> Iterator[Any]:
    """Majority's Fourier gap ranks the hidden set from one batch, k = 2 and 4.

    For k even and n odd, n ≥ 2k, majority's coefficients obey |ξ_{k-1}| = ((n-k)/(k-1))·|ξ_{k+1}|,
    and their gap is at least 0.03·(n-1)^(-(k-1)/2); so one batch of order n^(k-1)·ln n rows puts
    the hidden set on top of a ReLU neuron's first gradient at random sign weights. Here a batch has
    4 times the rows derived for half of the batches. n ≥ 2k is our condition: the gap is 0 at
    n = 2k - 1 and negative below.
    """
    pairs = [(n, k) for n in range(5, most + 1, 2) for k in range(2, n // 2 + 1, 2)]
    gaps = [fourier_gap(n, k) for n, k in pairs]
    errors = [
        abs(g.on * (k - 1) / ((n - k) * g.off) - 1) for g, (n, k) in zip(gaps, pairs, strict=True)
    ]
    ratios = np.array([(g.on - g.off) / g.bound for g in gaps])
    n, k = pairs[int(ratios.argmin())]
    yield at_most(f"ratio of the coefficients, relative error, n ≤ {most}", max(errors), 1e-9)
    least = f"least gap over the bound, n ≤ {most} (at n = {n}, k = {k})"
    yield at_least(least, float(ratios.min()), 1)
    for n, k in trial.track(cells):
        rows = math.ceil(plenty * HALF_SEEN * rows_to_rank_by_majority(n, k))
        targets = random_parities(n, k, runs, key=trial.seed)
        named = Rate.of(names_the_set(targets, rows, run_keys(trial.seed, 0, runs)))
        yield at_least(f"batches of {rows:,} rows that rank B, n = {n}, k = {k}", named, 0.5)
        factor = rows / (n ** (k - 1) * math.log(n))
        yield note(f"those rows over n^(k-1)·ln n, n = {n}, k = {k}", factor)


@claim(
    "barak-polynet",
    BARAK("disjoint PolyNet, correlation loss (solution ours)"),
    quick={"runs": 4, "steps": 100},
    full={"k": 4, "runs": 40, "steps": 2000},
    evidence="numerical",
    planted=(
        "descent on the squared loss, which another flow describes",
        {"loss": "squared"},
        "refuted",
    ),
)
def polynet(
    trial: Trial,
    block: int = 3,
    k: int = 3,
    runs: int = 12,
    steps: int = 200,
    *,
    loss: str = "correlation",
) -> Iterator[Any]:
    """A disjoint PolyNet of k = 3 blocks moves on the hidden bits only, by one quadrature.

    The gradient flow of ŷ = Π_i w_iᵀx_{P_i} on the correlation loss, one hidden bit in each block,
    is v̇_i = Π_{j≠i} v_j on the hidden bits and 0 elsewhere. From equal weights v it ends at the
    time 1/((k-2)·v^(k-2)). Descent on all inputs starts uniform in ±(0.3, 0.9) with Πv > 0 and
    runs for 0.7 of the time at which the first flow ends; half the rate halves its distance from
    the flow.
    """
    n = k * block
    target = Parity(n, tuple(range(0, n, block)))
    draw = partial(_start, k=k, block=block)
    keys = run_keys(trial.seed, 0, runs)
    starts = np.stack([np.asarray(draw(jax.random.split(key)[1]).weights) for key in keys])
    lasting = [polynet_end(start[:, 0]) for start in starts]
    time = 0.7 * min(lasting)
    there = np.stack([polynet_flow(start[:, 0], time) for start in starts])

    def descended(steps: int) -> Any:
        learner = Descent(draw, loss, "sgd", time / steps, steps)
        return learn(learner, AllInputs(target), runs=runs, key=trial.seed, trace=steps // 10)

    coarse, fine = descended(steps), descended(2 * steps)
    ends = [np.asarray(each.numbers[0]) for each in (coarse, fine)]
    apart = [float(np.max(np.abs(end[:, :, 0] / there - 1))) for end in ends]
    still = float(max(np.max(np.abs(end - starts)[:, :, 1:]) for end in ends))
    equal = [(v, size) for v in (0.1, 0.3, 1.0) for size in (3, 4, 6)]
    last = [polynet_end(np.full(size, v)) * (size - 2) * v ** (size - 2) for v, size in equal]
    where = f"n = {n}, k = {k}"
    yield at_most(f"largest movement of a weight off the hidden bits, {where}", still, 1e-9)
    error = max(abs(each - 1) for each in last)
    yield at_most("end of the flow for equal weights, relative error", error, 1e-6)
    yield at_most(f"distance from the flow at half the rate, {where}", apart[1], 0.05)
    yield note(f"distance from the flow at the full rate, {where}", apart[0])
    halving = f"distance of descent from the flow, half the rate over the full rate, {where}"
    yield at_most(halving, apart[1] / apart[0], 0.7)
    times = fine.trace["step"] * time / (2 * steps)
    first = int(np.argmin(lasting))
    least = int(np.argmin(np.abs(starts[first, :, 0])))
    flow = [polynet_flow(starts[first, :, 0], float(t))[least] for t in times]
    yield Lines(
        [
            Line("descent", times, fine.trace["weights"][first, :, least, 0]),
            Line("flow", times, flow, style="--"),
        ],
        x="time",
        y="smallest weight on a hidden bit",
        caption="One run: slow for most of the time, then all at once.",
    )


def _start(key: Any, k: int, block: int) -> DisjointPolyNet:
    """Weights uniform in ±(0.3, 0.9), those on the hidden bits with a positive product."""
    generator = generator_of(key, 0)
    weights = generator.uniform(0.3, 0.9, (k, block)) * generator.choice([-1.0, 1.0], (k, block))
    weights[0, 0] *= np.sign(np.prod(weights[:, 0]))
    return DisjointPolyNet(weights)

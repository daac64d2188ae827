"""Sign descent with z^k: the population's path in closed form, and rows that suffice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from paritylab.claims import KOU, Line, Lines, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, finding, note
from paritylab.claims.half_points import HalfPoints
from paritylab.learning import Fresh, Population, SignDescent, learn
from paritylab.learning.runs import run_keys
from paritylab.models.shallow import ShallowNet
from paritylab.problem import Parity, random_parities
from paritylab.problem.sampling import each_key
from paritylab.statistics import Rate
from paritylab.theory.neighbours import sign_path

#: Rows a step over n^(k-1) by k, in steps of 1.5.
FACTORS = {
    2: tuple(4 * 1.5**power for power in range(6)),
    3: tuple(1.3 * 1.5**power for power in range(7)),
    4: tuple(2.0**power for power in range(6)),
}


@claim(
    "kou-dynamics",
    KOU("proof idea: good neurons keep the hidden bits (closed forms ours)"),
    quick={"runs": 6, "rows": 2048},
    full={"n": 40, "runs": 40, "rows": 262_144},
    more="runs",
    planted=(
        "weights that decay half as fast as the closed form says",
        {"decay": 0.5},
        "refuted",
    ),
)
def dynamics(
    trial: Trial, n: int = 14, runs: int = 12, rows: int = 4096, *, decay: float = 1.0
) -> Iterator[Any]:
    """Sign descent at k = 3 keeps the hidden weights of good neurons and forgets all else.

    The net is Σ a_r (w_r·x)^k with fair signs a_r, which stay, and w_r(0); the loss is 1 - yŷ. On
    the population the gradient of a neuron is a·k!·Π_{i∈B, i≠j} w_i on the hidden set and 0 off it
    (algebra, in the unit tests). So neurons with a = Πw keep |w| = 1 on B, the others lose it, and
    off B |w| is (1-ηλ)^t. On enough rows the path is the same. The decay 1 and the dead zone
    0.1·k! are recalled (the full text is not at hand); the rate 0.1, 40 steps and 16·2^k neurons
    are ours.
    """
    learner, targets = SignDescent(decay=decay), random_parities(n, 3, runs, key=trial.seed)
    path = sign_path(3, learner.eta, 1.0, learner.threshold, learner.steps)
    exact = learn(learner, Population(targets), key=trial.seed)
    trial.report(0.3)
    sampled = learn(learner, Fresh(targets, rows), key=trial.seed, trace=1)
    keys = each_key(run_keys(trial.seed, 0, runs))
    halves = [jax.random.split(key)[1] for key in keys]
    starts = [learner.draw(*pair) for pair in zip(halves, targets, strict=True)]
    good = np.stack([_is_good(*pair) for pair in zip(starts, targets, strict=True)])
    inside = np.stack([target.indicator > 0 for target in targets])[:, None, :]
    on_b = np.where(good, path.kept[-1], path.lost[-1])[:, :, None]
    first = np.stack([np.asarray(start.hidden) for start in starts])
    ends = np.where(inside, on_b, path.off[-1]) * first
    weights, share = np.abs(sampled.trace["hidden"]).mean(axis=2), float(good.mean())
    on, off = (np.mean(weights, axis=2, where=part).mean(axis=0) for part in (inside, ~inside))
    on_path = share * path.kept[:-1] + (1 - share) * np.abs(path.lost[:-1])
    apart = max(np.abs(on - on_path).max(), np.abs(off - path.off[:-1]).max())
    off_path = np.abs(exact.numbers["hidden"] - ends).max()
    yield at_most("weights after descent on the population, error of that form", off_path, 1e-4)
    yield at_most(f"mean |w| from {rows:,} rows a step, distance from that form", apart, 0.1)
    solved = Rate.of(sampled.solved)
    yield at_least(f"runs on {rows:,} rows a step that are right", solved, 0.5)
    yield finding(
        f"With {rows:,} rows a step the mean weights stay within {apart:.2g} of the closed form, "
        f"and {solved.count} runs are right.",
        "holds",
    )
    steps = np.arange(len(on))
    yield Lines(
        [
            Line("on B, from rows", steps, on),
            Line("on B, closed form", steps, on_path, style="--"),
            Line("off B, from rows", steps, off),
            Line("off B, closed form", steps, path.off[:-1], style="--"),
        ],
        x="step",
        y="mean |w|",
        caption="Sign descent: neurons whose sign is wrong lose B, everyone loses the rest.",
    )


def _is_good(start: ShallowNet, target: Parity) -> np.ndarray:
    """Neurons whose output has the sign of the product of their hidden weights."""
    product = np.prod(np.asarray(start.hidden)[:, list(target.subset)], axis=1)
    return np.asarray(start.output) * target.sign == product


@claim(
    "kou-samples",
    KOU("Abstract", reading="abstract"),
    quick={"sizes": {2: (28, 84)}, "factors": {2: (4, 9, 20, 30)}, "runs": 12},
    full={
        "sizes": {2: (16, 32, 64, 128, 256), 3: (12, 17, 24, 34, 48), 4: (12, 16, 20)},
        "runs": 40,
    },
    more="runs",
    planted=("labels without a rule: half of them are flipped", {"noise": 0.4999}, "refuted"),
)
def samples(
    trial: Trial,
    sizes: Mapping[int, Sequence[int]] = {2: (28, 56, 112), 3: (10, 16, 26)},
    factors: Mapping[int, Sequence[float]] = FACTORS,
    runs: int = 24,
    *,
    noise: float = 0.0,
) -> Iterator[Any]:
    """Rows of order n^(k-1) suffice for sign descent, k = 2 and 3.

    Sign descent on a net of 2^Θ(k) neurons learns k-parity from Õ(n^(k-1)) samples. Here: with
    30n rows a step at k = 2 and 15n² at k = 3, 40 steps, most runs are right at every n, and the
    rows that half of them need grow no faster than n^(k-1)·ln n. The net is that of kou-dynamics
    with 8·2^k neurons. Rows are tried in steps of 1.5; the intervals of the exponents do not count
    that step.
    """
    for k, each in sizes.items():
        needed = HalfPoints()
        power = "n" if k == 2 else f"n^{k - 1}"
        for n in trial.track(each):
            drawn = random_parities(n, k, runs, key=trial.seed)
            targets = [replace(target, noise=noise) for target in drawn]
            grid = [round(factor * n ** (k - 1)) for factor in factors[k]]
            flags = [
                learn(SignDescent(8 * 2**k), Fresh(targets, rows), key=trial.seed).solved
                for rows in grid
            ]
            half = needed.add(n, np.array(grid) / np.log(n), flags)
            label = f"runs right with {factors[k][-1]:.2g}{power} rows a step, n = {n}, k = {k}"
            yield at_least(label, Rate.of(flags[-1]), 0.5)
            label = f"rows a step for half of the runs over ln n, n = {n}, k = {k}"
            yield note(label, half)
        label = f"exponent in n of the rows that half of the runs need over ln n, k = {k}"
        yield at_most(label, needed.law(), k - 1)

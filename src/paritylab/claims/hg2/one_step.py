"""One step, every input: how the worst-case error falls with n, and how few numbers it takes."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from paritylab.claims import HG2, Line, Lines, SideBySide, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, note
from paritylab.learning.xor.exact import SOLVED_ERROR
from paritylab.learning.xor.parts import default_gain, usual_width
from paritylab.learning.xor.stream import StreamedStep, smallest_xor_width, streamed_step
from paritylab.problem.sampling import seed_of
from paritylab.statistics import Rate, power_law
from paritylab.theory.hg2 import median_worst_error

#: The largest error must fall at least like this power of n to be called near 0 in the end.
FALLS = -0.5


def _draws(n: int, gains: Any, draws: int, seed: int, **options: Any) -> StreamedStep:
    """Several draws of positions, their pairs side by side."""
    done = [
        streamed_step(n, usual_width(n), gains, seed=seed_of(seed, draw), **options)
        for draw in range(draws)
    ]
    pairs_found = np.concatenate([step.pairs for step in done])
    rest = zip(*(step[1:] for step in done), strict=True)
    return StreamedStep(pairs_found, *(np.concatenate(parts, axis=-1) for parts in rest))


@claim(
    "hg2-one-step",
    HG2("Abstract"),
    quick={"sizes": (64, 256, 1024, 4096, 16_384), "draws": 8},
    full={"sizes": tuple(2**power for power in range(6, 21)), "draws": 40},
    more="draws",
    planted=(
        "a gain of 6 at every n, too small to isolate the pair",
        {"sizes": (64, 256, 1024, 4096), "gain": lambda n: 6.0},
        "refuted",
    ),
)
def one_step_claim(
    trial: Trial,
    sizes: Sequence[int] = (64, 256, 1024, 4096, 16_384, 65_536, 1_000_000),
    draws: int = 10,
    *,
    gain: Callable[[int], float] = default_gain,
) -> Iterator[Any]:
    """One gradient step drives the loss of every input to nearly 0 as n grows.

    Two softmax heads on fixed positions learn y = -x_i·x_j in one gradient step, with a loss near 0
    on every input, as n grows. In our reconstruction (docs/hg2.md): positions of 12 ln n random
    signs, gain 2 ln n + 6; the median of the worst |ŷ - y| over inputs falls at least like n^-½,
    and at the largest n more than half of the pairs have ½(ŷ-y)² ≤ 0.01 on every input. Each draw
    of positions has 5 pairs; above n = 100,000 there are 4 draws.
    """
    gains, found, mapped = np.geomspace(4, 400, 13), [], []
    for n in trial.track(sizes):
        few = 4 if n > 100_000 else draws
        found.append(_draws(n, [gain(n)], few, trial.seed, pairs=5))
        if n <= 5000:
            errors = np.median(_draws(n, gains, 4, trial.seed, pairs=5).error, axis=1)
            mapped.append(Line(f"n = {n}", gains, np.maximum(errors, 1e-8)))
    even = _draws(sizes[0], [default_gain(sizes[0])], 4 * draws, trial.seed, pairs=5, balanced=True)
    median = np.array([np.median(step.error) for step in found])
    solved = [Rate.of(step.error <= SOLVED_ERROR) for step in found]
    first, last = f"n = {sizes[0]}", f"n = {sizes[-1]:,}"
    yield at_most("power of n of the median worst error", power_law(sizes, median), FALLS)
    yield at_least(f"pairs right on every input, {last}", solved[-1], 0.5)
    for n, rate in zip(sizes[:-1], solved[:-1], strict=True):
        yield note(f"pairs right on every input, n = {n:,}", rate)
    balanced = Rate.of(even.error <= SOLVED_ERROR)
    yield note(f"pairs right on every input, balanced positions, {first}", balanced)
    ranked = Rate.of(np.concatenate([step.ranked for step in found]))
    yield note("pairs that get the largest weights, all n", ranked)
    unit = power_law(sizes, median * sizes / np.log(sizes))
    yield note("power of n of the median worst error over ln n / n", unit)
    yield note(f"largest worst error, {last}", found[-1].error.max())
    # What the unequal weights of the pair cost, since the mean position is not 0.
    derived = [median_worst_error(n, usual_width(n), default_gain(n)) for n in sizes]
    worst = "worst |ŷ - y| over all inputs (median)"
    lines = [Line("measured", sizes, median), Line("predicted", sizes, derived, style="--")]
    yield SideBySide(
        [
            Lines(lines, x="n", y=worst, log="xy"),
            Lines(mapped, x="gain β", y=worst, log="xy"),
        ],
        caption="Left: the residual error after one step. Right: the window of gains; too small a "
        "gain leaves weight on other positions, too large a gain splits the pair unevenly.",
    )


#: A width that grows like this power of n, or faster, is not taken for polylogarithmic.
SMALLEST_POWER = 0.25


@claim(
    "hg2-params",
    HG2("Abstract"),
    quick={"sizes": (64, 256, 1024, 4096, 16_384)},
    full={"sizes": tuple(4**power for power in range(3, 11)), "draws": 20},
    planted=(
        "widths that grow like √n",
        {"search": lambda n, *given, **more: round(4 * n**0.5)},
        "refuted",
    ),
)
def params_claim(
    trial: Trial,
    sizes: Sequence[int] = (64, 256, 1024, 4096, 16_384, 65_536),
    draws: int = 10,
    *,
    search: Callable[..., int] = smallest_xor_width,
) -> Iterator[Any]:
    """polylog(n) trainable numbers are enough for one step.

    O(polylog n) trainable parameters suffice. In our reconstruction (docs/hg2.md): 2m numbers, with
    m the width of the positions; the least m that is right on every input, ½(ŷ-y)² ≤ 0.01, grows
    slower than n^¼. m is searched on a grid of ratio 2^¼ with 10 pairs a draw, balanced positions
    and gain 4 ln n + 12.
    """
    rank, every = [], []
    for n in trial.track(sizes):
        width = partial(search, n, gain=2 * default_gain(n), seed=trial.seed)
        rank.append(width("rank", draws=draws, pairs=10))
        every.append(width("every", draws=draws, pairs=10, balanced=True))
    power, label = power_law(sizes, every), "power of n of the least width right on every input"
    yield at_most(label, power, SMALLEST_POWER)
    yield note("the same as a power of ln n", power_law(np.log(sizes), every))
    yield note(f"trained numbers right on every input, n = {sizes[-1]:,}", 2 * every[-1])
    yield Lines(
        [
            Line("ranks every pair", sizes, rank),
            Line("every input, balanced", sizes, every),
            Line("12 ln n", sizes, 12 * np.log(sizes), style="--"),
        ],
        x="n",
        y="smallest width m",
        log="x",
        caption="Numbers per head that one step needs.",
    )

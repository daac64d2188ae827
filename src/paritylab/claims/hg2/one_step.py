"""One step, every input: how the worst-case error falls with n, and with how many numbers."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import HG2, Line, Lines, Trial, at_least, at_most, claim, note
from paritylab.learning.xor.exact import SOLVED_ERROR, default_gain, usual_width
from paritylab.learning.xor.stream import StreamedStep, smallest_xor_width, streamed_step
from paritylab.problem.sampling import seed_of
from paritylab.statistics import Rate, power_law
from paritylab.theory.hg2 import median_worst_error

#: The largest error must fall at least like this power of n to be called near 0 in the end.
FALLS = -0.5


@claim(
    "hg2-one-step",
    HG2("Abstract"),
    quick={"sizes": (64, 256, 1024, 4096, 16_384), "draws": 8},
    full={"draws": 40},
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

    def step(n: int, beta: float, several: int, **positions: bool) -> list[StreamedStep]:
        width, seeds = usual_width(n), [seed_of(trial.seed, draw) for draw in range(several)]
        return [streamed_step(n, width, [beta], pairs=5, seed=each, **positions) for each in seeds]

    errors, ranked = {}, []
    for n in trial.track(sizes):
        found = step(n, gain(n), 4 if n > 100_000 else draws)
        errors[n] = np.concatenate([each.error.ravel() for each in found])
        ranked += [flag for each in found for flag in each.ranked.ravel()]
    median = np.array([np.median(each) for each in errors.values()])
    yield at_most("power of n of the median worst error", power_law(sizes, median), FALLS)
    for n, each in errors.items():
        label, right = f"pairs right on every input, n = {n:,}", Rate.of(each <= SOLVED_ERROR)
        yield at_least(label, right, 0.5) if n == sizes[-1] else note(label, right)
    n = sizes[0]
    even = step(n, default_gain(n), 4 * draws, balanced=True)
    right = Rate.of(np.concatenate([each.error.ravel() for each in even]) <= SOLVED_ERROR)
    yield note(f"pairs right on every input, balanced positions, n = {n}", right)
    yield note("pairs that get the largest weights, all n", Rate.of(np.array(ranked)))
    unit = power_law(sizes, median * sizes / np.log(sizes))
    yield note("power of n of the median worst error over ln n / n", unit)
    yield note(f"largest worst error, n = {sizes[-1]:,}", errors[sizes[-1]].max())
    # What the unequal weights of the pair cost, since the mean position is not 0.
    derived = [median_worst_error(n, usual_width(n), default_gain(n)) for n in sizes]
    lines = [Line("measured", sizes, median), Line("predicted", sizes, derived, style="--")]
    yield Lines(lines, x="n", y="worst |ŷ - y| over all inputs (median)", log="xy")


#: A width that grows like this power of n, or faster, is not taken for polylogarithmic.
SMALLEST_POWER = 0.25


@claim(
    "hg2-params",
    HG2("Abstract"),
    quick={"sizes": (64, 256, 1024, 4096, 16_384)},
    full={"draws": 20},
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
    """polylog(n) trainable numbers are enough for one step; feed-forward networks need Ω(n).

    O(polylog n) trainable parameters suffice, where feed-forward networks need Ω(n). In our
    reconstruction (docs/hg2.md): 2m numbers, with m the width of the positions; the least m that is
    right on every input, ½(ŷ-y)² ≤ 0.01, grows slower than n^¼. m is searched on a grid of ratio
    2^¼ with 10 pairs a draw, balanced positions and gain 4 ln n + 12. A network that serves every
    pair has an edge to at least n - 1 positions, since blind to two it misses their pair; at the
    largest n two heads have fewer trained numbers than that. They also read n positions of width m,
    which are not trained.
    """
    given: dict[str, Any] = {"draws": draws, "pairs": 10, "seed": trial.seed}
    every = np.array(
        [
            search(n, "every", gain=2 * default_gain(n), balanced=True, **given)
            for n in trial.track(sizes)
        ]
    )
    power, label = power_law(sizes, every), "power of n of the least width right on every input"
    yield at_most(label, power, SMALLEST_POWER)
    yield note("the same as a power of ln n", power_law(np.log(sizes), every))
    for n, width in zip(sizes, every, strict=True):
        yield note(f"trained numbers right on every input, n = {n:,}", 2 * width)
    last = sizes[-1]
    label = f"trained numbers of two heads, fewer than the n - 1 edges, n = {last:,}"
    yield at_most(label, 2 * every[-1], last - 2)
    yield note(f"fixed numbers in the heads' positions, n = {last:,}", last * every[-1])
    usual = next(n for n in range(4, 10**6) if 2 * usual_width(n) < n - 1)
    yield note("least n at which heads of width 12 ln n have fewer", usual)
    ranks = search(last, "rank", gain=2 * default_gain(last), **given)
    yield note(f"trained numbers that rank every pair, n = {last:,}", 2 * ranks)

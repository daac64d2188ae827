"""One step, every input: how the worst-case error falls with n."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import HG2, Line, Lines, Trial, at_least, at_most, claim, note
from paritylab.learning.xor.exact import SOLVED_ERROR, default_gain, usual_width
from paritylab.learning.xor.stream import StreamedStep, streamed_step
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

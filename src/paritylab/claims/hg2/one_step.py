"""One step, every input: how the worst-case error falls with n, and how few numbers it takes."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from paritylab.claims import (
    HG2,
    Judged,
    Line,
    Lines,
    SideBySide,
    Trial,
    claim,
    drawn,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning.xor.exact import SOLVED_ERROR
from paritylab.learning.xor.parts import default_gain, usual_width
from paritylab.learning.xor.stream import StreamedStep, smallest_xor_width, streamed_step
from paritylab.problem.sampling import seed_of
from paritylab.statistics import PowerLaw, Rate, power_law
from paritylab.theory.hg2 import median_worst_error

RECONSTRUCTION = "our reconstruction of the model, from the published abstract (docs/hg2.md)"
#: How a finding about HG2 begins: it is one about the reconstruction.
REPRODUCED = "In our reconstruction: reproduced."
CHANGED = "In our reconstruction: needs a change."
COUNTEREXAMPLE = "In our reconstruction: counterexample found."


def _draws(n: int, gains: Any, draws: int, seed: int, **options: Any) -> StreamedStep:
    """Several draws of positions, their pairs side by side."""
    done = [
        streamed_step(n, usual_width(n), gains, seed=seed_of(seed, draw), **options)
        for draw in range(draws)
    ]
    pairs_found = np.concatenate([step.pairs for step in done])
    rest = zip(*(step[1:] for step in done), strict=True)
    return StreamedStep(pairs_found, *(np.concatenate(parts, axis=-1) for parts in rest))


@record()
class FirstStep:
    """One step from zero at gain 2 ln n + 6, one entry per size.

    median: of the largest |ŷ - y| over all inputs. unit: the power of n in median·n/ln n. solved:
    ½(ŷ-y)² ≤ 0.01 on every input; balanced: at the smallest n if every coordinate of the positions
    is balanced. largest: |ŷ - y| at the largest n. window: gains, and the median error at each.
    """

    n: list[int]
    median: np.ndarray = shown("median worst error", by="sizes", against="derived")
    law: PowerLaw = shown("power of n of the median worst error")
    unit: PowerLaw = shown("power of n beside ln n / n", predicted=0)
    solved: list[Rate] = shown("right on every input", by="sizes", predicted="all in the limit")
    ranked: Rate = shown("pairs with the largest weights", counts=False)
    largest: float = shown("largest worst error at the largest n")
    balanced: Rate = shown("right on every input at the smallest n, balanced positions")
    window: tuple[np.ndarray, np.ndarray]

    @property
    def sizes(self) -> list[str]:
        return [f"n = {n:,}" for n in self.n]

    @property
    def derived(self) -> list[float]:
        """What the unequal weights of the pair cost, since the mean position is not 0."""
        return [median_worst_error(n, usual_width(n), default_gain(n)) for n in self.n]


#: The largest error must fall at least like this power of n to be called near 0 in the end.
FALLS = -0.5


@claim(
    "hg2-one-step",
    source=HG2("Abstract"),
    title="One gradient step drives the loss of every input to nearly 0",
    statement="Two softmax heads on fixed positions learn y = -x_i·x_j in one gradient step, with "
    "a loss near 0 on every input, as n grows.",
    quick={"sizes": (64, 256, 1024, 4096, 16_384), "draws": 8},
    full={"sizes": tuple(2**power for power in range(6, 21)), "draws": 40},
    settings={
        "m": "12 ln n",
        "gain": "2 ln n + 6",
        "pairs per draw of positions": 5,
        "draws above n = 100,000": 4,
        "every input": "½(ŷ-y)² ≤ 0.01 at the worst input",
        "model": RECONSTRUCTION,
    },
    seconds=(1, 4, 120),
)
def one_step_claim(
    trial: Trial,
    sizes: Sequence[int] = (64, 256, 1024, 4096, 16_384, 65_536, 1_000_000),
    draws: int = 10,
    *,
    gain: Callable[[int], float] = default_gain,
) -> FirstStep:
    gains, found, mapped = np.geomspace(4, 400, 13), [], []
    for n in trial.track(sizes):
        few = 4 if n > 100_000 else draws
        found.append(_draws(n, [gain(n)], few, trial.seed, pairs=5))
        if n <= 5000:
            mapped.append(np.median(_draws(n, gains, 4, trial.seed, pairs=5).error, axis=1))
    even = _draws(sizes[0], [default_gain(sizes[0])], 4 * draws, trial.seed, pairs=5, balanced=True)
    median = np.array([np.median(step.error) for step in found])
    return FirstStep(
        list(sizes),
        median,
        power_law(sizes, median),
        power_law(sizes, median * sizes / np.log(sizes)),
        [Rate.of(step.error <= SOLVED_ERROR) for step in found],
        Rate.of(np.concatenate([step.ranked for step in found])),
        float(found[-1].error.max()),
        Rate.of(even.error <= SOLVED_ERROR),
        (gains, np.array(mapped)),
    )


@one_step_claim.judge
def _one_step(s: FirstStep) -> Judged:
    law, last = s.law, s.solved[-1]
    text = (
        f"The pair is found in {s.ranked}. The largest |ŷ - y| over all inputs falls like "
        f"n^{law}, or (ln n / n)·n^{s.unit}; at n = {s.n[-1]:,} {last} have "
        f"½(ŷ-y)² ≤ 0.01 on every input and the largest error is {s.largest:.1e}. At n = {s.n[0]} "
        f"{s.solved[0]} have, and {s.balanced} if every coordinate of the positions is balanced."
    )
    if law.high < FALLS and last.low > 0.5:
        margin = min(FALLS - law.high, last.low - 0.5)
        return holds(f"{REPRODUCED} {text}", margin=margin, interval=law)
    if law.low > FALLS or last.high < 0.5:
        instead = f"The largest error changes like n^{law}; {last} are right at n = {s.n[-1]:,}."
        margin = max(law.low - FALLS, 0.5 - last.high)
        return refuted(f"{COUNTEREXAMPLE} {text}", instead=instead, margin=margin, interval=law)
    return undecided(f"{text} The law or the last share does not decide.", interval=law)


@one_step_claim.planted("a gain of 6 at every n, too small to isolate the pair", turns="refuted")
def _small_gain(trial: Trial) -> FirstStep:
    return one_step_claim.measure(trial, (64, 256, 1024, 4096), draws=8, gain=lambda n: 6.0)


@one_step_claim.overview
def _one_step_overview(s: FirstStep) -> Lines:
    title = (
        f"One step on two heads learns the XOR of 2 bits of {s.n[-1]:,}: right on every input in "
        f"{s.solved[-1].count}."
    )
    return Lines(
        [Line("measured", s.n, s.median), Line("predicted", s.n, s.derived, style="--")],
        x="n, the number of bits",
        y="worst error over all inputs",
        log="xy",
        title=title,
    )


@one_step_claim.figure
def _one_step_figure(s: FirstStep) -> SideBySide:
    gains, mapped = s.window
    measured = Lines(
        [Line("measured", s.n, s.median), Line("predicted", s.n, s.derived, style="--")],
        x="n",
        y="worst |ŷ - y| over all inputs (median)",
        log="xy",
    )
    lines = [
        Line(f"n = {n}", gains, np.maximum(each, 1e-8))
        for n, each in zip(s.n, mapped, strict=False)
    ]
    window = Lines(lines, x="gain β", y="worst |ŷ - y| (median)", log="xy")
    return SideBySide(
        [measured, window],
        caption="Left: the residual error after one step. Right: the window of gains; too small a "
        "gain leaves weight on other positions, too large a gain splits the pair unevenly.",
    )


@record()
class Widths:
    """The width m one step needs, one entry per size; 2m numbers are trained.

    rank: smallest m that ranks every pair tried. every: smallest m that is right on every input,
    with balanced positions. pairs: tried per size and width.
    """

    n: np.ndarray
    rank: np.ndarray = shown("width at which every pair is ranked first", by="sizes")
    every: np.ndarray = shown("width that is right on every input", by="sizes")
    power: PowerLaw = shown("its growth as a power of n", predicted="0, beyond every power of ln n")
    power_of_log: PowerLaw = shown("its growth as a power of ln n")
    pairs: int = drawn(by="sizes")

    @property
    def sizes(self) -> list[str]:
        return [f"n = {n:,}" for n in self.n]


#: A width that grows like this power of n, or faster, is not taken for polylogarithmic.
SMALLEST_POWER = 0.25


@claim(
    "hg2-params",
    source=HG2("Abstract"),
    title="polylog(n) trainable numbers are enough",
    statement="O(polylog n) trainable parameters suffice; here 2m numbers, with m the width of the "
    "positions.",
    quick={"sizes": (64, 256, 1024, 4096, 16_384)},
    full={"sizes": tuple(4**power for power in range(3, 11)), "draws": 20},
    settings={
        "pairs per draw": 10,
        "grid of m": "ratio 2^(1/4)",
        "gain": "4 ln n + 12",
        "every input": "½(ŷ-y)² ≤ 0.01 at the worst input",
        "model": RECONSTRUCTION,
    },
    seconds=(4, 6, 200),
)
def params_claim(
    trial: Trial,
    sizes: Sequence[int] = (64, 256, 1024, 4096, 16_384, 65_536),
    draws: int = 10,
    *,
    search: Callable[..., int] = smallest_xor_width,
) -> Widths:
    rank, every = [], []
    for n in trial.track(sizes):
        width = partial(search, n, gain=2 * default_gain(n), seed=trial.seed)
        rank.append(width("rank", draws=draws, pairs=10))
        every.append(width("every", draws=draws, pairs=10, balanced=True))
    laws = power_law(sizes, every), power_law(np.log(sizes), every)
    return Widths(np.asarray(sizes), np.asarray(rank), np.asarray(every), *laws, 10 * draws)


@params_claim.judge
def _params(w: Widths) -> Judged:
    power, n, m = w.power, w.n[-1], w.every[-1]
    margin = max(SMALLEST_POWER - power.high, power.low - SMALLEST_POWER)
    seen = (
        f"{2 * m} trained numbers are right on every input at n = {n:,} ({w.pairs} pairs); from "
        f"n = {w.n[0]} on the width grows like n^{power}, or (ln n)^{w.power_of_log}"
    )
    if power.high < SMALLEST_POWER:
        left = f"powers above n^{power.high:.2f} are excluded, n^{power.exponent:.2f} is not"
        return holds(f"{REPRODUCED} {seen}: {left}.", margin=margin, interval=power)
    if power.low > SMALLEST_POWER:
        instead = f"The width grows at least like n^{power.low:.2f} at the sizes tried."
        return refuted(f"{COUNTEREXAMPLE} {seen}.", instead=instead, margin=margin, interval=power)
    return undecided(f"{seen}: n^{SMALLEST_POWER} is not excluded.", interval=power)


@params_claim.planted("widths that grow like √n", turns="refuted")
def _wide(trial: Trial) -> Widths:
    return params_claim.measure(trial, search=lambda n, *given, **more: round(4 * n**0.5))


@params_claim.figure
def _params_figure(w: Widths) -> Lines:
    return Lines(
        [
            Line("ranks every pair", w.n, w.rank),
            Line("every input, balanced", w.n, w.every),
            Line("12 ln n", w.n, 12 * np.log(w.n), style="--"),
        ],
        x="n",
        y="smallest width m",
        log="x",
        caption="Numbers per head that one step needs.",
    )

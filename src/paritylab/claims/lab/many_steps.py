"""Many steps on the same rows against one: how many rows a pair, four tokens or a chain need."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import optax

from paritylab.claims import (
    OURS,
    Estimate,
    Line,
    Lines,
    Trial,
    at_least,
    at_most,
    claim,
    control,
    note,
    within,
)
from paritylab.claims.lab.gaps import gap_curve
from paritylab.claims.lab.half_points import half_point_estimate, quotient
from paritylab.claims.lab.pair_descent import (
    Descent,
    Learner,
    chain_rows,
    descend,
    found_curve,
    knows_the_children,
    lead_after_one_step,
    parity_rows,
)
from paritylab.statistics import Mean, Rate, threshold_law
from paritylab.theory.gaps import link_noise, link_signal, matched_link, rows_to_find_links
from paritylab.theory.ks import samples_for_every_pair

#: Steps of Adam for a pair, and for more than a pair; the step size.
STEPS, LONG, RATE = 60, 150, 0.3
#: N is tried at these multiples of M; for four tokens and for a chain, at these multiples of the N
#: that one step is predicted to need.
PARTS = np.geomspace(0.35, 4.0, 7)
PARTS_OF_ONE_STEP, PARTS_OF_CHAIN = np.geomspace(0.01, 0.6, 7), np.geomspace(0.05, 0.8, 5)
adam: Learner = partial(descend, how=Descent(optax.adam(RATE)))
one_plain_step: Learner = partial(descend, how=Descent(optax.sgd(1.0), 1))


@claim(
    "lab-many-steps",
    OURS,
    quick={"sizes": (32, 128), "runs": 80, "fours": (8,), "chains": ()},
    full={
        "sizes": (32, 64, 128, 256, 512),
        "runs": 200,
        "fours": (8, 12, 16, 24),
        "chains": (16, 32, 64),
    },
    more="runs",
    planted=(
        (
            "one plain step instead of sixty of Adam",
            {"learner": one_plain_step},
            "refuted",
        ),
        (
            "a learner that knows the pair, also where labels are coins",
            {"learner": knows_the_children},
            "undecided",
        ),
    ),
)
def many_steps(
    trial: Trial,
    sizes: Sequence[int] = (32, 64, 128, 256),
    runs: int = 100,
    fours: Sequence[int] = (8, 12, 16),
    chains: Sequence[int] = (16,),
    *,
    learner: Learner = adam,
) -> Iterator[Any]:
    """Sixty steps on the same rows find a pair among M = 32 to 256 tokens from about M rows.

    One node attends to M random signs and has to write the product of two of them; the link is
    -cos(πt), the start W = 0, and a pair is found if it has the two largest scores. After 60
    full-batch steps of Adam (step 0.3) half of the runs find it from N between M/2 and 2.5M rows,
    and N grows as M to a power between 0.5 and 1.3. One gradient step needs 6M to 15M, with a
    logarithm that makes its power 1.4, so the laws of lab-chain-samples and lab-gaps are laws of
    one step. An argument, not a proof: after one step a child's score is above the mean by about
    √(N/2M) standard deviations, because a row adds π²/M to it and has a spread of π²√(2/M). One
    step finds it only if it tops the largest of M - 2 others, from √(2 ln M) on. Later steps need
    it only above most of them: attention leaves the lower tokens, fewer share the noise, and the
    next gradient is clearer. That needs √(N/2M) of order 1. Shown too, after 150 steps: four tokens
    with their link cos(2πt), and every pair of a chain with k = n/2 that is trained on true tokens.
    """
    many, once, ratios = _Curve([], []), _Curve([], []), []
    for size in trial.track(sizes):
        grid = np.ceil(PARTS * size).astype(int)
        found = found_curve(parity_rows(2, size, trial.seed), grid, runs, learner, STEPS)
        needed = half_point_estimate(grid / size, found)
        yield within(f"N over M for half of the runs, {STEPS} steps, M = {size}", needed, 0.5, 2.5)
        many.add(grid, found)
        grid = (np.geomspace(0.4, 2.5, 6) * rows_to_find_links(size, 2)).astype(int)
        once.add(grid, gap_curve(size, 2, 1, grid, runs=runs, seed=trial.seed).found)
        ratios.append(quotient(once.halves()[-1], many.halves()[-1]))
    first, last = sizes[0], sizes[-1]
    yield at_least(f"rows of one step over rows of {STEPS} steps, M = {last}", ratios[-1], 3)
    law = threshold_law(sizes, *many)
    exponent = Estimate(law.exponent, law.low, law.high, runs * len(sizes))
    label = f"exponent of M in N, {STEPS} steps, M = {first} to {last}"
    yield within(label, exponent, 0.5, 1.3)
    leads = lead_after_one_step(parity_rows(2, first, trial.seed), 2 * first, 12 * runs)
    link = matched_link(2)
    expected = np.sqrt(2 * first) * link_signal(first, 2, link) / link_noise(first, 2, link)
    label = f"lead of the pair after one step over {expected:.2f} deviations, M = {first}, N = 2M"
    yield within(label, Mean.of(leads / expected), 0.8, 1.2)
    rows = [rows_to_find_links(size, 2) for size in sizes]
    predicted = np.polyfit(np.log(sizes), np.log(rows), 1)[0]
    label = f"the same exponent for one step, predicted {predicted:.2f}"
    yield note(label, threshold_law(sizes, *once))
    draw = parity_rows(2, first, trial.seed, coins=True)
    coins = Rate.of(found_curve(draw, [4 * first], runs, learner, STEPS))
    yield control(at_most(f"runs that find a pair where labels are coins, M = {first}", coins, 0.2))
    yield from _fours(fours, runs, trial, learner)
    yield from _chains(chains, max(4, runs // 8), trial, learner)
    yield Lines(
        [
            Line(f"{STEPS} steps", sizes, many.per(sizes)),
            Line("one step", sizes, once.per(sizes)),
            Line("one step, predicted", sizes, np.divide(rows, sizes), style="--"),
        ],
        x="M",
        y="N/M at which half of the runs find the pair",
        log="x",
        caption="Rows per token that one step and many steps need.",
    )


class _Curve(NamedTuple):
    """What was tried and found at every size."""

    grids: list[np.ndarray]
    flags: list[np.ndarray]

    def add(self, grid: np.ndarray, flags: np.ndarray) -> None:
        self.grids.append(grid)
        self.flags.append(flags)

    def halves(self) -> list[Estimate]:
        """N for half of the runs at every size."""
        return [half_point_estimate(*each) for each in zip(*self, strict=True)]

    def per(self, sizes: Sequence[int]) -> np.ndarray:
        return np.divide([half.value for half in self.halves()], sizes)


def _fours(sizes: Sequence[int], runs: int, trial: Trial, learner: Learner) -> Iterator[Any]:
    """Four tokens of M: N for half of the runs, and its exponent."""
    curve = _Curve([], [])
    for size in trial.track(sizes):
        formula = rows_to_find_links(size, 4)
        grid = np.ceil(PARTS_OF_ONE_STEP * formula).astype(int)
        draw = parity_rows(4, size, trial.seed)
        curve.add(grid, found_curve(draw, grid, runs, learner, LONG))
        label = f"N to find four tokens, {LONG} steps, M = {size}; one step {formula:,.0f}"
        yield note(label, curve.halves()[-1])
    if len(sizes) > 2:
        law = threshold_law(sizes, *curve)
        yield note(f"exponent of M in N for four tokens, {LONG} steps; one step 5", law)


def _chains(sizes: Sequence[int], runs: int, trial: Trial, learner: Learner) -> Iterator[Any]:
    """Every pair of a chain, k = n/2: N for half of the runs over n."""
    for n in trial.track(sizes):
        formula = samples_for_every_pair(n, n // 2)
        grid = np.ceil(PARTS_OF_CHAIN * formula).astype(int)
        flags = found_curve(chain_rows(n, trial.seed), grid, runs, learner, LONG)
        label = f"N/n for every pair of a chain, {LONG} steps, n = {n}; one step {formula / n:.0f}"
        yield note(label, half_point_estimate(grid / n, flags))

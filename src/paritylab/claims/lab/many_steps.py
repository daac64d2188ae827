"""Many steps on the same rows against one: how many rows a pair, four tokens or a chain need."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from paritylab.claims import OURS, Trial, at_least, at_most, claim, control, finding, note, within
from paritylab.experiments.gaps import measure_gap_curve
from paritylab.experiments.many_steps import (
    PLAIN,
    Draw,
    Learner,
    Rows,
    chain_rows,
    descend,
    measure_found_curve,
    measure_lead_after_one_step,
    parity_rows,
)
from paritylab.statistics import Mean, Rate, half_point_estimate, quotient, scaled, threshold_law
from paritylab.theory.gaps import link_noise, link_signal, matched_link, rows_to_find_links
from paritylab.theory.ks import samples_for_every_pair


def one_plain_step(rows: Rows, sizes: Sequence[int], steps: int) -> np.ndarray:
    """One gradient step, however many are asked for: a planted case."""
    return descend(rows, sizes, 1, PLAIN)


def knows_the_children(rows: Rows, sizes: Sequence[int], steps: int) -> np.ndarray:
    """Scores of one that knows the children, whatever the rows say: a planted case."""
    scores = np.zeros((len(sizes), len(rows.tokens), *rows.seen.shape))
    np.put_along_axis(scores, rows.own()[None], 1.0, axis=2)
    return scores


#: Steps of Adam for a pair, and for more than a pair.
STEPS, LONG = 60, 150
#: N is tried at these multiples of M; for four tokens and for a chain, at these multiples of the N
#: that one step is predicted to need.
PARTS, PARTS_OF_FOURS = np.geomspace(0.35, 4.0, 7), np.geomspace(0.01, 0.6, 7)
PARTS_OF_CHAIN = np.geomspace(0.08, 0.8, 5)


@claim(
    "lab-many-steps",
    OURS,
    quick={"sizes": (16, 128), "runs": 96, "fours": (8,), "chains": (16,)},
    full={
        "sizes": (32, 64, 128, 256, 512),
        "runs": 200,
        "fours": (8, 12, 16, 24, 32),
        "chains": (8, 16, 32, 64),
    },
    more="runs",
    planted=(
        ("one plain step instead of many of Adam", {"learner": one_plain_step}, "refuted"),
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
    chains: Sequence[int] = (8, 16, 32, 64),
    *,
    learner: Learner = descend,
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
    next gradient is clearer. That needs √(N/2M) of order 1. Beyond a pair, 150 steps need less than
    half of the rows predicted for one, and N still grows as M to a power above 3 for four tokens
    (link cos(2πt), M = 8 to 16; one step has 5) and as n to a power above 1 for every pair of a
    chain with k = n/2 that is trained on true tokens (n = 8 to 64; an eighth of the runs).
    """
    seed, first, last = trial.seed, sizes[0], sizes[-1]
    many, once, per_token = [], [], []
    for size in trial.track(sizes):
        grid = np.ceil(PARTS * size).astype(int)
        found = measure_found_curve(parity_rows(2, size, seed), grid, runs, learner, STEPS)
        many.append((size, grid, found))
        needed = half_point_estimate(grid, found)
        per_token.append(scaled(needed, 1 / size))
        label = f"rows over M with which half of the runs find the pair, {STEPS} steps, M = {size}"
        yield within(label, per_token[-1], 0.5, 2.5)
        grid = (np.geomspace(0.4, 2.5, 6) * rows_to_find_links(size, 2)).astype(int)
        once.append((size, grid, measure_gap_curve(size, 2, 1, grid, runs=runs, seed=seed).found))
    step = half_point_estimate(*once[-1][1:])
    saved, parts = quotient(step, needed), [each.value for each in per_token]
    yield at_least(f"rows of one step over rows of {STEPS} steps, M = {last}", saved, 3)
    text = f"{STEPS} steps find the pair in half of the runs from {min(parts):.2g}M to"
    text = f"{text} {max(parts):.2g}M rows, M = {first} to {last}; one step needs"
    yield finding(f"{text} {saved.value:.1f} times as many at {last}.", "holds")
    label = f"exponent of M in the rows for a pair, {STEPS} steps, M = {first} to {last}"
    yield within(label, threshold_law(*zip(*many, strict=True)), 0.5, 1.3)
    leads = measure_lead_after_one_step(parity_rows(2, first, seed), 2 * first, 12 * runs)
    link = matched_link(2)
    expected = np.sqrt(2 * first) * link_signal(first, 2, link) / link_noise(first, 2, link)
    label = f"lead of the pair after one step over {expected:.2f} deviations, M = {first}, N = 2M"
    yield within(label, Mean.of(leads / expected), 0.8, 1.2)
    predicted = np.polyfit(np.log(sizes), [np.log(rows_to_find_links(m, 2)) for m in sizes], 1)[0]
    law = threshold_law(*zip(*once, strict=True))
    yield note(f"exponent of M in the rows of one step, predicted {predicted:.2f}", law)
    draw = parity_rows(2, first, seed, coins=True)
    coins = Rate.of(measure_found_curve(draw, [4 * first], runs, learner, STEPS))
    yield control(at_most(f"runs that find a pair where labels are coins, M = {first}", coins, 0.2))
    trial.report(0.5)
    long = partial(_against_one_step, learner)
    tokens = [(m, rows_to_find_links(m, 4), parity_rows(4, m, seed)) for m in fours]
    yield from long("four of M = {} tokens", tokens, PARTS_OF_FOURS, runs, 3)
    pairs = [(n, samples_for_every_pair(n, n // 2), chain_rows(n, seed)) for n in chains]
    yield from long("every pair of a chain, n = {}", pairs, PARTS_OF_CHAIN, max(12, runs // 8), 1)


def _against_one_step(
    learner: Learner,
    what: str,
    cases: Sequence[tuple[int, float, Draw]],
    parts: np.ndarray,
    runs: int,
    power: float,
) -> Iterator[Any]:
    """N for half of the runs after many steps, against the N predicted for one, and its exponent.

    what: with a place for the size. cases: a size, the predicted N and the rows. power: what the
    exponent exceeds.
    """
    tried = []
    for size, formula, draw in cases:
        grid = np.ceil(parts * formula).astype(int)
        tried.append((size, grid, measure_found_curve(draw, grid, runs, learner, LONG)))
        half = half_point_estimate(grid / formula, tried[-1][2])
        label = f"rows of {LONG} steps over {formula:,.0f} predicted for one step"
        yield at_most(f"{label}, {what.format(size)}", half, 0.5)
    if len(cases) > 2:
        ends = what.format(f"{cases[0][0]} to {cases[-1][0]}")
        law = threshold_law(*zip(*tried, strict=True))
        yield at_least(f"exponent of the rows of {LONG} steps, {ends}", law, power)

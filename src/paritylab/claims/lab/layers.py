"""Depth instead of a chain: a hidden tree in log2 k layers, and what each of its parts buys."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from paritylab.claims import (
    OURS,
    Estimate,
    Line,
    Lines,
    Trial,
    at_least,
    at_most,
    claim,
    note,
    within,
)
from paritylab.claims.lab.half_points import half_point_estimate, quotient
from paritylab.claims.lab.visible_chain import visible_chains_solve
from paritylab.learning import Layers, Levels, Sample, learn
from paritylab.learning.chain.levels import level_step
from paritylab.models import ChainModel, LayeredChain
from paritylab.problem import ParityTree, random_trees
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import draw_signs
from paritylab.statistics import Rate
from paritylab.theory.ks import samples_for_every_input
from paritylab.theory.layers import level_steps, rows_for_hidden_chain

#: A half point may be this factor from the predicted one.
NEAR = 1.4
#: Rows of hidden layers and of a visible chain with their mask may differ by this factor.
SAME = 1.5
#: Parts are tried with so many times the rows that solve half of the targets.
PLENTY = 3
#: Rows of the comparison with Theorem 7: from 2^15 rows 2 of 72 trees lose a level to its filter.
THEOREM7_ROWS = 2**17

#: What is changed, and whether learning is to survive it.
PARTS: dict[str, tuple[dict[str, Any], bool]] = {
    "as it is": ({}, True),
    "hidden from the first step on": ({"schedule": "at-once"}, False),
    "every node sees every token": ({"mask": "none"}, False),
    "gates half open": ({"gates": "half"}, False),
    "one step size for all levels": ({"eta": "level 1"}, False),
    "gates learnt": ({"gates": "learnt"}, True),
    "tied weights, no gates": ({"tied": True, "gates": "open"}, True),
    "in stages": ({"schedule": "staged"}, True),
}
#: These share one compiled program.
QUICK_PARTS = ("as it is", "one step size for all levels")


def _one_step_size(**given: Any) -> Layers:
    return Layers(**{**given, "eta": 2000.0})


@claim(
    "lab-layers",
    OURS,
    quick={
        "cells": ((128, 24),),
        "points": 4,
        "parts": QUICK_PARTS,
        "size": (128, 64),
        "runs": 8,
        "compared": 0,
    },
    full={"cells": ((64, 60), (128, 60), (256, 40), (512, 20), (1024, 12)), "runs": 40},
    more="times",
    planted=("one step size for all levels", {"changed": _one_step_size}, "refuted"),
)
def layers(
    trial: Trial,
    cells: Sequence[tuple[int, int]] = ((128, 20), (256, 16)),
    points: int = 4,
    parts: Sequence[str] = tuple(PARTS),
    size: tuple[int, int] = (32, 8),
    runs: int = 12,
    compared: int = 4,
    times: int = 1,
    *,
    changed: Callable[..., Layers] = Layers,
) -> Iterator[Any]:
    """A hidden tree is learnt in layers, from the rows of a visible chain with its mask, k = n/2.

    Our reconstruction of Log-ICoT, known by its abstract: log2 k layers, layer t writes level t of
    the tree, no chain is seen at test time; the link is -cos(πt). One gradient step per level, each
    of its own size, on true tokens of the level below solves half of the targets from the N at
    which the expected number of broken nodes is ln 2, within a factor of 1.4, n = 128 and 256. A
    visible chain that takes the same steps under the same mask (a node sees the level below) needs
    as many at n = 128, within a factor of 1.5: depth costs no rows and saves none, and that one
    step with every earlier token in sight needs more is the mask's doing. From three times those
    rows, at another n and k, learnt gates or tied weights without gates do as well; half-open
    gates, one step size for all levels, no mask and hiding every level from the start do not. With
    the mask of lower levels, rounding and stages the weights are those of KS's Theorem 7. Each cell
    is n and a number of runs; times multiplies all runs.
    """
    sizes, seed = [n for n, _ in cells], trial.seed
    hidden = [rows_for_hidden_chain(n, n // 2) for n in sizes]
    visible = [samples_for_every_input(n, n // 2) for n in sizes]
    needed = []
    for (n, many), formula, seen in trial.track(zip(cells, hidden, visible, strict=True)):
        trees = random_trees(n, n // 2, times * many, key=seed)
        half = _half_over(formula, points, partial(_layers_solve, changed(), trees, seed))
        below = _scaled(half, formula / seen)
        yield within(f"N for half of the targets over predicted, n = {n}", half, 1 / NEAR, NEAR)
        if n == sizes[0]:
            chains = partial(visible_chains_solve, trees, seed=seed)
            with_chain = _half_over(formula, points, chains)
            label = f"that N over a visible chain's with the same mask, n = {n}"
            yield within(label, quotient(half, with_chain), 1 / SAME, SAME)
        label = f"that N over the one predicted with every earlier token in sight, n = {n}"
        yield note(label, below)
        needed.append(half.value * formula)
    rows = int(PLENTY * rows_for_hidden_chain(*size))
    data = Sample(random_trees(*size, times * runs, key=seed), rows)
    first = level_steps(*size, rows)[0].eta

    def solved(**settings: Any) -> Rate:
        given = {name: first if value == "level 1" else value for name, value in settings.items()}
        return Rate.of(learn(changed(**given), data, key=seed).solved)

    where = f"n = {size[0]}, k = {size[1]}"
    for name in trial.track(parts):
        settings, survives = PARTS[name]
        judged = at_least if survives else at_most
        yield judged(f"targets solved, {name}, {where}", solved(**settings), 0.5)
    if compared:
        yield note(f"targets solved with rounding, {where}", solved(rounding=True))
        solvable, weights, tokens = _theorem7(compared, seed)
        yield note(f"trees that Theorem 7 solves from {THEOREM7_ROWS:,} rows", solvable)
        yield at_most("largest difference of a weight from Theorem 7's, solved trees", weights, 0.5)
        yield at_most("largest difference of a token from KS's generation", tokens, 1e-3)
    per_bit = np.divide(visible, sizes)
    yield Lines(
        [
            Line("hidden chain, measured", sizes, np.divide(needed, sizes)),
            Line("predicted", sizes, np.divide(hidden, sizes), style="--"),
            Line("every earlier token in sight, predicted", sizes, per_bit, style=":"),
        ],
        x="n",
        y="N/n at which half of the targets are solved",
        log="x",
        caption="Rows per bit that one step per hidden level needs, k = n/2.",
    )


def _scaled(estimate: Estimate, by: float) -> Estimate:
    return Estimate(estimate.value * by, estimate.low * by, estimate.high * by, estimate.runs)


def _layers_solve(learner: Layers, trees: Sequence[ParityTree], seed: int, rows: int) -> Any:
    return learn(learner, Sample(trees, rows), key=seed).solved


def _half_over(formula: float, points: int, solve: Callable[[int], Any]) -> Estimate:
    """N at which half of the targets are solved, over the one predicted.

    solve: which runs are solved from so many rows.
    """
    parts = np.geomspace(0.6, 1.7, points)
    return half_point_estimate(parts, np.stack([solve(int(part * formula)) for part in parts]))


def _theorem7(trees: int, seed: int) -> tuple[Rate, float, float]:
    """Trees that `Levels` solves, largest differences of W and of generated tokens on these.

    n = 32, k = 8. A tree that it does not solve has a level that its filter silenced, which no
    layer can share: `Layers` has no filter.
    """
    n, k, rows = 32, 8, THEOREM7_ROWS
    data, eta = Sample(random_trees(n, k, trees, key=seed), rows), level_step(n, k, samples=rows)
    filtered = learn(Levels(eta=eta), data, key=seed)
    solved, theirs = np.asarray(filtered.solved), filtered.numbers
    staged = Layers(mask="level", rounding=True, schedule="staged", eta=eta)
    ours = learn(staged, data, key=seed).numbers
    if not solved.any():
        return Rate.of(solved), np.nan, np.nan
    one, signs = theirs[solved.argmax()], draw_signs(as_key(seed), 500, n)
    generated = ChainModel(one, n, mask="level").generate(signs)
    gates = np.ones((k.bit_length() - 1, k - 1))
    passed = LayeredChain(one, n, gates=gates, mask="level", tied=True).generate(signs)
    weights = np.abs(ours - theirs)[solved].max()
    return Rate.of(solved), float(weights), float(np.abs(passed - generated).max())

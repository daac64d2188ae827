"""Depth instead of a chain: a hidden tree in log2 k layers, and what each of its parts buys."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paritylab.claims import (
    OURS,
    Judged,
    Line,
    Lines,
    Trial,
    claim,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.claims.lab.chain import HalfPoint
from paritylab.learning import Layers, Levels, Sample, learn
from paritylab.learning.chain.levels import level_step
from paritylab.models import ChainModel, LayeredChain
from paritylab.problem import random_trees
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import draw_signs
from paritylab.statistics import Rate, half_point, half_point_interval
from paritylab.theory.ks import samples_for_every_input
from paritylab.theory.layers import level_steps, rows_for_hidden_chain

#: A half point may be this factor from the predicted one.
NEAR = 1.4
#: Parts are tried with so many times the rows that solve half of the targets.
PLENTY = 3
#: A part is harmless if at least this share of runs is solved, needed if less is without it.
OFTEN = 0.5

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


@record()
class Part:
    """One variant. survives: what was said of it."""

    name: str
    survives: bool
    solved: Rate = shown("runs with every fresh input right")

    def __str__(self) -> str:
        return self.name


@record()
class Layered:
    """sizes: rows at which half of the targets are solved, k = n/2. visible: the same, predicted
    for a chain that is seen. rounded: runs solved with rounding, which is to cost rows. weights:
    largest difference of W from KS's Theorem 7 on the same rows, over `compared` trees. tokens:
    largest difference of a token between tied open layers and KS's generation. size: n, k of the
    parts.
    """

    sizes: list[HalfPoint]
    visible: list[float]
    parts: list[Part]
    rounded: Rate | None = shown("runs right with rounding")
    weights: float = shown("largest difference of a weight from Theorem 7's", predicted=0)
    tokens: float = shown("largest difference of a token from KS's generation", predicted=0)
    compared: int
    size: tuple[int, int] = (0, 0)


@claim(
    "lab-layers",
    source=OURS,
    title="Depth replaces the chain: a hidden tree is learnt layer by layer",
    statement="Our reconstruction of Log-ICoT, known by its abstract: log2 k layers, layer t "
    "writes level t of the tree, no chain is seen at test time. Ours: one gradient step per level, "
    "each of its own size, on true tokens of the level below solves half of the targets from the N "
    "at which the expected number of broken nodes is ln 2, fewer rows than a visible chain needs; "
    "learnt gates or tied weights without gates do as well, half-open gates, one step size for "
    "all levels, no mask and hiding every level from the start do not. With the mask of lower "
    "levels, rounding and stages the weights are those of KS's Theorem 7.",
    quick={
        "cells": ((128, 24),),
        "points": 4,
        "parts": QUICK_PARTS,
        "size": (128, 64),
        "runs": 8,
        "compared": 0,
    },
    full={"cells": ((64, 60), (128, 60), (256, 40), (512, 20), (1024, 12)), "runs": 40},
    settings={
        "k": "n/2; of the parts as in size",
        "link": "-cos(πt)",
        "N": "0.6 … 1.7 of predicted",
        "rows of the parts": f"{PLENTY} times those predicted",
    },
    seconds=(8, 40, 400),
)
def layers(
    trial: Trial,
    cells: Sequence[tuple[int, int]] = ((128, 20), (256, 16)),
    points: int = 4,
    parts: Sequence[str] = tuple(PARTS),
    size: tuple[int, int] = (32, 8),
    runs: int = 12,
    compared: int = 4,
    *,
    changed: Callable[..., Layers] = Layers,
) -> Layered:
    sizes = [_half(n, many, points, trial.seed, changed()) for n, many in trial.track(cells)]
    visible = [samples_for_every_input(n, n // 2) for n, _ in cells]
    rows = int(PLENTY * rows_for_hidden_chain(*size))
    data = Sample(random_trees(*size, runs, key=trial.seed), rows)
    first = level_steps(*size, rows)[0].eta

    def solved(**settings: Any) -> Rate:
        given = {name: first if value == "level 1" else value for name, value in settings.items()}
        return Rate.of(learn(changed(**given), data, key=trial.seed).solved)

    tried = [Part(name, PARTS[name][1], solved(**PARTS[name][0])) for name in trial.track(parts)]
    weights, tokens = _theorem7(compared, trial.seed) if compared else (0.0, 0.0)
    rounded = solved(rounding=True) if compared else None
    return Layered(sizes, visible, tried, rounded, weights, tokens, compared, size)


def _half(n: int, runs: int, points: int, seed: int, learner: Layers) -> HalfPoint:
    formula = rows_for_hidden_chain(n, n // 2)
    grid = np.geomspace(0.6, 1.7, points) * formula
    trees = random_trees(n, n // 2, runs, key=seed)
    flags = np.stack([learn(learner, Sample(trees, int(rows)), key=seed).solved for rows in grid])
    return HalfPoint(
        n, half_point(grid, flags), formula, *half_point_interval(grid / formula, flags)
    )


def _theorem7(trees: int, seed: int) -> tuple[float, float]:
    """Largest differences of W and of generated tokens, n = 32, k = 8."""
    n, k, rows = 32, 8, 2**15
    data, eta = Sample(random_trees(n, k, trees, key=seed), rows), level_step(n, k, samples=rows)
    theirs = learn(Levels(eta=eta), data, key=seed).numbers
    staged = Layers(mask="level", rounding=True, schedule="staged", eta=eta)
    ours = learn(staged, data, key=seed).numbers
    signs = draw_signs(as_key(seed), 500, n)
    generated = ChainModel(theirs[0], n, mask="level").generate(signs)
    gates = np.ones((k.bit_length() - 1, k - 1))
    passed = LayeredChain(theirs[0], n, gates=gates, mask="level", tied=True).generate(signs)
    return float(np.abs(ours - theirs).max()), float(np.abs(passed - generated).max())


@layers.planted("one step size for all levels", turns="refuted")
def _one_size(trial: Trial) -> Layered:
    one = lambda **given: Layers(**{**given, "eta": 2000.0})  # noqa: E731
    return layers.measure(trial, **layers.quick, changed=one)


@layers.judge
def _layers(s: Layered) -> Judged:
    law = "; ".join(
        f"n = {h.n}: {h.found / h.n:.0f} n (predicted {h.formula / h.n:.0f} n, a visible chain "
        f"{seen / h.n:.0f} n)"
        for h, seen in zip(s.sizes, s.visible, strict=True)
    )
    told = "; ".join(f"{part}: {part.solved}" for part in s.parts)
    n, k = s.size
    where = f"Solved at n = {n}, k = {k} with {PLENTY} times the predicted rows"
    text = f"Rows for half of the targets, {law}. {where}: {told}."
    if s.compared:
        text += (
            f" Rounded, there too: {s.rounded}. Weights differ from Theorem 7's by {s.weights:g} "
            f"over {s.compared} trees, tokens of tied layers from KS's generation by "
            f"{s.tokens:.0e}."
        )
    ends = np.array([(h.low, h.high) for h in s.sizes])
    lost = [OFTEN - part.solved.high for part in s.parts if part.survives]
    kept = [part.solved.low - OFTEN for part in s.parts if not part.survives]
    outside = float(np.max([ends[:, 0] - NEAR, 1 / NEAR - ends[:, 1]]))
    worst = float(np.nanmax([outside, *lost, *kept, s.weights - 0.5, s.tokens - 1e-3]))
    if worst > 0:
        return refuted(text, instead=f"{law}. {told}.", margin=worst)
    inside = float(np.min([NEAR - ends[:, 1], ends[:, 0] - 1 / NEAR]))
    fewer = min(1 - h.high * h.formula / seen for h, seen in zip(s.sizes, s.visible, strict=True))
    rooms = [part.solved.low - OFTEN for part in s.parts if part.survives]
    rooms += [OFTEN - part.solved.high for part in s.parts if not part.survives]
    room = float(np.min([inside, fewer, *rooms]))
    if room > 0:
        return holds(text, margin=room)
    return undecided(f"{text} A half point or a rate does not decide.")


@layers.figure
def _layers_figure(s: Layered) -> Lines:
    sizes = [h.n for h in s.sizes]
    return Lines(
        [
            Line("hidden chain, measured", sizes, [h.found / h.n for h in s.sizes]),
            Line("predicted", sizes, [h.formula / h.n for h in s.sizes], style="--"),
            Line(
                "visible chain, predicted",
                sizes,
                [seen / n for seen, n in zip(s.visible, sizes, strict=True)],
                style=":",
            ),
        ],
        x="n",
        y="N/n at which half of the targets are solved",
        log="x",
        caption="Rows per bit that one step per hidden level needs, k = n/2.",
    )

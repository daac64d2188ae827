"""Depth instead of a chain: a hidden tree in log2 k layers, and what each of its parts buys."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from paritylab.claims import OURS, Trial, at_least, at_most, claim, note, within
from paritylab.experiments.layers import distance_from_visible_chain, train_around_predicted_rows
from paritylab.learning import Layers, Runs, Sample, learn
from paritylab.problem import random_trees
from paritylab.statistics import scaled
from paritylab.theory.ks import samples_for_every_input
from paritylab.theory.layers import level_steps, rows_for_hidden_chain

#: A half point may be this factor from the predicted one.
NEAR = 1.4
#: Parts are tried with so many times the rows that solve half of the targets.
PLENTY = 3
#: What is changed, one or several ways of which the best counts, and whether learning is to survive
#: it. eta: one step size for all levels, over the first level's own.
PARTS: dict[str, tuple[list[dict[str, Any]], bool]] = {
    "as it is": ([{}], True),
    "hidden from the first step on": (
        [{"schedule": "at-once", "eta": part} for part in (0.03, 0.3, 1.0, 3.0)],
        False,
    ),
    "gates half open": ([{"gates": "half"}], False),
    "one step size for all levels": ([{"eta": 1.0}], False),
    "gates learnt": ([{"gates": "learnt"}], True),
    "tied weights, no gates": ([{"tied": True, "gates": "open"}], True),
    "in stages": ([{"schedule": "staged"}], True),
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
    times: int = 1,
    *,
    changed: Callable[..., Layers] = Layers,
) -> Iterator[Any]:
    """A hidden tree is learnt in layers, from the rows of a visible chain with its mask, k = n/2.

    Our reconstruction of Log-ICoT, known by its abstract: log2 k layers, layer t writes level t of
    the tree, no chain is seen at test time; the link is -cos(πt), a node sees the level below. One
    gradient step per level, each of its own size, on true tokens solves half of the targets from
    the N at which the expected number of broken nodes is ln 2, within a factor of 1.4, n = 128 and
    256. A visible chain that takes these steps under this mask has the same weights and writes the
    same tokens, so depth costs no rows and saves none; that one step with every earlier token in
    sight needs more is the mask's doing. From three times those rows, at another n and k, learnt
    gates, tied weights without gates and stages do as well. Half-open gates, one step size for all
    levels, and hiding every level from the start (log2 k steps, the best of four step sizes) do
    not. Each cell is n and a number of runs; times multiplies all runs.
    """
    for n, many in trial.track(cells):
        half = train_around_predicted_rows(changed, n, times * many, points, trial.seed)
        label = f"rows that solve half of the targets over those predicted, n = {n}"
        yield within(label, half, 1 / NEAR, NEAR)
        label = f"the same over rows predicted with every earlier token in sight, n = {n}"
        visible = rows_for_hidden_chain(n, n // 2) / samples_for_every_input(n, n // 2)
        yield note(label, scaled(half, visible))
    rows, where = int(PLENTY * rows_for_hidden_chain(*size)), f"n = {size[0]}, k = {size[1]}"
    data = Sample(random_trees(*size, times * runs, key=trial.seed), rows)
    first = level_steps(*size, rows)[0].eta

    def trained(eta: float | None = None, **settings: Any) -> Runs[Any]:
        size_of_step = {} if eta is None else {"eta": eta * first}
        return learn(changed(**settings, **size_of_step), data, key=trial.seed)

    for name in trial.track(parts):
        ways, survives = PARTS[name]
        rates = [trained(**way).rate("solved") for way in ways]
        best, label = max(rates, key=lambda rate: rate.value), f"targets solved, {name}, {where}"
        yield at_least(label, best, 0.5) if survives else at_most(label, best, 0.5)
    label = f"largest difference of a token from a visible chain's, same mask, {where}"
    yield at_most(label, distance_from_visible_chain(trained(), size[0], trial.seed), 1e-3)

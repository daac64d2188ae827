"""Heads that may relocate: single starts where annealing alone gets stuck."""

from collections.abc import Sequence

from paritylab.claims import (
    OURS,
    Bars,
    Judged,
    Trial,
    claim,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning import Annealed, Population, Sample, learn
from paritylab.problem import random_parities
from paritylab.statistics import Rate

#: Smallest share of single starts with moves, and smallest lead over annealing alone.
OFTEN, LEAD = 0.85, 0.1


@record()
class MovesCell:
    """Single starts whose heads end on exactly B. rows: None for the exact correlation."""

    n: int
    k: int
    rows: int | None
    moving: Rate = shown("single starts with moves that end on B", predicted=f"> {OFTEN:g}")
    alone: Rate = shown("single starts without moves that do", predicted="fewer")

    def __str__(self) -> str:
        given = "" if self.rows is None else f", {self.rows:,} rows"
        return f"n = {self.n}, k = {self.k}{given}"

    @property
    def room(self) -> float:
        """How far both intervals keep from what the statement allows."""
        if self.rows is not None:
            return self.moving.low - self.alone.high
        return min(self.moving.low - OFTEN, self.moving.low - self.alone.high - LEAD)

    @property
    def lost(self) -> float:
        """How far they lie beyond it."""
        if self.rows is not None:
            return self.alone.low - self.moving.high
        return max(OFTEN - self.moving.high, self.alone.low + LEAD - self.moving.high)


@record()
class Moves:
    """cells: by size; from rows last, where asked for."""

    cells: list[MovesCell]


@claim(
    "lab-heads-moves",
    source=OURS,
    title="Heads that may relocate find B from a single start, for k up to 64",
    statement="Ours: annealed heads of which, at every second step, one may relocate if that "
    "raises the correlation |c| of their own model end on exactly B in over 85 % of single starts "
    "at each n and k tried, and at least 10 points more often than without moves. From rows they "
    "do so more often than without moves, if the rows that give no gradient compare |c|.",
    quick={"cells": ((60, 20, 32),), "steps": 600, "rows": ()},
    full={
        "cells": ((100, 16, 256), (100, 32, 256), (1000, 16, 256), (1000, 32, 128), (1000, 64, 64)),
        "rows": ((24, 2, 512, 128), (16, 3, 1024, 128)),
        "steps": 1500,
    },
    settings={
        "moves": "max(2, k/4) candidates at every second step until 95 %",
        "candidate": "a random head, one width from a random head or anywhere",
        "rule": "the best, if |c| rises",
    },
    seconds=(5, 28, 900),
)
def heads_moves(
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = ((100, 24, 56),),
    rows: Sequence[tuple[int, int, int, int]] = ((24, 2, 512, 64),),
    steps: int = 1000,
    *,
    learner: Annealed | None = None,
) -> Moves:
    pair = (learner or Annealed(steps=steps), Annealed.without_moves(steps=steps))
    found = []
    for n, k, runs in trial.track(cells):
        exact = Population(random_parities(n, k, runs, key=trial.seed))
        rates = [learn(each, exact, key=trial.seed).rate() for each in pair]
        found.append(MovesCell(n, k, None, *rates))
    for n, k, size, runs in rows:
        drawn = Sample(random_parities(n, k, runs, key=trial.seed), size)
        rates = [learn(each, drawn, key=trial.seed).rate() for each in pair]
        found.append(MovesCell(n, k, size, *rates))
    return Moves(found)


@heads_moves.planted("no moves", turns="refuted")
def _no_moves(trial: Trial) -> Moves:
    return _with(trial, Annealed(steps=600, moves=0))


@heads_moves.planted("moves without jitter", turns="refuted")
def _no_jitter(trial: Trial) -> Moves:
    return _with(trial, Annealed(steps=600, jitter=0.0))


@heads_moves.planted("moves accepted by Metropolis' rule", turns="refuted")
def _metropolis(trial: Trial) -> Moves:
    return _with(trial, Annealed(steps=600, greedy=False))


def _with(trial: Trial, learner: Annealed) -> Moves:
    return heads_moves.measure(trial, **heads_moves.quick, learner=learner)


@heads_moves.judge
def _heads_moves(m: Moves) -> Judged:
    listed = "; ".join(f"{each.moving} against {each.alone} at {each}" for each in m.cells)
    text = f"Single starts that end on exactly B, with moves against without: {listed}."
    weakest = min(m.cells, key=lambda each: each.room).moving
    lost = max(each.lost for each in m.cells)
    if lost > 0:
        instead = f"With moves {weakest} single starts end on B somewhere."
        return refuted(text, instead=instead, margin=lost, interval=weakest)
    room = min(each.room for each in m.cells)
    if room > 0:
        return holds(text, margin=room, interval=weakest)
    return undecided(f"{text} An interval reaches its bound.", interval=weakest)


@heads_moves.figure
def _heads_moves_figure(m: Moves) -> Bars:
    rates: dict[str, Rate] = {}
    for each in m.cells:
        rates |= {f"moves, {each}": each.moving, f"alone, {each}": each.alone}
    return Bars.of_rates(
        rates,
        y="share of single starts that end on B",
        caption="Annealed heads with greedy relocations and alone, 95 % intervals.",
    )

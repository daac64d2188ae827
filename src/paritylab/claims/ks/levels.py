"""Theorem 7: without teacher forcing, one level per step; and the mask that makes it so."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from paritylab.claims import (
    KS,
    Judged,
    Line,
    Lines,
    Trial,
    claim,
    corrected,
    derived,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning import Levels, Runs, Sample, learn
from paritylab.learning.chain.levels import filter_levels, level_step
from paritylab.models import CosineLink
from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.precision import float64
from paritylab.problem import ParityTree, random_trees
from paritylab.problem.tree import level_ends
from paritylab.statistics import Rate
from paritylab.theory.ks import level_signal

#: A share of runs is often above the first and rarely below the second.
OFTEN, RARELY = 0.7, 0.3
#: Unlabelled strings of the filter in training, and its ε₀; the second is above the deviation of
#: an untrained token, as the proof asks, and below 1.
STRINGS, EPSILON, SMALL = 12, 1.6, 0.95
#: ε₀ at and on both sides of 1 and of 2; the filter is as the proof says for those between.
EDGES = (0.95, 1.0, 1.05, 1.95, 2.0, 2.05)
#: Where the filter alone is tried, at weights (11): n, k, strings, and the children's score.
LARGE, LARGE_STRINGS, SCORE = (256, 16), 64, 12.0
#: Error of the oracle over n^(-2-ε/8), with ε from N = n^(2+ε).
ORACLE = 1 / 16


@record()
class LevelCell:
    """Runs with everything in place, the gradient taken through the whole chain.

    eta: η. irrelevant: the expected irrelevant weight on the first level before rounding,
    -2s/(n-2).
    """

    n: int
    k: int
    samples: int
    eta: float
    solved: Rate = shown("runs that solve one level per step", predicted="all, log2 k steps")
    loss: float = shown("largest loss at the end")
    levels: list[int] = shown("levels solved after each step, first run")
    minus_one: float = shown("irrelevant weights at -1 (share)", predicted="0: weights (11) have 0")
    irrelevant: float = shown("irrelevant weight before rounding")

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}"

    @derived("ε of N = n^(2+ε)")
    def power(self) -> float:
        return float(np.log(self.samples) / np.log(self.n) - 2)

    @derived("η over n^(2+ε/16)", predicted="Θ(1)")
    def factor(self) -> float:
        return float(self.eta / self.n ** (2 + self.power / 16))


@record()
class Stepwise:
    """cells: the theorem's runs; those of the last are repeated in every other arm.

    filtered: draws of strings for which the filter passes levels up to t+1 and silences all others,
    at weights (11) of every step t, by ε₀. small: among the runs whose filter silenced the second
    level at the start, as the proof asks. oracle: with an error in every entry of every gradient.
    """

    cells: list[LevelCell]
    filtered: dict[str, Rate] = shown(
        "draws with the filter as in the proof, by ε₀", predicted="all above O(n^(-1/2))"
    )
    small: Rate = shown(f"runs that do with ε₀ = {SMALL:g}")
    oracle: Rate = shown(f"runs that do with an error of {ORACLE:g}·n^(-2-ε/8)", predicted="all")
    removed: dict[str, Rate] = shown("runs that do with a part removed")

    @property
    def inside(self) -> list[Rate]:
        return [rate for name, rate in self.filtered.items() if 1 < float(name) < 2]

    @property
    def outside(self) -> list[Rate]:
        return [rate for name, rate in self.filtered.items() if not 1 < float(name) < 2]


@claim(
    "ks-thm7",
    certificate="ks-thm7",
    source=KS("Theorem 7; Appendix C"),
    title="Without teacher forcing the chain is learned in log2 k steps, if 1 < ε₀ < 2",
    statement="With the level mask, a filter on unlabelled strings that silences a level above "
    "tokens within ε₀ of -1, integer weights, N = n^(2+ε) rows, η of order n^(2+ε/16) and "
    "gradients known up to O(n^(-2-ε/8)), descent on self-generated chains solves one level per "
    "step, log2 k in all, for every ε₀ above the deviation O(n^(-1/2)) of an untrained token.",
    quick={"cells": ((32, 8, 2**17, 6),), "draws": 6},
    full={
        "cells": (
            (32, 4, 2**18, 20),
            (64, 32, 2**24, 12),
            (64, 16, 2**22, 12),
            (32, 16, 2**20, 12),
            (32, 8, 2**18, 24),
        ),
        "without": ("filtering", "rounding"),
    },
    settings={"link": "-cos(πt)", "strings": STRINGS, "ε₀": EPSILON, "gradient": "whole chain"},
    # A run fails in 1 % of cases, when a token is -1 on all strings; 3 of 24 leave it undecided:
    # 0.2 %. The runs of all arms are equally many so that they share one compiled program.
    seconds=(15, 40, 900),
)
def thm7(
    trial: Trial,
    cells: Sequence[tuple[int, int, int, int]] = ((32, 8, 2**18, 24),),
    draws: int = 12,
    without: Sequence[str] = (),
    *,
    epsilon: float = EPSILON,
) -> Stepwise:
    made = []
    for n, k, samples, runs in trial.track(cells):
        trees = random_trees(n, k, runs, key=trial.seed)
        data = Sample(trees, samples)
        done = learn(_levels(epsilon=epsilon), data, key=trial.seed)
        made.append(_cell(trees, samples, done))
    silent = learn(_levels(epsilon=SMALL), data, key=trial.seed).stats
    error = ORACLE * float(n ** (-2 - made[-1].power / 8))
    oracle = learn(_levels(epsilon=epsilon, error=error), data, key=trial.seed)
    removed = {
        f"no {name}": learn(_levels(**{name: False}), data, key=trial.seed).rate("one_per_step")
        for name in without
    }
    return Stepwise(
        made,
        {f"{edge:g}": _filter_rate(edge, draws, trial.seed) for edge in EDGES},
        Rate.of(silent["one_per_step"][silent["filtered"][:, 0] == 2]),
        oracle.rate("one_per_step"),
        removed,
    )


def _levels(**changed: Any) -> Levels:
    given: dict[str, Any] = {"strings": STRINGS, "epsilon": EPSILON, "full_gradient": True}
    return Levels(**{**given, **changed})


def _cell(trees: tuple[ParityTree, ...], samples: int, done: Runs[Any]) -> LevelCell:
    n, k = trees[0].n, trees[0].k
    irrelevant = np.repeat(visible_tokens(n, k, "level")[None], len(trees), axis=0)
    for run, tree in enumerate(trees):
        irrelevant[run, tree.children.T, np.arange(k - 1)] = False
    eta = level_step(n, k, samples=samples)
    score = eta * level_signal(n, k, 1, CosineLink())
    return LevelCell(
        n,
        k,
        samples,
        eta,
        done.rate("one_per_step"),
        float(done.stats["loss"][:, -1].max()),
        done.stats["levels_per_step"][0].tolist(),
        float(np.mean(done.numbers[irrelevant] == -1)),
        -2 * score / (level_ends(n, k)[0] - 2),
    )


def _filter_rate(epsilon: float, draws: int, seed: int) -> Rate:
    """Draws of a tree and of strings for which the filter does at every step what the proof says.

    Training depends on ε₀ only through what the filter passes.
    """
    n, k = LARGE
    trees, depth = random_trees(n, k, draws, key=seed), k.bit_length() - 1
    generator, right = np.random.default_rng([seed, 7]), []
    for tree in trees:
        strings = jnp.asarray(generator.choice([-1.0, 1.0], (LARGE_STRINGS, n)), jnp.float32)
        passed = []
        for step in range(depth):
            scores = np.zeros((tree.size, k - 1), np.float32)
            trained = np.flatnonzero(tree.levels <= step)
            scores[tree.children[trained].T, trained] = SCORE
            passes = filter_levels(ChainModel(scores, n, CosineLink(), "level"), strings, epsilon)
            passed.append(np.asarray(passes) == (np.arange(depth) <= step))
        right.append(np.all(passed))
    return Rate.of(right)


@thm7.judge
def _thm7(s: Stepwise) -> Judged:
    listed = "; ".join(
        f"{cell.solved} at {cell} (N = n^{2 + cell.power:.2f}, η = {cell.factor:.2f}·n^(2+ε/16))"
        for cell in s.cells
    )
    edges = "; ".join(f"ε₀ = {name}: {rate.count}" for name, rate in s.filtered.items())
    removed = "; ".join(f"{name}: {rate}" for name, rate in s.removed.items())
    control = s.cells[-1]
    text = (
        f"One level per step: {listed}; loss at the end at most "
        f"{max(c.loss for c in s.cells):.0e}; with an error of {ORACLE:g}·n^(-2-ε/8) in every "
        f"entry {s.oracle}; with ε₀ = {SMALL:g} instead of {EPSILON:g} {s.small} of those whose "
        f"second level is silenced. At n = {LARGE[0]}, k = {LARGE[1]} the filter does at every "
        f"step what the proof says in these draws: {edges}."
        f"{f' Without a part: {removed}.' if removed else ''} Of the irrelevant weights "
        f"{100 * control.minus_one:.0f} % end at -1 (expected {control.irrelevant:.2f} before "
        "rounding on the first level), where weights (11) of the proof have 0; this does no harm."
    )
    least = min(*(cell.solved.low for cell in s.cells), s.oracle.low)
    good, bad = min(r.low for r in s.inside), max(s.small.high, *(r.high for r in s.outside))
    if min(*(cell.solved.high for cell in s.cells), s.oracle.high) < OFTEN:
        instead = f"Runs that do: {listed}; under the oracle {s.oracle}."
        return refuted(text, instead=instead, margin=OFTEN - least)
    if least > OFTEN and min(s.small.low, *(r.low for r in s.outside)) > OFTEN:
        return holds(text, margin=least - OFTEN)
    if least > OFTEN and good > OFTEN and bad < RARELY:
        return corrected(
            text,
            instead="For every ε₀ with 1 < ε₀ < 2, and n large, it does; from k = 8 on no other ε₀ "
            "lets the filter do what the proof says. A silenced token is 0, exactly 1 from -1, so "
            "ε₀ ≤ 1 does not pass the silence on to the next level; a trained token is less than 2 "
            "from -1, so ε₀ ≥ 2 silences what follows it. Above an untrained level the proof needs "
            "silence, not tokens within O(n^(-1/2)) of -1.",
            margin=min(least - OFTEN, good - OFTEN, RARELY - bad),
            interval=s.small,
            counterexample=True,
        )
    return undecided(f"{text} A share is too uncertain.", interval=s.small)


@thm7.planted("a filter of ε₀ = 0.95 in every run", turns="refuted")
def _(trial: Trial) -> Any:
    return thm7.measure(trial, ((32, 8, 2**16, 6),), draws=2, epsilon=SMALL)


@thm7.figure
def _thm7_figure(s: Stepwise) -> Lines:
    return Lines(
        [Line(str(cell), range(len(cell.levels)), cell.levels) for cell in s.cells],
        x="step",
        y="levels solved",
        caption="Levels of the tree solved after each step.",
    )


@record(evidence="exact")
class Rounds:
    """Rounds until the layer's own output no longer changes, for k leaves of n = 2k bits."""

    k: list[int]
    level: list[int] = shown("rounds with the level mask", by="sizes", predicted="log2 k")
    token: list[int] = shown("rounds with the token mask", by="sizes", predicted="k - 1")
    gap: float = shown("largest distance from token-by-token generation")

    @property
    def sizes(self) -> list[str]:
        return [f"k = {k}" for k in self.k]


@claim(
    "ks-level-mask",
    source=KS("Section 3.3"),
    title="The level mask shortens generation from k - 1 to log2 k rounds",
    statement="If a node sees only lower levels, applying the layer to its own output reaches its "
    "fixed point after log2 k rounds instead of k - 1.",
    quick={"sizes": (8,)},
    full={"sizes": (8, 16, 32, 64)},
    settings={"scores": "each node on its last visible token and one input", "n": "2k"},
    seconds=(2, 5, 10),
    counted=False,
)
def level_mask(trial: Trial, sizes: Sequence[int] = (8, 16, 32)) -> Rounds:
    level, token = (
        [_rounds_to_fixed_point(2 * k, k, mask, trial.seed) for k in sizes]
        for mask in ("level", "token")
    )
    gap = max(apart for _, apart in level + token)
    return Rounds(list(sizes), [took for took, _ in level], [took for took, _ in token], gap)


@level_mask.judge
def _level_mask(r: Rounds) -> Judged:
    text = (
        f"Rounds until nothing changes, k = {', '.join(map(str, r.k))}: "
        f"{', '.join(map(str, r.level))} with the level mask, {', '.join(map(str, r.token))} with "
        f"the token mask; the fixed point is what token-by-token generation writes, to {r.gap:.0e}."
    )
    margin = abs(1e-12 - r.gap)
    late = max(took - (k.bit_length() - 1) for took, k in zip(r.level, r.k, strict=True))
    early = max(k - 1 - took for took, k in zip(r.token, r.k, strict=True))
    if late > 0 or r.gap > 1e-12:
        return refuted(text, instead=f"Rounds with the level mask: {r.level}.", margin=margin)
    if early > 0:
        instead = f"log2 k rounds with the level mask, {r.token} with the token mask."
        return corrected(text, instead=instead, margin=margin)
    return holds(text, margin=margin)


def _rounds_to_fixed_point(n: int, k: int, mask: str, seed: int) -> tuple[int, float]:
    """Node m averages the token just before it (or at the end of the level below) and an input."""
    signs = np.random.default_rng([seed, k]).choice([-1.0, 1.0], (64, n))
    scores, seen = np.zeros((n + k - 1, k - 1)), visible_tokens(n, k, mask).sum(axis=0)
    nodes = np.arange(k - 1)
    scores[seen - 1, nodes] = scores[nodes % (n - 1), nodes] = 500.0
    with float64():
        model, rows = ChainModel(scores, n, CosineLink(), mask), jnp.asarray(signs)
        rounds, tokens = model.settle(rows)
        return rounds, float(jnp.abs(tokens - model.generate(rows)).max())

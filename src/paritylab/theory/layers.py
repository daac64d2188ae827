"""A hidden chain, one layer per level: how large a step each level needs, from how many rows. Ours.

A level is learnt in one step of its own from the tokens of lower levels, so every level has its own
number of tokens M, its own signal, and its own best step.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import norm

from paritylab.models.links import AbstractLink, CosineLink
from paritylab.problem.tree import level_ends
from paritylab.theory.ks import (
    LOST,
    TIPPED,
    RowLaw,
    broken_nodes,
    least_error,
    row_law,
)

COSINE = CosineLink()


class LevelStep(NamedTuple):
    """The step of one level. nodes: how many it has. tokens: M, what each of them sees. score: of
    the children after the step. eta: η. broken: expected number of broken nodes."""

    nodes: int
    tokens: int
    score: float
    eta: float
    broken: float


class Hiding(NamedTuple):
    """How the levels are learnt. staged: each on what the layers below make, instead of on true
    tokens. rounding: scores are rounded to integers."""

    staged: bool = False
    rounding: bool = False


TEACHER = Hiding()


def level_tokens(n: int, k: int, mask: str) -> tuple[int, ...]:
    """M of every level, from the lowest: "prev" sees the level below, "level" all lower levels,
    "token" all earlier tokens (the last node's count), "none" all tokens.

    >>> level_tokens(16, 8, "prev"), level_tokens(16, 8, "level")
    ((16, 4, 2), (16, 20, 22))
    """
    ends = level_ends(n, k)
    if mask == "prev":
        return (n, *(k >> level for level in range(1, len(ends) - 1)))
    if mask == "none":
        return (n + k - 1,) * (len(ends) - 1)
    return tuple(end - 1 for end in ends[1:]) if mask == "token" else ends[:-1]


def level_steps(
    n: int,
    k: int,
    samples: float | int,
    link: AbstractLink = COSINE,
    mask: str = "prev",
    how: Hiding = TEACHER,
) -> tuple[LevelStep, ...]:
    """For every level the step that is predicted to break fewest nodes, from N rows.

    A node that sees only its two children needs no step. With rounding scores become integers, so
    the step aims at one; children whose scores straddle a half-integer break their node. In stages
    a hidden token's error ε tips the next level's children by s·ε, s their score; a tilt δ leaves
    an error c(δ/2)², a leak λ one of cλ². So a node counts as broken once its error tips the next
    level by TIPPED, from a tilt of 2√(TIPPED/cs) or a leak of half of it.
    """
    return _steps_of(_level_laws(n, k, link, mask), float(samples), link, how)


def _steps_of(
    laws: list["_LevelLaw"], samples: float, link: AbstractLink, how: Hiding
) -> tuple[LevelStep, ...]:
    above, made = 0.0, []
    for level in reversed(laws):
        limits = (LOST, TIPPED)
        if how.staged and above > 0:
            tilt = 2 * float(np.sqrt(TIPPED / (link.curvature * above)))
            limits = (min(LOST, tilt / 2), min(TIPPED, tilt))
        made.append(_level_step(level, samples, link, how.rounding, limits))
        above = made[-1].score
    return tuple(reversed(made))


class _LevelLaw(NamedTuple):
    nodes: int
    tokens: int
    law: RowLaw | None


def _level_laws(n: int, k: int, link: AbstractLink, mask: str) -> list[_LevelLaw]:
    """Every level's law of one row; None where a node sees nothing but its children."""
    return [
        _LevelLaw(k >> level, tokens, row_law(np.array([tokens]), link) if tokens > 2 else None)
        for level, tokens in enumerate(level_tokens(n, k, mask), start=1)
    ]


def _level_step(
    level: _LevelLaw,
    samples: float,
    link: AbstractLink,
    rounding: bool,
    limits: tuple[float, float],
) -> LevelStep:
    nodes, tokens, law = level
    if law is None:
        return LevelStep(nodes, tokens, 0.0, 0.0, 0.0)
    if rounding:
        score, broken = _least_rounded(level, samples, limits)
    else:
        error = least_error(law, nodes, samples, link, limits=limits)
        score, broken = error.score, error.broken
    return LevelStep(nodes, tokens, score, score / float(law.signal[0]), broken)


def _least_rounded(
    level: _LevelLaw, samples: float, limits: tuple[float, float]
) -> tuple[float, float]:
    """The integer score that breaks fewest nodes once scores are rounded, and how many."""
    nodes, tokens, law = level
    assert law is not None
    scores = np.ceil(np.log(tokens)) + 1 + np.arange(40.0)
    # Rounding takes the tilt away unless it splits a pair.
    broken = broken_nodes(law, samples, scores, (limits[0], np.inf))
    broken += [straddle(float(score), law, samples) for score in scores]
    best = int(np.argmin(broken))
    return float(scores[best]), nodes * float(broken[best])


def straddle(score: float, law: RowLaw, samples: float) -> float:
    """Chance that two children with this expected score round to different integers.

    Their common noise has standard deviation σ = s·noise/(signal·√N), their difference τ likewise
    from the tilt, far below 1: Σ_h E|difference|·(density of the common score at h) over the
    half-integers h.
    """
    per_row = score / (float(law.signal[0]) * np.sqrt(samples))
    spread, tilt = per_row * float(law.noise[0]), per_row * float(law.tilt[0])
    halves = np.floor(score) + 0.5 + np.arange(-60, 60)
    density = float(np.sum(norm.pdf((halves - score) / spread)) / spread)
    return float(min(1.0, np.sqrt(2 / np.pi) * tilt * density + 2 * ndtr(-1 / tilt)))


def rows_for_hidden_chain(
    n: int,
    k: int,
    link: AbstractLink = COSINE,
    mask: str = "prev",
    how: Hiding = TEACHER,
    share: float = 0.5,
) -> float:
    """N at which the best step on every level breaks no node for that share of targets."""
    laws = _level_laws(n, k, link, mask)

    def excess(log_rows: float) -> float:
        rows = float(np.exp(log_rows))
        broken = sum(step.broken for step in _steps_of(laws, rows, link, how))
        return float(np.log(max(broken, 1e-300) / -np.log(share)))

    return float(np.exp(brentq(excess, np.log(10 * n), np.log(1e5 * n), xtol=1e-3)))

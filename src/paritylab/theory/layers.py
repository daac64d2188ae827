"""A hidden chain, one layer per level: how large a step each level needs, from how many rows. Ours.

A level is learnt in one step of its own from the tokens of lower levels, so every level has its own
number of tokens M, its own signal, and its own best step.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from paritylab.models.links import AbstractLink
from paritylab.problem.tree import level_ends
from paritylab.theory.ks import COSINE, LOST, TIPPED, least_error, row_law


class LevelStep(NamedTuple):
    """The step of one level. nodes: how many it has. tokens: M, what each of them sees. score: of
    the children after the step. eta: η. broken: expected number of broken nodes."""

    nodes: int
    tokens: int
    score: float
    eta: float
    broken: float


def level_tokens(n: int, k: int, mask: str = "prev") -> tuple[int, ...]:
    """M of every level, from the lowest. mask: "prev", a node sees the level just below its own;
    "level", it sees all lower levels.

    >>> level_tokens(16, 8), level_tokens(16, 8, "level")
    ((16, 4, 2), (16, 20, 22))
    """
    if mask == "level":
        return level_ends(n, k)[:-1]
    return (n, *(k >> level for level in range(1, k.bit_length() - 1)))


def level_steps(
    n: int,
    k: int,
    samples: float | int,
    link: AbstractLink = COSINE,
    *,
    staged: bool = False,
    mask: str = "prev",
) -> tuple[LevelStep, ...]:
    """For every level the step that is predicted to break fewest nodes, from N rows.

    A node that sees only its two children needs no step. staged: each level is learnt on what the
    layers below make, instead of on true tokens. Then a hidden token's error ε tips the next
    level's children by s·ε, s their score; a tilt δ leaves an error c(δ/2)², a leak λ one of cλ².
    So a node counts as broken once its error tips the next level by TIPPED, from a tilt of
    2√(TIPPED/cs) or a leak of half of it.
    """
    above, made = 0.0, []
    for level, tokens in reversed([*enumerate(level_tokens(n, k, mask), start=1)]):
        nodes, limits = k >> level, (LOST, TIPPED)
        if staged and above > 0:
            tilt = 2 * float(np.sqrt(TIPPED / (link.curvature * above)))
            limits = (min(LOST, tilt / 2), min(TIPPED, tilt))
        step = LevelStep(nodes, tokens, 0.0, 0.0, 0.0)
        if tokens > 2:
            law = row_law(np.array([tokens]), link)
            error = least_error(law, nodes, float(samples), link, limits=limits)
            eta = error.score / float(law.signal[0])
            step = LevelStep(nodes, tokens, error.score, eta, error.broken)
        made.append(step)
        above = step.score
    return tuple(reversed(made))


def rows_for_hidden_chain(n: int, k: int) -> float:
    """N at which the best step on every level breaks no node for half of the targets."""

    def excess(log_rows: float) -> float:
        broken = sum(step.broken for step in level_steps(n, k, float(np.exp(log_rows))))
        return float(np.log(max(broken, 1e-300) / np.log(2)))

    return float(np.exp(brentq(excess, np.log(10 * n), np.log(1e5 * n), xtol=1e-3)))

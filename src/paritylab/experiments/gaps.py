"""Chains with gaps: one step over parities of q tokens, from growing parts of a stream."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from paritylab.theory.gaps import (
    GapLink,
    link_signal,
    matched_link,
)

#: Rows drawn at a time.
ROWS = 1 << 15
#: Fresh inputs that judge a level.
INPUTS = 2000


class GapCurve(NamedTuple):
    """Flags (N, runs). found: every child above every other token. right: on every fresh input."""

    found: Bool[np.ndarray, "sizes runs"]
    right: Bool[np.ndarray, "sizes runs"]


def measure_gap_curve(
    n: int,
    q: int,
    nodes: int,
    grid: Sequence[int] | np.ndarray,
    *,
    runs: int,
    seed: int,
) -> GapCurve:
    """One teacher-forced step from growing prefixes of a stream, for parities of q of n bits.

    It is the first shown level of a chain with gaps, from W = 0. The children get a score of
    ln M + 3 above the others, M = n. In numpy, since no learner has nodes with more than two
    children and one step is a single sum over rows.
    """
    link, score = matched_link(q), float(np.log(n)) + 3
    found, right = np.zeros((2, len(grid), runs), bool)
    for run in range(runs):
        generator = np.random.default_rng((seed, n, q, run))
        children = generator.permutation(n)[: nodes * q].reshape(nodes, q)
        total, drawn = np.zeros((n, nodes)), 0
        for at, rows in enumerate(grid):
            while drawn < rows:
                more = min(ROWS, int(rows) - drawn)
                total += _pull(_draw_signs(generator, more, n), children, link)
                drawn += more
            scores = score / abs(link_signal(n, q, link)) * total / drawn
            found[at, run] = are_on_top(scores, children.T)
            right[at, run] = found[at, run] and _right(scores, children, link, generator)
    return GapCurve(found, right)


def _draw_signs(generator: np.random.Generator, rows: int, n: int) -> Float[np.ndarray, "rows n"]:
    bits = np.unpackbits(np.frombuffer(generator.bytes(rows * -(-n // 8)), np.uint8))
    return 1.0 - 2.0 * bits.reshape(rows, -1)[:, :n]


def _pull(
    signs: Float[np.ndarray, "rows n"], children: Int[np.ndarray, "nodes q"], link: GapLink
) -> Float[np.ndarray, "n nodes"]:
    """Sum over rows of -∂L/∂w, up to a constant per node: -<r_m, x_j>/M."""
    z = signs.mean(axis=1, keepdims=True)
    truth = signs[:, children].prod(axis=2)
    return np.asarray(-signs.T @ ((link(z) - truth) * link.slope(z)) / signs.shape[1])


def are_on_top(
    scores: Float[np.ndarray, "*runs tokens nodes"], own: Int[np.ndarray, "*runs q nodes"]
) -> Bool[np.ndarray, "*runs"]:
    """Whether every node's children outscore all other tokens. own: the children's places."""
    others, least = scores.copy(), np.take_along_axis(scores, own, axis=-2).min(axis=-2)
    np.put_along_axis(others, own, -np.inf, axis=-2)
    return np.asarray((least > others.max(axis=-2)).all(axis=-1))


def _right(
    scores: np.ndarray, children: np.ndarray, link: GapLink, generator: np.random.Generator
) -> bool:
    shares = np.exp(scores - scores.max(axis=0))
    shares /= shares.sum(axis=0)
    signs = _draw_signs(generator.spawn(1)[0], INPUTS, len(scores))
    return bool((link(signs @ shares) * signs[:, children].prod(axis=2) > 0).all())

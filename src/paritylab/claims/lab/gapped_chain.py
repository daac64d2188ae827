"""One teacher-forced step on the first shown level of a chain with gaps, in plain numpy."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from paritylab.theory.gaps import GapLink, link_signal, matched_link

#: Rows drawn at a time.
ROWS = 1 << 15
#: Fresh inputs that judge a level.
INPUTS = 2000


class GapCurve(NamedTuple):
    """Flags (N, runs): every child above every other token; every fresh input right at each node.

    score: of the children.
    """

    found: Bool[np.ndarray, "sizes runs"]
    right: Bool[np.ndarray, "sizes runs"]
    score: float


def gap_curve(
    n: int,
    q: int,
    nodes: int,
    grid: Sequence[int] | np.ndarray,
    *,
    runs: int,
    seed: int,
    link: GapLink | None = None,
) -> GapCurve:
    """One step from W = 0 from growing prefixes of a stream, for parities of q of n bits.

    The children get a score of ln M + 3 above the others, M = n.
    """
    rule = matched_link(q) if link is None else link
    score = float(np.log(n)) + 3
    found, right = np.zeros((2, len(grid), runs), bool)
    for run in range(runs):
        generator = np.random.default_rng((seed, n, q, run))
        children = generator.permutation(n)[: nodes * q].reshape(nodes, q)
        total, drawn = np.zeros((n, nodes)), 0
        for at, rows in enumerate(grid):
            while drawn < rows:
                more = min(ROWS, int(rows) - drawn)
                total += _pull(_signs(generator, more, n), children, rule)
                drawn += more
            scores = score / abs(link_signal(n, q, rule)) * total / drawn
            found[at, run] = _found(scores, children)
            right[at, run] = found[at, run] and _right(scores, children, rule, generator)
    return GapCurve(found, right, score)


def _signs(generator: np.random.Generator, rows: int, n: int) -> Float[np.ndarray, "rows n"]:
    bits = np.unpackbits(np.frombuffer(generator.bytes(rows * -(-n // 8)), np.uint8))
    return 1.0 - 2.0 * bits.reshape(rows, -1)[:, :n]


def _pull(
    signs: Float[np.ndarray, "rows n"], children: Int[np.ndarray, "nodes q"], link: GapLink
) -> Float[np.ndarray, "n nodes"]:
    """Sum over rows of -∂L/∂w, up to a constant per node: -<r_m, x_j>/M."""
    z = signs.mean(axis=1, keepdims=True)
    truth = signs[:, children].prod(axis=2)
    return np.asarray(-signs.T @ ((link(z) - truth) * link.slope(z)) / signs.shape[1])


def _found(scores: np.ndarray, children: np.ndarray) -> bool:
    nodes = np.arange(len(children))
    own = scores[children.T, nodes]
    others = scores.copy()
    others[children.T, nodes] = -np.inf
    return bool((own.min(axis=0) > others.max(axis=0)).all())


def _right(
    scores: np.ndarray, children: np.ndarray, link: GapLink, generator: np.random.Generator
) -> bool:
    shares = np.exp(scores - scores.max(axis=0))
    shares /= shares.sum(axis=0)
    signs = _signs(generator.spawn(1)[0], INPUTS, len(scores))
    return bool((link(signs @ shares) * signs[:, children].prod(axis=2) > 0).all())

"""KS, Appendix B: the first gradient on every kind of token, and how many products are trivial."""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from scipy.stats import binom

from paritylab._support.precision import float64
from paritylab.models.links import AbstractLink
from paritylab.problem.tree import ParityTree, level_ends, token_masks

#: P(root = r, marked token = t, sum of all tokens) by (r, t).
_Marked = dict[tuple[int, int], np.ndarray]


#: A part of (φ(ẑ) - x_m)φ'(ẑ), from φ(ẑ), φ'(ẑ), ẑ, x_m and c.
Pull = Callable[[np.ndarray, np.ndarray, np.ndarray, int, float], np.ndarray]


def term_7(value: np.ndarray, slope: np.ndarray, z: np.ndarray, label: int, c: float) -> np.ndarray:
    """The term (7), the first of four that Appendix B splits the gradient into, by φ = -1 + cẑ²."""
    return np.asarray(-label * 2 * c * z)


def _whole(value: np.ndarray, slope: np.ndarray, z: np.ndarray, label: int, c: float) -> np.ndarray:
    return np.asarray((value - label) * slope)


class TokenKind(NamedTuple):
    """Tokens with the same expected gradient: their name, how many tokens, ∂L/∂w."""

    name: str
    tokens: int
    gradient: float


def level_gradient(
    n: int, k: int, level: int, link: AbstractLink, pull: Pull = _whole
) -> tuple[TokenKind, ...]:
    """∂L/∂w of a node on `level` at W = 0 for all tokens below, exact; the children come first.
    pull: `term_7` for that part of it only.

    The node averages the d_(level-1) tokens of lower levels, all of them true. Their kinds: its two
    children, tokens under a child, roots of other subtrees and tokens under them, bits outside the
    set. Softmax does not see a common shift, so the sum over all tokens is 0.

    >>> from paritylab.models import LINKS
    >>> kinds = level_gradient(64, 32, 2, LINKS["cos"])
    >>> [kind.name for kind in kinds][:2]
    ['child', 'under a child, height 0']
    >>> abs(sum(kind.tokens * kind.gradient for kind in kinds)) < 1e-15
    True
    """
    roots, free = k >> (level - 1), n - k
    kinds = [TokenKind("child", 2, child_gradient(n, k, level, link, pull))]
    plain, tokens = subtree_law(level - 1), level_ends(n, k)[level - 1]
    either, outside = plain[1] + plain[-1], binom.pmf(np.arange(free + 1), free, 0.5)
    rest = _power(either, roots - 2)
    whole = np.convolve(rest, outside)

    def expected(first: _Marked, others: _Marked | np.ndarray) -> float:
        return _mean_pull(first, plain, others, tokens, link, pull)

    for at in range(level - 2, -1, -1):
        value = expected(_marked_law(level - 1, at), whole)
        kinds.append(TokenKind(f"under a child, height {at}", 2 << (level - 1 - at), value))
    unmarked: _Marked = {(root, 0): law for root, law in plain.items()}
    fewer = np.convolve(_power(either, roots - 3), outside) if roots > 2 else whole
    for at in range(level - 1, -1, -1) if roots > 2 else ():
        marked = _marked_law(level - 1, at)
        aside: _Marked = {
            (0, mark): np.convolve(marked[1, mark] + marked[-1, mark], fewer) for mark in (1, -1)
        }
        count = (roots - 2) << (level - 1 - at)
        kinds.append(TokenKind(f"elsewhere, height {at}", count, expected(unmarked, aside)))
    if free:
        less = binom.pmf(np.arange(free), free - 1, 0.5) / 2
        bit: _Marked = {
            (0, 1): np.convolve(rest, np.append(0.0, less)),
            (0, -1): np.convolve(rest, np.append(less, 0.0)),
        }
        kinds.append(TokenKind("outside the set", free, expected(unmarked, bit)))
    return tuple(kinds)


def child_gradient(n: int, k: int, level: int, link: AbstractLink, pull: Pull = _whole) -> float:
    """`level_gradient` of a child alone.

    The node averages n - k free bits and k/2^(level-1) subtrees. A subtree's sum given its root
    follows from that of its halves, so the law of the mean is a few convolutions; which leaves the
    tree has does not matter.
    """
    if not 1 <= level <= int(np.log2(k)):
        raise ValueError(f"level must be between 1 and {int(np.log2(k))}, got {level}")
    law, tokens = subtree_law(level - 1), level_ends(n, k)[level - 1]
    free = binom.pmf(np.arange(n - k + 1), n - k, 0.5)
    others = np.convolve(_power(law[1] + law[-1], (k >> (level - 1)) - 2), free)
    return _mean_pull(_marked_law(level - 1, level - 1), law, others, tokens, link, pull)


def subtree_law(height: int) -> dict[int, np.ndarray]:
    """P(root = r, sum of all tokens = s) for both r; s runs from -size to size in steps of 2."""
    law = {1: np.array([0.0, 0.5]), -1: np.array([0.5, 0.0])}
    for _ in range(height):
        same = np.convolve(law[1], law[1]) + np.convolve(law[-1], law[-1])
        mixed = 2 * np.convolve(law[1], law[-1])
        law = {1: np.append(0.0, same), -1: np.append(mixed, 0.0)}
    return law


def evaluated(link: AbstractLink, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """φ and φ' at these means, in double precision.

    The array is padded to a power of two, so that few shapes compile.
    """
    padded = np.zeros(1 << (means.size - 1).bit_length())
    padded[: means.size] = means
    with float64():
        z = jnp.asarray(padded)
        return np.asarray(link(z))[: means.size], np.asarray(link.slope(z))[: means.size]


def _mean_pull(
    first: _Marked,
    second: dict[int, np.ndarray],
    others: _Marked | np.ndarray,
    tokens: int,
    link: AbstractLink,
    pull: Pull,
) -> float:
    """E[pull·(x_j - ẑ)]/M; the marked token x_j is in `first` or in `others`."""
    aside = others if isinstance(others, dict) else {(0, 0): others}
    z = np.linspace(-1, 1, tokens + 1)
    value, slope = evaluated(link, z)
    total = 0.0
    for (left, mark), law in first.items():
        for right, more in second.items():
            for (_, other_mark), away in aside.items():
                chance = np.convolve(np.convolve(law, more), away)
                part = pull(value, slope, z, left * right, link.curvature)
                total += float(chance @ (part * (mark + other_mark - z)))
    return float(total) / tokens


def _marked_law(height: int, at: int) -> _Marked:
    """The law of a subtree with its leftmost token on height `at` marked."""
    base = subtree_law(at)
    never = np.zeros_like(base[1])
    law: _Marked = {(1, 1): base[1], (-1, -1): base[-1], (1, -1): never, (-1, 1): never}
    for below in range(at, height):
        sibling, size = subtree_law(below), (4 << below) - 1
        grown = {(root, mark): np.zeros(size + 1) for root in (1, -1) for mark in (1, -1)}
        for (root, mark), mine in law.items():
            for other, theirs in sibling.items():
                both = np.convolve(mine, theirs)
                new = root * other
                grown[new, mark] += np.append(0.0, both) if new > 0 else np.append(both, 0.0)
        law = grown
    return law


def _power(law: np.ndarray, times: int) -> np.ndarray:
    """The law of the sum of so many independent copies."""
    total = np.ones(1)
    while times:
        if times & 1:
            total = np.convolve(total, law)
        law, times = np.convolve(law, law), times >> 1
    return total


class TrivialFours(NamedTuple):
    """Ordered products of four tokens that are always 1.

    total: of all tokens below m. paired: two equal pairs. chained: a node, a child, and the
    children of its other child. most: the largest number with one token given.
    """

    total: int
    paired: int
    chained: int
    most: int


def trivial_fours(tree: ParityTree, below: int) -> TrivialFours:
    """Counted one by one, among the first `below` tokens; n at most 63.

    >>> trivial_fours(ParityTree(4, (0, 1, 2, 3)), 7)
    TrivialFours(total=181, paired=133, chained=48, most=31)
    """
    tokens = np.array(token_masks(tree)[:below], dtype=np.uint64)
    pairs = (tokens[:, None] ^ tokens[None, :]).ravel()
    values, counts = np.unique(pairs, return_counts=True)
    places = np.minimum(np.searchsorted(values, pairs), values.size - 1)
    ways = counts[places].reshape(below, below).sum(axis=0)
    total, paired = int((counts**2).sum()), 3 * below**2 - 2 * below
    return TrivialFours(total, paired, total - paired, int(ways.max()))


def chained_fours(n: int, k: int, below: int) -> int:
    """Ordered trivial products of four different tokens: 24 for each of two choices at every node
    of height 2 or more among the first `below` tokens."""
    return 48 * max(0, below - level_ends(n, k)[1]) if k > 2 else 0

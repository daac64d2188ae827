"""When one teacher-forced step breaks on shifted or poisoned rows: closed forms, ours.

The shift: with probability α all bits of a set A share one sign, the others stay fair. With A
outside the parity set, or equal to it, ẑ is a sum of independent parts: mean XᵀR is exact.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import binom

from paritylab.models.links import AbstractLink
from paritylab.theory.ks import TIPPED, child_signal, row_law, tokens_seen
from paritylab.theory.ks_gradient import evaluated


class ShiftedPart(NamedTuple):
    """-∂L/∂w at W = 0 on a node's child and on a bit of A, from the rows whose A shares a sign."""

    child: float
    member: float


def shifted_part(
    tokens: int, members: int, link: AbstractLink, inner: int | None = None
) -> ShiftedPart:
    """A node that sees `tokens` tokens, `members` of them the bits of A: exact.

    inner None: A lies outside the parity set and holds no child, whose two signs are fair. A
    number: A is the parity set itself and the node is above the first level; it sees so many inner
    tokens, which all are +1 in these rows, as is the node.
    """
    fixed = 2 if inner is None else inner
    free = tokens - members - fixed
    if members < 0 or free < 0:
        raise ValueError(f"{tokens} tokens cannot hold {members} bits of A and {fixed} others")
    law, rest = binom.pmf(np.arange(free + 1), free, 0.5), 2 * np.arange(free + 1) - free
    pairs = [(1, 1), (1, -1), (-1, 1), (-1, -1)] if inner is None else [(1, 1)]
    child = member = 0.0
    for shared in (1, -1):
        for first, second in pairs:
            known = first + second if inner is None else inner
            z = (shared * members + known + rest) / tokens
            value, slope = evaluated(link, z)
            residual = (value - first * second) * slope * law
            child -= float(residual @ (first - z))
            member -= float(residual @ (shared - z))
    weight = 1 / (2 * len(pairs) * tokens)
    return ShiftedPart(weight * child, weight * member)


class Limit(NamedTuple):
    """overtaken: α at which the bits of A score as high as a node's children, from infinitely many
    rows. broken: α at which they hold 1/(2c) of what the children hold: every node leaks alike, and
    beyond it the errors grow from level to level (as in `tolerated_error`)."""

    overtaken: float
    broken: float


def shift_limit(
    n: int, k: int, members: int, score: float, link: AbstractLink, *, inside: bool = False
) -> Limit:
    """The shift that a step with this root score tolerates; `inside`: A is the parity set.

    The least over the nodes: five of those above the first level if inside, else the root, which
    has the smallest score. For few bits outside the parity set overtaken is near 1/(|A| - 1).
    """
    first = n + k // 2 if inside and k > 2 else n + k - 2
    seen = np.unique(np.linspace(first, n + k - 2, 5).astype(int)).tolist()
    signals, limits = [child_signal(tokens, link) for tokens in seen], []
    for tokens, signal in zip(seen, signals, strict=True):
        part = shifted_part(tokens, members, link, tokens - n if inside else None)
        ahead = signal * tokens / (tokens - 2)
        overtaken = ahead / (ahead + part.member - part.child)
        share = float(np.log(members * link.curvature)) / (score * signal / signals[-1])
        limits.append(Limit(overtaken, overtaken * (1 - share)))
    return min(limits, key=lambda limit: limit.broken)


def lies_limit(n: int, k: int, score: float, link: AbstractLink) -> float:
    """Share of rows in which the first node may name a wrong second child: TIPPED over s."""
    return TIPPED / score * child_signal(n + k - 2, link) / child_signal(n, link)


def flips_limit(n: int, k: int, samples: float, score: float, link: AbstractLink) -> float:
    """Probability of a wrong intermediate token that a step with this root score tolerates.

    Above the first level a signal falls to (1 - 2ρ)³ of itself, and the root leaks; that may reach
    1/(2c) as for a shift. And a wrong row, (1 + x_m)(x_c1 - x_c2) ≠ 0, tips the children by a
    standard deviation of s·√(8qM/N), q the share of such rows: ρ on the first level, above it
    (1 - (1 - 2ρ)³)/2; a node may be broken for half of the targets. The smaller of the two.
    """
    law = row_law(tokens_seen(n, k, "token"), link)
    scores, first = score * law.signal / law.signal[-1], law.tokens < n + k // 2
    spread = score * law.noise[-1] / (law.signal[-1] * np.sqrt(samples))

    def leaks(flips: float) -> float:
        kept = score * (1 - 2 * flips) ** 3
        return float(np.log(law.tokens[-1] * link.curvature) + spread**2 / 2 - kept)

    def tips(flips: float) -> float:
        wrong = np.where(first, flips, (1 - (1 - 2 * flips) ** 3) / 2)
        tilt = scores * np.sqrt((8 * wrong * law.tokens + (law.tilt / law.signal) ** 2) / samples)
        return (k - 1) * float(np.mean(2 * ndtr(-TIPPED / tilt))) - float(np.log(2))

    return min(
        float(brentq(each, 0, 0.5)) if each(0.0) < 0 < each(0.5) else float(each(0.0) < 0) / 2
        for each in (leaks, tips)
    )

"""A chain that only some rows show: rounds of keeping right answers, exactly.

After Tsilivis et al., whose paper is known here second-hand; the derivations are ours.
"""

from fractions import Fraction

#: The share of shown chains from which on the likeliest next token begins a chain.
THRESHOLD = Fraction(1, 3)


def share_after(share: Fraction, rounds: int) -> Fraction:
    """p after rounds of keeping right answers, one by one: p → 2p/(1+p).

    With the chain every answer is right, without it half of them.

    >>> share_after(Fraction(1, 4), 1), share_after(Fraction(1, 4), 2)
    (Fraction(2, 5), Fraction(4, 7))
    """
    _check(share)
    for _ in range(rounds):
        share = 2 * share / (1 + share)
    return share


def long_share(share: Fraction, rounds: int) -> Fraction:
    """The same in closed form: the odds p/(1-p) double, so 2^t·p/(1 + (2^t - 1)p).

    >>> long_share(Fraction(1, 4), 2)
    Fraction(4, 7)
    """
    _check(share)
    factor = 1 << rounds
    return factor * share / (1 + (factor - 1) * share)


def short_answer_wins(share: Fraction) -> bool:
    """Whether the likeliest next token after the bits is an answer.

    The two answers have (1-p)/2 each, since the answer cannot be known yet; the chain begins with
    p.
    """
    _check(share)
    return (1 - share) / 2 > share


def rounds_until(share: Fraction) -> int:
    """Rounds after which the likeliest next token begins the chain: ⌈log2((1-p)/2p)⌉, or 0.

    >>> [rounds_until(Fraction(1, b)) for b in (3, 4, 100)]
    [0, 1, 6]
    """
    rounds = 0
    while short_answer_wins(long_share(share, rounds)):
        rounds += 1
    return rounds


def _check(share: Fraction) -> None:
    if not 0 < share <= 1:
        raise ValueError(f"the share of shown chains must lie in (0, 1], got {share}")

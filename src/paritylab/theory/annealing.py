"""Why annealed heads get stuck, and which moves set them free: closed forms, ours.

Heads at angles θ_i with temperature τ and the readout cos(πs) have the correlation c = Π_{j∈B}
sin(πg_j/2) Π_{j∉B} cos(πg_j/2) with the label. While every weight g_j is small, log c is a constant
plus Σ_{j∈B} log g_j: the log-likelihood of a mixture of k equal bumps on the k points of B. When
heads are sharp, each weighs one position or two neighbours.
"""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float


def bump(distance: float, tau: float) -> float:
    """K(x) = exp((cos x - 1)/τ), a head's attention at angle x in units of its largest."""
    return math.exp(-2 * math.sin(distance / 2) ** 2 / tau)


def splitting_temperature(gap: float) -> float:
    """sin(d/2)·tan(d/2): below it two heads midway between two bits at angle d part. Exact for
    small weights.

    With heads at ±δ the log-likelihood of each bit is cos(d/2)cos(δ)/τ + log cosh(sin(d/2)sin(δ)/τ)
    up to a constant; its curvature at δ = 0 is (sin²(d/2)/τ - cos(d/2))/τ.
    """
    if not 0 < gap < math.pi:
        raise ValueError(f"the angle between two bits must lie between 0 and π, got {gap:g}")
    return math.sin(gap / 2) * math.tan(gap / 2)


def critical_width(k: int) -> float:
    """The width √τ at which heads choose their bits: √`splitting_temperature` at the mean gap 2π/k.

    About π/k. Two heads that decide for the same bits here leave another bit without one.

    >>> round(critical_width(16) / (np.pi / 16), 2)
    1.0
    """
    if k < 3:
        raise ValueError(f"the mean gap 2π/k is below π from k = 3 on, got k={k}")
    return math.sqrt(splitting_temperature(2 * math.pi / k))


def sharp_weights(places: Sequence[float], n: int) -> Float[np.ndarray, " n"]:
    """Weights of sharp heads. A head at place j + f gives 1 - f to position j and f to its
    neighbour: as τ → 0 it holds at most two.

    >>> sharp_weights([1.0, 2.5], 5).tolist()
    [0.0, 1.0, 0.5, 0.5, 0.0]
    """
    weights = np.zeros(n)
    for place in places:
        left = math.floor(place)
        weights[left % n] += 1 - (place - left)
        weights[(left + 1) % n] += place - left
    return weights


def sharp_correlation(places: Sequence[float], subset: Sequence[int], n: int) -> float:
    """|c| of sharp heads at the given places."""
    half = np.pi / 2 * sharp_weights(places, n)
    on = np.isin(np.arange(n), subset)
    return float(np.abs(np.prod(np.where(on, np.sin(half), np.cos(half)))))


def shared_run(bits: int) -> float:
    """cos(π/2r)^r: what is left of c if r neighbouring bits share r - 1 heads evenly.

    >>> [round(shared_run(r), 3) for r in (2, 3)]
    [0.5, 0.65]
    """
    return math.cos(math.pi / (2 * bits)) ** bits


#: What is left of c if a spare head halves itself between two neighbours off B.
SPLIT_SPARE = 0.5


class Trap(NamedTuple):
    """Sharp heads that no small step improves. correlation: |c|, by `shared_run` and
    `SPLIT_SPARE`. moves: how many heads must be relocated at once for |c| to rise."""

    name: str
    n: int
    subset: tuple[int, ...]
    places: tuple[float, ...]
    correlation: float
    moves: int


#: Ends of failed runs. The hidden pair sits on one empty position: g = 2 and |cos π| = 1 there, and
#: c = 0 as soon as one of the two has gone.
TRAPS = (
    Trap("split spare", 12, (2, 3), (2.5, 8.5), shared_run(2) * SPLIT_SPARE, 1),
    Trap(
        "hidden pair",
        14,
        (1, 2, 6, 7, 8),
        (1.5, 6 + 1 / 3, 7 + 2 / 3, 11.0, 11.0),
        shared_run(2) * shared_run(3),
        2,
    ),
    Trap("bare bit", 12, (2, 7), (2.0, 4.5), 0.0, 1),
    Trap("two bare bits", 12, (2, 7), (4.5, 9.5), 0.0, 2),
)


class Move(NamedTuple):
    """heads: which. places: where to. correlation: |c| after it."""

    heads: tuple[int, ...]
    places: tuple[float, ...]
    correlation: float


def best_move(
    places: Sequence[float], subset: Sequence[int], n: int, *, together: int = 1, parts: int = 2
) -> Move:
    """The best of all relocations of `together` heads to multiples of 1/parts, by trying them."""
    grid = np.arange(n * parts) / parts
    single = np.stack([sharp_weights([place], n) for place in grid])
    arrivals = list(itertools.combinations_with_replacement(range(len(grid)), together))
    added = single[np.array(arrivals)].sum(axis=1)
    on, best = np.isin(np.arange(n), subset), Move((), (), -1.0)
    for heads in itertools.combinations(range(len(places)), together):
        staying = [place for head, place in enumerate(places) if head not in heads]
        half = np.pi / 2 * (sharp_weights(staying, n) + added)
        sizes = np.abs(np.prod(np.where(on, np.sin(half), np.cos(half)), axis=1))
        top = int(np.argmax(sizes))
        if sizes[top] > best.correlation:
            there = tuple(float(grid[each]) for each in arrivals[top])
            best = Move(heads, there, float(sizes[top]))
    return best


def log_likelihood(
    angles: Float[np.ndarray, " k"], bits: Float[np.ndarray, " b"], tau: float
) -> float:
    """Σ_b log Σ_i K(θ_i - b): log c for small weights, up to a constant."""
    scores = -2 * np.sin((np.asarray(bits)[:, None] - np.asarray(angles)) / 2) ** 2 / tau
    return float(np.sum(np.logaddexp.reduce(scores, axis=1)))


def freeing_temperature(gap: float, k: int) -> float:
    """The temperature below which one relocation frees every trap of k heads at small weights.

    It is where k·2^(k-1)·K(d/2) = 1, d the smallest angle between two bits: the theorem in
    docs/theorems/moves.md.
    """
    if k < 2 or not 0 < gap <= math.pi:
        raise ValueError(f"need k of at least 2 and a gap of at most π, got k={k}, gap={gap:g}")
    return 2 * math.sin(gap / 4) ** 2 / math.log(k * 2 ** (k - 1))


def correlational_rows(n: int, k: int, queries: int) -> float:
    """C(n, k)/queries: a learner that only asks for correlations within 1/√N and asks so often
    cannot find a random B from fewer rows N.

    A query of norm 1 has a correlation above 1/√N with at most N parities, because the squares of
    its correlations with all of them sum to at most 1; otherwise the answer may be 0.

    >>> correlational_rows(20, 3, 10)
    114.0
    """
    if queries <= 0:
        raise ValueError(f"queries must be positive, got {queries}")
    return math.comb(n, k) / queries

"""Reading the hidden set off trained heads: from attention alone, or with a few labelled rows."""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from paritylab.models import HeadAttention
from paritylab.precision import float64
from paritylab.problem.bits import as_bits

#: Candidate sets that are checked against labelled rows, at most.
MAX_CANDIDATES = 5000


@dataclass(frozen=True)
class Recovery:
    """A guess at B. confidence: probability that it is right, given what was looked at."""

    subset: tuple[int, ...]
    confidence: float


def read_attention(model: HeadAttention) -> tuple[tuple[int, ...], float]:
    """The k positions with most attention, and how cleanly the heads sit on them.

    Cleanness is Π_{j∈S} sin(πg_j/2) · Π_{j∉S} cos(πg_j/2), which is 1 if every position of S has
    weight 1 and all others 0. It is a score, not a probability; `calibrated` makes it one.
    """
    weights = _weights(model)
    subset = np.sort(np.argsort(-weights, kind="stable")[: model.k])
    inside = np.zeros(len(weights), dtype=bool)
    inside[subset] = True
    half = np.pi / 2 * weights
    factors = np.where(inside, np.sin(half), np.cos(half))
    return tuple(subset.tolist()), max(float(np.prod(factors)), 0.0)


def calibrated(scores: Any, right: Any, *, bins: int = 4) -> Any:
    """A map from score to probability learnt from runs with known outcome.

    scores, right: one entry per calibration run. The scores are cut into `bins` equally filled
    bins; each answers (successes + 1)/(runs + 2), so that few runs never claim certainty.
    """
    scores, right = np.asarray(scores, dtype=float), np.asarray(right, dtype=bool)
    if scores.shape != right.shape or scores.size < bins:
        raise ValueError(f"need at least {bins} scores with outcomes, got {scores.shape}")
    edges = np.quantile(scores, np.arange(1, bins) / bins)
    where = np.searchsorted(edges, scores, side="right")
    levels = np.array(
        [(right[where == b].sum() + 1) / ((where == b).sum() + 2) for b in range(bins)]
    )
    return lambda score: levels[np.searchsorted(edges, score, side="right")]


def read_with_rows(
    model: HeadAttention,
    bits: Any,
    labels: Any,
    *,
    noise: float = 0.0,
    pool: int | None = None,
    prior: float = 0.5,
) -> Recovery:
    """The set among the heads' favourite positions that explains a handful of labelled rows.

    Candidates are all k-subsets of the `pool` positions with most attention (3k by default, fewer
    if that makes more than 5,000 sets). With N rows, noise rate ν and e errors a candidate has
    likelihood (1-ν)^(N-e) ν^e; that none is right has prior 1-`prior` and likelihood 2^-N.
    confidence is the posterior probability of the best candidate.
    """
    bits, labels = np.asarray(as_bits(bits)), np.asarray(labels)
    weights = _weights(model)
    if bits.ndim != 2 or bits.shape[1] != len(weights) or labels.shape != bits.shape[:1]:
        raise ValueError(
            f"expected rows of {len(weights)} bits with one label each, got {bits.shape} and "
            f"{labels.shape}"
        )
    if not np.isin(labels, (-1, 1)).all():
        raise ValueError("labels must be +1 or -1")
    if not (0 <= noise < 0.5 and 0 < prior < 1):
        raise ValueError(f"need 0 ≤ noise < 0.5 and 0 < prior < 1, got {noise} and {prior}")
    candidates = _candidates(weights, model.k, pool)
    odd = bits[:, candidates].sum(axis=2, dtype=int) % 2
    errors = np.sum((1 - 2 * odd) != labels[:, None], axis=0)
    rate = max(noise, 1e-9)
    fit = (len(labels) - errors) * math.log(1 - rate) + errors * math.log(rate)
    log_evidence = np.append(
        math.log(prior / len(candidates)) + fit,
        math.log(1 - prior) + len(labels) * math.log(0.5),
    )
    evidence = np.exp(log_evidence - log_evidence.max())
    best = int(np.argmax(fit))
    subset = tuple(sorted(candidates[best].tolist()))
    return Recovery(subset, float(evidence[best] / evidence.sum()))


def favourites(model: HeadAttention, size: int) -> tuple[int, ...]:
    """The `size` positions with most attention, most first."""
    return tuple(np.argsort(-_weights(model), kind="stable")[:size].tolist())


def rows_to_single_out(subset: tuple[int, ...], positions: Any, bits: Any) -> int:
    """Labelled rows after which `subset` is the only set of its size that explains the labels.

    positions: where its rivals may lie; subset is among them. bits: rows (N, n), labelled without
    noise, taken in order. N + 1 if a rival survives them all.

    >>> rows_to_single_out((1,), (0, 1, 2), [[0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 0]])
    3
    """
    bits = np.asarray(as_bits(bits))
    rivals = [each for each in combinations(sorted(positions), len(subset)) if each != subset]
    if not rivals:
        return 0
    odd = bits[:, np.array(rivals)].sum(axis=2, dtype=int) % 2
    own = bits[:, list(subset)].sum(axis=1, dtype=int) % 2
    differs = odd != own[:, None]
    first = np.where(differs.any(axis=0), differs.argmax(axis=0), len(bits))
    return int(first.max()) + 1


def _candidates(weights: np.ndarray, k: int, pool: int | None) -> np.ndarray:
    pool = min(len(weights), 3 * k if pool is None else pool)
    if pool < k:
        raise ValueError(f"pool must be at least k={k}, got {pool}")
    while pool > k and math.comb(pool, k) > MAX_CANDIDATES:
        pool -= 1
    favourites = np.argsort(-weights, kind="stable")[:pool]
    return np.array(list(combinations(favourites.tolist(), k)))


def _weights(model: HeadAttention) -> np.ndarray:
    with float64():
        return np.asarray(model.weights())

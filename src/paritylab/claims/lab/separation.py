"""Theorem S, ours: what an approximate oracle hides without a chain, from fewer rows than in KS.

KS bounds how much a gradient over N rows says of the target by Gershgorin on the |P|×|P| Gram
matrix of the targets, which costs √(4n/N). The N×N matrix K = (E_p p(x^i)p(x^j)) has the same
largest eigenvalue up to a factor and is nearly the identity, which gives 1/N. The bounds and their
proofs are in theory/ks_hardness.py.
"""

from collections.abc import Callable, Iterator, Sequence
from math import comb
from typing import Any

import numpy as np

from paritylab.claims import OURS, Trial, at_least, at_most, claim
from paritylab.experiments.ks_queries import (
    every_subset,
    random_signs,
    target_values,
)
from paritylab.problem.junta import walsh_transform
from paritylab.statistics import Rate
from paritylab.theory.ks_hardness import (
    gradient_moment_bound,
    largest_eigenvalue_bound,
    mean_label,
    revealed_share_bound,
)

#: The lemmas may fail with this probability over the rows.
FAILURE = 0.01
#: n, k and N at which the moments of all targets are taken; powers 2r of these r.
SMALL, MOMENTS = (20, 10, 16), (1, 2, 3)
#: The same for the look-up table, and for the attack by one feature per query.
TABLE, ATTACKED = (16, 8, 1024), (64, 32, 256)

Rows = Callable[[np.random.Generator, int, int], np.ndarray]


def _same_rows(generator: np.random.Generator, rows: int, n: int) -> np.ndarray:
    return np.repeat(random_signs(generator, 1, n), rows, axis=0)


@claim(
    "lab-separation",
    OURS,
    quick={"cells": ((16, 8, 128), (32, 16, 256)), "targets": 2000},
    full={"cells": ((16, 8, 128), (32, 16, 512), (64, 32, 2048)), "targets": 40_000},
    more="targets",
    planted=(
        "rows that are all the same, so that K is far from the identity",
        {"rows": _same_rows},
        "refuted",
    ),
)
def separated(
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = ((16, 8, 128), (32, 16, 512), (48, 16, 1024)),
    attacks: Sequence[tuple[int, float]] = ((1, 2.0), (10, 3.0), (100, 4.0)),
    targets: int = 10_000,
    *,
    rows: Rows = random_signs,
) -> Iterator[Any]:
    """Without a chain the target is hidden from N = n^(5+ε/2) rows on, not from n^(11+ε).

    For KS's Theorem 2: let ‖∇f‖ ≤ G and let an oracle of error ε answer with the part of the
    gradient that is free of the target whenever that is within ε. With probability 1 - δ over N
    uniform rows T queries to it leave E(p - f)² ≥ 1 - q - 1/|P|, with q =
    T·min_r [(2r-1)!!/N^r + 1/√(δ|P|)]·(G/ε)^(2r). So N ~ (G/ε)² rows do where KS has (G/ε)⁴, and
    (G/ε)² cannot be lowered for general models: one query of a look-up table names every target
    up to half of the error that hides it. Here δ = 0.01. Lemma A bounds the largest eigenvalue of
    K, Lemma B the moments E_p‖v_p‖^(2r) of the part v_p of a gradient that tells the target p.
    Each cell is n, k and N; each attack a number of queries and an error in units of G/√N.
    """
    generator = np.random.default_rng(trial.seed)
    for n, k, size in trial.track(cells):
        where = f"n = {n}, k = {k}, N = {size}"
        signs = rows(generator, size, n)
        gram = mean_label(n, k)[np.round((n - signs @ signs.T) / 2).astype(int)]
        allowed = largest_eigenvalue_bound(size, comb(n, k), FAILURE)
        yield at_most(f"largest eigenvalue of K, {where}", np.linalg.eigvalsh(gram)[-1], allowed)
    for r, used in zip(MOMENTS, _moments(rows(generator, SMALL[2], SMALL[0])), strict=True):
        yield at_most(f"moment over Lemma B's bound, all targets, r = {r}, n = 20", used, 1)
    revealed = _attacked(attacks, targets, generator, rows)
    for (queries, error), rate in zip(attacks, revealed, strict=True):
        label = f"targets revealed by {queries} queries at error {error:g}·G/√N, n = 64"
        yield at_most(label, rate, _allowed(error, queries))
    radius = _table_radius(rows(generator, TABLE[2], TABLE[0]))
    yield at_least("error a look-up table tolerates over the one that hides", radius, 0.5)


def _allowed(error: float, queries: int) -> float:
    """The share of targets that Theorem S lets the attack reveal."""
    n, k, samples = ATTACKED
    given: dict[str, Any] = {"samples": samples, "targets": comb(n, k), "failure": FAILURE}
    return revealed_share_bound(error, queries=queries, **given)


def _moments(signs: np.ndarray) -> list[float]:
    """Of f = Gθ, whose v_p is the mean of p over the rows, over every target."""
    n, k, samples = SMALL
    values = target_values(signs, every_subset(n, k)).mean(axis=1, dtype=np.float64)
    given: dict[str, Any] = {"samples": samples, "targets": comb(n, k), "failure": FAILURE}
    return [float(np.mean(values ** (2 * r)) / gradient_moment_bound(r, **given)) for r in MOMENTS]


def _attacked(
    attacks: Sequence[tuple[int, float]], targets: int, generator: np.random.Generator, rows: Rows
) -> list[Rate]:
    """Targets that some of the queries reveal, for each attack.

    f = Gθ·h with a random h: {±1}^n → ±1 per query has the heaviest tail, a Gaussian's.
    """
    n, k, samples = ATTACKED
    subsets = [tuple(generator.choice(n, k, replace=False)) for _ in range(targets)]
    values = target_values(rows(generator, samples, n), subsets)
    features = random_signs(generator, samples, max(queries for queries, _ in attacks))
    lengths = np.abs(values @ features) / np.sqrt(samples)  # ‖v_p‖ over G/√N
    return [Rate.of(lengths[:, :queries].max(axis=1) > error) for queries, error in attacks]


def _table_radius(signs: np.ndarray) -> float:
    """f = Gθ_x: half the least distance of two targets' gradients, over G/√N.

    Two parities that agree on a share (1+ρ)/2 of the rows have gradients 2(G/N)√(N(1-ρ)/2) apart.
    """
    n, k, samples = TABLE
    numbers = (signs < 0).astype(int) @ (1 << np.arange(n))
    sums = walsh_transform(np.bincount(numbers, minlength=1 << n).astype(np.float64))
    sizes = np.bitwise_count(np.arange(1 << n))
    pairs = (sizes > 0) & (sizes % 2 == 0) & (sizes <= 2 * min(k, n - k))
    return float(np.sqrt((1 - sums[pairs].max() / samples) / 2))

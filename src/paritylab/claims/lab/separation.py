"""Theorem S, ours: what an approximate oracle hides without a chain, from fewer rows than in KS.

KS bounds how much a gradient over N rows says of the target by Gershgorin on the |P|×|P| Gram
matrix of the targets, which costs √(4n/N). The N×N matrix K = (E_p p(x^i)p(x^j)) has the same
largest eigenvalue up to a factor and is nearly the identity, which gives 1/N. The bounds and their
proofs are in theory/ks_hardness.py.
"""

from collections.abc import Iterator, Sequence
from math import comb
from typing import Any

import numpy as np

from paritylab.claims import OURS, Trial, at_least, at_most, claim
from paritylab.experiments.ks_queries import (
    random_signs,
)
from paritylab.experiments.separation import (
    FAILURE,
    MOMENTS,
    SMALL,
    TABLE,
    DrawRows,
    attack_targets,
    measure_moments,
    measure_table_radius,
    revealed_share_allowed,
)
from paritylab.theory.ks_hardness import (
    largest_eigenvalue_bound,
    mean_label,
)


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
    rows: DrawRows = random_signs,
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
    for r, used in zip(MOMENTS, measure_moments(rows(generator, SMALL[2], SMALL[0])), strict=True):
        yield at_most(f"moment over Lemma B's bound, all targets, r = {r}, n = 20", used, 1)
    revealed = attack_targets(attacks, targets, generator, rows)
    for (queries, error), rate in zip(attacks, revealed, strict=True):
        label = f"targets revealed by {queries} queries at error {error:g}·G/√N, n = 64"
        yield at_most(label, rate, revealed_share_allowed(error, queries))
    radius = measure_table_radius(rows(generator, TABLE[2], TABLE[0]))
    yield at_least("error a look-up table tolerates over the one that hides", radius, 0.5)

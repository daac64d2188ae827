"""Theorem S: moments of what gradients say of the target, and what attacks reveal."""

from collections.abc import Callable, Sequence
from math import comb
from typing import Any

import numpy as np

from paritylab.experiments.ks_queries import (
    every_subset,
    random_signs,
    target_values,
)
from paritylab.problem.junta import walsh_transform
from paritylab.statistics import Rate
from paritylab.theory.ks_hardness import (
    gradient_moment_bound,
    revealed_share_bound,
)

#: The lemmas may fail with this probability over the rows.
FAILURE = 0.01
#: n, k and N at which the moments of all targets are taken; powers 2r of these r.
SMALL, MOMENTS = (20, 10, 16), (1, 2, 3)
#: The same for the look-up table, and for the attack by one feature per query.
TABLE, ATTACKED = (16, 8, 1024), (64, 32, 256)
DrawRows = Callable[[np.random.Generator, int, int], np.ndarray]


def revealed_share_allowed(error: float, queries: int) -> float:
    """The share of targets that Theorem S lets the attack reveal."""
    n, k, samples = ATTACKED
    given: dict[str, Any] = {"samples": samples, "targets": comb(n, k), "failure": FAILURE}
    return revealed_share_bound(error, queries=queries, **given)


def measure_moments(signs: np.ndarray) -> list[float]:
    """Moments of v_p, the part that tells the target, over Lemma B's bound, for each of `MOMENTS`.

    For f = Gθ, whose v_p is the mean of p over the rows, and every target p.
    """
    n, k, samples = SMALL
    values = target_values(signs, every_subset(n, k)).mean(axis=1, dtype=np.float64)
    given: dict[str, Any] = {"samples": samples, "targets": comb(n, k), "failure": FAILURE}
    return [float(np.mean(values ** (2 * r)) / gradient_moment_bound(r, **given)) for r in MOMENTS]


def attack_targets(
    attacks: Sequence[tuple[int, float]],
    targets: int,
    generator: np.random.Generator,
    rows: DrawRows,
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


def measure_table_radius(signs: np.ndarray) -> float:
    """Largest error that a look-up table tolerates, over G/√N.

    For f = Gθ_x: half the least distance of two targets' gradients. Two parities that
    agree on a share (1+ρ)/2 of the rows have gradients 2(G/N)√(N(1-ρ)/2) apart.
    """
    n, k, samples = TABLE
    numbers = (signs < 0).astype(int) @ (1 << np.arange(n))
    sums = walsh_transform(np.bincount(numbers, minlength=1 << n).astype(np.float64))
    sizes = np.bitwise_count(np.arange(1 << n))
    pairs = (sizes > 0) & (sizes % 2 == 0) & (sizes <= 2 * min(k, n - k))
    return float(np.sqrt((1 - sums[pairs].max() / samples) / 2))

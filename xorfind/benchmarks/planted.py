"""Random tables with a hidden parity, for the benchmarks of the solvers."""

from typing import NamedTuple

import numpy as np


class Planted(NamedTuple):
    bits: np.ndarray
    labels: np.ndarray
    subset: tuple[int, ...]


def planted(n: int, k: int, noise: float, rows: int, seed: int) -> Planted:
    generator = np.random.default_rng([seed, n, k, rows])
    bits = generator.integers(0, 2, (rows, n), dtype=np.uint8)
    subset = tuple(sorted(generator.choice(n, k, replace=False).tolist()))
    labels = 1 - 2 * (bits[:, subset].sum(axis=1) % 2).astype(np.int8)
    return Planted(bits, np.where(generator.random(rows) < noise, -labels, labels), subset)

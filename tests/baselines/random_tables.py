"""Random tables with a planted parity, for the tests of the solvers."""

import numpy as np


def planted(n, k, noise, rows, seed, *, bias=0.5, sign=1):
    """Bits, labels ±1 and the hidden subset."""
    generator = np.random.default_rng([seed, n, k, rows])
    bits = (generator.random((rows, n)) < bias).astype(np.uint8)
    subset = tuple(sorted(generator.choice(n, k, replace=False).tolist()))
    labels = sign * (1 - 2 * (bits[:, subset].sum(axis=1) % 2).astype(int))
    return bits, np.where(generator.random(rows) < noise, -labels, labels), subset


def unrelated(n, rows, seed, *, bias=0.5, plus=0.5, chained=False):
    """Bits and labels that have nothing to do with them; chained: columns copy their neighbour."""
    generator = np.random.default_rng([seed, n, rows])
    bits = (generator.random((rows, n)) < bias).astype(np.uint8)
    if chained:
        for column in range(1, n):
            copied = generator.random(rows) < 0.8
            bits[copied, column] = bits[copied, column - 1]
    return bits, np.where(generator.random(rows) < plus, 1, -1)

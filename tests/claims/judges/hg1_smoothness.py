"""Invented records for the claims of claims/hg1/smoothness.py."""

import numpy as np

from paritylab.claims.hg1.smoothness import Constants


def constants(frobenius, spectral):
    cells = [(8, 2, 0.125, 0.01), (16, 3, 1.0, 0.01)]
    grid = np.array([[0.1, 0.2], [0.01, 1.0]])
    step = np.array([1e-9, 1e-6])
    return Constants(cells, ["slope", "curvature"], frobenius * grid, spectral * grid, step, 4)


TABLES = {
    "hg1-lemma6-smooth": [
        (constants(0.1, 0.05), "holds"),
        (constants(3.0, 2.0), "refuted"),
        (constants(1.2, 0.9), "undecided"),
    ]
}

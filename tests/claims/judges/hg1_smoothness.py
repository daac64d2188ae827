"""Invented records for the claims of claims/hg1/smoothness.py."""

import numpy as np

from paritylab.claims.hg1.smoothness import Constants


def constants(frobenius, spectral, large=0.0, mended=0.1):
    """large: share at a smoothing above 4k⁴."""
    cells = [(8, 2, 0.125, 0.01), (16, 3, 1.0, 0.01), (2, 1, 1.0, 1e6)]
    grid = np.array([[0.1, 0.2], [0.01, 1.0], [0.0, 0.0]])
    last = np.array([[0.0, 0.0], [0.0, 0.0], [0.1, large]])
    step = np.array([1e-9, 1e-6, 1e-3])
    ratio = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, mended]])
    found = (frobenius * grid + last, spectral * grid + last, ratio, step, 4)
    return Constants(cells, ["slope", "curvature"], *found)


TABLES = {
    "hg1-lemma6-smooth": [
        (constants(0.1, 0.05), "holds"),
        (constants(3.0, 2.0), "refuted"),
        (constants(1.2, 0.9), "undecided"),
        (constants(0.1, 0.05, large=7.5), "corrected"),
        (constants(1.2, 0.9, large=7.5), "undecided"),
        (constants(3.0, 2.0, large=7.5), "refuted"),
        (constants(0.1, 0.05, large=7.5, mended=0.9), "undecided"),
    ]
}

"""Invented records for the claims of claims/hg1/training.py."""

import numpy as np

from paritylab.claims.hg1.stationary import Rest
from paritylab.claims.hg1.training import Cell, Descents, Fall
from paritylab.statistics import Rate

TIMES = np.array([1000.0, 10_000.0])


def descents(solved=20, exponent=-1.0, risk=1.78, runs=60, first=60):
    """solved: of the runs at k = 2 in the better setting. first: of 60 at k = 1."""
    cells = [
        Cell(8, 1, 0.0, "1/n", 0.1, Rate(first, 60), Rate(first, 60)),
        Cell(8, 2, 0.0, "1/n", 0.1, Rate(0, runs), Rate(0, runs)),
        Cell(8, 2, 0.01, "1", 1.0, Rate(solved, runs), Rate(0, runs)),
    ]
    c = 3.65
    fall = Fall(12, 2, 0.0, 0.1, c, c, exponent, TIMES, 1 / (0.2 * c * TIMES))
    return Descents(cells, [fall], Rest(np.ones((2, 2)), risk, 1e-15, 0.5, 1e-4), 500)


TABLES = {
    "hg1-thm5": [
        (descents(), "refuted"),
        (descents(risk=0.001), "refuted"),
        (descents(solved=60, first=10), "refuted"),
        (descents(solved=60), "corrected"),
        (descents(solved=60, risk=0.001), "corrected"),
        (descents(solved=60, risk=0.001, exponent=-20), "holds"),
        (descents(solved=60, exponent=-20), "undecided"),  # fast near B, and yet trapped elsewhere
        (descents(solved=54), "undecided"),
        (descents(solved=2, runs=6), "undecided"),  # too few runs
    ]
}

"""Invented records for the claims of claims/lab/heads.py."""

import numpy as np

from paritylab.claims.lab.heads import Annealing, FromRows, StartCell, Widths
from paritylab.statistics import Rate


def annealing(single, restarted=(100, 100), runs=100):
    columns = zip((20, 50), (3, 5), single, restarted, strict=True)
    cells = [StartCell(n, k, Rate(a, runs), Rate(b, runs)) for n, k, a, b in columns]
    return Annealing(cells, Rate(30, 60), np.eye(3))


def widths(ranked, right, runs=40):
    cells = ("n = 256, k = 2", "n = 256, k = 3", "n = 1024, k = 5")
    rates = ([Rate(each, runs) for each in part] for part in (ranked, right))
    return Widths(*(dict(zip(cells, each, strict=True)) for each in rates))


def from_rows(first, last, runs=60):
    linear = [Rate(first, runs), Rate(last, runs)]
    return FromRows([6, 24], linear, [Rate(runs, runs)])


TABLES = {
    "lab-heads-samples": [
        (from_rows(55, 10), "holds"),
        (from_rows(50, 58), "refuted"),
        (from_rows(55, 50), "undecided"),
        (from_rows(10, 0, runs=12), "undecided"),  # too few runs
    ],
    "lab-heads-learn": [
        (annealing((98, 96)), "holds"),
        (annealing((98, 60)), "refuted"),
        (annealing((98, 96), (80, 80)), "refuted"),
        (annealing((98, 88)), "undecided"),
        (annealing((98, 96), (96, 97)), "undecided"),
        (annealing((10, 10), (10, 10), runs=10), "undecided"),  # too few runs
    ],
    "lab-one-step-k": [
        (widths((40, 40, 40), (40, 40, 38)), "holds"),
        (widths((40, 40, 10), (40, 40, 40)), "refuted"),
        (widths((40, 40, 40), (30, 30, 30)), "refuted"),
        (widths((40, 40, 40), (37, 37, 37)), "undecided"),
        (widths((40, 40, 33), (40, 40, 40)), "undecided"),
    ],
}

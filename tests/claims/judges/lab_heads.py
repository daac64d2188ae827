"""Invented records for the claims of claims/lab/heads.py."""

import numpy as np

from paritylab.claims.lab.heads import Annealing, Widths
from paritylab.statistics import Rate


def annealing(single, restarted=(100, 100), runs=100):
    rates = ([Rate(each, runs) for each in part] for part in (single, restarted))
    return Annealing([(20, 3), (50, 5)], *rates, Rate(30, 60), Rate(0, 20), np.eye(3))


def widths(ranked, right, runs=40):
    cells = ((256, 2), (256, 3), (1024, 5))
    return Widths(*({c: Rate(r, runs) for c, r in zip(cells, part)} for part in (ranked, right)))


TABLES = {
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

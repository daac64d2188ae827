"""Invented records for the claim of claims/lab/mixtures.py."""

from paritylab.claims.lab.mixtures import Mixtures, Spread
from paritylab.statistics import Mean, Rate
from paritylab.theory.hg2 import mixture_accuracy


def mixtures(found=16, runs=16, below=0.02, error=0.005):
    cells = []
    for spread, count in ((0.25, found), (0.5, runs)):
        right = mixture_accuracy(spread) - below
        accuracy = Mean(right, right - 2 * error, right + 2 * error, runs)
        cells.append(Spread(spread, Rate(count, runs), accuracy))
    return Mixtures(32, 1000, cells)


TABLES = {
    "lab-gaussian-xor": [
        (mixtures(), "holds"),
        (mixtures(found=0), "refuted"),
        (mixtures(below=0.2), "refuted"),
        (mixtures(below=0.12), "undecided"),
        (mixtures(found=5, runs=5), "undecided"),
        (mixtures(found=50, runs=100), "undecided"),
        (mixtures(found=70, runs=100), "holds"),
        (mixtures(found=30, runs=100), "refuted"),
        (mixtures(below=0.1), "holds"),
        (mixtures(below=0.14), "refuted"),
    ],
}

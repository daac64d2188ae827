"""Invented records for the claim of claims/lab/mixtures.py."""

import numpy as np

from paritylab.claims.lab.mixtures import Mixtures
from paritylab.statistics import Rate
from paritylab.theory.hg2 import mixture_accuracy


def mixtures(found=16, runs=16, below=0.02, error=0.005):
    spread = [0.25, 0.5]
    accuracy = np.array([mixture_accuracy(each) for each in spread]) - below
    rates = [Rate(found, runs), Rate(runs, runs)]
    return Mixtures(32, 1000, spread, rates, accuracy, np.full(2, error))


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

"""Invented records for the claims of claims/hg2/one_step.py."""

import numpy as np

from paritylab.claims.hg2.one_step import FirstStep, Widths
from paritylab.statistics import PowerLaw, Rate


def widths(low, high):
    law = PowerLaw((low + high) / 2, low, high, 30.0)
    sizes = np.array([64, 1024, 16_384])
    return Widths(sizes, sizes // 8, sizes // 4, law, PowerLaw(0.6, 0.2, 1.0, 20.0), 100)


def step(low, high, solved=20, runs=20):
    law = PowerLaw((low + high) / 2, low, high, 1.0)
    rates = [Rate(10, 20), Rate(solved, runs)]
    window = (np.array([10.0, 20.0]), np.array([[0.1, 0.2], [0.1, 0.3]]))
    median = np.array([0.1, 0.01])
    return FirstStep([64, 1024], median, law, law, rates, Rate(40, 40), 0.01, Rate(20, 20), window)


TABLES = {
    "hg2-one-step": [
        (step(-1.0, -0.8), "holds"),
        (step(-0.3, 0.1), "refuted"),  # the error does not fall
        (step(-1.0, -0.8, solved=2), "refuted"),  # it falls, and no input is right
        (step(-0.7, -0.3), "undecided"),
        (step(-1.0, -0.8, solved=12), "undecided"),
    ],
    "hg2-params": [
        (widths(0.01, 0.14), "holds"),
        (widths(0.45, 0.55), "refuted"),
        (widths(0.1, 0.4), "undecided"),
        (widths(-np.inf, np.inf), "undecided"),
    ],
}

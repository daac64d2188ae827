"""Invented records for the claim of claims/lab/juntas.py."""

import numpy as np

from paritylab.claims.lab.juntas import Found

NAMES = ("a", "b", "c", "d")


def found(counts, degree=(3, 1, 1, 2), fitted=()):
    top = np.array([1.0, 0.75, 0.25, 0.0])
    numbers = np.array(degree)
    return Found(NAMES, numbers, numbers, top, np.array(counts), np.array(fitted, int), 24)


TABLES = {
    "lab-juntas": [
        (found((24, 24, 1, 3)), "holds"),
        (found((24, 24, 1, 3), fitted=(20, 20, 20, 20)), "holds"),
        (found((10, 10, 1, 3)), "refuted"),
        (found((24, 24, 22, 22)), "refuted"),
        (found((24, 8, 20, 0)), "refuted"),
        (found((18, 18, 1, 3)), "undecided"),
        (found((24, 24, 10, 10)), "undecided"),
        (found((24, 24, 1, 3), degree=(1, 1, 2, 3)), "undecided"),
    ]
}

"""Invented records for the claim of claims/lab/juntas.py."""

from paritylab.claims.lab.juntas import Found, Symmetric
from paritylab.statistics import Rate

NAMES = ("a", "b", "c", "d")


def found(counts, degree=(3, 1, 1, 2), fitted=0):
    columns = zip(NAMES, degree, degree, (1.0, 0.75, 0.25, 0.0), counts, strict=True)
    rows = [Symmetric(*facts, Rate(count, 24)) for *facts, count in columns]
    return Found(rows, {name: Rate(fitted, 24) for name in NAMES if fitted})


TABLES = {
    "lab-juntas": [
        (found((24, 24, 1, 3)), "holds"),
        (found((24, 24, 1, 3), fitted=20), "holds"),
        (found((10, 10, 1, 3)), "refuted"),
        (found((24, 24, 22, 22)), "refuted"),
        (found((24, 8, 20, 0)), "refuted"),
        (found((18, 18, 1, 3)), "undecided"),
        (found((24, 24, 10, 10)), "undecided"),
        (found((24, 24, 1, 3), degree=(1, 1, 2, 3)), "undecided"),
    ]
}

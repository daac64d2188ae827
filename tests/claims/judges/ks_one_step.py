"""Invented records for the claims of claims/ks/one_step.py."""

from paritylab.claims.ks.one_step import OneStep, StepCell
from paritylab.claims.ks.tipped_pairs import ADVERSARIES
from paritylab.statistics import Rate


def one_step(solved=(14, 14), runs=14, errors=(0.02, 0.01), one=0.2, every=0.03):
    tolerated = dict(zip(ADVERSARIES, (one, every, 0.1), strict=True))
    cells = [
        StepCell(n, Rate(right, runs), error, tolerated, 0.2, 0.03, 8)
        for n, right, error in zip((64, 128), solved, errors, strict=True)
    ]
    return OneStep(cells, {1.0: Rate(0, 4), 2.0: Rate(4, 4)}, 4e8, [])


TABLES = {
    "ks-thm5": [
        (one_step(), "holds"),
        (one_step(one=0.11, every=0.016), "holds"),  # just within a factor of two
        (one_step(every=0.014), "corrected"),
        (one_step(one=0.09), "corrected"),
        (one_step(solved=(14, 2)), "refuted"),
        (one_step(solved=(14, 0), every=0.001), "refuted"),
        (one_step(solved=(14, 12)), "undecided"),
        (one_step(solved=(39, 40), runs=40, errors=(0.01, 0.02)), "undecided"),
        (one_step(solved=(9, 9), runs=9), "undecided"),  # too few runs
        (one_step(solved=(29, 34), runs=34), "undecided"),
        (one_step(solved=(34, 34), runs=34, one=float("nan")), "undecided"),
    ]
}

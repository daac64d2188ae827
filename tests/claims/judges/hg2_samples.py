"""Invented records for the claims of claims/hg2/samples.py."""

from paritylab.claims.hg2.samples import Rows
from paritylab.statistics import Rate


def rows(found, right, runs=48):
    rates = ([Rate(each, runs) for each in part] for part in (found, right))
    half = [120.0, 800.0]
    return Rows([16, 32], *rates, half, [4e3, 2e4], half)


TABLES = {
    "hg2-samples": [
        (rows((48, 48), (37, 36)), "holds"),
        (rows((48, 48), (37, 10)), "refuted"),
        (rows((48, 12), (37, 36)), "refuted"),
        (rows((48, 48), (37, 26)), "undecided"),
        (rows((3, 3), (3, 3), runs=4), "undecided"),
    ],
}

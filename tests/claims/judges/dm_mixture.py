"""Invented records for the claims of claims/dm/mixture.py."""

from paritylab.claims.dm.mixture import FIRST, FROZEN, FROZEN_LARGE, MIXED, UNIFORM, Arms
from paritylab.statistics import Rate


def arms(names, counts, runs=12):
    rates = {name: Rate(count, runs) for name, count in zip(names, counts, strict=True)}
    return Arms(rates, dict.fromkeys(names, 0.7), (50, 7), 800)


def mixture(*counts, runs=12):
    return arms((MIXED, UNIFORM, FROZEN, FROZEN_LARGE), counts, runs)


def weight(*counts, runs=12):
    return arms(("α = 0", "α = 0.1", FIRST), counts, runs)


TABLES = {
    "dm-mixture": [
        (mixture(12, 0, 0, 0), "holds"),
        (mixture(12, 0, 0, 6), "undecided"),
        (mixture(12, 6, 0, 0), "undecided"),
        (mixture(6, 0, 0, 0), "undecided"),
        (mixture(6, 12, 0, 0), "undecided"),
        (mixture(0, 0, 0, 0), "refuted"),
        (mixture(12, 0, 12, 0), "refuted"),
        (mixture(12, 12, 0, 0), "corrected"),
    ],
    "dm-weight": [
        (weight(0, 12, 12), "holds"),
        (weight(6, 12, 12), "undecided"),
        (weight(0, 6, 12), "undecided"),
        (weight(12, 6, 12), "undecided"),
        (weight(0, 12, 0), "refuted"),
        (weight(12, 12, 12), "corrected"),
    ],
}

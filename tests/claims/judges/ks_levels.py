"""Invented records for the claims of claims/ks/levels.py."""

from dataclasses import replace

from paritylab.claims.ks.levels import LevelCell, Rounds, Stepwise
from paritylab.statistics import Rate


def stepwise(solved=12, small=0, runs=12, filtered=12):
    cell = LevelCell(32, 8, Rate(solved, runs), 1e-7, [0, 1, 2, 3], 0.5, -0.7)
    removed = {"no filter": Rate(0, runs), "no rounding": Rate(0, runs)}
    return Stepwise([replace(cell, solved=Rate(12, 12)), cell], removed, Rate(small, filtered))


TABLES = {
    "ks-thm7": [
        (stepwise(), "corrected"),
        (stepwise(small=12), "holds"),
        (stepwise(solved=2), "refuted"),
        (stepwise(solved=2, small=12), "refuted"),
        (stepwise(solved=10), "undecided"),
        (stepwise(solved=10, small=12), "undecided"),
        (stepwise(small=6), "undecided"),
        (stepwise(filtered=0), "undecided"),
    ],
    "ks-level-mask": [
        (Rounds([8, 16], [3, 4], [7, 15], 1e-15), "holds"),
        (Rounds([8, 16], [3, 5], [7, 15], 1e-15), "refuted"),
        (Rounds([8, 16], [3, 4], [7, 15], 1e-9), "refuted"),
        (Rounds([8, 16], [3, 4], [7, 9], 1e-15), "corrected"),
    ],
}

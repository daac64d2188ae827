"""Invented records for the claims of claims/ks/levels.py."""

from dataclasses import replace

from paritylab.claims.ks.levels import LevelCell, Rounds, Stepwise
from paritylab.statistics import Rate


def stepwise(solved=12, small=0, runs=12, silenced=12, oracle=12, inside=12, outside=0):
    cell = LevelCell(32, 8, 2**18, 1000.0, Rate(solved, runs), 1e-7, [0, 1, 2, 3], 0.5, -0.7)
    filtered = {"0.95": outside, "1.05": inside, "1.95": inside, "2.05": outside}
    return Stepwise(
        [replace(cell, solved=Rate(12, 12)), cell],
        {name: Rate(count, 12) for name, count in filtered.items()},
        Rate(small, silenced),
        Rate(oracle, 12),
        {"no filter": Rate(0, runs)},
    )


TABLES = {
    "ks-thm7": [
        (stepwise(), "corrected"),
        (stepwise(small=12, outside=12), "holds"),
        (stepwise(small=12), "undecided"),
        (stepwise(inside=6), "undecided"),
        (stepwise(outside=6), "undecided"),
        (stepwise(solved=2), "refuted"),
        (stepwise(oracle=2), "refuted"),
        (stepwise(solved=2, small=12, outside=12), "refuted"),
        (stepwise(solved=10), "undecided"),
        (stepwise(solved=10, small=12, outside=12), "undecided"),
        (stepwise(oracle=10), "undecided"),
        (stepwise(small=6), "undecided"),
        (stepwise(silenced=0), "undecided"),
    ],
    "ks-level-mask": [
        (Rounds([8, 16], [3, 4], [7, 15], 1e-15), "holds"),
        (Rounds([8, 16], [3, 5], [7, 15], 1e-15), "refuted"),
        (Rounds([8, 16], [3, 4], [7, 15], 1e-9), "refuted"),
        (Rounds([8, 16], [3, 4], [7, 9], 1e-15), "corrected"),
    ],
}

"""Invented records for the claims of claims/dm/mixture.py."""

from paritylab.claims.dm.mixture import (
    FROZEN,
    FROZEN_LARGE,
    MIXED,
    UNIFORM,
    Arms,
    ShareCell,
    Shares,
)
from paritylab.statistics import Rate


def mixture(*counts, runs=12):
    names = (MIXED, UNIFORM, FROZEN, FROZEN_LARGE)
    rates = {name: Rate(count, runs) for name, count in zip(names, counts, strict=True)}
    return Arms(rates, dict.fromkeys(names, 0.7), (50, 7), 800)


def weight(never, short, more, first, runs=12):
    """short, more: runs that learn from the same share with few and with many rows."""
    cells = [
        ShareCell(0.0, 4000, 256, Rate(never, runs), 0.5),
        ShareCell(0.03, 1000, 64, Rate(short, runs), 0.5),
        ShareCell(0.03, 4000, 64, Rate(more, runs), 0.9),
        ShareCell(0.0, 1000, 64, Rate(first, runs), 0.9, first=True),
    ]
    return Shares(50, 7, cells)


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
        (weight(0, 0, 12, 12), "holds"),
        (weight(0, 12, 12, 12), "holds"),
        (weight(0, 12, 6, 12), "holds"),
        (weight(6, 0, 12, 12), "undecided"),
        (weight(0, 0, 6, 12), "undecided"),
        (weight(12, 0, 6, 12), "undecided"),
        (weight(0, 0, 0, 12), "refuted"),
        (weight(0, 0, 12, 0), "refuted"),
        (weight(12, 0, 12, 12), "corrected"),
    ],
}

"""Invented records for the claims of claims/hg1/frozen_heads.py."""

from paritylab.claims.hg1.frozen_heads import Cell, Frozen
from paritylab.statistics import Mean


def frozen(last, half=0.02, first=0.8):
    means = {
        6: Mean(first, first - half, first + half, 12),
        12: Mean(last, last - half, last + half, 12),
    }
    return Frozen([Cell(n, mean, mean.value - 0.1) for n, mean in means.items()])


TABLES = {
    "hg1-frozen-risk": [
        (frozen(0.99), "holds"),
        (frozen(0.5), "refuted"),
        (frozen(0.99, half=0.2), "undecided"),
        (frozen(0.95, first=0.99), "undecided"),
    ]
}

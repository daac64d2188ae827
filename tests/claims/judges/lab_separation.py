"""Invented records for the claims of claims/lab/separation.py."""

from paritylab.claims.lab.separation import Attack, Gram, Separated
from paritylab.statistics import Rate


def separated(largest=1.01, moment=0.7, revealed=10, targets=1000, radius=0.66):
    grams = [Gram(32, 16, 512, largest, 1.0, 512.0)]
    attacks = [Attack(1, 3.0, Rate(1, 1000)), Attack(100, 4.0, Rate(revealed, targets))]
    return Separated(grams, [0.3, 0.5, moment], attacks, radius)


TABLES = {
    "lab-separation": [
        (separated(), "holds"),
        (separated(largest=1.3), "refuted"),
        (separated(moment=1.1), "refuted"),
        (separated(revealed=400), "refuted"),
        (separated(revealed=1, targets=8), "undecided"),
        (separated(radius=0.4), "undecided"),
    ],
}

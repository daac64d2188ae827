"""Invented records for the claims of claims/lab/xor.py."""

import numpy as np

from paritylab.claims.lab.xor import Balance, BalanceCell, Functions, Seen
from paritylab.statistics import Rate


def balance(wrong, imbalance=0.0, targets=200):
    """`wrong` of `targets` are off by 0.1 at gain 320."""
    errors, plain = np.array([0.01, 1e-9, 1e-9, 1e-9, 0.1]), Rate(0, targets)
    cells = [
        BalanceCell(n, Rate(targets - off, targets), plain, errors, np.full(5, 0.5))
        for n, off in ((64, 0), (256, wrong))
    ]
    return Balance(cells, imbalance)


def seen(xor=40, majority=0, gap=1e-12, runs=40):
    found = [("XOR", 1.0, gap, xor), ("majority", 0.0, 0.0, majority)]
    return Functions([Seen(*facts, Rate(count, runs)) for *facts, count in found])


TABLES = {
    "lab-xor-balanced": [
        (balance(0), "holds"),
        (balance(100), "refuted"),
        (balance(0, imbalance=1e-3), "refuted"),
        (balance(6), "undecided"),
        (balance(0, targets=12), "undecided"),  # too few targets
    ],
    "lab-xor-functions": [
        (seen(), "holds"),
        (seen(gap=0.1), "refuted"),
        (seen(xor=2), "refuted"),
        (seen(majority=38), "refuted"),
        (seen(xor=20), "undecided"),
        (seen(majority=20), "undecided"),
    ],
}

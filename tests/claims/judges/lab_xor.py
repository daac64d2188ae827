"""Invented records for the claims of claims/lab/xor.py."""

import numpy as np

from paritylab.claims.lab.xor import Balance, Seen
from paritylab.statistics import Rate


def balance(wrong, imbalance=0.0, targets=200):
    """`wrong` of `targets` are off by 0.1 at gain 320."""
    errors = np.full((2, 5, targets), 1e-9)
    errors[0, 0] = 0.01  # gain 20 is not part of the statement
    errors[1, -1, :wrong] = 0.1
    return Balance([64, 256], errors, np.full_like(errors, 0.5), imbalance)


def seen(xor=40, majority=0, gap=1e-12, runs=40):
    return {
        "XOR": Seen(1.0, gap, Rate(xor, runs)),
        "majority": Seen(0.0, 0.0, Rate(majority, runs)),
    }


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

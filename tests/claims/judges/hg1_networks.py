"""Invented records for the claims of claims/hg1/networks.py."""

import numpy as np

from paritylab.claims.hg1.networks import Counts, Edges
from paritylab.statistics import Rate


def counts(found=40, runs=40, difference=1e-15):
    return Counts(12, 2, Rate(found, runs), difference, 4, 24, 20, {16: 2, 4096: 10}, 1.5e3)


def edges(cut=1.0, whole=12, half=(23, 37, 50, 175), products=0.0):
    n, k = np.array([6, 8, 6, 8]), np.array([2, 2, 3, 4])
    floor = np.array([7.5, 14, 10, 35])
    return Edges(Rate(whole, 12), cut, n, k, np.array(half), floor, {6: products, 8: products}, 12)


TABLES = {
    "hg1-remark9": [
        (counts(), "corrected"),
        (counts(difference=0.3), "holds"),
        (counts(found=0), "refuted"),
        (counts(found=20), "undecided"),
        (counts(found=4, runs=4), "undecided"),
    ],
    "hg1-ffnn-edge": [
        (edges(), "corrected"),
        (edges(products=0.9), "holds"),
        (edges(products=0.9, half=(5, 5, 5, 175)), "corrected"),
        (edges(cut=0.8), "refuted"),
        (edges(whole=6), "undecided"),
        (edges(half=(23, 37, 50, 51)), "undecided"),
    ],
}

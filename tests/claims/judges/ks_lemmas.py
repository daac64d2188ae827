"""Invented records for the claims of claims/ks/gradients.py and claims/ks/lemmas.py."""

import numpy as np

from paritylab.claims.ks.gradients import Ascents
from paritylab.claims.ks.lemmas import Averages, Concentration, PrefixCell, Prefixes
from paritylab.statistics import Rate

SIZES = np.array([16, 64])


def ascents(used=0.3, growth=0.9, printed=0.2):
    """used: share of the bound at the second size. growth: of norm over order."""
    order = np.array([2.0, 4.0])
    norm = order * np.array([1.0, growth])
    links = ["cos", "cos"]
    return Ascents(np.array([6, 10]), np.array([4, 8]), links, norm, norm / used, order, printed, 9)


def averages(slope=-0.3, whole=1.0):
    tails = np.tile(0.1 * np.exp(slope * SIZES), (3, 1))
    return Averages(SIZES, tails, 1e-16, whole * np.ones(2))


def concentration(above=0, draws=100):
    rates = [Rate(above, draws)] * 2
    return Concentration([(8, 4, 2000)], [0.2, 0.1], rates, rates, draws, np.full(draws, 0.6))


def prefixes(failed=0, exponent=-0.5, middle=100, draws=100):
    largest = 0.4 * 4**exponent
    cells = [
        PrefixCell(64, 2, Rate(0, draws), 0.06, Rate(middle, draws), 0.4),
        PrefixCell(256, 2, Rate(failed, draws), 0.06, Rate(0, draws), largest),
    ]
    return Prefixes(cells, 256)


GRADIENTS = [
    (ascents(), "holds"),
    (ascents(growth=1.2), "holds"),
    (ascents(printed=1.0), "holds"),
    (ascents(used=1.1), "corrected"),
    (ascents(used=1.1, growth=1.2), "refuted"),
]

TABLES = {
    "ks-lemma4": GRADIENTS,
    "ks-lemma6": GRADIENTS,
    "ks-lemma8": [
        (averages(), "corrected"),
        (averages(whole=1e-9), "holds"),
        (averages(slope=0.01), "refuted"),
        (averages(slope=0.01, whole=1e-9), "refuted"),
    ],
    "ks-lemma9": [
        (concentration(), "holds"),
        (concentration(above=5), "undecided"),
        (concentration(above=10, draws=20), "refuted"),
        (concentration(above=100), "refuted"),
        (concentration(draws=10), "undecided"),
    ],
    "ks-lemma10": [
        (prefixes(), "holds"),
        (prefixes(middle=0), "holds"),
        (prefixes(failed=4), "undecided"),
        (prefixes(failed=30), "refuted"),
        (prefixes(exponent=-0.2), "refuted"),
        (prefixes(failed=4, exponent=-0.2), "refuted"),
    ],
}

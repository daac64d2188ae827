"""Invented records for the claims of claims/ks/hardness.py and claims/ks/finite_samples.py."""

import numpy as np

from paritylab.claims.ks.finite_samples import FiniteSamples, FixedAnswers, HiddenFrom
from paritylab.claims.ks.hardness import Hiding, Oracle, Rates, Variances
from paritylab.statistics import Rate

SIZES = np.array([8, 12, 16])


def variances(features=3.33, doubled=13.3, chain=0.1):
    shares = np.array([chain, chain / 2])
    return Variances(np.array([8, 10]), np.array([4, 4]), shares, shares, features, doubled)


def oracle(share=0.02, used=0.02):
    """share: its exponent. used: of the repaired bound."""
    rates = Rates(SIZES, 0.15 * np.exp(share * SIZES), SIZES / 2, 3.0 * SIZES)
    return Oracle([Hiding(8, 4, 10, 0.4, 0.01, used)], rates)


def finite(few=0, many=400, variance=0.02, half=0.9999, whole=0.0):
    cells = [
        HiddenFrom(rows, Rate(hidden, 400), variance, -1e5)
        for rows, hidden in ((256, few), (16_384, many))
    ]
    return FiniteSamples(cells, FixedAnswers(16, 16, half, whole), 12.0, 5.5)


TABLES = {
    "ks-prop3-variance": [
        (variances(), "corrected"),
        (variances(features=0.9, doubled=0.95, chain=0.9), "holds"),
        (variances(features=0.9, doubled=3.6, chain=0.9), "corrected"),
        (variances(features=4.1), "refuted"),
        (variances(chain=4.1), "refuted"),
    ],
    "ks-thm1": [
        (oracle(), "corrected"),
        (oracle(share=-0.35), "holds"),
        (oracle(share=-0.3), "corrected"),
        (oracle(used=1.1), "refuted"),
        (oracle(share=-0.35, used=1.1), "refuted"),
    ],
    "ks-thm2": [
        (finite(), "corrected"),
        (finite(whole=0.999), "holds"),
        (finite(variance=1.1), "refuted"),
        (finite(half=0.9), "refuted"),
        (finite(many=200), "undecided"),
        (finite(few=395), "undecided"),
    ],
}

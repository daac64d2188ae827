"""Invented records for the claims of claims/ks/hardness.py and claims/ks/finite_samples.py."""

import numpy as np

from paritylab.claims.ks.finite_samples import (
    Arms,
    FiniteSamples,
    FixedAnswers,
    Kept,
    Separation,
)
from paritylab.claims.ks.hardness import Hiding, Oracle, Rates, Variances
from paritylab.statistics import Rate

SIZES = np.array([8, 12, 16])


def variances(features=3.33, doubled=13.3, chain=0.1):
    shares = np.array([chain, chain / 2])
    return Variances(np.array([8, 10]), np.array([4, 4]), shares, shares, features, doubled)


def oracle(share=0.02, loss=-0.35, used=0.02):
    """share, loss: exponents. used: of the repaired bounds."""
    falling = 0.15 * np.exp(share * SIZES)
    gains = np.exp(loss * SIZES)
    rates = Rates(SIZES, falling, SIZES / 2, 3.0 * SIZES, np.full(3, 0.5), gains)
    return Oracle([Hiding(8, 4, 10, 0.4, 0.01, 0.001, used)], rates)


def finite(kept=12, loss=1.1, chain=12, whole=0.0, bound=-1e5, needed=np.inf):
    cell = Kept(16, 8, 2**22, 20, Rate(kept, 12), loss, Rate(chain, 12), bound, needed)
    sizes, shares = np.array([30, 10_000]), np.array([0.0, 1.0])
    return FiniteSamples([cell], FixedAnswers(16, 0.9999, whole), 0.002, sizes, shares)


def arms(chain=12, direct=0):
    good = Arms(32, 16, 64_000, 12, Rate(12, 12), Rate(0, 12), Rate(0, 12), 0.01)
    solved = Rate(direct, 12)
    other = Arms(64, 32, 64_000, 12, Rate(chain, 12), Rate(direct, 12), solved, 0.02)
    return Separation([good, other])


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
        (oracle(share=-0.35, loss=-1.1), "holds"),
        (oracle(share=-0.3, loss=-1.1), "corrected"),
        (oracle(share=-0.35, loss=-0.9), "corrected"),
        (oracle(used=1.1), "refuted"),
        (oracle(share=-0.35, loss=-1.1, used=1.1), "refuted"),
    ],
    "ks-thm2": [
        (finite(), "corrected"),
        (finite(bound=0.6, needed=1e9), "corrected"),
        (finite(whole=0.999), "holds"),
        (finite(loss=0.9), "refuted"),
        (finite(kept=11), "undecided"),
        (finite(kept=0, loss=0.1), "undecided"),
        (finite(chain=11), "undecided"),
    ],
    "ks-separation": [
        (arms(), "holds"),
        (arms(chain=11), "undecided"),
        (arms(direct=1), "undecided"),
        (arms(chain=6, direct=6), "undecided"),
        (arms(direct=12), "refuted"),
        (arms(chain=0), "refuted"),
        (arms(chain=1), "undecided"),
        (arms(direct=11), "undecided"),
    ],
}

"""Invented records for the claims of claims/ks/remarks.py."""

import numpy as np

from paritylab.claims.ks.remarks import Asked, Fixed, Gap, GapInSamples, Oracles, Remarks
from paritylab.statistics import PowerLaw


def oracles(exact=1.0, random=1.0, hiding=0.01):
    cells = [Asked(8, 70, 1.0, 1.0, 0.9, 0.001), Asked(12, 924, exact, random, 0.9, hiding)]
    return Oracles(cells)


def remarks(slope=-0.6, low=1.0, sup=1.0, exponent=-0.5):
    n = np.array([6, 8])
    answers = {"0": Fixed(0.0, 1.0, 1.0), "random": Fixed(low, sup, 1.0)}
    law = PowerLaw(exponent, exponent - 0.05, exponent + 0.05, 0.8)
    return Remarks(n, np.exp(slope * n), answers, law, 0.8, 100)


def gaps(exponent=12.0, last=1.0):
    n = np.array([32, 64, 1024])
    needed = np.array([np.inf, 1.0, (1024 / 64) ** exponent]) * [1, 1, last]
    return GapInSamples([Gap(1.0, n, needed, 1e5)])


TABLES = {
    "ks-thm1-footnote": [
        (oracles(), "holds"),
        (oracles(random=0.9), "corrected"),
        (oracles(exact=0.9), "refuted"),
        (oracles(hiding=0.1), "undecided"),
    ],
    "ks-thm2-remarks": [
        (remarks(), "holds"),
        (remarks(slope=0.1), "refuted"),
        (remarks(sup=0.9), "refuted"),
        (remarks(low=1.1), "corrected"),
        (remarks(exponent=-0.3), "corrected"),
        (remarks(exponent=-0.7), "corrected"),
    ],
    "ks-gap": [
        (gaps(), "holds"),
        (gaps(exponent=12.4), "corrected"),
        (gaps(last=np.inf), "refuted"),
    ],
}

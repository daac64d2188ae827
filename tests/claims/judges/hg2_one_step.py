"""Invented records for the claims of claims/hg2/one_step.py."""

import numpy as np

from paritylab.claims.hg2.one_step import Widths
from paritylab.statistics import PowerLaw


def widths(low, high):
    law = PowerLaw((low + high) / 2, low, high, 30.0)
    sizes = np.array([64, 1024, 16_384])
    return Widths(sizes, sizes // 8, sizes // 4, law, PowerLaw(0.6, 0.2, 1.0, 20.0), 100)


TABLES = {
    "hg2-params": [
        (widths(0.01, 0.14), "holds"),
        (widths(0.45, 0.55), "refuted"),
        (widths(0.1, 0.4), "undecided"),
        (widths(-np.inf, np.inf), "undecided"),
    ]
}

"""Invented records for the claims of claims/hg2/samples.py."""

import numpy as np

from paritylab.claims.hg2.samples import Rows
from paritylab.statistics import PowerLaw


def rows(ranked, right):
    laws = (PowerLaw((low + high) / 2, low, high, 1.0) for low, high in (ranked, right))
    onehot = {"squared": [260.0, 700.0], "correlation": [210.0, 520.0]}
    return Rows([16, 32, 64], [120.0, 800.0, 2400.0], [5e3, 2e4, 9e4], *laws, onehot, 24)


TABLES = {
    "hg2-samples": [
        (rows((1.8, 2.2), (2.0, 2.6)), "holds"),
        (rows((1.8, 2.2), (3.4, 4.0)), "refuted"),
        (rows((3.1, 3.6), (2.0, 2.6)), "refuted"),
        (rows((1.8, 2.2), (2.6, 3.4)), "undecided"),
        (rows((1.8, 2.2), (-np.inf, np.inf)), "undecided"),
    ],
}

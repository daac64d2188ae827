"""Invented records for the claims of claims/barak/closed_forms.py."""

import numpy as np

from paritylab.claims.barak.closed_forms import Batches, Flow, Gaps
from paritylab.statistics import Rate


def gaps(coefficients=1e-15, identity=1e-13, least=11.8, found=16):
    cells = [Batches(33, 2, 3000, Rate(16, 16)), Batches(21, 4, 90_000, Rate(found, 16))]
    return Gaps(coefficients, identity, least, (9, 4), 301, 625, cells)


def flow(apart=(0.02, 0.01), still=0.0, end=1e-12):
    path = np.linspace(0.1, 1, 5)
    return Flow(apart, still, end, (9, 3), 12, path, path, path)


TABLES = {
    "barak-fourier-gap": [
        (gaps(), "holds"),
        (gaps(coefficients=1e-3), "refuted"),
        (gaps(identity=1e-3), "refuted"),
        (gaps(found=0), "refuted"),
        (gaps(least=0.5), "corrected"),
        (gaps(found=9), "undecided"),
        (gaps(found=9, least=0.5), "undecided"),
    ],
    "barak-polynet": [
        (flow(), "holds"),
        (flow(still=1e-3), "refuted"),
        (flow(end=1e-3), "refuted"),
        (flow(apart=(0.02, 0.018)), "refuted"),
        (flow(apart=(0.2, 0.1)), "undecided"),
    ],
}

"""Invented records for the claims of claims/hg1/expressivity.py."""

import numpy as np

from paritylab.claims.hg1.expressivity import Blind, Heads, Nets

K = np.array([1, 2, 3, 4])


def nets(risk=0.0, off=0, more=0):
    return Nets(6, 63, risk, 64, off, K, 2 * K + 2 + more, K**2 + 2 * K + 1, K)


def heads(hard=0.0, soft=0.8, low=0.8, sharp=1e-6):
    grid = np.ones((4, 2))
    risks = np.where(np.arange(2) == 0, low, soft) * grid
    sizes = (K, np.array([8, 12]))
    return Heads(*sizes, hard, risks, 2 * grid, sharp * grid, 1e-6 * K, 18 * K + 2, 1e-3, 16)


def blind(end=1.0, pair=2.0, control=1e-9):
    return Blind(8, 3, np.array([1.2, 1.4]), np.array([end, 1.01]), pair, control, [16])


TABLES = {
    "hg1-prop3-ffnn": [
        (nets(), "holds"),
        (nets(risk=0.1), "refuted"),
        (nets(off=2), "refuted"),
        (nets(more=1), "corrected"),
    ],
    "hg1-prop3-transformer": [
        (heads(), "corrected"),
        (heads(soft=1e-5, low=1e-5), "holds"),
        (heads(low=1e-5), "undecided"),
        (heads(hard=0.5), "refuted"),
        (heads(sharp=0.5), "refuted"),
    ],
    "hg1-prop4": [
        (blind(), "holds"),
        (blind(end=0.9), "refuted"),
        (blind(pair=1.5), "refuted"),
        (blind(control=0.8), "undecided"),
    ],
}

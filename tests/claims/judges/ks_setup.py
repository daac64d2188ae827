"""Invented records for the claims of claims/ks/setup.py and claims/ks/contrast.py."""

import numpy as np

from paritylab.claims.ks.contrast import COUNTED, Contrast
from paritylab.claims.ks.setup import Drawn, Links, LinkShape
from paritylab.statistics import Rate


def drawn(right=True, late=0):
    return Drawn({"parent 21": right, "height 1": True}, np.array([-1, late]))


def links(off=0.0, steepest=2.05, excess=0.0, neurons=6):
    flat = LinkShape(steepest, 0.0, steepest, 6, 40.0, 0.5)
    return Links([flat, LinkShape(4.0, off, 4.0 + excess, neurons, 4.0, 1.0)], 256)


def contrast(solved=16, direct=0, exponent=3.0):
    work = np.array(COUNTED, dtype=float) ** exponent
    return Contrast([32, 128], [Rate(16, 16), Rate(solved, 16)], work, Rate(direct, 16), 20, 2e3)


TABLES = {
    "ks-figures": [
        (drawn(), "holds"),
        (drawn(right=False), "refuted"),
        (drawn(late=1), "refuted"),
    ],
    "ks-link": [
        (links(), "holds"),
        (links(off=1e-3), "refuted"),
        (links(steepest=2.0), "refuted"),
        (links(excess=0.1), "corrected"),
        (links(steepest=2.5), "corrected"),
        (links(neurons=20), "corrected"),
    ],
    "ks-elimination": [
        (contrast(), "holds"),
        (contrast(solved=12), "undecided"),
        (contrast(solved=3), "refuted"),
        (contrast(exponent=3.5), "refuted"),
        (contrast(direct=3), "undecided"),
        (contrast(direct=14), "corrected"),
    ],
}

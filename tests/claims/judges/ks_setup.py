"""Invented records for the claims of claims/ks/setup.py."""

import numpy as np

from paritylab.claims.ks.setup import Drawn, Links, LinkShape


def drawn(right=True, late=0):
    return Drawn({"parent 21": right, "height 1": True}, np.array([-1, late]))


def links(off=0.0, steepest=2.05, excess=0.0, neurons=6):
    flat = LinkShape(steepest, 0.0, steepest, 6, 40.0, 0.5)
    return Links([flat, LinkShape(4.0, off, 4.0 + excess, neurons, 4.0, 1.0)], 256)


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
}

"""Invented records for the claims of claims/ks/setup.py."""

import numpy as np

from paritylab.claims.ks.setup import Drawn, Links


def drawn(right=True, late=0):
    return Drawn({"parent 21": right, "height 1": True}, np.array([-1, late]))


def links(off=0.0, steepest=2.05, excess=0.0, neurons=6):
    slopes = np.array([steepest, 4.0])
    curvature, signal = np.array([40.0, 4.0]), np.array([0.5, 1.0])
    steep = slopes + np.array([0.0, excess])
    return Links(slopes, np.array([0.0, off]), steep, [6, neurons], curvature, signal, 256)


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

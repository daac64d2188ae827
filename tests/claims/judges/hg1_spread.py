"""Invented records for the claims of claims/hg1/spread.py."""

import numpy as np

from paritylab.claims.hg1.spread import Spread


def spread(near=4.0, growth=0.5, fall=50.0, peak=0.1, top=0.2):
    n, one = np.array([256, 1024]), np.ones((2, 2))
    rising = near * np.array([[1.0, 4**growth]] * 2)
    log_c2 = np.array([[-3.0, -3.0 - fall]] * 2)
    c1 = np.array([1.0, 3.0])
    return Spread(c1, n, peak * one, top * one, rising, log_c2, 1e-9 * one, np.full(2, 0.01))


TABLES = {
    "hg1-attention-bounds": [
        (spread(), "refuted"),
        (spread(near=0.2, fall=0.1), "holds"),
        (spread(near=0.2), "refuted"),
        (spread(near=0.2, fall=1.0), "undecided"),
        (spread(growth=0.1), "undecided"),
        (spread(near=0.2, fall=0.1, growth=0.1, top=1.0), "undecided"),
        (spread(near=0.2, fall=0.1, growth=0.1, peak=1e-4), "undecided"),
    ],
}

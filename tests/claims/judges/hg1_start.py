"""Invented records for the claims of claims/hg1/start.py."""

import numpy as np

from paritylab.claims.hg1.start import Starts


def starts(means, half):
    mean = np.asarray(means, dtype=float)
    sizes = np.array([8, 20])
    return Starts(["1/n", "1"], sizes, sizes // 8, mean, mean - half, mean + half, mean - 0.5, 64)


TABLES = {
    "hg1-start-risk": [
        (starts([1.5, 4.2], 0.1), "refuted"),
        (starts([0.5, 0.6], 0.1), "refuted"),
        (starts([1.02, 0.98], 0.1), "holds"),
        (starts([1.02, 0.98], 0.4), "undecided"),
        (starts([1.02, 4.2], 0.1), "undecided"),
    ]
}

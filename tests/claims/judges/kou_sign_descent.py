"""Invented records for the claims of claims/kou/sign_descent.py."""

import numpy as np

from paritylab.claims.kou.sign_descent import Motion, Needed, NeededRows
from paritylab.statistics import PowerLaw, Rate

PATH = np.linspace(1, 0, 5)


def motion(gradient=1e-13, path=1e-8, sampled=0.03, readout=0, right=12):
    solved = Rate(right, 12)
    return Motion(gradient, path, sampled, readout, 8192, solved, PATH, PATH, PATH, PATH)


def needed(low=0.2, high=0.8, right=12):
    most = [Rate(12, 12), Rate(right, 12)]
    law = PowerLaw((low + high) / 2, low, high, 1.0, 0)
    return NeededRows([Needed(2, (16, 32), 32, most, [100.0, 300.0], law)])


TABLES = {
    "kou-dynamics": [
        (motion(), "holds"),
        (motion(gradient=1e-3), "refuted"),
        (motion(path=1e-3), "refuted"),
        (motion(readout=2), "refuted"),
        (motion(sampled=0.2), "undecided"),
        (motion(right=5), "undecided"),
    ],
    "kou-samples": [
        (needed(), "holds"),
        (needed(right=0), "refuted"),
        (needed(low=1.4, high=1.8), "refuted"),
        (needed(right=7), "undecided"),
        (needed(high=1.3), "undecided"),
    ],
}

"""Invented records for the claims of claims/hg2/bottleneck.py."""

import numpy as np

from paritylab.claims.hg2.bottleneck import Blind


def blind(accuracy, spread=0.01, control=1.0):
    values = accuracy + spread * np.array([[-1.0, 0.0, 1.0] * 4] * 2)
    return Blind([16, 64], 8, values, np.full((2, 12), control), 48)


TABLES = {
    "hg2-ffnn-bottleneck": [
        (blind(0.5), "holds"),
        (blind(0.9), "refuted"),
        (blind(0.57), "refuted"),
        (blind(0.55), "undecided"),
        (blind(0.5, control=0.6), "undecided"),  # the control learns nothing either
    ],
}

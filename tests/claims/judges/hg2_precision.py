"""Invented records for the claims of claims/hg2/precision.py."""

import numpy as np

from paritylab.claims.hg2.precision import Arithmetics


def arithmetics(otherwise, draws=50):
    """`otherwise` of draws·2 cases decided otherwise by float32."""
    double = np.zeros((1, draws, 2))
    single = double.copy()
    single.ravel()[:otherwise] = 1.0
    gains, cases = np.array([[14.3, 80.0]]), double.size
    return Arithmetics([64], gains, double, single, double, double[..., 0], cases)


TABLES = {
    "hg2-float32": [
        (arithmetics(0), "holds"),
        (arithmetics(100), "refuted"),
        (arithmetics(15), "refuted"),
        (arithmetics(4), "undecided"),
        (arithmetics(0, draws=10), "undecided"),  # too few cases
    ],
}

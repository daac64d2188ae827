"""Invented records for the claims of claims/hg1/training_scope.py."""

import numpy as np

from paritylab.claims.hg1.training_scope import Sizes
from paritylab.statistics import Rate


def sizes(first, last, risk=1e-9, error=1e-10):
    rates = {"n/4": [first, last], "0.3": [Rate(0, 60), Rate(0, 60)]}
    return Sizes(np.array([1e-9, risk]), error, 10, np.array([1, 4]), rates)


TABLES = {
    "hg1-remark10": [
        (sizes(Rate(60, 60), Rate(5, 60)), "corrected"),
        (sizes(Rate(60, 60), Rate(55, 60)), "holds"),
        (sizes(Rate(60, 60), Rate(55, 60), risk=0.7), "refuted"),
        (sizes(Rate(60, 60), Rate(30, 60)), "undecided"),
        (sizes(Rate(4, 4), Rate(0, 4)), "undecided"),
        (sizes(Rate(60, 60), Rate(55, 60), error=1.0), "undecided"),
    ]
}

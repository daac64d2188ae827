"""Invented records for the claims of claims/hg1/training_scope.py."""

import numpy as np

from paritylab.claims.hg1.training_scope import Cell, Sizes
from paritylab.statistics import Rate


def sizes(first, last, risk=1e-9, error=1e-10):
    none = Rate(0, 60)
    arms = {(1, "n/4"): first, (1, "0.3"): none, (4, "n/4"): last, (4, "0.3"): none}
    cells = [Cell(*arm, rate) for arm, rate in arms.items()]
    return Sizes(np.array([1e-9, risk]), error, 10, cells)


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

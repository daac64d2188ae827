"""Invented records for the claims of claims/hg1/hardening.py."""

import numpy as np

from paritylab.claims.hg1.hard_limits import SoftSolutions
from paritylab.claims.hg1.hardening import Hardening


def hardening(soft=1e-9, hard=2.0, error=1e-10, solutions=10, failures=0, slack=0.0, off=0.0):
    search = SoftSolutions(100, solutions, failures, slack, off, 0.5)
    ends = (np.array([0.4, soft]), np.array([2.0, hard]))
    return Hardening(20, np.array([0.05, 1e-4]), *ends, error, [(6, 2)], search)


TABLES = {
    "hg1-prop21": [
        (hardening(), "corrected"),
        (hardening(hard=0.0), "holds"),
        (hardening(soft=0.3), "holds"),
        (hardening(failures=3), "refuted"),
        (hardening(solutions=0), "undecided"),
        (hardening(slack=-0.1), "undecided"),
        (hardening(off=0.2), "undecided"),
        (hardening(error=1.0), "undecided"),
    ]
}

"""Invented records for the claims of claims/hg1/constants.py."""

import numpy as np

from paritylab.claims.hg1.constants import LONGER, SMOOTHINGS, Cell, Proof, Smoothed
from paritylab.statistics import Rate


def cell(k=2, descent=2.0, in_time=16, ever=16, tau=0.1):
    decrease = np.where(LONGER < 1e3, descent, -1.0)
    return Cell(
        n=8,
        k=k,
        tau=tau,
        b=0.01,
        step=1e-8,
        mu=1e-5,
        steps=1e13,
        descent=decrease,
        in_time=Rate(in_time, 16),
        ever=Rate(ever, 16),
        needed=1e-3,
        served=(ever / 16, 1.0),
        risk=2.0,
        ratio=1e-20,
    )


def proof(*cells, least=2.0):
    decrease = np.where(np.array(SMOOTHINGS) > 1e5, least, 2.0)
    return Proof(list(cells), [Smoothed(2, 1, SMOOTHINGS, decrease)])


TABLES = {
    "hg1-constants": [
        (proof(cell(k=1), cell(in_time=0, ever=0)), "refuted"),
        (proof(cell(in_time=0, ever=0), cell(tau=1.0)), "holds"),  # one setting serves
        (proof(cell()), "holds"),
        (proof(cell(), least=0.5), "corrected"),  # a step too long for large b
        (proof(cell(k=1), cell(in_time=0, ever=0), least=0.5), "refuted"),
        (proof(cell(k=1), cell(descent=0.9)), "refuted"),
        (proof(cell(k=1), cell(in_time=0)), "corrected"),  # late
        (proof(cell(k=1), cell(in_time=8, ever=8)), "undecided"),
        (proof(cell(k=1), cell(in_time=0, ever=3)), "undecided"),
    ]
}

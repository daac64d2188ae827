"""Invented records for the claims of claims/hg1/landscape.py."""

import numpy as np

from paritylab.claims.hg1.landscape import OnTarget, Peaks, Slopes
from paritylab.statistics import PowerLaw

GRID = np.ones((2, 2))


def peaks(soft=0.08, sharp=1.0, slope=-0.5, error=1e-9, risk_sharp=1e-9):
    return Peaks(
        c=np.array([1, 0.1]),
        n=np.array([20, 1000]),
        soft=soft * GRID,
        sharp=sharp * GRID,
        risk_soft=4 * GRID,
        risk_sharp=risk_sharp * GRID,
        slope=np.array([slope, slope]),
        excess=10 * GRID,
        error=error,
    )


def slopes(flat=1e-16, stuck=1e-28, least=1e-20, exponent=2.0, factor=3.0):
    excess = np.array([1e-3, 1e-5, 1e-7])
    law = PowerLaw(exponent, exponent - 0.01, exponent + 0.01, factor)
    return Slopes(
        flat_risk=2.5,
        flat_slope=flat,
        stuck_norm=np.array([1.0, 20.0]),
        stuck_risk=np.array([2.0, 2.0]),
        stuck_ratio=np.array([0.1, stuck]),
        least=least,
        starts=3,
        on=[OnTarget(k, 0.1, excess, factor * excess**exponent, law, 3.0) for k in (2, 3)],
    )


TABLES = {
    "hg1-temperature": [
        (peaks(), "corrected"),
        (peaks(soft=0.99, slope=0.0), "holds"),
        (peaks(sharp=0.1), "refuted"),
        (peaks(risk_sharp=2.0), "refuted"),
        (peaks(error=1.0), "undecided"),
        (peaks(soft=0.5, slope=-0.1), "undecided"),
    ],
    "hg1-lemma8-pl": [
        (slopes(), "refuted"),
        (slopes(stuck=0.1), "refuted"),
        (slopes(exponent=1.0), "corrected"),
        (slopes(flat=0.1, stuck=0.1, least=0.01), "holds"),
        (slopes(flat=0.1, stuck=0.1), "refuted"),
        (slopes(flat=0.1, stuck=0.1, least=1e-9), "undecided"),
        (slopes(exponent=1.5), "undecided"),
        (slopes(factor=5.0), "undecided"),
    ],
}

"""Invented records for the claims of claims/hg1/landscape.py."""

import numpy as np

from paritylab.claims.hg1.landscape import Peaks

GRID = np.ones((2, 2))


def peaks(soft=0.08, sharp=1.0, slope=-0.5, error=1e-9, risk_sharp=1e-9, evidence="exact"):
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
        evidence=evidence,
    )


TABLES = {
    "hg1-temperature": [
        (peaks(), "corrected"),
        (peaks(evidence="numerical"), "corrected"),
        (peaks(soft=0.99, slope=0.0), "holds"),
        (peaks(sharp=0.1), "refuted"),
        (peaks(risk_sharp=2.0), "refuted"),
        (peaks(error=1.0), "undecided"),
        (peaks(soft=0.5, slope=-0.1), "undecided"),
    ]
}

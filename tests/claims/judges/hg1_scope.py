"""Invented records for the claims of claims/hg1/scope.py."""

import numpy as np

from paritylab.claims.hg1.scope import Floor, Marginals


def marginals(printed=False, off=0.0):
    share, noise = np.array([0.5, 0.9]), np.array([0.1, 0.2])
    formula = np.ones(2) if printed else 4 * share * (1 - share)
    none = np.zeros(2)
    return Marginals(
        share=share,
        blind=formula + off,
        formula=formula,
        scaled=formula,
        arbitrary=np.ones(3) if printed else np.array([0.5, 0.7, 0.9]),
        arbitrary_gap=0.0,
        copied=1.0 if printed else 0.0,
        net=0.0,
        noise=noise,
        noisy=none if printed else 4 * noise,
        noisy_least=none if printed else 4 * noise * (1 - noise),
        noisy_scaled=none if printed else 4 * noise * (1 - noise),
    )


def floor(scale=1.0, exponent=2.0, least=1e-12):
    b, constant = np.array([1e-5, 1e-4, 1e-2, 1e-1]), np.array([2.0, 8.0])
    risk = scale * constant[:, None] * b**2
    return Floor(np.array([1, 2]), b, risk, constant, np.full(2, exponent), np.full((2, 4), least))


TABLES = {
    "hg1-marginals": [
        (marginals(), "corrected"),
        (marginals(printed=True), "holds"),
        (marginals(off=1e-3), "refuted"),
    ],
    "hg1-floor": [
        (floor(), "corrected"),
        (floor(scale=0.0), "holds"),
        (floor(scale=1.02), "refuted"),
        (floor(exponent=1.9), "refuted"),
        (floor(least=0.0), "refuted"),
    ],
}

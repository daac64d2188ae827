"""Invented records for the claims of claims/hg1/gradients.py."""

import numpy as np

from paritylab.claims.hg1.gradients import Derivatives, Entries

Z = np.linspace(-1, 1, 5)


def derivatives(gamma=0.5, sigma=0.3, mended=1e-14, share=0.5):
    return Derivatives(
        gamma_printed=np.full(3, gamma),
        gamma_mended=np.full(3, mended),
        z=Z,
        curvature=Z**2,
        sigma_printed=Z**2 + sigma,
        sigma_mended=Z**2,
        gamma_share=share,
        sigma_share=share,
        heads=3,
    )


def entries(below=0.0, ratio=0.3, opposed=1e-15, formula_gap=1e-14):
    return Entries(below, np.full(4, ratio), opposed, formula_gap, 2)


TABLES = {
    "hg1-lemma14-sign": [
        (derivatives(), "corrected"),
        (derivatives(gamma=1e-14), "corrected"),
        (derivatives(share=1.5), "corrected"),
        (derivatives(gamma=1e-14, sigma=0.0), "holds"),
        (derivatives(mended=0.1), "refuted"),
    ],
    "hg1-mask": [
        (entries(), "corrected"),
        (entries(ratio=0.0), "holds"),
        (entries(below=0.1), "refuted"),
        (entries(formula_gap=0.1), "undecided"),
        (entries(opposed=0.1), "undecided"),
    ],
}

"""Invented records for the claims of claims/ks/integers.py."""

import numpy as np

from paritylab.claims.ks.integers import WEIGHTS, Exact, Quantised, RoundedStep, Weights


def weights(others=(-0.6, -0.1), share=0.2, slope=-2.0, moved=1e-6, beyond=0.1, zero_from=1024.0):
    exact = [Exact(n, [9.0, 8.0, 7.0], far) for n, far in zip((32, 128), others, strict=True)]
    errors = np.exp(slope * np.array(WEIGHTS))
    return Weights(exact, [RoundedStep(32, share, 0.2, 120)], errors, moved, beyond, zero_from)


TABLES = {
    "ks-weights": [
        (weights(), "corrected"),
        (weights(others=(-0.6, 0.0)), "holds"),
        (weights(beyond=1.5), "refuted"),
        (weights(share=0.4), "undecided"),
        (weights(others=(-0.9, -0.6)), "refuted"),
        (weights(others=(-0.1, -0.2)), "refuted"),
        (weights(slope=-0.1), "refuted"),
        (weights(moved=0.7), "refuted"),
        (weights(zero_from=np.inf), "refuted"),
    ],
    "ks-quantised": [
        (Quantised(0.0, 0.5, 0.0, 1000), "holds"),
        (Quantised(0.5, 0.5, 0.0, 1000), "refuted"),
        (Quantised(0.001, 0.5, 0.0, 1000), "corrected"),
        (Quantised(0.0, 0.5, 0.5, 1000), "corrected"),
    ],
}

"""Invented records for the claims of claims/ks/gradient_law.py."""

import numpy as np

from paritylab.claims.ks.gradient_law import ExactNode, FirstGradient, Fours, SampledStep


def first_gradient(gaps=(0.2, 0.05), off=0.5, noise=1.0, exponent=-2.6, elsewhere=1.0):
    """gaps: of a child from its leading term. off: in standard errors. exponent: of noise."""
    exact = [
        ExactNode(n, (n // 2).bit_length() - 1, n + 10, 1 - gap, elsewhere, 1.1 * elsewhere, 1e-16)
        for n, gap in zip((32, 128), gaps, strict=True)
    ]
    sampled = [
        SampledStep(n, n**2, 1 + 0.01 * off, 0.01, noise, float(n) ** exponent, 3 / n**2)
        for n in (32, 64)
    ]
    terms = {"(7)": [1e-4, 1e-5], "(10)": [1e-4, 1e-5]}
    return FirstGradient(exact, sampled, terms)


def fours(total=2.0, given=1.0, stray=0):
    n, tokens = np.array([16, 32, 62]), np.array([22, 46, 76])
    chained = np.array([96, 288, 300])
    counts = np.array([(3.0 * tokens**power).astype(int) for power in (total, given)])
    return Fours(n, tokens, counts[0], chained, chained - stray, counts[1])


TABLES = {
    "ks-gradient-law": [
        (first_gradient(), "corrected"),
        (first_gradient(elsewhere=0.0), "holds"),
        (first_gradient(exponent=-2.0), "refuted"),
        (first_gradient(gaps=(0.2, 0.15)), "refuted"),
        (first_gradient(gaps=(0.01, 0.02)), "refuted"),
        (first_gradient(off=6), "undecided"),
        (first_gradient(noise=1.4), "undecided"),
        (first_gradient(noise=0.7), "undecided"),
    ],
    "ks-trivial-tuples": [
        (fours(), "holds"),
        (fours(total=2.5), "refuted"),
        (fours(given=1.5), "refuted"),
        (fours(stray=4), "corrected"),
    ],
}

"""Invented records for the claims of claims/lab/few_heads.py."""

import numpy as np

from paritylab.claims.lab.few_heads import Counts

K, HEADS = np.array([2, 2]), np.array([1, 2])


def counts(few=1.0, enough=0.0, shared=1e-12, error=1e-12, heads=HEADS):
    n, tried = np.array([8, 8]), np.array([100, 200])
    return Counts(n, K, heads, np.array([few, enough]), tried, shared, error)


TABLES = {
    "lab-few-heads": [
        (counts(), "holds"),
        (counts(few=0.4), "refuted"),
        (counts(enough=0.4), "refuted"),
        (counts(shared=1.0), "corrected"),
        (counts(heads=np.array([1, 1])), "undecided"),
        (counts(error=1.0), "undecided"),
    ]
}

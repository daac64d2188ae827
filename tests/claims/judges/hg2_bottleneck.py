"""Invented records for the claims of claims/hg2/bottleneck.py."""

import numpy as np

from paritylab.claims.hg2.bottleneck import Counts

SIZES = np.array([64, 256, 1024, 4096])

TABLES = {
    "hg2-ffnn-bottleneck": [
        (Counts(SIZES, np.array([80, 100, 120, 140]), 100), "holds"),
        (Counts(SIZES, 2 * SIZES, 100), "refuted"),
        (Counts(SIZES, np.array([1, 20, 400, 4090]), 100), "refuted"),  # fewer, and catching up
        (Counts(SIZES, np.array([10, 300, 20, 3000]), 100), "undecided"),
    ],
}

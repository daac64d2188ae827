"""Invented records for the claims of claims/ks/separation.py and claims/ks/contrast.py."""

import numpy as np

from paritylab.claims.ks.contrast import COUNTED, Eliminated
from paritylab.claims.ks.separation import Arms, Separation
from paritylab.statistics import Rate


def separation(chain=40, hidden=40):
    cell = Arms(16, 8, 2**22, 8, Rate(chain, 40), Rate(hidden, 40), 1.1)
    return Separation([cell], Rate(20, 20))


def eliminated(solved=16, exponent=3.0):
    work = np.array(COUNTED, dtype=float) ** exponent
    return Eliminated([32, 128], [Rate(16, 16), Rate(solved, 16)], work)


TABLES = {
    "ks-separation": [
        (separation(), "holds"),
        (separation(chain=34), "undecided"),
        (separation(hidden=34), "undecided"),
        (separation(hidden=0), "undecided"),
        (separation(chain=0), "refuted"),
        (separation(chain=6, hidden=6), "undecided"),
    ],
    "ks-elimination": [
        (eliminated(), "holds"),
        (eliminated(solved=12), "undecided"),
        (eliminated(solved=3), "refuted"),
        (eliminated(exponent=3.5), "refuted"),
    ],
}

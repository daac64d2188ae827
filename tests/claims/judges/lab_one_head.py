"""Invented records for the claims of claims/lab/one_head.py."""

from paritylab.claims.lab.one_head import Compared, OneHead
from paritylab.statistics import Rate


def one_head(apart=0.0, gap=1e-15, solved=20):
    return OneHead(64, [Compared("softmax", apart, gap, Rate(solved, 20), Rate(solved, 20))])


TABLES = {
    "lab-one-head": [
        (one_head(), "holds"),
        (one_head(apart=0.1), "refuted"),
        (one_head(gap=0.1), "refuted"),
        (one_head(solved=9), "undecided"),
    ],
}

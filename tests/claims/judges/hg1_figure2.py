"""Invented records for the claims of claims/hg1/figure2.py."""

from paritylab.claims.hg1.figure2 import Panel, Panels
from paritylab.statistics import Rate


def panels(found, middle):
    series = {"kind": "heatmaps", "panels": []}
    cells = zip((0.3, 0.1), found, middle, strict=False)
    return Panels(
        [Panel(tau, 0.0, 0, left, 0.96, right, series) for tau, left, right in cells], 240
    )


TABLES = {
    "hg1-fig2": [
        (panels([Rate(40, 64)], [Rate(28, 64)]), "corrected"),
        (panels([Rate(40, 64), Rate(0, 64)], [Rate(28, 64), Rate(0, 64)]), "corrected"),
        (panels([Rate(64, 64)], [Rate(28, 64)]), "holds"),
        (panels([Rate(0, 64)], [Rate(28, 64)]), "refuted"),
        (panels([Rate(40, 64)], [Rate(0, 64)]), "refuted"),
        (panels([Rate(58, 64)], [Rate(28, 64)]), "undecided"),
        (panels([Rate(2, 3)], [Rate(1, 3)]), "undecided"),
    ],
}

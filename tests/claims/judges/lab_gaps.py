"""Invented records for the claim of claims/lab/gaps.py."""

from paritylab.claims.lab.gaps import GapCell, Gaps


def gaps(low=0.9, high=1.1, right=(0.9, 1.1), rows=6000.0, exponents=(1.0, 5.0, 13.0), **more):
    found = [GapCell(4, 8, 1, 130.0, 130.0, low, high)]
    even = [GapCell(4, 8, 1, rows, 6000.0, *right)]
    facts = {"error": 1e-12, "signs": [1.0, -1.0, -1.0], **more}
    return Gaps(found, even, list(exponents), facts["error"], facts["signs"], (0.5, 1e-9), 80)


NAN = float("nan")

TABLES = {
    "lab-gaps": [
        (gaps(), "holds"),
        (gaps(low=0.7, high=1.5), "holds"),
        (gaps(low=2.0, high=4.0), "refuted"),
        (gaps(right=(0.1, 0.4)), "refuted"),
        (gaps(exponents=(1.0, 4.0, 13.0)), "refuted"),
        (gaps(signs=[1.0, 1.0, -1.0]), "refuted"),
        (gaps(error=0.1), "refuted"),
        (gaps(low=0.9, high=1.8), "undecided"),
        (gaps(rows=200.0), "undecided"),
        (gaps(low=NAN, high=NAN), "undecided"),
    ]
}

"""Invented records for the claims of claims/lab/few_heads.py."""

from paritylab.claims.lab.few_heads import Counts, HeadCount


def counts(few=1.0, enough=0.0, shared=1e-12, error=1e-12, heads=(1, 2), tried=100):
    cells = [
        HeadCount(8, 2, each, least, tried)
        for each, least in zip(heads, (few, enough), strict=True)
    ]
    return Counts(cells, shared, error)


TABLES = {
    "lab-few-heads": [
        (counts(), "holds"),
        (counts(few=0.4), "refuted"),
        (counts(enough=0.4), "refuted"),
        (counts(shared=1.0), "corrected"),
        (counts(heads=(1, 1)), "undecided"),
        (counts(error=1.0), "undecided"),
        (counts(tried=0), "undecided"),
    ]
}

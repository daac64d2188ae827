"""Invented records for the claims of claims/lab/width_k.py."""

from paritylab.claims.lab.width_k import Match, Outcome, Race
from paritylab.statistics import Rate


def race(net, published, correlated, k=2):
    each = (Outcome(Rate(count, 40), 0.2) for count in (net, published, correlated))
    return Race(10, k, 400, *each)


def match(*races, linear=14):
    return Match(list(races), Rate(linear, 14), Rate(14, 14), 400)


TABLES = {
    "lab-width-k": [
        (match(race(12, 2, 36)), "corrected"),
        (match(race(12, 2, 36), race(3, 0, 20, k=3)), "corrected"),
        (match(race(12, 36, 36)), "holds"),
        (match(race(12, 36, 2)), "holds"),
        (match(race(36, 2, 12)), "refuted"),
        (match(race(20, 12, 24)), "undecided"),
        (match(race(12, 2, 36), linear=9), "undecided"),  # the net cannot learn at all
        (match(race(36, 0, 12), *[race(2, 0, 40)] * 3), "undecided"),  # behind somewhere
    ]
}

"""Invented records for the claims of claims/lab/width_k.py."""

from paritylab.claims.lab.width_k import CORRELATED, NET, PUBLIC, SMOOTHED, Match, Outcome, Race
from paritylab.statistics import Rate


def race(net, public, correlated, k=2, smoothed=34):
    counts = {NET: net, PUBLIC: public, SMOOTHED: smoothed, CORRELATED: correlated}
    outcomes = {model: Outcome(Rate(count, 40), 0.2) for model, count in counts.items()}
    return Race(10, k, 400, outcomes)


def match(*races, linear=14, wide=14):
    return Match(list(races), Rate(linear, 14), Rate(wide, 14), 400)


TABLES = {
    "lab-width-k": [
        (match(race(12, 2, 36)), "holds"),
        (match(race(12, 2, 36), race(3, 0, 20, k=3, smoothed=20)), "holds"),
        (match(race(12, 36, 36), race(3, 0, 20, k=3, smoothed=20)), "holds"),  # not at every k
        (match(race(12, 36, 36)), "corrected"),
        (match(race(24, 2, 38, smoothed=2)), "corrected"),  # the smoothed heads fall behind
        (match(race(24, 2, 26, smoothed=2)), "undecided"),
        (match(race(12, 2, 36, smoothed=14)), "undecided"),
        (match(race(36, 2, 12)), "refuted"),
        (match(race(12, 2, 36), race(36, 2, 12, k=3)), "refuted"),
        (match(race(20, 12, 24)), "undecided"),
        (match(race(12, 2, 36), race(20, 12, 24, k=3)), "undecided"),
        (match(race(12, 2, 36), linear=9), "undecided"),  # the net cannot learn at all
        (match(race(12, 2, 36), wide=9), "undecided"),  # nor can a wide one
    ]
}

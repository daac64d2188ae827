"""Invented records for the claim of claims/lab/moves.py."""

from paritylab.claims.lab.moves import Moves, MovesCell
from paritylab.statistics import Rate


def moves(moving, alone, runs=100):
    sizes = ((60, 16, None), (16, 2, 192))
    pairs = zip(sizes, moving, alone, strict=True)
    return Moves([MovesCell(*size, Rate(a, runs), Rate(b, runs)) for size, a, b in pairs])


TABLES = {
    "lab-heads-moves": [
        (moves((100, 80), (55, 60)), "holds"),
        (moves((60, 80), (20, 60)), "refuted"),
        (moves((98, 80), (98, 60)), "refuted"),  # no better than without
        (moves((100, 40), (55, 70)), "refuted"),  # worse from rows
        (moves((90, 80), (55, 60)), "undecided"),
        (moves((98, 80), (85, 60)), "undecided"),
        (moves((100, 70), (55, 60)), "undecided"),
        (moves((10, 10), (5, 5), runs=10), "undecided"),  # too few runs
    ]
}

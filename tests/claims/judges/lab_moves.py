"""Invented records for the claim of claims/lab/moves.py."""

from paritylab.claims.lab.moves import Moves, MovesCell
from paritylab.statistics import Rate


def moves(moving, alone, runs=100):
    sizes = ((60, 16, None), (16, 2, 192))
    pairs = zip(sizes, moving, alone, strict=True)
    return Moves([MovesCell(*size, Rate(a, runs), Rate(b, runs)) for size, a, b in pairs])


TABLES = {
    "lab-heads-moves": [
        (moves((100, 98), (55, 60)), "holds"),
        (moves((100, 60), (55, 20)), "refuted"),
        (moves((100, 98), (55, 98)), "refuted"),  # no better than without
        (moves((100, 90), (55, 60)), "undecided"),
        (moves((100, 98), (55, 85)), "undecided"),
        (moves((10, 10), (5, 5), runs=10), "undecided"),  # too few runs
    ]
}

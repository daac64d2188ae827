"""Invented records for the claims of claims/lab/shapes_of_chain.py."""

from paritylab.claims.lab.shapes_of_chain import Goal, Shapes, Shown


def shapes(low=0.9, high=1.1):
    same = Goal("rows to find every pair", 3200.0, 3200.0, 3200.0, 0.9, 1.1)
    return Shapes(64, 32, 16_384, [same, Goal("lies", 0.05, 0.05, 0.05, low, high)], 160)


def shown(identity=0, closed=0, below=True, above=False):
    return Shown(100, identity, closed, below, above, {"p = 0.1": 3}, [0.1, 0.2])


NAN = float("nan")

TABLES = {
    "lab-tree-or-line": [
        (shapes(), "holds"),
        (shapes(0.7, 1.4), "holds"),
        (shapes(1.6, 2.0), "refuted"),
        (shapes(0.2, 0.5), "refuted"),
        (shapes(0.9, 1.6), "undecided"),
        (shapes(NAN, NAN), "undecided"),
    ],
    "lab-shown-chain": [
        (shown(), "holds"),
        (shown(identity=3), "refuted"),
        (shown(closed=1), "refuted"),
        (shown(below=False), "refuted"),
        (shown(above=True), "refuted"),
    ],
}

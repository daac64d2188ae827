"""Invented records for the claim of claims/lab/functions.py."""

import numpy as np

from paritylab.claims.lab.functions import Contest, Facts, FunctionRow
from paritylab.statistics import Rate

NAMES = ("low, pulled", "low, not pulled", "high, pulled")
RUNS = 20


def table(stepped=(20, 0, 20), steps=(40, 60, 200), leap=(1, 1, 3), sooner=20, annealed=None):
    """steps: of every function; in all but `sooner` runs the last function is the fastest."""
    facts = [Facts(3, each, each, 0.5, 0.5, 0.5) for each in leap]
    taken = np.repeat(np.array(steps, float)[:, None], RUNS, axis=1)
    taken[2, sooner:] = 20
    named = [Rate(each, RUNS) for each in stepped]
    columns = (NAMES, facts, (True, False, True), named, taken, [annealed] * 3)
    return Contest([FunctionRow(*row) for row in zip(*columns, strict=True)])


TABLES = {
    "lab-functions": [
        (table(), "holds"),
        (table(annealed=Rate(15, RUNS)), "holds"),
        (table(steps=(40, 60, np.inf)), "holds"),
        (table(steps=(40, np.nan, 200)), "holds"),
        (table(stepped=(20, 0, 1)), "refuted"),
        (table(stepped=(20, 19, 20)), "refuted"),
        (table(sooner=1), "refuted"),
        (table(stepped=(20, 0, 12)), "undecided"),
        (table(stepped=(20, 9, 20)), "undecided"),
        (table(sooner=12), "undecided"),
        (table(leap=(1, 3, 1), steps=(40, 200, 60)), "undecided"),
        (table(leap=(1, 1, 1)), "undecided"),
    ]
}

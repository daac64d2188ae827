"""Heads with every loss, readout, attention, optimiser and kind of data: trained, or refused.

The table has 7 · 5 · 6 · 5 · 5 cells. A greedy set of rows holds every pair of values of any two
columns; each row is trained. What is refused has its reason in `REFUSED`.
"""

from itertools import combinations, product

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from paritylab.learning import Fresh, Heads, Population, Rows, Sample, learn
from paritylab.problem import Corruption, Parity, random_parities, sample

X64_MODES = [False]  # learners choose their own precision
PAIRS = random_parities(6, 2, 2, sign=-1)


def logistic(y, prediction):
    return jnp.logaddexp(0, -y * prediction)


def own_readout(s):
    return 1 - 2 * (s - 1) ** 2


def twice_as_sharp(scores):
    return jax.nn.softmax(2 * scores, axis=-1)


def rows():
    batch = sample(Parity(6, (1, 4), sign=-1), key=0, size=40)
    return Rows(batch.bits, batch.labels, runs=2)


COLUMNS = {
    "loss": {
        **{
            name: name
            for name in (
                *("squared_hinge", "hinge", "mean_hinge_squared"),
                *("squared", "correlation", "log_correlation"),
            )
        },
        "own": logistic,
    },
    "readout": {
        "zigzag": {},
        "cos": {"readout": "cos"},
        "pair": {"readout": "pair"},
        "own": {"readout": own_readout},
        "trained": {"trains": ("directions", "readout")},
    },
    "attention": {
        "softmax": {},
        "own": {"attention": twice_as_sharp},
        "linear": {"attention": "linear", "inputs": "signs"},
        "sigmoid": {"attention": "sigmoid", "inputs": "signs"},
        "relu on bits": {"attention": "relu"},
        "unit": {"unit": True, "start": "spaced", "jitter": 0.1, "moves": None, "tau": "1 -> 1/n"},
    },
    "optimiser": {
        "sgd": "sgd",
        "adam": "adam",
        "factory": optax.lion,
        "ready": optax.chain(optax.clip(1.0), optax.sgd(0.05)),
        "line search": optax.lbfgs(),
    },
    "data": {
        "population": lambda: (Population(PAIRS), {}),
        "sample": lambda: (Sample(PAIRS, 24), {}),
        "batches": lambda: (Sample(PAIRS, 24), {"batch": 8}),
        "fresh": lambda: (Fresh(PAIRS, 16, Corruption(flips=0.1)), {}),
        "rows": lambda: (rows(), {"k": 2}),
    },
}
#: Pairs of values that no row may have, each with the reason that `Heads` gives.
REFUSED = {
    # Moves and kicks are measured along the circle of one angle a head; a readout has none.
    ("readout", "trained", "attention", "unit"): "unit heads train their angles",
}


def refusal(row):
    """The reason for which a row is refused, or none."""
    for (first, one, second, other), reason in REFUSED.items():
        if row[first] == one and row[second] == other:
            return reason
    return None


def covering_rows():
    """Rows that hold every allowed pair of values: the next row always holds most of the rest."""
    names = list(COLUMNS)
    every = [dict(zip(names, values, strict=True)) for values in product(*COLUMNS.values())]
    allowed = [row for row in every if refusal(row) is None]

    def pairs(row):
        return {((a, row[a]), (b, row[b])) for a, b in combinations(names, 2)}

    left = set().union(*map(pairs, allowed))
    chosen = []
    while left:
        best = max(allowed, key=lambda row: len(pairs(row) & left))
        chosen.append(best)
        left -= pairs(best)
    return chosen


def train(row, **changes):
    data, more = COLUMNS["data"][row["data"]]()
    settings = {**COLUMNS["readout"][row["readout"]], **COLUMNS["attention"][row["attention"]]}
    learner = Heads(
        loss=COLUMNS["loss"][row["loss"]],
        optimiser=COLUMNS["optimiser"][row["optimiser"]],
        **{"eta": 0.05, "tau": 0.5, "steps": 3, **settings, **more, **changes},
    )
    return learn(learner, data, trace=1)


def name_of(row):
    return ", ".join(row.values())


@pytest.mark.grid(16)
@pytest.mark.parametrize("row", covering_rows(), ids=name_of)
def test_every_pair_of_settings_trains(row):
    runs = train(row)
    assert len(runs) == 2
    assert np.isfinite(runs.risk).all()
    path = runs.trace["angles" if row["attention"] == "unit" else "directions"]
    moved = np.abs(np.diff(path, axis=1)).max()
    assert moved > 0 or row["optimiser"] == "line search"
    for run in range(2):
        assert np.isfinite(float(runs.model(run)(jnp.zeros(6))))


def test_what_is_refused_says_why_and_is_rare():
    cells = list(product(*COLUMNS.values()))
    names = list(COLUMNS)
    refused = [row for row in cells if refusal(dict(zip(names, row, strict=True)))]
    assert len(refused) <= len(cells) / 10
    plain = {name: next(iter(values)) for name, values in COLUMNS.items()}
    for (first, one, second, other), reason in REFUSED.items():
        with pytest.raises(ValueError, match=reason):
            train({**plain, first: one, second: other})

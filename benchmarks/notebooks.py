"""HG1's two notebooks (DNA, sparse regression) with held-out loss, positions and shuffled labels.

python benchmarks/notebooks.py [--tables 5] [--n 50] [--print]

Every learner sees three quarters of the rows and is judged on the rest. The control is the same
table with its labels shuffled: what falls there is memorised. The table is in docs/functions.md.
"""

import argparse
import runpy
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from harness import DOCS, markdown, write_between

from paritylab import Annealed, Auto, FeedForwardNet, Heads, Rows, learn
from paritylab.models import Circle

TABLES = runpy.run_path(str(Path(__file__).parents[1] / "xorfind" / "examples" / "tables.py"))
at_bits, digits, dna = (TABLES[name] for name in ("at_bits", "digits", "dna"))

HEADS = ("task", "learner", "numbers", "seen", "held out", "shuffled: seen")
HEADS += ("shuffled: held out", "positions named")


class Outcome(NamedTuple):
    """seen, held: error on the rows trained on and on the others. named: the positions are right;
    None where a learner names none. numbers: trained."""

    seen: float
    held: float
    named: bool | None
    numbers: int


def dna_case(learner, numbers: int, n: int, k: int, seed: int, shuffled: bool) -> Outcome:
    """Share of wrong labels on the string parity."""
    table = dna(n, 2000, k=k, seed=seed)
    bits, labels = at_bits(table.bits), table.labels
    if shuffled:
        labels = np.random.default_rng(seed).permutation(labels)
    data = Rows(bits, labels)
    runs = learn(learner, data, key=seed)
    model = jax.jit(jax.vmap(runs.model(0)))
    made = np.asarray(model(bits.astype(np.float32)))
    key = jax.random.fold_in(jax.random.key(seed), 0)
    wrong = [float(np.mean(made[part] * labels[part] <= 0)) for part in data.split(key)]
    said = runs.subset[0]
    return Outcome(*wrong, None if said is None else said == table.positions, numbers)


def digit_rows(n: int, k: int, seed: int, shuffled: bool):
    """Digits (N, n), values (N,) and hidden positions."""
    table = digits(n, 1000, k=k, seed=seed)
    y = np.asarray(table.columns["y"], float)
    if shuffled:
        y = np.random.default_rng(seed).permutation(y)
    return table.bits.astype(float), y, list(table.positions)


def fit(predict, start, x, y, steps: int, eta: float):
    """Adam on the mean squared error."""
    adam = optax.adam(eta)

    @jax.jit
    def run(parameters):
        def step(carry, _):
            parameters, state = carry
            slope = jax.grad(lambda p: jnp.mean((predict(p, x) - y) ** 2))(parameters)
            moves, state = adam.update(slope, state)
            return (optax.apply_updates(parameters, moves), state), None

        return jax.lax.scan(step, (parameters, adam.init(parameters)), None, steps)[0][0]

    return run(start)


def attended(directions, x, tau: float):
    """k heads on the circle, signs alternating: Σ_h (-1)^h Σ_j a_hj x_j."""
    weights = jax.nn.softmax(Circle(x.shape[1]).scores(directions) / tau, axis=1)
    return (x @ weights.T) @ jnp.resize(jnp.array([1.0, -1.0]), len(directions))


def layered(p, x):
    return jax.nn.relu(x @ p["hidden"] + p["thresholds"]) @ p["output"] + p["offset"]


def digits_case(kind: str, n: int, k: int, seed: int, shuffled: bool) -> Outcome:
    """Mean squared error as a share of the variance."""
    x, y, truth = digit_rows(n, k, seed, shuffled)
    centre, cut = (x - 4.5) / 3, len(y) * 3 // 4
    scale = y.std()
    train, generator = slice(0, cut), np.random.default_rng(seed)
    named = None
    if kind == "least squares":
        design = np.column_stack([x, np.ones(len(y))])
        solved = np.linalg.lstsq(design[train], y[train], rcond=None)[0]
        made, numbers = design @ solved, n + 1
        named = sorted(np.argsort(-np.abs(solved[:n]))[:k].tolist()) == truth
    elif kind == "heads":
        start = generator.normal(size=(k, 2))
        start /= np.linalg.norm(start, axis=1, keepdims=True)
        found = fit(lambda p, x: attended(p, x, n / 4), start, x[train], y[train], 3000, 0.1)
        made, numbers = np.asarray(attended(found, x, n / 4)), 2 * k
        favourites = np.argmax(np.asarray(Circle(n).scores(found)), axis=1)
        named = sorted(set(favourites.tolist())) == truth
    else:
        width = int(kind.rsplit(maxsplit=1)[-1])
        start = {
            "hidden": generator.normal(size=(n, width)) / np.sqrt(n),
            "thresholds": np.zeros(width),
            "output": generator.normal(size=width) / np.sqrt(width),
            "offset": np.zeros(()),
        }
        goal = y[train] / scale
        found = fit(layered, start, centre[train], goal, 3000, 0.01)
        made, numbers = scale * np.asarray(layered(found, centre)), n * width + 2 * width + 1
    errors = ((made - y) / scale) ** 2
    return Outcome(float(errors[:cut].mean()), float(errors[cut:].mean()), named, numbers)


def measure(tables: int, n: int):
    """Rows of the page: name, task, and outcomes on true and shuffled labels."""
    k = 10
    learners = {
        "heads, public code": (Heads.code(k=k), 2 * k),
        "annealed heads": (Annealed(k=k), k),
        "FFNN, 1 neuron": (FeedForwardNet(1, batch=64), n + 3),
        "FFNN, 64 neurons": (FeedForwardNet(64, batch=64), 64 * n + 129),
        "classical solver": (Auto(budget=2.0), 0),
    }
    for name, (learner, numbers) in learners.items():
        yield (
            f"DNA parity, n = {n}, k = {k}",
            name,
            *(
                [dna_case(learner, numbers, n, k, seed, shuffled) for seed in range(tables)]
                for shuffled in (False, True)
            ),
        )
    for kind in ("heads", "FFNN 1", "FFNN 64", "least squares"):
        yield (
            f"digits, n = {n}, k = 6",
            kind,
            *(
                [digits_case(kind, n, 6, seed, shuffled) for seed in range(tables)]
                for shuffled in (False, True)
            ),
        )


def cells(task: str, name: str, true: list, shuffled: list) -> tuple[str, ...]:
    """A row of the table: medians over the tables."""
    middle = [
        f"{np.median([getattr(each, part) for each in outcomes]):.2g}"
        for outcomes in (true, shuffled)
        for part in ("seen", "held")
    ]
    flags = [each.named for each in true]
    named = "–" if flags[0] is None else f"{sum(map(bool, flags))} of {len(flags)}"
    return task, name, f"{true[0].numbers:,}" if true[0].numbers else "–", *middle, named


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=5)
    parser.add_argument("--n", type=int, default=50)
    parser.add_argument("--print", action="store_true", help="print, write nothing")
    given = parser.parse_args()
    rows = []
    for row in measure(given.tables, given.n):
        rows.append(cells(*row))
        print(*rows[-1], sep=" | ", flush=True)
    if not given.print:
        write_between(DOCS / "functions.md", "notebooks", markdown(HEADS, rows))


if __name__ == "__main__":
    main()

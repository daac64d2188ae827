"""Which functions can attention find? A table of functions × learners, with rates and intervals.

python benchmarks/functions.py [--n 16] [--runs 20] [--print]

Writes docs/functions.json, the figure beside it and the table in docs/functions.md.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from harness import DOCS, markdown, write_between

from paritylab import Rate
from paritylab.claims import Heatmap
from paritylab.claims.lab.functions import FUNCTIONS, targets_of
from paritylab.learning import (
    Annealed,
    FeedForwardNet,
    Fresh,
    Heads,
    HingeNet,
    OneStep,
    Population,
    learn,
)
from paritylab.learning.heads.one_step import named_after_step
from paritylab.learning.xor.exact import first_gradient
from paritylab.models import Bowl
from paritylab.problem import Junta
from paritylab.theory.juntas import pulls, visible


class Cell(NamedTuple):
    """named: runs that name B. solved: runs whose risk is below 0.05, None if not measured. why:
    why there are none."""

    named: int = 0
    solved: int | None = None
    why: str = ""


def influences(model: Any, n: int, *, strings: int = 256, seed: int = 0) -> np.ndarray:
    """Which inputs a model listens to: E[(ŷ(x) - ŷ(x with bit j flipped))²] for every j.

    Over fair random strings; model: a predictor of one bit string, any.
    """
    bits = np.random.default_rng(seed).integers(0, 2, (strings, n)).astype(np.float32)
    return np.asarray(_influences(model, bits), dtype=np.float64)


@jax.jit
def _influences(model: Any, bits: Any) -> Any:
    made = jax.vmap(model)(bits)

    def of_bit(mask: Any) -> Any:
        return jnp.mean((jax.vmap(model)(jnp.abs(bits - mask[None])) - made) ** 2)

    return jax.lax.map(of_bit, jnp.eye(bits.shape[1], dtype=bits.dtype))


def most_influential(models: Sequence[Any], n: int, k: int) -> list[tuple[int, ...]]:
    """The k positions each model listens to most, sorted."""
    found = [influences(model, n) for model in models]
    return [tuple(sorted(np.argsort(-each, kind="stable")[:k].tolist())) for each in found]


def _heads_on(learner: Any, targets: Sequence[Junta], key: int) -> Cell:
    runs = learn(learner, Population(targets), key=key)
    return Cell(runs.rate("recovered").successes, runs.rate("solved").successes)


def _counted(learner: Any, targets: Sequence[Junta], key: int) -> Cell:
    if targets[0].by_count is None:
        return Cell(why="no readout of the sum of B is right")
    return _heads_on(learner, targets, key)


def _net_on(learner: Any, targets: Sequence[Junta], key: int) -> Cell:
    if isinstance(learner, HingeNet) and not targets[0].is_boolean:
        return Cell(why="the hinge loss needs labels ±1")
    runs = learn(learner, Fresh(targets, BATCH), key=key)
    said = most_influential(runs.models, targets[0].n, targets[0].k)
    named = [set_ == target.subset for set_, target in zip(said, targets, strict=True)]
    return Cell(sum(named), int(runs.solved.sum()))


def _one_xor_step(targets: Sequence[Junta], key: int) -> Cell:
    """One exact step of HG2's two heads, readout 1 - 2z², squared loss, positions of width 12 ln n.

    HG2's label is -x_i·x_j; a function whose f̂(B) is positive is learnt as -f.
    """
    n, k = targets[0].n, targets[0].k
    if k != 2:
        return Cell(why="two heads name two bits")
    generator, named = np.random.default_rng(key), 0
    for target in targets:
        values = -np.sign(target.fourier()[target.subset]) * target.values
        label = lambda x, f=values: f[int((1 - x) @ [1, 2]) // 2]  # noqa: E731
        found = first_gradient(n, label, 2, Bowl(), "squared")
        forces = np.full(n, -found.other)
        forces[list(target.subset)] = -found.relevant
        said = named_after_step(forces - forces.mean(), 2, int(np.ceil(12 * np.log(n))), generator)
        named += said == target.subset
    return Cell(named)


#: Of trained heads; of the nets: neurons, steps and fresh rows a step.
HEAD_STEPS, NET_STEPS, WIDTH, BATCH = 1000, 600, 64, 32
#: Learners by name: targets and key to a cell.
LEARNERS: dict[str, Callable[[Sequence[Junta], int], Cell]] = {
    "annealed heads": partial(_heads_on, Annealed()),
    "one normalised step": partial(_heads_on, OneStep()),
    "one XOR step": _one_xor_step,
    "heads, public code": partial(_counted, Heads.code(steps=HEAD_STEPS)),
    "heads, paper": partial(_counted, Heads.paper(steps=HEAD_STEPS)),
    "ReLU net, SGD": partial(_net_on, HingeNet(width=WIDTH, steps=NET_STEPS)),
    "FFNN, Adam": partial(_net_on, FeedForwardNet(WIDTH, steps=NET_STEPS, inputs="signs")),
}


class Facts(NamedTuple):
    """Of a function: bits, lowest degree, leap, largest |f̂(S)| over nonempty S, |f̂(B)|, and the
    largest |f̂(S)| over nonempty S that heads read out by cos(πs) see."""

    k: int
    degree: int
    leap: int
    largest: float
    top: float
    seen: float


def facts_of(junta: Junta) -> Facts:
    """The numbers that might predict who finds it; tables are scaled to E[f²] = 1."""
    norm = float(np.sqrt(np.mean(junta.values**2)))
    sizes = {s: abs(c) / norm for s, c in junta.fourier().items() if s}
    seen = max((abs(c) / norm for s, c in visible(junta).items() if s), default=0.0)
    top = sizes.get(junta.subset, 0.0)
    return Facts(junta.k, junta.degree, junta.leap, max(sizes.values()), top, seen)


def measure(n: int, runs: int, seed: int = 0):
    """Every function with every learner, one dict for each function as soon as it is finished."""
    for name in FUNCTIONS:
        targets = targets_of(name, n, runs, seed)
        facts = facts_of(targets[0])._asdict()
        pulled = min(pulls(targets[0]).values()) > 0
        cells = {learner: run(targets, seed)._asdict() for learner, run in LEARNERS.items()}
        yield {"name": name, "n": n, "runs": runs, **facts, "pulled": pulled, "cells": cells}


def shortened(cell: dict, runs: int) -> str:
    return "–" if cell["why"] else str(Rate(cell["named"], runs))


def table(rows: list) -> str:
    """The rows as markdown."""
    learners = list(rows[0]["cells"])
    lines = []
    for row in rows:
        numbers = [f"{row[name]:.2g}" for name in ("degree", "leap", "largest", "top", "seen")]
        cells = [shortened(row["cells"][learner], row["runs"]) for learner in learners]
        lines.append((row["name"], *numbers, "yes" if row["pulled"] else "no", *cells))
    facts = ("degree", "leap", "largest", "B", "seen", "pulls all")
    return markdown(("function", *facts, *learners), lines)


def picture(rows: list):
    """The table as a heat map."""
    learners = list(rows[0]["cells"])
    values = np.array(
        [
            [
                np.nan if row["cells"][each]["why"] else row["cells"][each]["named"] / row["runs"]
                for each in learners
            ]
            for row in rows
        ]
    )
    names = [f"{row['name']} · {row['leap']}" for row in rows]
    numbered = [f"{number} {name}" for number, name in enumerate(learners, start=1)]
    return Heatmap(
        values,
        x="learner, see below",
        y="function · leap",
        colour="share of runs",
        # Learners are numbered, for their names are long.
        x_names=[str(number) for number in range(1, len(learners) + 1)],
        y_names=names,
        caption="Share of runs that find a function (named: the k positions it looks at or listens "
        f"to most). Learners: {', '.join(numbered)}. White: not defined.",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=16)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--print", action="store_true", help="print, write nothing")
    given = parser.parse_args()
    rows = []
    for row in measure(given.n, given.runs):
        rows.append(row)
        print(row["name"], {k: shortened(c, row["runs"]) for k, c in row["cells"].items()})
    print(table(rows))
    if not given.print:
        from paritylab.report.figures import save_figure

        kept = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
        (DOCS / "functions.json").write_text(kept)
        write_between(DOCS / "functions.md", "functions", table(rows))
        save_figure(picture(rows).series(), DOCS / "functions.svg")


if __name__ == "__main__":
    main()

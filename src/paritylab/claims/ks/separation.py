"""With a chain and without, through one approximate oracle; and what an exact one gives away."""

from collections.abc import Iterator, Sequence
from typing import Any

from paritylab.claims import KS, Trial, at_least, at_most, claim, control, note
from paritylab.claims.ks.queries import read_through_oracle
from paritylab.learning.hardness.hiding_oracle import step_under_error
from paritylab.problem import random_trees
from paritylab.problem.sampling import seed_of
from paritylab.statistics import Rate

#: Share of runs that must agree.
MOST = 0.75
#: The error of the oracle, times n²: one step of the chain tolerates it wherever it is put.
ERROR = 0.2
#: The step gives a pair the score ln M + this.
ABOVE = 2.5


@claim(
    "ks-separation",
    KS("Sections 3.1 and 3.2"),
    quick={"runs": 24, "queries": 4},
    full={"cells": ((24, 8, 2**17), (32, 16, 2**18), (64, 32, 2**21)), "queries": 20, "runs": 60},
    more="runs",
    planted=(
        ("an error of 20n⁻², which drowns the chain's signal too", {"error": 20.0}, "refuted"),
        ("an exact oracle, which hides nothing", {"error": 0.0}, "refuted"),
    ),
)
def separation(
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = ((32, 16, 2**18),),
    queries: int = 8,
    runs: int = 40,
    *,
    error: float = ERROR,
) -> Iterator[Any]:
    """Through one approximate oracle a chain learns and a reader of rows does not, n = 32, k = 16.

    An oracle of error O(n^(-2-ε/8)) lets one query with a chain learn, and hides the target from
    few queries without one once there are enough rows: a strict separation. Here the error is
    0.2n⁻² and both sides get N rows, N far below the number of inputs and of targets. With a chain
    one step (link cos, a score of ln M + 2.5) must be right on 2,000 fresh inputs although its
    gradient is wrong by that error in the worst of three ways. The learner without a chain reads
    rows and labels off its gradient, 1.5n of them in each query, and eliminates: one exact answer
    is enough for it, so the separation is one of precision. Through the oracle it must get the mean
    over all targets at every query. That needs N of about 6n³ rows. Only this learner is tried,
    where KS speaks of all.
    """
    for n, k, rows in trial.track(cells):
        trees, size = random_trees(n, k, runs, key=trial.seed), error / n**2
        seeds = [seed_of(trial.seed, at) for at in range(runs)]
        right = [
            all(step_under_error(tree, rows, size, seed, ABOVE).values())
            for tree, seed in zip(trees, seeds, strict=True)
        ]
        read = [
            read_through_oracle(n, k, rows, error=size, queries=queries, seed=seed)
            for seed in seeds
        ]
        where = f"n = {n}, N = {rows:,}"
        yield at_least(f"runs right with a chain after one query, {where}", Rate.of(right), MOST)
        hidden = Rate.of([each.hidden for each in read])
        yield at_least(f"runs hidden in {queries} queries without a chain, {where}", hidden, MOST)
        named = Rate.of([each.named for each in read])
        yield at_most(f"targets named without a chain, {where}", named, 1 - MOST)
        learns = Rate.of([each.exact for each in read])
        label = f"targets named without a chain if the oracle is exact, {where}"
        yield control(at_least(label, learns, MOST))
        distance = max(each.distance for each in read) / size if size else 0.0
        yield note(
            f"largest distance of a gradient from the mean over the error, {where}", distance
        )

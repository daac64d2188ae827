"""What trained heads betray about B, compared with what labelled rows betray without any heads."""

from collections.abc import Callable, Iterator
from itertools import combinations
from math import comb, log2
from typing import Any

import numpy as np

from paritylab.claims import OURS, Trial, at_least, claim, note, within
from paritylab.learning import Heads, Population, learn
from paritylab.models import HeadAttention
from paritylab.precision import float64
from paritylab.problem import random_parities, sample
from paritylab.problem.bits import as_bits
from paritylab.problem.sampling import seed_of
from paritylab.statistics import Mean, Rate


def favourites(model: HeadAttention, size: int) -> tuple[int, ...]:
    """The `size` positions with most attention, most first."""
    with float64():
        weights = np.asarray(model.weights())
    return tuple(np.argsort(-weights, kind="stable")[:size].tolist())


def rows_to_single_out(subset: tuple[int, ...], positions: Any, bits: Any) -> int:
    """Labelled rows after which `subset` is the only set of its size that explains the labels.

    positions: where its rivals may lie; subset is among them. bits: rows (N, n), labelled without
    noise, taken in order. N + 1 if a rival survives them all.

    >>> rows_to_single_out((1,), (0, 1, 2), [[0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 0]])
    3
    """
    bits = np.asarray(as_bits(bits))
    rivals = [each for each in combinations(sorted(positions), len(subset)) if each != subset]
    if not rivals:
        return 0
    odd = bits[:, np.array(rivals)].sum(axis=2, dtype=int) % 2
    own = bits[:, list(subset)].sum(axis=1, dtype=int) % 2
    differs = odd != own[:, None]
    first = np.where(differs.any(axis=0), differs.argmax(axis=0), len(bits))
    return int(first.max()) + 1


#: Labelled rows drawn per run, and how many of them "a handful" is.
ROWS, HANDFUL = 64, 20


def _least_liked(model: Any, size: int) -> tuple[int, ...]:
    return favourites(model, model.code.n)[-size:]


@claim(
    "lab-recover-b",
    OURS,
    quick={"n": 10, "k": 2, "runs": 80, "steps": 400},
    full={"n": 20, "runs": 400, "steps": 2000},
    more="runs",
    planted=(
        "the positions with least attention in place of the most",
        {"pool_of": _least_liked},
        "refuted",
    ),
)
def recover_b(
    trial: Trial,
    n: int = 16,
    k: int = 3,
    runs: int = 100,
    steps: int = 600,
    *,
    pool_of: Callable[[Any, int], tuple[int, ...]] = favourites,
) -> Iterator[Any]:
    """Heads that miss B still lean towards it, and save a few rows, at n = 16, k = 3.

    Trained with the public code's settings (tau = n/4, Adam, squared mean hinge), heads that miss B
    still have it among the 3k positions with most attention, their favourites, more often than
    chance. Knowing these positions saves log2 C(n,k) - log2 C(3k,k) labelled rows, give or take
    one; without heads, 20 rows and a search through all k-sets find B in over 80 % of runs anyway.
    """
    data = Population(random_parities(n, k, runs, key=trial.seed))
    done = learn(Heads.code(steps=steps), data, key=trial.seed)
    pool = min(n, 3 * k)
    right, kept, rows = [], [], []
    for run, problem in enumerate(trial.track(data.targets)):
        model: Any = done.model(run)
        batch = sample(problem, key=seed_of(trial.seed + 1, run, 10_000), size=ROWS)
        liked = pool_of(model, pool)
        right.append(set(favourites(model, k)) == set(problem.subset))
        kept.append(set(problem.subset) <= set(liked))
        choices = (range(n), liked if kept[-1] else problem.subset)
        rows.append([rows_to_single_out(problem.subset, c, batch.bits) for c in choices])
    found, inside = np.array(right), np.array(kept)
    without, within_pool = np.transpose(rows)
    # Rows saved are known only where the favourites hold B; one run has no interval.
    some = inside.sum() > 1
    saved = Mean.of((without - within_pool)[inside]) if some else Mean(0.0, -ROWS, ROWS, 0)
    chance, saving = comb(pool, k) / comb(n, k), log2(comb(n, k) / comb(pool, k))
    where = f"n = {n}, k = {k}"
    missed, brute = Rate.of(inside[~found]), Rate.of(without <= HANDFUL)
    helped = Rate.of(inside & (within_pool <= HANDFUL))
    yield at_least(f"runs that miss B and hold it among 3k favourites, {where}", missed, chance)
    yield within(f"rows saved by knowing 3k favourites, {where}", saved, saving - 1, saving + 1)
    yield at_least(f"runs with B from {HANDFUL} rows without heads, {where}", brute, 0.8)
    yield note(f"runs whose k favourites are B, {where}", Rate.of(found))
    yield note(f"runs whose 3k favourites hold B, {where}", Rate.of(inside))
    yield note(f"runs with B from {HANDFUL} rows within the favourites, {where}", helped)
    for name, needed in (("all k-sets", without), ("k-sets of the favourites", within_pool)):
        median = np.median(needed[inside]) if inside.any() else ROWS
        yield note(f"median rows until B is left among {name}", median)

"""What trained heads betray about B, beside what labelled rows betray without any heads."""

from collections.abc import Callable
from math import comb, log2
from typing import Any

import numpy as np

from paritylab.claims import (
    OURS,
    Bars,
    Judged,
    Mark,
    Trial,
    claim,
    corrected,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.claims.lab.read_from_attention import favourites, read_attention, rows_to_single_out
from paritylab.learning import Heads, Population, learn
from paritylab.problem import random_parities, sample
from paritylab.problem.sampling import seed_of
from paritylab.statistics import Mean, Rate

#: Labelled rows drawn per run, and how many of them "a handful" is.
ROWS, HANDFUL = 64, 20


@record()
class Pools:
    """Heads of the public code after training, and labelled rows with and without them.

    n, k, pool: sizes; pool: positions with most attention, 3k of them. chance: probability that a
    blind choice of that many holds B. saving: log2 C(n,k) - log2 C(pool,k). saved, rows_without,
    rows_with: over runs whose pool holds B, rows until B alone is left among all k-sets, and among
    those of the pool.
    """

    n: int
    k: int
    pool: int
    chance: float = shown("the same by chance")
    alone: Rate = shown("runs whose k favourites are B")
    kept: Rate = shown("runs whose 3k favourites hold B", counts=False)
    kept_missed: Rate = shown(
        "the same where the k favourites are not B", against="beyond_chance", counts=False
    )
    saving: float
    saved: Mean = shown("rows saved by knowing them", against="saving", counts=False)
    rows_without: float = shown("median rows until B is left, all k-sets")
    rows_with: float = shown("median rows until B is left, k-sets of the favourites")
    brute: Rate = shown(f"runs with B from {HANDFUL} rows without heads", counts=False)
    helped: Rate = shown(f"runs with B from {HANDFUL} rows within the favourites", counts=False)

    @property
    def beyond_chance(self) -> str:
        return f"> {self.chance:.2f}"


@claim(
    "lab-recover-b",
    source=OURS,
    title="Heads that miss B still lean towards it, and save a few rows",
    statement="Trained with the public code's settings, heads that miss B still have it among the "
    "3k positions with most attention more often than chance. Knowing these positions saves "
    "log2 C(n,k) - log2 C(3k,k) labelled rows, give or take one; without heads, 20 rows and all "
    "k-sets find B anyway.",
    quick={"n": 10, "k": 2, "runs": 80, "steps": 400},
    full={"n": 20, "runs": 400, "steps": 2000},
    settings={"tau": "n/4", "loss": "mean_hinge_squared", "optimiser": "adam", "rows": HANDFUL},
    seconds=(4, 15, 300),
)
def recover_b(
    trial: Trial,
    n: int = 16,
    k: int = 3,
    runs: int = 100,
    steps: int = 600,
    *,
    favourites: Callable[[Any, int], tuple[int, ...]] = favourites,
) -> Pools:
    data = Population(random_parities(n, k, runs, key=trial.seed))
    done = learn(Heads.code(steps=steps), data, key=trial.seed)
    pool = min(n, 3 * k)
    right, kept, rows = [], [], []
    for run, problem in enumerate(trial.track(data.targets)):
        model: Any = done.model(run)
        batch = sample(problem, key=seed_of(trial.seed + 1, run, 10_000), size=ROWS)
        liked = favourites(model, pool)
        right.append(read_attention(model)[0] == problem.subset)
        kept.append(set(problem.subset) <= set(liked))
        choices = (range(n), liked if kept[-1] else problem.subset)
        rows.append([rows_to_single_out(problem.subset, c, batch.bits) for c in choices])
    found, inside = np.array(right), np.array(kept)
    without, within = np.transpose(rows)
    saved = (without - within)[inside]
    mean = Mean.of(saved) if inside.sum() > 1 else Mean(0.0, -ROWS, ROWS, len(saved))
    size, part = comb(n, k), comb(pool, k)
    return Pools(
        n=n,
        k=k,
        pool=pool,
        chance=part / size,
        alone=Rate.of(found),
        kept=Rate.of(inside),
        kept_missed=Rate.of(inside[~found]),
        saving=log2(size / part),
        saved=mean,
        rows_without=float(np.median(without[inside])) if inside.any() else ROWS,
        rows_with=float(np.median(within[inside])) if inside.any() else ROWS,
        brute=Rate.of(without <= HANDFUL),
        helped=Rate.of(inside & (within <= HANDFUL)),
    )


@recover_b.planted("the positions with least attention in place of the most", turns="refuted")
def _least_liked(trial: Trial) -> Pools:
    least = lambda model, size: favourites(model, model.code.n)[-size:]  # noqa: E731
    return recover_b.measure(trial, **recover_b.quick, favourites=least)


@recover_b.judge
def _recover_b(p: Pools) -> Judged:
    missed, saved = p.kept_missed, p.saved
    seen = (
        f"The k favourites are B in {p.alone}; where they are not, the {p.pool} favourites of "
        f"n = {p.n} hold it in {missed} (chance {p.chance:.2f})"
    )
    control = f"{HANDFUL} rows and all k-sets find B without heads in {p.brute}"
    rows = f"{saved.value:.1f} [{saved.low:.1f}, {saved.high:.1f}] rows ({p.saving:.1f} expected)"
    if missed.high <= p.chance:
        margin = p.chance - missed.high
        instead = f"Heads that miss B hold it no more often than chance; {control}."
        return refuted(f"{seen}.", instead=instead, margin=margin, interval=missed)
    if missed.low <= p.chance or p.brute.low < 0.8:
        return undecided(f"{seen}; {control}.", interval=missed)
    off = max(p.saving - 1 - saved.low, saved.high - p.saving - 1)
    finding = f"{seen}. Knowing them saves {rows}; {control}, with them in {p.helped}."
    if off < 0:
        margin = min(missed.low - p.chance, -off, p.brute.low - 0.8)
        return holds(finding, margin=margin, interval=missed)
    if saved.low > p.saving + 1 or saved.high < p.saving - 1:
        margin = max(saved.low - p.saving - 1, p.saving - 1 - saved.high)
        return corrected(finding, instead=f"They save {rows}.", margin=margin, interval=saved)
    return undecided(finding, interval=missed)


@recover_b.figure
def _recover_b_figure(p: Pools) -> Bars:
    return Bars.of_rates(
        {
            "k favourites are B": p.alone,
            "3k favourites hold B": p.kept,
            "the same, runs that miss": p.kept_missed,
            f"{HANDFUL} rows and 3k favourites": p.helped,
            f"{HANDFUL} rows, no heads": p.brute,
        },
        y="share of runs",
        marks=[Mark(p.chance, "3k positions drawn blindly")],
        caption=f"What finds B at n = {p.n}, k = {p.k}, with 95 % intervals.",
    )

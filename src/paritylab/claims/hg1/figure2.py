"""Figure 2: three heads on three bits, with and without neighbours."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import HG1, Trial, at_least, claim, finding, note
from paritylab.claims.hg1.training_heads import braces, two_midway
from paritylab.learning import Fresh, Heads, Population, Runs, learn
from paritylab.models import Zigzag
from paritylab.problem import Parity
from paritylab.statistics import Rate

#: Temperature, smoothing, and fresh rows per step (0: exact gradients of the risk).
Way = tuple[float, float, int]
EXACT: Way = (0.3, 0.0, 0)
STEPS = 240


@claim(
    "hg1-fig2",
    HG1("Figure 2, Appendix B.1"),
    quick={"ways": (EXACT,), "runs": 32},
    full={"runs": 400},
    more="runs",
    planted=("heads after a single step", {"steps": 1, "runs": 80}, "refuted"),
)
def fig2(
    trial: Trial,
    ways: Sequence[Way] = (EXACT, (0.3, 0.0, 3_000), (1.0, 0.1, 3_000)),
    runs: int = 48,
    *,
    steps: int = STEPS,
) -> Iterator[Any]:
    """Figure 2: three heads on three bits after 30 epochs, n = 20, from a share of the starts.

    n = 20, k = 3, 30 epochs: for bits 8, 11, 18 the three heads converge to a bit each with a score
    very close to 1; for neighbours such as 16, 17 two heads can learn the direction in the middle.
    Trained with Adam 0.2 and the loss of the public code; 30 epochs are 240 steps, since 8 batches
    an epoch are our choice. The figure shows one run of each and names no rate: each panel must
    appear from at least 10 % of random starts. Very close to 1 is 0.9; the third bit beside 16, 17
    is 4. The best way tried counts.
    """
    panels = []
    for way in trial.track(ways):
        left, right = figure2_runs(runs, *way, steps=steps, seed=trial.seed)
        weakest = _weakest_peaks(left)
        found = Rate.of(left.flags("recovered") & (weakest > 0.9))
        middle = Rate.of(two_midway(right, 15.5, 0.25))
        panels.append((found, middle, way, left, right))
        on_set = weakest[left.recovered]
        yield note(f"starts with a head on each of 8, 11, 18, {_name(way)}", found)
        yield note(f"starts with two heads at 16.5, {_name(way)}", middle)
        yield note(
            f"median attention of the weakest head of those on B, {_name(way)}",
            float(np.median(on_set)) if on_set.size else np.nan,
        )
    found, middle, way, left, right = max(panels, key=lambda each: min(each[0].low, each[1].low))
    yield at_least("starts with a head on each of 8, 11, 18, best way", found, 0.1)
    yield at_least("starts with two heads at 16.5, best way", middle, 0.1)
    yield finding(
        f"At {_name(way)} the left panel appears from {found.count} random starts, the right one "
        f"from {middle.count}.",
        "holds",
    )
    yield figure2_series(left, right)


def _name(way: Way) -> str:
    tau, b, rows = way
    smooth = f", b = {b:g}" if b else ""
    return f"tau = {tau:g}{smooth}, " + (f"{rows:,} rows per step" if rows else "exact gradients")


def figure2_runs(
    runs: int,
    tau: float = 0.3,
    b: float = 0.0,
    rows: int = 0,
    *,
    steps: int = STEPS,
    seed: int = 0,
) -> tuple[Runs, Runs]:
    """Training on the paper's bits 8, 11, 18 and on 16, 17 with 4 as the third, 0-based inside."""
    trained = []
    for subset in ((7, 10, 17), (3, 15, 16)):
        learner = Heads.code(readout=Zigzag(3, b), tau=tau, eta=0.2, steps=steps)
        target = Parity(20, subset)
        data = Fresh(target, rows) if rows else Population(target)
        trained.append(learn(learner, data, runs=runs, key=seed))
    return trained[0], trained[1]


def figure2_series(left: Runs, right: Runs) -> dict[str, Any]:
    """The two heat maps, each of its run with the smallest risk."""
    panels = []
    for runs, name in ((left, "no neighbours"), (right, "neighbours")):
        best = int(np.nanargmin(runs.risk))
        panels.append(
            {
                "title": f"{name}: B = {braces(runs.hidden[best])}",
                "values": np.asarray(runs.model(best).attention()),
                "marks": list(runs.hidden[best]),
            }
        )
    learner = left.learner
    assert isinstance(learner, Heads)
    return {
        "kind": "heatmaps",
        "x": {"label": "position (0-based)"},
        "y": {"label": "head"},
        "panels": panels,
        "caption": f"Attention after {learner.steps} steps of Adam {learner.eta} at tau = "
        f"{learner.tau:g}, run with the smallest risk of each. Dotted: B. The paper's bits 8, 11, "
        "18 and 16, 17 are 7, 10, 17 and 15, 16.",
    }


def _weakest_peaks(runs: Runs) -> np.ndarray:
    """Per run the largest attention of the head whose largest attention is smallest."""
    attention = [np.asarray(runs.model(run).attention()) for run in range(len(runs))]
    return np.array([each.max(axis=1).min() for each in attention])

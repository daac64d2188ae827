"""Where training starts."""

import numpy as np

from paritylab.claims.engine import Trial
from paritylab.claims.registry import claim
from paritylab.claims.verdict import Evidence, Finding, Status
from paritylab.statistics import mean_interval
from paritylab.sweep.learners import learner_of
from paritylab.sweep.spec import Spec


@claim(
    "hg1-start-risk",
    paper="hg1",
    title="The risk at the start is 1",
    statement="Theorem 5: with heads at random angles the squared-hinge risk before the first step "
    "is 1.",
    expected="refuted",
    seconds=(3, 12, 120),
)
def start_risk(trial: Trial) -> Finding:
    sizes = trial.pick(quick=(8, 12), default=(8, 20), full=(8, 12, 16, 20, 24))
    runs = trial.pick(quick=32, default=64, full=400)
    cells = [(n, k) for k in (1, 2, 3) for n in sizes]
    risks = {}
    for n, k in trial.track(cells):
        risks[n, k] = _starts(trial.seed, runs, n, k)
    largest = (sizes[-1], 3)
    mean, interval = float(risks[largest].mean()), mean_interval(risks[largest])
    smallest = min(float(values.min()) for values in risks.values())
    return Finding(
        Status.REFUTED if interval[0] > 1 or interval[1] < 1 else Status.UNDECIDED,
        Evidence.SAMPLED,
        measured={
            "finding": f"The mean risk over {runs} random starts and sets is {mean:.2f} "
            f"[{interval[0]:.2f}, {interval[1]:.2f}] at n = {largest[0]}, k = 3 and tau = 1/n; the "
            f"smallest single value at any size tried is {smallest:.2f}. Each risk is exact.",
            "instead": "A prediction uncorrelated with the label has risk at least 1, with "
            "equality only if it is 0; between integers the zigzag head overshoots by far.",
            "mean_risk": {
                f"n={n}, k={k}": float(values.mean()) for (n, k), values in risks.items()
            },
            "smallest_risk": smallest,
        },
        predicted={"mean_risk": 1},
        margin=max(interval[0] - 1, 1 - interval[1]),
        interval=interval,
        runs=runs,
        settings={"n": list(sizes), "k": [1, 2, 3], "tau": "1/n", "loss": "squared_hinge"},
        counterexample=_START_COUNTEREXAMPLE,
        series={
            "kind": "lines",
            "x": {"label": "n"},
            "y": {"label": "risk at the start"},
            "lines": [_line(risks, sizes, k) for k in (1, 2, 3)],
            "marks": [{"axis": "y", "at": 1, "label": "claimed"}],
            "caption": "Mean exact risk at random starts with 95 % intervals, tau = 1/n.",
        },
    )


_START_COUNTEREXAMPLE = """\
import numpy as np
from paritylab import HeadAttention, Parity, enumerated_risk

problem = Parity(12, (1, 5, 9))
starts = [HeadAttention.random(seed, problem, tau=1 / 12) for seed in range(20)]
risks = [enumerated_risk(start, problem).value for start in starts]
print(np.mean(risks), np.min(risks))
assert np.min(risks) > 1.1
"""


def _starts(seed: int, runs: int, n: int, k: int) -> np.ndarray:
    """Exact risks of random heads on random targets at tau = 1/n."""
    spec = Spec.make("start", {"n": n, "k": k}, {"tau": 1 / n}, seed=seed, width=runs)
    return np.array([row["risk"] for row in learner_of(spec)(spec)])


def _line(risks, sizes, k: int) -> dict:
    intervals = [mean_interval(risks[n, k]) for n in sizes]
    return {
        "label": f"k = {k}",
        "x": list(sizes),
        "y": [float(risks[n, k].mean()) for n in sizes],
        "low": [low for low, _ in intervals],
        "high": [high for _, high in intervals],
    }

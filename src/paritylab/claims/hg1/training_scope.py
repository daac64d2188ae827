"""The scope claimed in Remark 10: any k, uniform inputs."""

from collections.abc import Iterator, Sequence
from typing import Any

from paritylab.claims import HG1, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, control, instead, note, repair
from paritylab.learning import Heads, Population, learn
from paritylab.models import HeadAttention, Zigzag
from paritylab.problem import random_parities, random_parity
from paritylab.risk import population_risk

#: The setting of plain descent that serves Theorem 5 best: its temperature, smoothing and step.
#: With this smoothing heads on B have a risk below 0.05 for k = 1 to 6. A larger one brings more
#: runs to B, but leaves them at a risk far from 0.
TAU, SMOOTHING, STEP = "1", 0.07, 2.0


@claim(
    "hg1-remark10",
    HG1("Remark 10"),
    counted_with="hg1-thm5",
    quick={"sizes": (1, 4), "runs": 60},
    full={"sizes": (1, 2, 3, 4, 5, 6), "runs": 400, "steps": 2000},
    more="runs",
    planted=("one hidden bit, which every way finds", {"sizes": (1,)}, "holds"),
)
def remark10(
    trial: Trial, sizes: Sequence[int] = (1, 2, 4), runs: int = 64, steps: int = 400
) -> Iterator[Any]:
    """Any k, odd or even, with uniform inputs, n = 10, k up to 4.

    The results hold under uniform inputs and for any k regardless of its parity: k heads express
    the parity, and training finds it (in at least half of the runs). Trained in three ways: the
    public code at its temperature n/4 and at 0.3, which is within the paper's 0 < tau ≤ 1, and
    masked descent at the setting that serves Theorem 5 best. The best of them counts at each k.
    """
    n = 10
    problems = [random_parity(k, n, k) for k in range(1, 7)]
    risks = [population_risk(HeadAttention.on(p, tau=1 / n**3), p) for p in problems]
    yield control(at_most("largest error of these risks", max(r.error for r in risks), 1e-4))
    for problem, risk in zip(problems, risks, strict=True):
        yield at_most(f"risk of heads on B at tau = 1/n³, k = {problem.k}", risk.value, 1e-3)
    most = max(risk.value for risk in risks)
    yield repair(at_most("largest of these risks, k = 1 to 6", most, 1e-3))

    best = []
    for k in trial.track(sizes):
        data = Population(random_parities(n, k, runs, key=trial.seed))
        rates = {
            way: learn(learner, data, key=trial.seed).rate()
            for way, learner in _ways(k, steps).items()
        }
        for way, rate in rates.items():
            yield note(f"runs that find B, k = {k}, {way}", rate)
        best.append(max(rates.values(), key=lambda rate: rate.low))
        yield at_least(f"runs that find B, best way, k = {k}, n = {n}", best[-1], 0.5)
    easiest = max(best, key=lambda rate: rate.low)
    yield repair(at_least("runs that find B, best way, easiest k", easiest, 0.5))
    yield instead(
        "Expressing holds for any k, odd and even. Training does not: the best way tried finds B "
        + ", ".join(f"in {r.count} runs at k = {k}" for k, r in zip(sizes, best, strict=True))
        + "."
    )


def _ways(k: int, steps: int) -> dict[str, Heads]:
    descent = Heads.paper(readout=Zigzag(k, SMOOTHING), tau=TAU, eta=STEP, steps=steps)
    return {
        "public code, tau = n/4": Heads.code(steps=steps),
        "public code, tau = 0.3": Heads.code(tau=0.3, steps=steps),
        f"descent, tau = {TAU}, b = {SMOOTHING:g}, step {STEP:g}": descent,
    }

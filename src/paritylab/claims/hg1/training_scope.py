"""Reading B off trained heads (left open in the paper), and the scope claimed in Remark 10."""

import numpy as np

from paritylab.claims.engine import Trial
from paritylab.claims.rates import rate_line
from paritylab.claims.registry import claim
from paritylab.claims.verdict import Evidence, Finding, Status
from paritylab.learning import Heads, Population, Runs, learn
from paritylab.learning.heads.reading import Recovery, calibrated, read_attention, read_with_rows
from paritylab.models import HeadAttention
from paritylab.problem import random_parities, random_parity, sample
from paritylab.risk import population_risk
from paritylab.statistics import Rate


@claim(
    "hg1-recover-b",
    paper="hg1",
    title="The set B can be read off the trained heads",
    statement="Left open in the paper: can B be recovered from the learned attention heads?",
    seconds=(6, 16, 300),
)
def recover_b(trial: Trial) -> Finding:
    n, k = trial.pick(quick=(10, 2), default=(16, 3), full=(20, 3))
    runs, steps = trial.pick(quick=(60, 400), default=(60, 1000), full=(400, 2000))
    rows = 20
    data = Population(random_parities(n, k, runs, key=trial.seed))
    done = learn(Heads.code(steps=steps), data, key=trial.seed)
    right, score = _from_attention(done)
    half = runs // 2
    confidence = calibrated(score[:half], right[:half])(score[half:])
    guesses = [_with_rows(done, run, rows, trial.seed) for run in trial.track(range(runs))]
    pairs = list(zip(guesses, data.targets, strict=True))
    right_rows = np.array([guess.subset == problem.subset for guess, problem in pairs])
    sure = np.array([guess.confidence > 0.95 for guess in guesses])
    alone, helped, trusted = Rate.of(right), Rate.of(right_rows), Rate.of(right_rows[sure])
    chance = _chance_of_a_random_pool(n, k)
    learnt = helped.low > alone.high and trusted.low > 0.9
    return Finding(
        Status.CORRECTED if learnt else Status.UNDECIDED,
        Evidence.SAMPLED,
        measured={
            "finding": f"The k positions with most attention are B in {alone} of runs, as often as "
            f"training succeeds. The 3k favourites and {rows} labelled rows give B in {helped}, "
            f"and say so: confidence above 0.95 in {Rate.of(sure)}, right in {trusted} of those.",
            "instead": "Attention alone is right when training succeeded. Runs that failed still "
            f"hold B among their 3k favourite positions (a random choice of 3k would in "
            f"{100 * chance:.0f} %), so a handful of labelled rows settles most of them.",
            "right_from_attention": alone.value,
            "right_with_rows": helped.value,
            "right_when_confident": trusted.value,
            "mean_confidence_attention": float(np.mean(confidence)),
            "share_right_attention": float(np.mean(right[half:])),
            "brier_attention": float(np.mean((confidence - right[half:]) ** 2)),
            "mean_confidence_rows": float(np.mean([guess.confidence for guess in guesses])),
        },
        predicted={"right_from_attention": "open"},
        margin=helped.low - alone.high,
        interval=helped.interval,
        runs=runs,
        settings={"n": n, "k": k, "preset": "code", "steps": steps, "rows": rows, "pool": 3 * k},
        counterexample=_RECOVER_COUNTEREXAMPLE,
        series={
            "kind": "histogram",
            "x": {"label": "cleanness of the heads on their favourite k positions"},
            "y": {"label": "runs"},
            "values": score,
            "caption": "How cleanly the heads of a run sit on k positions; clean runs are mostly "
            "right, and a calibration turns this score into a probability.",
        },
    )


_RECOVER_COUNTEREXAMPLE = """\
from paritylab import Heads, Population, learn, random_parities, sample
from paritylab.learning.heads.reading import read_attention, read_with_rows

runs = learn(Heads.code(steps=600), Population(random_parities(12, 2, runs=60)))
alone = helped = 0
for i, problem in enumerate(runs.targets):
    rows = sample(problem, key=i, size=20)
    alone += read_attention(runs.model(i))[0] == problem.subset
    helped += read_with_rows(runs.model(i), rows.bits, rows.labels).subset == problem.subset
print("attention alone:", alone, "with 20 rows:", helped, "of 60")
assert alone < 50 < helped
"""


def _from_attention(runs: Runs) -> tuple[np.ndarray, np.ndarray]:
    read = [read_attention(runs.model(run)) for run in range(len(runs))]
    right = [s == problem.subset for (s, _), problem in zip(read, runs.data.targets, strict=True)]
    return np.array(right), np.array([score for _, score in read])


def _with_rows(runs: Runs, run: int, rows: int, seed: int) -> Recovery:
    batch = sample(runs.data.targets[run], key=10_000 * (seed + 1) + run, size=rows)
    return read_with_rows(runs.model(run), batch.bits, batch.labels)


def _chance_of_a_random_pool(n: int, k: int) -> float:
    """Probability that 3k positions drawn blindly contain B."""
    pool = min(n, 3 * k)
    return float(np.prod([(pool - i) / (n - i) for i in range(k)]))


@claim(
    "hg1-remark10",
    paper="hg1",
    title="Any k, odd or even, with uniform inputs",
    statement="Remark 10: the results hold for uniform inputs and any k, unlike learners that need "
    "odd k or inputs biased towards B.",
    seconds=(8, 16, 300),
)
def remark10(trial: Trial) -> Finding:
    n = trial.pick(quick=10, default=10, full=16)
    runs, steps = trial.pick(quick=(60, 400), default=(60, 400), full=(400, 2000))
    sizes = trial.pick(quick=(1, 3), default=(1, 2, 3, 4), full=(1, 2, 3, 4, 5, 6))
    expressed = max(_risk_on_the_set(n, k) for k in range(1, 7))
    learner = Heads.code(steps=steps)
    by_k = []
    for k in trial.track(sizes):
        data = Population(random_parities(n, k, runs, key=trial.seed))
        by_k.append(learn(learner, data, key=trial.seed).rate())
    others = {}
    for changed in trial.pick(
        quick=({"bias": 0.3},),
        default=({"bias": 0.3}, {"bias": 0.7}, {"noise": 0.1}),
        full=({"bias": 0.3}, {"bias": 0.7}, {"noise": 0.1}, {"noise": 0.3}),
    ):
        data = Population(random_parities(n, 2, runs, key=trial.seed, **changed))
        name, value = next(iter(changed.items()))
        others[f"{name} {value}"] = learn(learner, data, key=trial.seed).rate()
    easy, hard = by_k[0], by_k[-1]
    listed = ", ".join(f"k = {k} {rate}" for k, rate in zip(sizes, by_k, strict=True))
    return Finding(
        Status.CORRECTED if expressed < 1e-3 and hard.high < easy.low else Status.UNDECIDED,
        Evidence.SAMPLED,
        measured={
            "finding": f"k heads express every k (largest risk {expressed:.0e}, k = 1 … 6). "
            f"Trained with the public code's settings on uniform inputs, n = {n}: {listed}. k = 2 "
            "elsewhere: " + ", ".join(f"{name} {rate}" for name, rate in others.items()) + ".",
            "instead": "k heads express every k, odd or even; how often training finds B drops "
            "sharply from the smallest to the largest k tried. Inputs biased towards 0 raise the "
            "rate at k = 2, inputs biased towards 1 lower it.",
            "success_rate": {k: rate.value for k, rate in zip(sizes, by_k, strict=True)},
            "success_rate_k2": {name: rate.value for name, rate in others.items()},
            "largest_risk_on_the_set": expressed,
        },
        predicted={"success_rate": "1 for every k"},
        margin=easy.low - hard.high,
        interval=hard.interval,
        runs=runs * (len(sizes) + len(others)),
        settings={"n": n, "preset": "code", "steps": steps},
        counterexample=_REMARK10_COUNTEREXAMPLE,
        series={
            "kind": "lines",
            "x": {"label": "k"},
            "y": {"label": "share of runs that find B"},
            "lines": [rate_line(f"n = {n}, uniform inputs", sizes, by_k)],
            "caption": "Success against k with 95 % intervals.",
        },
    )


_REMARK10_COUNTEREXAMPLE = """\
from paritylab import Heads, Population, learn, random_parities

few, many = (learn(Heads.code(steps=400), Population(random_parities(10, k, runs=60))).rate()
             for k in (1, 4))
print("k = 1:", few, "k = 4:", many)
assert few.value > 0.9 and many.value < 0.5
"""


def _risk_on_the_set(n: int, k: int) -> float:
    problem = random_parity(k, n, k)
    return population_risk(HeadAttention.on(problem, tau=1 / n**3), problem).value

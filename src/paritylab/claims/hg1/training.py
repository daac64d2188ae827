"""Theorem 5 and the public code: how often training finds the set, and how fast."""

import numpy as np

from paritylab.claims.engine import Trial
from paritylab.claims.rates import rate_line
from paritylab.claims.registry import claim
from paritylab.claims.verdict import Evidence, Finding, Status
from paritylab.learning import AllInputs, Fresh, Heads, Population, learn, temperature
from paritylab.models import HeadAttention
from paritylab.problem import Parity, random_parities, sets_up_to_symmetry
from paritylab.statistics import Rate
from paritylab.theory import hg1


@claim(
    "hg1-thm5",
    paper="hg1",
    title="Gradient descent on k heads converges linearly to risk 0",
    statement="Theorem 5: from random angles, training the k heads gives risk ≤ c^t times the risk "
    "at the start for some c < 1, for every set B.",
    seconds=(6, 24, 600),
)
def thm5(trial: Trial) -> Finding:
    n, k = trial.pick(quick=(12, 2), default=(20, 3), full=(20, 3))
    starts, steps = trial.pick(quick=(5, 300), default=(1, 600), full=(12, 1000))
    shapes = Population(sets_up_to_symmetry(n, k))
    found = []
    for index in trial.track(range(starts)):
        found.append(learn(Heads.paper(steps=steps), shapes, key=trial.seed + index).solved)
    rate = Rate.of(np.concatenate(found))
    decay = _decay_near_the_set(trial.pick(quick=4000, default=10_000, full=40_000))
    step = hg1.step_size(k, 1 / n, 0.01)
    unmasked = learn(
        Heads.paper(steps=300, variant="unmasked"),
        AllInputs(random_parities(8, 2, 32, key=trial.seed)),
        key=trial.seed,
    )
    return Finding(
        Status.REFUTED if rate.high < 0.5 and -1.2 < decay["slope"] < -0.8 else Status.UNDECIDED,
        Evidence.SAMPLED,
        measured={
            "finding": f"{rate} of runs reach risk 0.05 in {steps} exact steps (n = {n}, k = {k}, "
            f"tau = 1/n, step 0.1, every set B up to rotation and reflection: {shapes.runs}). "
            f"The theorem's own step is {step:.0e}. Started on B, the risk falls like t^"
            f"{decay['slope']:.2f}, not like c^t.",
            "instead": "Heads that start near B converge, with risk ~ 1/t: with ε the attention "
            "off B the risk is of order ε² and its gradient too, while ε shrinks exponentially in "
            "the norm of the heads, so dε/dt ~ -ε³. No softmax head reaches risk 0 at finite norm.",
            "success_rate": rate.value,
            "success_rate_unmasked_4x4_form_n8_k2": unmasked.rate("solved").value,
            "exponent_of_t": decay["slope"],
            "step_of_the_theorem": step,
        },
        predicted={"success_rate": 1, "risk": "c^t"},
        margin=0.5 - rate.high,
        interval=rate.interval,
        runs=rate.runs,
        settings={
            "n": n,
            "k": k,
            "tau": "1/n",
            "loss": "squared_hinge",
            "optimiser": "sgd 0.1",
            "steps": steps,
            "sets": shapes.runs,
        },
        counterexample=_THM5_COUNTEREXAMPLE,
        series={
            "kind": "lines",
            "x": {"label": "step t", "scale": "log"},
            "y": {"label": "risk", "scale": "log"},
            "lines": [
                {"label": "heads started on B, n = 12, k = 2", "x": decay["x"], "y": decay["y"]},
                {"label": "1/t", "x": decay["x"], "y": decay["guide"], "style": "--"},
            ],
            "caption": "Where gradient descent does converge, the exact risk falls like 1/t.",
        },
    )


_THM5_COUNTEREXAMPLE = """\
from paritylab import Heads, Population, learn, random_parities

runs = learn(Heads.paper(steps=500), Population(random_parities(12, 2, runs=100)))
print("reached risk 0.05:", runs.rate("solved"), "smallest risk:", runs.risk.min())
assert runs.rate("solved").value < 0.2
"""


def _decay_near_the_set(steps: int) -> dict:
    problem = Parity(12, (2, 7))
    start = HeadAttention.on(problem).directions
    runs = learn(Heads.paper(start=start, steps=steps), Population(problem), trace=steps // 40)
    t, risk = runs.trace["step"][1:].astype(float), runs.trace["risk"][0, 1:]
    late = t > steps / 10
    slope = float(np.polyfit(np.log(t[late]), np.log(risk[late]), 1)[0])
    return {"x": t, "y": risk, "guide": risk[-1] * t[-1] / t, "slope": slope}


@claim(
    "hg1-code",
    paper="hg1",
    title="The public code's training finds the set",
    statement="The settings of the paper's public code (tau = n/4, Adam 0.1, squared mean hinge, "
    "2000 epochs) train k heads to attend to exactly the bits of B.",
    seconds=(6, 16, 600),
)
def code(trial: Trial) -> Finding:
    cells = trial.pick(
        quick=[(10, 2, 60)],
        default=[(12, 2, 100), (16, 3, 30)],
        full=[(12, 2, 400), (16, 3, 400), (20, 3, 400), (100, 3, 40)],
    )
    rates, solved = {}, {}
    for n, k, runs in trial.track(cells):
        data = Population(random_parities(n, k, runs, key=trial.seed))
        done = learn(Heads.code(), data, key=trial.seed)
        rates[n, k], solved[n, k] = done.rate(), done.rate("solved")
    first = rates[cells[0][:2]]
    joint = learn(
        Heads.code(steps=600, variant="joint"),
        AllInputs(random_parities(8, 2, 32, key=trial.seed)),
        key=trial.seed,
    )
    sentence = "; ".join(f"{rate} at n = {n}, k = {k}" for (n, k), rate in rates.items())
    above_chance, below_always = first.low > 0.1, first.high < 0.9
    return Finding(
        Status.CORRECTED if above_chance and below_always else Status.UNDECIDED,
        Evidence.SAMPLED,
        measured={
            "finding": f"The heads end on exactly B in {sentence}; the gradients are exact.",
            "instead": "Soft attention and a loss that averages before squaring find B in a share "
            "of the runs that falls with n and k, far above chance and far below always.",
            "success_rate": {f"n={n}, k={k}": rate.value for (n, k), rate in rates.items()},
            "success_rate_with_trained_head_n8_k2": joint.rate().value,
            "risk_below_0.05": {f"n={n}, k={k}": rate.value for (n, k), rate in solved.items()},
        },
        predicted={"success_rate": 1},
        margin=min(first.low - 0.1, 0.9 - first.high),
        interval=first.interval,
        runs=sum(runs for *_, runs in cells),
        settings={
            "tau": "n/4",
            "loss": "mean_hinge_squared",
            "optimiser": "adam 0.1 (0.2 at 20)",
            "steps": 2000,
        },
        counterexample=_CODE_COUNTEREXAMPLE,
        series={
            "kind": "lines",
            "x": {"label": "n"},
            "y": {"label": "share of runs that find B"},
            "lines": [rate_line("public code's settings", [n for n, _ in rates], rates.values())],
            "caption": "Success rate over random starts and sets with 95 % intervals.",
        },
    )


_CODE_COUNTEREXAMPLE = """\
from paritylab import Heads, Population, learn, random_parities

runs = learn(Heads.code(), Population(random_parities(10, 2, runs=100)))
print("heads on exactly B:", runs.rate())
assert 0.2 < runs.rate().value < 0.9
"""


@claim(
    "hg1-fixed-tau",
    paper="hg1",
    title="Learning needs a temperature that vanishes like 1/n",
    statement="Theorem 5's analysis and its limitations: the heads learn at tau = O(1/n); whether "
    "they do at a fixed temperature is left open.",
    seconds=(8, 14, 300),
)
def fixed_tau(trial: Trial) -> Finding:
    n, k = trial.pick(quick=(10, 2), default=(12, 2), full=(16, 3))
    runs, steps = trial.pick(quick=(60, 400), default=(60, 500), full=(400, 2000))
    taus = trial.pick(
        quick=("1/n", "n/4"),
        default=("1/n^2", "1/n", "3/n", "1", "n/4", "n"),
        full=("1/n^2", "0.3/n", "1/n", "3/n", "1", "n/8", "n/4", "n/2", "n"),
    )
    data = Population(random_parities(n, k, runs, key=trial.seed))
    procedures = {"code": Heads.code, "paper": Heads.paper}
    rates: dict[str, dict[str, Rate]] = {"code": {}, "paper": {}}
    for tau in trial.track(taus):
        for name, make in procedures.items():
            learner = make(tau=tau, steps=steps, optimiser="adam", eta=0.1)
            rates[name][tau] = learn(learner, data, key=trial.seed).rate()
    sharp, soft = rates["code"]["1/n"], rates["code"]["n/4"]
    sizes = [temperature(tau, n) for tau in taus]
    return Finding(
        Status.REFUTED if soft.low > sharp.high else Status.UNDECIDED,
        Evidence.SAMPLED,
        measured={
            "finding": f"With the squared mean hinge and Adam, {soft} of runs find B at tau = n/4 "
            f"and {sharp} at tau = 1/n (n = {n}, k = {k}). With the paper's squared hinge the best "
            f"temperature gives {max(rates['paper'].values(), key=lambda r: r.value)}.",
            "instead": "A soft start helps: success is flat from tau ≈ 1 to n and falls for sharper"
            " attention. The loss matters as much: averaging the hinge before squaring it learns, "
            "the squared hinge of the theorem does not, at any temperature tried.",
            "success_rate": {
                name: {tau: rate.value for tau, rate in row.items()} for name, row in rates.items()
            },
        },
        predicted={"success_rate": "high at tau = 1/n"},
        margin=soft.low - sharp.high,
        interval=soft.interval,
        runs=runs * len(taus) * 2,
        settings={"n": n, "k": k, "optimiser": "adam 0.1", "steps": steps},
        counterexample=_TAU_COUNTEREXAMPLE,
        series={
            "kind": "lines",
            "x": {"label": "tau", "scale": "log"},
            "y": {"label": "share of runs that find B"},
            "lines": [
                rate_line("squared mean hinge", sizes, rates["code"].values()),
                rate_line("squared hinge", sizes, rates["paper"].values()),
            ],
            "marks": [{"axis": "x", "at": 1 / n, "label": "tau = 1/n"}],
            "caption": f"Success against temperature, n = {n}, k = {k}, Adam 0.1, {steps} steps.",
        },
    )


_TAU_COUNTEREXAMPLE = """\
from paritylab import Heads, Population, learn, random_parities

data = Population(random_parities(10, 2, runs=100))
soft = learn(Heads.code(tau="n/4", steps=500), data).rate()
sharp = learn(Heads.code(tau="1/n", steps=500), data).rate()
print("tau = n/4:", soft, "tau = 1/n:", sharp)
assert soft.value > sharp.value + 0.2
"""


@claim(
    "hg1-sgd",
    paper="hg1",
    title="2k numbers suffice under minibatch training too",
    statement="The analysis assumes full-batch descent on the expected risk; the parameter "
    "efficiency should persist with minibatches of ordinary size.",
    seconds=(6, 10, 200),
)
def sgd(trial: Trial) -> Finding:
    n, k = trial.pick(quick=(10, 2), default=(12, 2), full=(16, 3))
    runs, steps = trial.pick(quick=(60, 400), default=(100, 800), full=(400, 2000))
    sizes = trial.pick(quick=(64,), default=(16, 64), full=(16, 64, 256, 1024, 4096))
    targets, learner = random_parities(n, k, runs, key=trial.seed), Heads.code(steps=steps)
    exact = learn(learner, Population(targets), key=trial.seed).rate()
    rates = [
        learn(learner, Fresh(targets, size), key=trial.seed).rate() for size in trial.track(sizes)
    ]
    batch = 64
    rate = rates[sizes.index(batch)]
    share = rate.low / max(exact.high, 1e-9)
    return Finding(
        Status.HOLDS if share > 0.5 else Status.REFUTED if rate.high < 0.1 else Status.UNDECIDED,
        Evidence.SAMPLED,
        measured={
            "finding": f"With fresh batches of {batch} rows {rate} of runs find B, with the exact "
            f"gradient {exact} (n = {n}, k = {k}, {2 * k} trained numbers, the code's settings).",
            "success_rate": {size: each.value for size, each in zip(sizes, rates, strict=True)},
            "success_rate_exact_gradient": exact.value,
            "trained_numbers": 2 * k,
        },
        predicted={"success_rate": "that of the exact gradient"},
        margin=share - 0.5,
        interval=rate.interval,
        runs=runs * (len(sizes) + 1),
        settings={"n": n, "k": k, "optimiser": "adam 0.1", "tau": "n/4", "steps": steps},
        series={
            "kind": "lines",
            "x": {"label": "rows per batch", "scale": "log"},
            "y": {"label": "share of runs that find B"},
            "lines": [rate_line("fresh batches", sizes, rates)],
            "marks": [{"axis": "y", "at": exact.value, "label": "exact gradient"}],
            "caption": "Success of minibatch training with 95 % intervals.",
        },
    )

"""Which functions of a few hidden bits one attention step and a net find."""

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import jax
import numpy as np

from paritylab.claims import OURS, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, control
from paritylab.figures import Heatmap
from paritylab.learning import Fresh, HingeNet, OneStep, Population, learn
from paritylab.models.feedforward import ARRAYS
from paritylab.models.protocol import with_parameters
from paritylab.problem import Junta, random_junta
from paritylab.statistics import Rate, difference
from paritylab.theory.juntas import pulls

Subset = Sequence[int]

#: One drawn table of 16 signs, the same in every run.
_TABLE = random_junta(3, 4, 4).table


def _parity(n: int, subset: Subset) -> Junta:
    return Junta.of(n, subset, lambda x: 1 - 2 * (x.sum() % 2))


def _two_parities(n: int, subset: Subset) -> Junta:
    return Junta.from_parities(n, {tuple(subset[:2]): 1.0, tuple(subset[2:]): 1.0})


#: Functions by name: number of bits, and the junta on a set.
FUNCTIONS: dict[str, tuple[int, Callable[[int, Subset], Junta]]] = {
    "parity of 2": (2, _parity),
    "AND of 2": (2, Junta.conjunction),
    "parity of 3": (3, _parity),
    "majority of 3": (3, Junta.majority),
    "AND of 3": (3, Junta.conjunction),
    "multiplexer of 3": (3, lambda n, s: Junta.multiplexer(n, s[:1], s[1:])),
    "staircase of 3": (3, Junta.staircase),
    "not all equal of 3": (3, Junta.not_all_equal),
    "parity of 4": (4, _parity),
    "two parities of 2": (4, _two_parities),
    "random table of 4": (4, lambda n, s: Junta(n, tuple(s), _TABLE)),
    "not all equal of 4": (4, Junta.not_all_equal),
    "parity of 5": (5, _parity),
    "majority of 5": (5, Junta.majority),
}

#: No gain changes which bits a step names.
STEP = OneStep(gain=1.0)

#: The functions that one compiled program per learner serves.
OF_THREE = tuple(name for name, (k, _) in FUNCTIONS.items() if k == 3)


def targets_of(name: str, n: int, runs: int, seed: int) -> list[Junta]:
    """The function on `runs` random sets, in random order."""
    k, build = FUNCTIONS[name]
    generator = np.random.default_rng([seed, list(FUNCTIONS).index(name)])
    return [build(n, generator.choice(n, size=k, replace=False).tolist()) for _ in range(runs)]


class Found(NamedTuple):
    """One function. named: runs in which one normalised step names B. steps: until the net is
    right, one entry per run, infinite if it is not within its budget; None for real values."""

    name: str
    k: int
    leap: int
    named: Rate
    steps: np.ndarray | None


@claim(
    "lab-functions",
    OURS,
    quick={"runs": 16, "net": 300},
    full={"names": tuple(FUNCTIONS), "runs": 40, "net": 4000},
    more="runs",
    planted=(
        "a step on positions of width 1",
        {"names": OF_THREE[:2], "net": 20, "learner": OneStep(width=1)},
        "refuted",
    ),
)
def functions(
    trial: Trial,
    names: Sequence[str] = OF_THREE,
    n: int = 16,
    runs: int = 20,
    net: int = 600,
    *,
    learner: OneStep = STEP,
) -> Iterator[Any]:
    """The sets that one attention step sees, not degree or leap, tell what it finds of 3 bits.

    Heads read out by cos(πs) see only Fourier sets of size k, k - 2, … of a function of k hidden
    bits. One normalised step names the bits where the visible sets of lowest degree pull every one
    of them, and not otherwise. Leap does not order what it finds: some function is found less often
    than another of higher leap. A ReLU net of 64 neurons trained by SGD on batches of 32 fresh rows
    is ordered by leap: of two functions of equally many bits the one of lower leap is learnt, to
    95 % accuracy, in fewer steps.
    """
    seen = []
    for name in trial.track(names):
        targets = targets_of(name, n, runs, trial.seed)
        first = targets[0]
        named = learn(learner, Population(targets), key=trial.seed).rate()
        pulled = min(pulls(first).values()) > 0
        kind = f"leap {first.leap}, {'' if pulled else 'not '}pulled"
        label = f"one step names B, n = {n}, {name} ({kind})"
        yield at_least(label, named, 0.5) if pulled else at_most(label, named, 0.5)
        steps = _steps_of_net(targets, net, trial.seed)
        seen.append(Found(name, first.k, first.leap, named, steps))
    by_leap = [(a, b) for a, b in permutations(seen, 2) if a.leap < b.leap]
    less, more = max(by_leap, key=lambda pair: pair[1].named.low - pair[0].named.high)
    lead = difference(more.named, less.named)
    label = f"one step, share on {more.name} (leap {more.leap}) less {less.name} ({less.leap})"
    yield at_least(label, lead, 0)
    races = 0
    for a, b in by_leap:
        if a.k != b.k or a.steps is None or b.steps is None:
            continue
        races += 1
        sooner = Rate.of(a.steps < b.steps)
        label = f"nets that learn {a.name} (leap {a.leap}) before {b.name} ({b.leap})"
        yield at_least(label, sooner, 0.5)
    yield control(at_least("pairs of different leap that the net learns", races, 1))
    yield _figure(seen)


def _steps_of_net(targets: Sequence[Junta], steps: int, seed: int) -> np.ndarray | None:
    """Steps until each net has 95 % accuracy, to the next 20."""
    if not targets[0].is_boolean:
        return None
    runs = learn(HingeNet(64, steps=steps), Fresh(targets, 32), key=seed, trace=20)
    bits = np.random.default_rng(seed).integers(0, 2, (1024, targets[0].n)).astype(float)
    at = []
    for run, target in enumerate(targets):
        net, labels = runs.model(run), np.asarray(target.label(bits))
        path = {name: runs.trace[name][run] for name in ARRAYS}
        made = jax.vmap(lambda now, net=net: jax.vmap(with_parameters(net, now))(bits))(path)
        right = np.mean(labels * np.asarray(made) > 0, axis=1) >= 0.95
        at.append(runs.trace["step"][right.argmax()] if right.any() else np.inf)
    return np.array(at)


def _figure(seen: Sequence[Found]) -> Heatmap:
    """Functions × learners as colours."""
    values = [
        (each.named.value, np.nan if each.steps is None else float(np.isfinite(each.steps).mean()))
        for each in seen
    ]
    return Heatmap(
        values,
        x="learner",
        y="function · leap",
        colour="share of runs",
        x_names=["one step", "net"],
        y_names=[f"{each.name} · {each.leap}" for each in seen],
        caption="Share of runs that find a function (one step: names B; ReLU net: right within its "
        "steps). White: not defined.",
    )

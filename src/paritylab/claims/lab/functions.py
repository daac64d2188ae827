"""Which functions of a few hidden bits which learner finds: a table of functions × learners."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims import (
    OURS,
    Heatmap,
    Judged,
    Trial,
    claim,
    derived,
    holds,
    in_tab,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.claims.lab.influence import most_influential
from paritylab.claims.lab.juntas import inversions, pooled
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
from paritylab.learning.heads.one_step import named_after_step, set_forces
from paritylab.learning.xor.exact import first_gradient
from paritylab.models import Bowl
from paritylab.problem import Junta, random_junta
from paritylab.statistics import Rate
from paritylab.theory.juntas import pulls, visible

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

#: The functions that one compiled program per learner serves.
OF_THREE = tuple(name for name, (k, _) in FUNCTIONS.items() if k == 3)


class Budget(NamedTuple):
    """steps: of annealing, of the nets. width, batch: of the nets. code_steps: of trained heads."""

    anneal: int = 1500
    net: int = 3000
    width: int = 128
    batch: int = 32
    heads: int = 2000


class Cell(NamedTuple):
    """named: runs that name B. solved: runs whose risk is below 0.05, None if not measured. why:
    why there are none."""

    named: int = 0
    solved: int | None = None
    why: str = ""


def _heads_on(learner: Any, targets: Sequence[Junta], key: int) -> Cell:
    runs = learn(learner, Population(targets), key=key)
    return Cell(runs.rate("recovered").successes, runs.rate("solved").successes)


def _counted(learner: Any, targets: Sequence[Junta], key: int) -> Cell:
    if targets[0].by_count is None:
        return Cell(why="no readout of the sum of B is right")
    return _heads_on(learner, targets, key)


def _net_on(learner: Any, targets: Sequence[Junta], key: int, batch: int) -> Cell:
    if isinstance(learner, HingeNet) and not targets[0].is_boolean:
        return Cell(why="the hinge loss needs labels ±1")
    runs = learn(learner, Fresh(targets, batch), key=key)
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


#: Learners by name: targets, key and budget to a cell.
LEARNERS: dict[str, Callable[[Sequence[Junta], int, Budget], Cell]] = {
    "annealed heads": lambda t, key, b: _heads_on(Annealed(steps=b.anneal), t, key),
    "one normalised step": lambda t, key, b: _heads_on(OneStep(), t, key),
    "one XOR step": lambda t, key, b: _one_xor_step(t, key),
    "heads, public code": lambda t, key, b: _counted(Heads.code(steps=b.heads), t, key),
    "heads, paper": lambda t, key, b: _counted(Heads.paper(steps=b.heads), t, key),
    "ReLU net, SGD": lambda t, key, b: _net_on(
        HingeNet(width=b.width, steps=b.net), t, key, b.batch
    ),
    "FFNN, Adam": lambda t, key, b: _net_on(
        FeedForwardNet(width=b.width, steps=b.net, inputs="signs"), t, key, b.batch
    ),
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


def targets_of(name: str, n: int, runs: int, seed: int) -> list[Junta]:
    """The function on `runs` random sets, in random order."""
    k, build = FUNCTIONS[name]
    generator = np.random.default_rng([seed, list(FUNCTIONS).index(name)])
    return [build(n, generator.choice(n, size=k, replace=False).tolist()) for _ in range(runs)]


@record()
class FunctionRow:
    """One function. pulled: whether the visible sets of lowest degree pull every bit of B.

    named: runs in which one normalised step names B. steps: until the net is right, infinite where
    it is not within its budget, one entry per run; not a number for real values. annealed: runs in
    which annealed heads name B, None if not run.
    """

    name: str
    facts: Facts = shown("lowest degree, leap and coefficients")
    pulled: bool
    named: Rate = shown("runs in which one step names B", against="said")
    steps: np.ndarray
    annealed: Rate | None = shown("runs in which annealed heads name B", counts=False)

    @property
    def said(self) -> str:
        return "most" if self.pulled else "few"

    @derived("median steps until the net is right")
    def median(self) -> float:
        return float(np.median(self.steps))

    def __str__(self) -> str:
        return self.name


@record()
class Contest:
    rows: list[FunctionRow]


#: Accuracy from which on a net is right.
RIGHT = 0.95


@claim(
    "lab-functions",
    source=OURS,
    title="What one attention step finds is told by the sets it sees, not by degree or leap",
    statement="Heads read out by cos(πs) see only Fourier sets of size k, k - 2, … of a function "
    "of k hidden bits. One normalised step names the bits where the visible sets of lowest degree "
    "pull every one of them, and not otherwise. Leap does not order what it finds: some function "
    "is found less often than another of higher leap. A ReLU net trained by SGD is ordered by "
    "leap: the lower of two functions of equally many bits is learnt in fewer steps.",
    quick={"runs": 16, "net": 300, "anneal": 0},
    full={"names": tuple(FUNCTIONS), "runs": 40, "net": 4000, "anneal": 1500},
    settings={"width of the net": 64, "batch": 32, "data": "population; fresh rows for the net"},
    seconds=(5, 12, 120),
)
def functions(
    trial: Trial,
    names: Sequence[str] = OF_THREE,
    n: int = 16,
    runs: int = 20,
    net: int = 600,
    anneal: int = 600,
    *,
    forces: Callable[[Junta], np.ndarray] = set_forces,
) -> Contest:
    generator, rows = np.random.default_rng(trial.seed), []
    for name in trial.track(names):
        targets = targets_of(name, n, runs, trial.seed)
        first, annealed = targets[0], None
        width = int(np.ceil(12 * first.k * np.log(n)))
        said = [named_after_step(forces(t), t.k, width, generator) for t in targets]
        named = Rate.of([a == t.subset for a, t in zip(said, targets, strict=True)])
        if anneal:
            annealed = Rate(_heads_on(Annealed(steps=anneal), targets, trial.seed).named, runs)
        pulled, steps = (
            bool(min(pulls(first).values()) > 0),
            _steps_of_net(targets, net, trial.seed),
        )
        rows.append(FunctionRow(name, facts_of(first), pulled, named, steps, annealed))
    return Contest(rows)


def _steps_of_net(targets: Sequence[Junta], steps: int, seed: int) -> np.ndarray:
    """Steps until each net is right, to the next 20."""
    if not targets[0].is_boolean:
        return np.full(len(targets), np.nan)
    way = learn(HingeNet(64, steps=steps), Fresh(targets, 32), key=seed, trace=20).trace
    right = way["accuracy"] >= RIGHT
    return np.where(right.any(axis=1), way["step"][right.argmax(axis=1)], np.inf)


@functions.planted("a step the other way", turns="refuted")
def _other_way(trial: Trial) -> Contest:
    few = {**functions.quick, "names": OF_THREE[:2], "net": 20}
    return functions.measure(trial, **few, forces=lambda t: -set_forces(t))


class Race(NamedTuple):
    """Two functions of equally many bits; sooner: runs in which the one of lower leap is learnt
    first."""

    lower: FunctionRow
    higher: FunctionRow
    sooner: Rate


def races(table: Contest) -> list[Race]:
    """All pairs of different leap that the net ran."""
    ran = [row for row in table.rows if not np.isnan(row.steps).any()]
    return [
        Race(a, b, Rate.of(a.steps < b.steps))
        for a in ran
        for b in ran
        if a.facts.k == b.facts.k and a.facts.leap < b.facts.leap
    ]


@functions.judge
def _functions(t: Contest) -> Judged:
    pulled, other = [r for r in t.rows if r.pulled], [r for r in t.rows if not r.pulled]
    seen = (
        f"One step names the bits in {pooled(r.named for r in pulled)} runs on the {len(pulled)} "
        f"functions whose visible sets pull all of them and in {pooled(r.named for r in other)} on "
        f"the other {len(other)}"
    )
    wrong = [r for r in t.rows if (r.named.high < 0.5 if r.pulled else r.named.low > 0.5)]
    if wrong:
        instead = f"The pull of the visible sets does not tell the outcome for {wrong[0]}."
        return refuted(f"{seen}.", instead=instead)
    ran = races(t)
    turned = [race for race in ran if race.sooner.high < 0.5]
    if turned:
        return refuted(
            f"{seen}; the net learns {turned[0].higher} before {turned[0].lower}.",
            instead="Leap does not order what the net learns either.",
        )
    edges = [r.named.low - 0.5 if r.pulled else 0.5 - r.named.high for r in t.rows]
    edges += [race.sooner.low - 0.5 for race in ran]
    against = inversions(t.rows, lambda r: -r.facts.leap, lambda r: r.named)
    if min(edges) <= 0 or not against or not ran:
        return undecided(
            f"{seen}; {len(against)} pairs contradict the leap, {len(ran)} races of nets."
        )
    less, more = max(against, key=lambda pair: pair[1].named.low - pair[0].named.high)
    text = (
        f"{seen}: {less} (leap {less.facts.leap}) in {less.named}, {more} (leap "
        f"{more.facts.leap}) in {more.named}. In {len(ran)} of {len(ran)} pairs of equally many "
        "bits the ReLU net learns the function of lower leap first."
    )
    return holds(text, margin=min(*edges, more.named.low - less.named.high))


@functions.figure
def _functions_figure(t: Contest) -> dict[str, Any]:
    columns = {"one step": [r.named.value for r in t.rows]}
    annealed = [r.annealed.value for r in t.rows if r.annealed]
    if annealed:
        columns["annealed heads"] = annealed
    right = [np.nan if np.isnan(r.steps).any() else np.isfinite(r.steps).mean() for r in t.rows]
    columns["ReLU net"] = right
    names = [f"{r} · {r.facts.leap}" for r in t.rows]
    values = np.stack(list(columns.values()), axis=1)
    return in_tab(
        heat(values, list(columns), names, "heads: names B; net: right within its steps"),
        "functions",
    )


def heat(values: np.ndarray, learners: Sequence[str], names: Sequence[str], what: str) -> Heatmap:
    """Functions × learners as colours; learners are numbered, for their names are long."""
    numbered = [f"{number} {name}" for number, name in enumerate(learners, start=1)]
    return Heatmap(
        values,
        x="learner, see below",
        y="function · leap",
        colour="share of runs",
        x_names=[str(number) for number in range(1, len(learners) + 1)],
        y_names=names,
        caption=f"Share of runs that find a function ({what}). Learners: {', '.join(numbered)}. "
        "White: not defined.",
    )

"""Heads frozen at random and a trained net on top: the risk against n."""

from collections.abc import Sequence

from paritylab.claims import (
    HG1,
    Judged,
    Line,
    Lines,
    Mark,
    Trial,
    claim,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning import AllInputs, learn
from paritylab.learning.hardness.frozen import FrozenAttention
from paritylab.problem import random_parities
from paritylab.statistics import Mean

#: A risk above this is near chance, which is 1.
NEAR_CHANCE = 0.9
HIDDEN_BITS = 3


@record()
class Cell:
    """Nets trained on the mean output of k frozen random heads, on random sets of k bits of n."""

    n: int
    risk: Mean = shown("mean risk after training", predicted="close to 1")
    least: float = shown("smallest risk of a run")

    def __str__(self) -> str:
        return f"n = {self.n}"


@record()
class Frozen:
    """One cell per n, ascending."""

    cells: list[Cell]


@claim(
    "hg1-frozen-risk",
    source=HG1("Remark 12, as an experiment"),
    title="Frozen heads leave a trained net at chance",
    statement="With heads that stay at random directions a trained FFNN-1 does no better than "
    "chance, risk 1, once n is large.",
    quick={"sizes": (6, 12), "runs": 10, "steps": 300},
    full={"sizes": (6, 8, 10, 12, 14), "runs": 40, "steps": 3000},
    settings={"k": HIDDEN_BITS, "heads": HIDDEN_BITS, "width": 32, "tau": 0.3, "adam": 0.02},
    seconds=(6, 20, 900),
)
def frozen_risk(
    trial: Trial, sizes: Sequence[int] = (6, 8, 10, 12), runs: int = 12, steps: int = 600
) -> Frozen:
    cells = []
    for n in trial.track(sizes):
        data = AllInputs(random_parities(n, HIDDEN_BITS, runs, key=trial.seed))
        done = learn(FrozenAttention(heads=HIDDEN_BITS, steps=steps), data, key=trial.seed)
        cells.append(Cell(n, Mean.of(done.risk), float(done.risk.min())))
    return Frozen(cells)


@frozen_risk.judge
def _frozen_risk(f: Frozen) -> Judged:
    first, last = f.cells[0].risk, f.cells[-1].risk
    listed = "; ".join(f"{cell.risk} runs at {cell}" for cell in f.cells)
    seen = f"Mean risk with k = {HIDDEN_BITS} frozen heads, a net trained on top: {listed}."
    if last.high < NEAR_CHANCE:
        instead = f"The risk at {f.cells[-1]} is {last}."
        return refuted(seen, instead=instead, margin=NEAR_CHANCE - last.high, interval=last)
    if last.low > NEAR_CHANCE and last.value > first.value:
        return holds(seen, margin=last.low - NEAR_CHANCE, interval=last)
    return undecided(f"{seen} Too uncertain, or not rising with n.", interval=last)


@frozen_risk.planted("as few bits as frozen heads, which then tell them apart", turns="refuted")
def _few_bits(trial: Trial) -> Frozen:
    return frozen_risk.measure(trial, (3,), 10, 300)


@frozen_risk.figure
def _frozen_figure(f: Frozen) -> Lines:
    n, risks = [cell.n for cell in f.cells], [cell.risk for cell in f.cells]
    low, high = [risk.low for risk in risks], [risk.high for risk in risks]
    return Lines(
        [Line("frozen heads, trained net", n, [risk.value for risk in risks], low, high)],
        x="n",
        y="mean risk after training",
        marks=[Mark(1, "chance")],
        caption="What is left of the risk when only the net on top is trained, 95 % intervals.",
    )

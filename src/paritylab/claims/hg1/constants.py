"""The numbers in Theorem 5's proof: its step, its factor μ, and one stopping time for every set."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from paritylab.claims import (
    HG1,
    Bars,
    Judged,
    Trial,
    claim,
    corrected,
    derived,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.claims.hg1.gradient_flow import ExactRisks, flow, least_decrease
from paritylab.statistics import Rate
from paritylab.theory import hg1

#: n, k, tau, b. Softer attention and a smoother readout serve more starts; tau ≤ 1 by assumption,
#: and b = 0.1 leaves hard heads on B a risk just below ε.
Setting = tuple[int, int, float, float]
QUICK: list[Setting] = [
    (6, 1, 1.0, 0.1),
    (6, 2, 1 / 6, 0.01),
    (6, 2, 1.0, 0.1),
    (6, 3, 1.0, 0.1),
]
DEFAULT: list[Setting] = [
    *QUICK,
    (8, 1, 1.0, 0.1),
    (8, 2, 1.0, 0.1),
    (8, 3, 1.0, 0.1),
]
FULL: list[Setting] = [
    *DEFAULT,
    (6, 3, 1 / 6, 0.01),
    (8, 1, 1 / 8, 0.01),
    (8, 2, 1 / 8, 0.01),
    (8, 2, 1.0, 0.01),
    (8, 2, 0.3, 0.1),
    (8, 3, 1.0, 0.01),
    (8, 3, 0.6, 0.1),
    (10, 2, 1.0, 0.1),
]
#: ε, and how many times the stopping time a run is followed.
TARGET, PATIENCE = 0.1, 1e3
#: Smoothings of the readout that the proof's step is tried with; the paper has b > 0, no more.
SMOOTHINGS = (0.1, 1e2, 1e4, 1e6, 1e8, 1e10)
#: n and k of these tries, and starts of each.
SIZES, STARTS = ((2, 1), (6, 1), (6, 2), (6, 3)), 6
#: Steps that are tried, over the proof's.
LONGER = 10.0 ** np.arange(9)
#: Most and hardly any of the starts.
MOST, FEW = 0.75, 0.25


@record()
class Cell:
    """Theorem 5 with its own constants at one setting, every set B from each of the same starts.

    step: η. mu: μ for the largest c₂ that Appendix A allows at every start. steps: the stopping
    time for the largest risk at a start, one for all starts and B. descent: least decrease in one
    step over (η/2)‖∇L‖², at η and at 10, 100, … times as much. in_time, ever: starts from which the
    risk is below ε for every B at the stopping time, and at PATIENCE times it. served: share of the
    B below ε then, mean and most over starts. risk: largest risk then.
    """

    n: int
    k: int
    tau: float
    b: float
    step: float
    mu: float
    steps: float = shown("stopping time")
    descent: np.ndarray
    in_time: Rate = shown("starts below ε for every B at the stopping time", predicted="all")
    ever: Rate = shown(f"the same at {PATIENCE:.0e} times it", counts=False)
    needed: float = shown("longest time to ε ÷ stopping time, of runs that get there")
    served: tuple[float, float] = shown("share of the sets served then, mean and most")
    risk: float
    ratio: float = shown("least ½‖∇L‖²/(μL) then where the risk is above ε; 1 if nowhere")

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}, tau = {self.tau:.2g}, b = {self.b:g}"

    @derived("least decrease ÷ (η/2)‖∇L‖²", predicted="≥ 1")
    def decrease(self) -> float:
        return float(self.descent[0])

    @derived("longest step with that decrease ÷ η")
    def longest(self) -> float:
        return float(np.max(LONGER * np.cumprod(self.descent >= 1)))


@record()
class Smoothed:
    """One step of η at tau = 1 from random starts, for every B of size k and growing smoothing."""

    n: int
    k: int
    b: Sequence[float]
    least: np.ndarray = shown("least decrease ÷ (η/2)‖∇L‖² by smoothing b", by="b", predicted="≥ 1")

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}"

    @property
    def kept(self) -> float:
        """The largest b up to which every decrease was at least (η/2)‖∇L‖²; 0 if none."""
        return float(np.max(np.array(self.b) * np.cumprod(self.least >= 1)))


@record(evidence="numerical")
class Proof:
    """Theorem 5's proof with its own constants, setting by setting; smoothed: its step alone."""

    cells: list[Cell]
    smoothed: list[Smoothed]


@claim(
    "hg1-constants",
    source=HG1("Theorem 5, proof; Definition 2"),
    title="Theorem 5 with its own step, μ and stopping time",
    statement="With η = 1/max{2l₁C, 2(l₂+B)} a step lowers the risk by at least (η/2)‖∇L‖² ≥ ημL, "
    "μ = min{64μ₁, μ₂}/2^(n+1), so that after t = ln(L₀/ε)/-ln(1 - ημ) steps the risk is below ε, "
    "with one t for every B of size k.",
    quick={"settings": QUICK},
    full={"settings": FULL, "starts": 40},
    settings={
        "ε": TARGET,
        "path": "gradient flow for time ηt",
        "B": "all of size k",
        "loss": "squared_hinge",
    },
    seconds=(1, 10, 200),
)
def constants(trial: Trial, settings: Sequence[Setting] = DEFAULT, starts: int = 14) -> Proof:
    cells = [
        _cell(np.random.default_rng((trial.seed, number)), setting, starts)
        for number, setting in enumerate(trial.track(settings))
    ]
    return Proof(cells, [_smoothed(trial.seed, *size) for size in SIZES])


def _starts(generator: np.random.Generator, k: int, starts: int) -> np.ndarray:
    """Unit heads at random angles (starts, k, 2)."""
    angles = generator.uniform(0, 2 * np.pi, (starts, k))
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def _smoothed(seed: int, n: int, k: int) -> Smoothed:
    sets, least = np.array(list(combinations(range(n), k))), []
    unit = _starts(np.random.default_rng((seed, n, k)), k, STARTS)
    for b in SMOOTHINGS:
        risks = ExactRisks(n, np.tile(sets, (STARTS, 1)), 1.0, b)
        step = np.array([hg1.step_size(k, 1.0, b)])
        least.append(float(least_decrease(risks, np.repeat(unit, len(sets), axis=0), step)[0]))
    return Smoothed(n, k, SMOOTHINGS, np.array(least))


def _cell(generator: np.random.Generator, setting: Setting, starts: int) -> Cell:
    n, k, tau, b = setting
    unit = _starts(generator, k, starts)
    sets = np.array(list(combinations(range(n), k)))
    heads = np.repeat(unit, len(sets), axis=0)  # every start with every set
    risks = ExactRisks(n, np.tile(sets, (starts, 1)), tau, b)
    step = hg1.step_size(k, tau, b)
    near = (hg1.smallest_near_attention(each, tau) for each in risks.attention(unit))
    mu = hg1.descent_factor(n, k, min(near))
    steps = hg1.stopping_time(float(risks(heads).risk.max()), TARGET, step, mu)
    ends = flow(risks, heads, PATIENCE * step * steps, target=TARGET)
    above = np.isinf(ends.time)
    ratios = ends.squared_slope[above] / (2 * mu * ends.risk[above])
    last = ends.time.reshape(starts, len(sets)).max(axis=1)
    shares = np.mean(~above.reshape(starts, len(sets)), axis=1)
    return Cell(
        *setting,
        step=step,
        mu=mu,
        steps=steps,
        descent=least_decrease(risks, heads, step * LONGER),
        in_time=Rate.of(last <= step * steps),
        ever=Rate.of(np.isfinite(last)),
        needed=float(np.max(ends.time[~above], initial=0.0)) / (step * steps),
        served=(float(shares.mean()), float(shares.max())),
        risk=float(ends.risk.max()),
        ratio=float(ratios.min(initial=1.0)),
    )


@constants.judge
def _constants(proof: Proof) -> Judged:
    cells = proof.cells
    best, descent = _best(cells), min(c.decrease for c in cells)
    failing = [c for c in best if c.ever.high < FEW]
    if descent < 1:
        steepest = min(cells, key=lambda c: c.decrease)
        return refuted(
            f"At {steepest} a step of η = {steepest.step:.0e} lowers the risk by only "
            f"{descent:.2f} times (η/2)‖∇L‖².",
            instead=f"A step of η lowers the risk by at least {descent:.2f} times (η/2)‖∇L‖².",
            margin=1 - descent,
        )
    steep = [c for c in proof.smoothed if c.kept < max(c.b)]
    bounded = _bounded(proof.smoothed)
    lowers = f"a step of η lowers the risk by at least {descent:.2f} times (η/2)‖∇L‖²"
    if failing:
        worst = max(failing, key=lambda c: (c.ever.high, c.served))
        return refuted(
            f"{_late(failing)} At the last η = {failing[-1].step:.0e}, μ = {failing[-1].mu:.0e}; "
            f"the largest risk is {failing[-1].risk:.2f}, with ½‖∇L‖² down to "
            f"{failing[-1].ratio:.0e} of μL.",
            instead=f"The first inequality stands with {bounded}: {lowers}{_room(cells)}."
            f"{_served(best)}",
            margin=FEW - worst.ever.high,
            interval=worst.ever,
            counterexample=True,
        )
    weakest = min(best, key=lambda c: c.in_time.low)
    if weakest.in_time.low > MOST:
        margin = min(weakest.in_time.low - MOST, descent - 1)
        text = f"A{lowers[1:]}{_room(cells)}.{_served(best)}"
        if steep:
            instead = f"The same with {bounded}."
            return corrected(text, instead=instead, margin=margin, interval=weakest.in_time)
        return holds(text, margin=margin, interval=weakest.in_time)
    patient = min(c.ever.low for c in best)
    if patient > MOST:
        text = f"At the stopping time {weakest.in_time} of the starts at {weakest} serve every B."
        instead = f"A time {PATIENCE:.0e} times as long does: {_late(best)}"
        return corrected(text, instead=instead, margin=patient - MOST)
    return undecided(f"{_late(best)} No share is clear of {FEW} and {MOST}.")


def _bounded(smoothed: Sequence[Smoothed]) -> str:
    """Up to which smoothing the step keeps its decrease, in words."""
    steep = [c for c in smoothed if c.kept < max(c.b)]
    if not steep:
        return f"every b up to {max(SMOOTHINGS):.0e}"
    listed = ", ".join(f"{c.kept:.0e} at {c}" for c in steep)
    worst = min(steep, key=lambda c: c.least.min())
    return (
        f"b up to {listed} (at {worst}, b = {worst.b[int(worst.least.argmin())]:.0e} a step lowers "
        f"the risk by {worst.least.min():.2f} times (η/2)‖∇L‖²; every b up to "
        f"{max(SMOOTHINGS):.0e} at the other sizes)"
    )


def _best(cells: Sequence[Cell]) -> list[Cell]:
    """The most favourable setting at each size."""
    sizes = dict.fromkeys((c.n, c.k) for c in cells)
    return [
        max(
            (c for c in cells if (c.n, c.k) == size),
            key=lambda c: (c.ever.value, c.in_time.value, c.served),
        )
        for size in sizes
    ]


def _late(cells: Sequence[Cell]) -> str:
    listed = "; ".join(
        f"{c.ever} of the starts at {c} (t = {c.steps:.0e} steps; a start serves "
        f"{c.served[0]:.3g} of the sets on average, at most {c.served[1]:.3g})"
        for c in cells
    )
    return f"Below {TARGET:g} for every B at {PATIENCE:.0e} times the stopping time t: {listed}."


def _served(cells: Sequence[Cell]) -> str:
    """Where the stopping time serves most starts."""
    good = [c for c in cells if c.in_time.low > MOST]
    listed = "; ".join(f"{c.in_time} of the starts at {c}" for c in good)
    return f" Below {TARGET:g} for every B at the stopping time: {listed}." if good else ""


def _room(cells: Sequence[Cell]) -> str:
    least = min(c.longest for c in cells)
    return f" (one {least:.0e} times as long still by its (η/2)‖∇L‖²)" if least > 1 else ""


@constants.figure
def _constants_figure(proof: Proof) -> Bars:
    return Bars.of_rates(
        {str(c): c.ever for c in proof.cells},
        y="starts below ε for every B",
        caption=f"Share of random starts from which the risk is below {TARGET:g} for every B of "
        f"size k by {PATIENCE:.0e} times the common stopping time, with 95 % intervals.",
    )


@constants.planted("one hidden bit, which a soft head finds from every start", turns="corrected")
def _constants_one_bit(trial: Trial) -> Proof:
    return constants.measure(trial, settings=[(6, 1, 1.0, 0.1)], starts=20)

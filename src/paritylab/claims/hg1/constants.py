"""The numbers in Theorem 5's proof: its step, its factor μ, and one stopping time for every set."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims import HG1, Comparison, Line, Lines, Mark, Trial, claim
from paritylab.claims.engine.rule import at_least, finding, instead, note, repair
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
#: Most of the starts.
MOST = 0.75


@claim(
    "hg1-constants",
    HG1("Theorem 5, proof; Definition 2"),
    counted_with="hg1-thm5",
    quick={"settings": QUICK},
    full={"settings": FULL, "starts": 40},
    evidence="numerical",
    planted=(
        "one hidden bit, which a soft head finds from every start",
        {"settings": [(6, 1, 1.0, 0.1)], "starts": 20},
        "corrected",
    ),
)
def constants(
    trial: Trial, settings: Sequence[Setting] = DEFAULT, starts: int = 14
) -> Iterator[Any]:
    """Theorem 5 with its own step, μ and stopping time: masked heads, n = 6 and 8, ε = 0.1.

    With η = 1/max{2l₁C, 2(l₂+B)} a step lowers the risk by at least (η/2)‖∇L‖² ≥ ημL, μ =
    min{64μ₁, μ₂}/2^(n+1), for every smoothing b > 0, so that after t = ln(L₀/ε)/-ln(1 - ημ) steps
    the risk is below ε, with one t for every B of size k. Tried with ε = 0.1 from random unit
    heads, each with all B of size k; gradient flow for the time ηt stands for t short steps, which
    are too many to take. The best temperature and smoothing tried count at each n and k, and a
    start is served if its risk is below ε for every B.
    """
    cells = [
        _cell(np.random.default_rng((trial.seed, number)), setting, starts)
        for number, setting in enumerate(trial.track(settings))
    ]
    steep = {size: _least_decreases(trial.seed, *size) for size in SIZES}
    label = "least decrease in a step ÷ (η/2)‖∇L‖²"
    small = min(*(cell.decrease for cell in cells), *(least[0] for least in steep.values()))
    large = min(float(least.min()) for least in steep.values())
    yield at_least(f"{label}, b up to {max(SMOOTHINGS):.0e}", min(small, large), 1)
    yield repair(at_least(f"{label}, b up to 0.1", small, 1))
    yield note("longest step with that decrease ÷ η, b up to 0.1", min(c.longest for c in cells))

    best = _best(cells)
    yield from _served(cells, best)
    worst = min(best, key=lambda cell: (cell.ever.value, -cell.n))
    yield finding(
        f"At n = {worst.n}, k = {worst.k} {worst.ever.count} starts are below {TARGET:g} for every "
        f"B, even at {PATIENCE:g} times the stopping time of {worst.steps:.0e} steps.",
        "refuted",
    )
    served = "; ".join(f"{c.in_time.count} starts at {c}" for c in best if c.in_time.low > MOST)
    yield instead(
        f"For b up to 0.1 a step of η lowers the risk by at least {small:.2f} times (η/2)‖∇L‖²."
        + (f" Below {TARGET:g} for every B at the stopping time: {served}." if served else "")
    )
    yield Lines(
        [Line(f"n = {n}, k = {k}", SMOOTHINGS, least) for (n, k), least in steep.items()],
        x="smoothing b",
        y="least decrease ÷ (η/2)‖∇L‖²",
        log="x",
        marks=[Mark(1, "claimed least")],
        caption="One step of the proof's η at tau = 1 from random starts, every B of size k.",
    )


class _Cell(NamedTuple):
    """Theorem 5 with its own constants at one setting, every set B from each of the same starts.

    steps: the stopping time for the largest risk at a start, one for all starts and B. descent:
    least decrease in one step over (η/2)‖∇L‖², at η and at 10, 100, … times as much. in_time, ever:
    starts from which the risk is below ε for every B at the stopping time, and at PATIENCE times
    it. needed: longest time to ε over the stopping time. served: share of the B below ε then, mean
    and most over starts. ratio: least ½‖∇L‖²/(μL) then where the risk is above ε; 1 if nowhere.
    """

    n: int
    k: int
    tau: float
    b: float
    steps: float
    descent: np.ndarray
    in_time: Rate
    ever: Rate
    needed: float
    served: tuple[float, float]
    ratio: float

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}, tau = {self.tau:.2g}, b = {self.b:g}"

    @property
    def decrease(self) -> float:
        return float(self.descent[0])

    @property
    def longest(self) -> float:
        """The longest step that still lowers the risk by its (η/2)‖∇L‖², over the proof's."""
        return float(np.max(LONGER * np.cumprod(self.descent >= 1)))


def _served(cells: Sequence[_Cell], best: Sequence[_Cell]) -> Iterator[Comparison]:
    """Starts served at every setting; the best setting of each size is judged."""
    for cell in cells:
        label = f"starts served at the stopping time, {cell}"
        later = f"starts served at {PATIENCE:g} times it, {cell}"
        if any(cell is each for each in best):  # == would compare arrays
            yield at_least(label, cell.in_time, MOST)
            yield repair(at_least(later, cell.ever, MOST))
        else:
            yield note(label, cell.in_time)
            yield note(later, cell.ever)
        yield note(f"stopping time in steps, {cell}", cell.steps)
        yield note(f"share of the sets served, mean over starts, {cell}", cell.served[0])
        yield note(f"share of the sets served, most of any start, {cell}", cell.served[1])
    needed = max(cell.needed for cell in cells)
    yield note("longest time to ε ÷ stopping time, of runs that get there", needed)
    yield note("least ½‖∇L‖²/(μL) where a run stays above ε", min(c.ratio for c in cells))


def _starts(generator: np.random.Generator, k: int, starts: int) -> np.ndarray:
    """Unit heads at random angles (starts, k, 2)."""
    angles = generator.uniform(0, 2 * np.pi, (starts, k))
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def _least_decreases(seed: int, n: int, k: int) -> np.ndarray:
    """Least decrease ÷ (η/2)‖∇L‖² in one step at tau = 1 over all B, for growing smoothing b."""
    sets = np.array(list(combinations(range(n), k)))
    unit = _starts(np.random.default_rng((seed, n, k)), k, STARTS)
    found = []
    for b in SMOOTHINGS:
        risks = ExactRisks(n, np.tile(sets, (STARTS, 1)), 1.0, b)
        step = np.array([hg1.step_size(k, 1.0, b)])
        found.append(float(least_decrease(risks, np.repeat(unit, len(sets), axis=0), step)[0]))
    return np.array(found)


def _cell(generator: np.random.Generator, setting: Setting, starts: int) -> _Cell:
    n, k, tau, b = setting
    unit = _starts(generator, k, starts)
    sets = np.array(list(combinations(range(n), k)))
    heads = np.repeat(unit, len(sets), axis=0)  # every start with every set
    risks = ExactRisks(n, np.tile(sets, (starts, 1)), tau, b)
    step = hg1.step_size(k, tau, b)
    # μ for the largest c₂ that Appendix A allows at every start
    near = (hg1.smallest_near_attention(each, tau) for each in risks.attention(unit))
    mu = hg1.descent_factor(n, k, min(near))
    steps = hg1.stopping_time(float(risks(heads).risk.max()), TARGET, step, mu)
    ends = flow(risks, heads, PATIENCE * step * steps, target=TARGET)
    above = np.isinf(ends.time)
    ratios = ends.squared_slope[above] / (2 * mu * ends.risk[above])
    last = ends.time.reshape(starts, len(sets)).max(axis=1)
    shares = np.mean(~above.reshape(starts, len(sets)), axis=1)
    return _Cell(
        *setting,
        steps=steps,
        descent=least_decrease(risks, heads, step * LONGER),
        in_time=Rate.of(last <= step * steps),
        ever=Rate.of(np.isfinite(last)),
        needed=float(np.max(ends.time[~above], initial=0.0)) / (step * steps),
        served=(float(shares.mean()), float(shares.max())),
        ratio=float(ratios.min(initial=1.0)),
    )


def _best(cells: Sequence[_Cell]) -> list[_Cell]:
    """The most favourable setting at each size."""
    sizes = dict.fromkeys((c.n, c.k) for c in cells)
    return [
        max(
            (c for c in cells if (c.n, c.k) == size),
            key=lambda c: (c.ever.value, c.in_time.value, c.served),
        )
        for size in sizes
    ]

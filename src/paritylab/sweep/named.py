"""Sweeps that come with the lab, by name; the effort sets their size, a layout their picture."""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from paritylab.options import check_known
from paritylab.sweep.cells import Values
from paritylab.sweep.grid import Grid
from paritylab.theory.hg2 import rows_to_rank
from paritylab.theory.ks import samples_for_every_pair

EFFORTS = ("quick", "default", "full")
_T = TypeVar("_T")


class TheoryLine(NamedTuple):
    """What theory says of a phase diagram: the value of y at the values of a column."""

    label: str
    at: Callable[[Values], float]


class Layout(NamedTuple):
    """How cells become a picture: a heat map of x against y, or curves over x where y is "".

    panel: entries whose values have a picture each. curve: the entry with a curve for each value,
    where there is no y. log: axes of the curves that are logarithmic. words: axes for people.
    """

    x: str
    y: str = ""
    panel: tuple[str, ...] = ()
    curve: str = ""
    log: str = ""
    lines: tuple[TheoryLine, ...] = ()


class NamedSweep(NamedTuple):
    """title: what is asked. shows: one sentence for the figure. grids: by effort."""

    title: str
    shows: str
    grids: Callable[[str], list[Grid]]
    layout: Layout


def _pick(effort: str, **sizes: _T) -> _T:
    return sizes[effort]


def _temperature(effort: str) -> list[Grid]:
    n, tau = _pick(
        effort,
        quick=([8, 12, 16], [0.01, 0.03, 0.1, 0.3, 1.0, 4.0]),
        default=([8, 12, 16], [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]),
        full=([8, 12, 16, 20, 32], [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]),
    )
    runs, steps = _pick(effort, quick=(20, 300), default=(40, 1000), full=(60, 1000))
    settings = {"preset": "code", "tau": tau, "steps": steps}
    return [Grid("heads", {"n": n, "k": 2}, settings, runs=runs, block=20)]


def _heads(effort: str) -> list[Grid]:
    n, most, k = _pick(
        effort, quick=(10, 4, [1, 2, 3]), default=(12, 8, [1, 2, 3]), full=(16, 16, [1, 2, 3, 4])
    )
    heads = [m for m in (1, 2, 3, 4, 6, 8, 12, 16) if m <= most]
    runs, steps = _pick(effort, quick=(20, 300), default=(40, 1000), full=(100, 1000))
    settings = {"preset": "code", "heads": heads, "steps": steps}
    return [Grid("heads", {"n": n, "k": k}, settings, runs=runs, block=20)]


def _scaling(effort: str) -> list[Grid]:
    n, k = _pick(
        effort,
        quick=([2, 8, 12], [1, 2, 3]),
        default=([2, 6, 10, 14], [1, 2, 3]),
        full=([3, 6, 10, 14, 18], [1, 2, 3, 4, 5]),
    )
    runs, steps = _pick(effort, quick=(20, 300), default=(40, 1000), full=(60, 1000))
    problem, shape = {"n": n, "k": k}, {"runs": runs, "block": 20}
    heads = [
        Grid("heads", problem, {"preset": preset, "steps": steps}, **shape)
        for preset in ("paper", "code")
    ]
    return [*heads, Grid("anneal", problem, {}, **shape), Grid("one-step", problem, {}, **shape)]


def _presets(effort: str) -> list[Grid]:
    sizes = _pick(
        effort,
        quick=[(8, 2)],
        default=[(12, 2), (16, 3)],
        full=[(12, 2), (16, 3), (20, 3), (50, 5), (100, 3)],
    )
    problems, shape = [{"n": n, "k": k} for n, k in sizes], _pick_shape(effort)
    return [Grid("heads", problems, {"preset": ["paper", "code"]}, **shape)]


def _anneal(effort: str) -> list[Grid]:
    sizes = _pick(
        effort,
        quick=[(12, 3)],
        default=[(20, 3), (50, 5)],
        full=[(12, 2), (16, 3), (20, 3), (50, 5), (100, 3), (100, 8)],
    )
    return [Grid("anneal", [{"n": n, "k": k} for n, k in sizes], {}, **_pick_shape(effort))]


def _pick_shape(effort: str) -> dict[str, int]:
    return {"runs": _pick(effort, quick=40, default=200, full=400), "block": 40}


def _xor(effort: str) -> list[Grid]:
    n = _pick(effort, quick=[64], default=[64, 256], full=[64, 256, 1024, 4096])
    runs = _pick(effort, quick=100, default=200, full=1000)
    settings = {"width": [30, 60, 90], "positions": ["signs", "balanced"]}
    return [Grid("xor", {"n": n}, settings, runs=runs, block=100)]


def _xor_samples(effort: str) -> list[Grid]:
    n, powers = _pick(
        effort,
        quick=([16, 32], range(6, 13, 2)),
        default=([16, 32, 64, 128], range(5, 14, 2)),
        full=([16, 32, 64, 128, 256], range(5, 17)),
    )
    runs = _pick(effort, quick=40, default=100, full=400)
    problem = {"n": n, "samples": [2**power for power in powers]}
    return [Grid("xor", problem, {"positions": "onehot"}, runs=runs, block=min(runs, 100))]


def _chain_samples(effort: str) -> list[Grid]:
    n, powers = _pick(
        effort,
        quick=([8, 16, 32], range(6, 12)),
        default=([8, 16, 32, 64], range(6, 15)),
        full=([8, 16, 32, 64, 128], range(6, 16)),
    )
    runs = _pick(effort, quick=20, default=50, full=200)
    samples = [2**power for power in powers]
    problems = [{"n": bits, "k": bits // 2, "samples": samples} for bits in n]
    return [Grid("teacher", problems, {}, runs=runs, block=min(runs, 50))]


def _noise(effort: str) -> list[Grid]:
    n, noise, powers = _pick(
        effort,
        quick=(24, [0.0, 0.1, 0.3], range(4, 13, 4)),
        default=(32, [0.0, 0.05, 0.1, 0.2, 0.3, 0.4], range(4, 15, 2)),
        full=(32, [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4], range(4, 16)),
    )
    runs, budget = _pick(effort, quick=(10, 0.1), default=(20, 0.5), full=(40, 0.5))
    rows = {"noise": noise, "samples": [2**power for power in powers]}
    shape = {"runs": runs, "block": min(runs, 20)}
    solvers = [
        Grid(name, {"n": n, "k": 2, **rows}, {"budget": budget}, **shape)
        for name in ("elimination", "correlation")
    ]
    return [*solvers, Grid("xor", {"n": n, **rows}, {"positions": "onehot"}, **shape)]


def _juntas(effort: str) -> list[Grid]:
    n = _pick(effort, quick=[8, 12], default=[8, 12, 16], full=[8, 12, 16, 20, 24])
    runs = _pick(effort, quick=20, default=40, full=60)
    targets = ["parity", "majority", "conjunction", "not-all-equal"]
    problem, shape = {"n": n, "k": 3, "target": targets}, {"runs": runs, "block": 20}
    heads = Grid("heads", problem, {"preset": "code", "steps": 600}, **shape)
    return [Grid("anneal", problem, {}, **shape), heads]


def rows_by_information(values: Values) -> float:
    """Rows without which nobody can name the set: log2 C(n, k) bits at 1 - H(noise) bits a row.

    >>> round(rows_by_information({"n": 20, "k": 3, "noise": 0.0}), 1)
    10.2
    """
    p = values["noise"]
    entropy = 0.0 if p in (0, 1) else -p * math.log2(p) - (1 - p) * math.log2(1 - p)
    sets = math.comb(values["n"], values.get("k", 2))
    return math.log2(sets) / (1 - entropy)


NAMED: dict[str, NamedSweep] = {
    "temperature": NamedSweep(
        "Which temperatures train",
        "Share of runs that find a pair among n bits, by temperature, with the paper's 1/n and the "
        "public code's n/4.",
        _temperature,
        Layout(
            "n",
            "tau",
            log="y",
            lines=(
                TheoryLine("tau = 1/n (paper)", lambda values: 1 / values["n"]),
                TheoryLine("tau = n/4 (code)", lambda values: values["n"] / 4),
            ),
        ),
    ),
    "heads": NamedSweep(
        "How many heads a set of size k needs",
        "Share of runs whose heads end on exactly the hidden set, by its size and the number of "
        "heads; below the line there are fewer heads than hidden bits.",
        _heads,
        Layout("k", "heads", lines=(TheoryLine("heads = k", lambda values: values["k"]),)),
    ),
    "scaling": NamedSweep(
        "How far each way of training reaches",
        "Share of runs that find the hidden set, by n and k, for the paper's descent, its public "
        "code, annealed heads and one step on random positions.",
        _scaling,
        Layout("n", "k", panel=("learner", "preset")),
    ),
    "presets": NamedSweep(
        "The paper's procedure and its public code from a single start",
        "Share of runs that find the hidden set, by n.",
        _presets,
        Layout("n", panel=("preset",), curve="k"),
    ),
    "anneal": NamedSweep(
        "Annealed heads from a single start",
        "Share of runs that find the hidden set, by n.",
        _anneal,
        Layout("n", curve="k"),
    ),
    "xor": NamedSweep(
        "Width of random positions for one XOR step",
        "Share of first steps that rank the pair on top, by the dimension of the position code.",
        _xor,
        Layout("width", panel=("n",), curve="positions"),
    ),
    "xor-samples": NamedSweep(
        "Rows for one XOR step",
        "Share of first steps on one-hot positions that rank the pair on top, by n and the number "
        "of rows, with the rows theory asks for at one half.",
        _xor_samples,
        Layout(
            "n",
            "samples",
            log="y",
            lines=(TheoryLine("theory at 50 %", lambda values: rows_to_rank(values["n"])),),
        ),
    ),
    "chain-samples": NamedSweep(
        "Rows for a chain of thought in one step",
        "Share of targets of which one teacher-forced step finds every pair, by n (k = n/2) and "
        "the number of rows, with the rows theory asks for at one half.",
        _chain_samples,
        Layout(
            "n",
            "samples",
            log="y",
            lines=(
                TheoryLine(
                    "theory at 50 %",
                    lambda values: samples_for_every_pair(values["n"], values["k"]),
                ),
            ),
        ),
    ),
    "noise": NamedSweep(
        "Where elimination stops and where attention stops",
        "Share of runs that name a pair from so many noisy rows: elimination, the search over all "
        "pairs (both within a set time a run), one step of two heads; no method can work much "
        "below the line.",
        _noise,
        Layout(
            "noise",
            "samples",
            panel=("learner",),
            log="y",
            lines=(TheoryLine("rows by information", rows_by_information),),
        ),
    ),
    "juntas": NamedSweep(
        "Functions beside parity",
        "Share of runs that find the three hidden bits of a function, by n.",
        _juntas,
        Layout("n", panel=("learner",), curve="target"),
    ),
}


def named_sweep(name: str) -> NamedSweep:
    """A built-in sweep.

    >>> named_sweep("xor").grids("quick")[0].runs
    100
    """
    check_known("sweep (or give a .toml file)", [name], NAMED)
    return NAMED[name]

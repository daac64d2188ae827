"""Sweeps that come with the lab, by name; the effort sets their size."""

from collections.abc import Callable

from paritylab.options import check_known
from paritylab.sweep.grid import Grid


def _heads(effort: str) -> Grid:
    """How often the paper's procedure and its public code find the set B."""
    sizes = {
        "quick": [(8, 2)],
        "default": [(12, 2), (16, 3)],
        "full": [(12, 2), (16, 3), (20, 3), (50, 5), (100, 3)],
    }[effort]
    runs, block = {"quick": (40, 40), "default": (200, 40), "full": (400, 40)}[effort]
    problems = [{"n": n, "k": k} for n, k in sizes]
    return Grid("heads", problems, {"preset": ["paper", "code"]}, runs=runs, block=block)


def _anneal(effort: str) -> Grid:
    """How often annealed heads find the set B from a single start."""
    sizes = {
        "quick": [(12, 3)],
        "default": [(20, 3), (50, 5)],
        "full": [(12, 2), (16, 3), (20, 3), (50, 5), (100, 3), (100, 8)],
    }[effort]
    runs, block = {"quick": (40, 40), "default": (200, 40), "full": (400, 40)}[effort]
    return Grid("anneal", [{"n": n, "k": k} for n, k in sizes], {}, runs=runs, block=block)


def _xor(effort: str) -> Grid:
    """How often one XOR step is right on every input, over n, width and kind of positions."""
    sizes = {"quick": [64], "default": [64, 256], "full": [64, 256, 1024, 4096]}[effort]
    runs = {"quick": 100, "default": 200, "full": 1000}[effort]
    settings = {"width": [30, 60, 90], "positions": ["signs", "balanced"]}
    return Grid("xor", {"n": sizes}, settings, runs=runs, block=100)


NAMED: dict[str, Callable[[str], Grid]] = {"heads": _heads, "anneal": _anneal, "xor": _xor}


def named_grid(name: str, effort: str) -> Grid:
    """The grid of a built-in sweep.

    >>> named_grid("xor", "quick").runs
    100
    """
    check_known("sweep (or give a .toml file)", [name], NAMED)
    return NAMED[name](effort)

"""Sweeps that come with the lab, by name; the effort sets their size."""

from collections.abc import Callable

from paritylab.sweep.grid import Grid


def _start(effort: str) -> Grid:
    """How often random heads start below risk 4, over n and k."""
    sizes = {"quick": [8, 12], "default": [8, 12, 16, 20], "full": [8, 12, 16, 20, 24]}[effort]
    runs = {"quick": 100, "default": 400, "full": 2000}[effort]
    return Grid("start", {"n": sizes, "k": [2, 3]}, {"below": 4.0}, runs=runs, width=100)


def _heads(effort: str) -> Grid:
    """How often the paper's procedure and its public code find the set B."""
    sizes = {
        "quick": [(8, 2)],
        "default": [(12, 2), (16, 3)],
        "full": [(12, 2), (16, 3), (20, 3), (50, 5), (100, 3)],
    }[effort]
    runs, width = {"quick": (40, 40), "default": (200, 40), "full": (400, 40)}[effort]
    problems = [{"n": n, "k": k} for n, k in sizes]
    presets = ["paper", "code", "anneal"]
    return Grid("heads", problems, {"preset": presets}, runs=runs, width=width)


NAMED: dict[str, Callable[[str], Grid]] = {"start": _start, "heads": _heads}


def named_grid(name: str, effort: str) -> Grid:
    """The grid of a built-in sweep.

    >>> named_grid("start", "quick").runs
    100
    """
    if name not in NAMED:
        raise ValueError(f"no sweep {name!r}; give a .toml file or one of: {', '.join(NAMED)}")
    return NAMED[name](effort)

"""docs/architecture.md from the house itself: rooms from their docstrings, walks from a trace."""

import ast
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import paritylab
from paritylab.report import write_report

PACKAGE = Path(paritylab.__file__).parent
#: The laboratory's rooms in the order of their imports: each imports only from rooms before it.
ROOMS = ("_support", "options.py", "statistics", "figures", "problem", "baselines", "models")
ROOMS += ("theory", "risk", "learning", "experiments", "execution", "sweep")
ROOMS += ("proofs", "claims", "report", "cli")
#: Files that every call passes and that explain nothing.
PASSING = ("__init__.py", "padding.py")


def rooms(package: Path) -> list[str]:
    """A line for each room and module of a package: its name and its docstring's first line."""
    found = [
        each
        for each in package.iterdir()
        if (each / "__init__.py").is_file() or (each.suffix == ".py" and each.stem[0] != "_")
    ]
    order = {name: at for at, name in enumerate(ROOMS)}
    found.sort(key=lambda each: (order.get(each.name, len(order)), each.name))
    return [f"  {each.name + '/' * each.is_dir():<14}{first_line(each)}" for each in found]


def first_line(path: Path) -> str:
    file = path / "__init__.py" if path.is_dir() else path
    return (ast.get_docstring(ast.parse(file.read_text())) or "").split("\n")[0]


def walk(call: Callable[[], Any]) -> list[str]:
    """The package's files that a call passes through, in the order in which it enters them."""
    call()  # What is imported or compiled the first time is no part of the walk.
    met: dict[str, None] = {}

    def look(frame: FrameType, event: str, _: Any) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(PACKAGE) and file.name not in PASSING:
            met.setdefault(file.relative_to(PACKAGE).as_posix())

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(before)
    return list(met)


def risk_of_heads() -> Callable[[], Any]:
    """The call alone: problem and heads are made before."""
    problem = paritylab.Parity(1000, (100, 400, 800))
    heads = paritylab.HeadAttention.on(problem, tau=1e-3)
    return partial(paritylab.population_risk, heads, problem)


def teacher_step() -> Callable[[], Any]:
    """The call alone: its trees are made before."""
    data = paritylab.Sample(paritylab.random_trees(16, 8, 2), 4000)
    return lambda: paritylab.learn(paritylab.Chain.theorem5(), data)


def claim_to_page() -> None:
    claim = paritylab.registry()["ks-lemma8"]
    (verdict,) = paritylab.check([claim], effort="quick")
    with tempfile.TemporaryDirectory() as folder:
        write_report([verdict.row], folder)


WALKS = {
    "`population_risk(heads, problem)`, three heads at n = 1000": risk_of_heads(),
    "`learn(Chain.theorem5(), data)`, data a sample of 4,000 rows of two trees": teacher_step(),
    "a claim from its measurement to the page, `check` and `write_report`": claim_to_page,
}


def architecture() -> str:
    """The page, which fits on a screen."""
    lines = [
        "# Architecture",
        "",
        "A package imports only from packages above it, which "
        "`tests/test_house.py` enforces: the library ends with `sweep`, the laboratory begins "
        "with `proofs`, which imports nothing else of paritylab. Modules have at most 400 lines, "
        "functions 60. `make docs` writes this page.",
        "",
        "```text",
        f"{PACKAGE.name}/",
        *rooms(PACKAGE),
        "```",
        "",
        "Files that a call enters, in order, traced:",
        "",
    ]
    for title, call in WALKS.items():
        met = walk(call)
        lines += [f"- {title}: {len(met)} files. {', '.join(f'`{file}`' for file in met)}."]
    return "\n".join([*lines, ""])

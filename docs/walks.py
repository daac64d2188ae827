"""docs/architecture.md from the house itself: rooms from their docstrings, walks from a trace."""

import ast
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import paritylab

PACKAGE = Path(paritylab.__file__).parent
#: Files that every call passes and that explain nothing.
PASSING = ("lazy.py", "__init__.py", "shapes.py")


def rooms() -> list[str]:
    """A line for each room and each part of it: its name and the first line of its docstring."""
    lines = []
    for path in sorted(PACKAGE.iterdir(), key=lambda each: (each.is_dir(), each.name)):
        if path.is_dir() and (path / "__init__.py").is_file():
            lines.append(f"{path.name + '/':<14}{first_line(path / '__init__.py')}")
            for inner in sorted(path.iterdir()):
                if (inner / "__init__.py").is_file():
                    lines.append(f"  {inner.name + '/':<12}{first_line(inner / '__init__.py')}")
        elif path.suffix == ".py" and not path.name.startswith("__"):
            lines.append(f"{path.name:<14}{first_line(path)}")
    return lines


def first_line(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text())) or "").split("\n")[0]


def walk(call: Callable[[], Any]) -> list[tuple[str, str]]:
    """The package's files that a call passes through, each with the first function met in it."""
    met: dict[str, str] = {}

    def look(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(str(PACKAGE)):
            place = Path(file).relative_to(PACKAGE).as_posix()
            name = frame.f_code.co_name
            if not name.startswith("<") and Path(place).name not in PASSING:
                met.setdefault(place, name)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(before)
    return list(met.items())


def risk_of_heads() -> None:
    problem = paritylab.Parity(1000, (100, 400, 800))
    heads = paritylab.HeadAttention.on(problem, tau=1e-3)
    paritylab.population_risk(heads, problem)


def teacher_step() -> None:
    trees = paritylab.random_trees(16, 8, 2)
    paritylab.learn(paritylab.TeacherStep(), paritylab.Sample(trees, 4000))


def claim_to_page() -> None:
    claim = paritylab.registry()["hg1-mask"]
    (verdict,) = paritylab.check([claim], effort="quick")
    with tempfile.TemporaryDirectory() as folder:
        paritylab.write_report([verdict.row], folder)


WALKS = {
    "The exact risk of three heads at n = 1000, `population_risk(heads, problem)`": risk_of_heads,
    "One teacher-forced step, `learn(TeacherStep(), Sample(trees, 4000))`": teacher_step,
    "A claim from its measurement to the page, `check` and `write_report`": claim_to_page,
}


def architecture() -> str:
    """The page."""
    lines = [
        "# Architecture",
        "",
        "A room imports only from rooms before it, sub-packages included. The library (up to "
        "`discovery`) imports nothing of the laboratory (`proofs`, `claims`, `report`, `cli`); "
        "`proofs` imports nothing of the house at all. Modules stay under 400 lines, functions "
        "under 60. `tests/test_house.py` keeps all of it so. This page is made by `make docs`, "
        "the walks from a trace of the calls.",
        "",
        "```text",
        "src/paritylab/",
        *(f"  {line}" for line in rooms()),
        "```",
        "",
        "## Three walks",
        "",
        "Each file once, in the order in which a call first enters it, with the function that is "
        "entered.",
    ]
    for title, call in WALKS.items():
        call()  # What is imported or compiled the first time is no part of the walk.
        met = walk(call)
        lines += ["", f"**{title}**: {len(met)} files.", ""]
        lines += [f"{number}. `{file}`: `{name}`" for number, (file, name) in enumerate(met, 1)]
    return "\n".join([*lines, ""])

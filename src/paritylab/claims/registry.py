"""The registry: which claims there are, what each states and what is expected of it."""

import importlib
import importlib.util
import pkgutil
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paritylab.claims.verdict import Effort, Finding, Status

PAPERS = {
    "hg1": "k heads learn k-parity (Han & Ghoshdastidar, arXiv 2502.07553 v1)",
    "hg2": "two heads learn sparse XOR in one step (arXiv 2502.07553 v2)",
    "ks": "chain of thought learns parity (Kim & Suzuki, arXiv 2410.08633)",
    "lab": "beyond the papers: this laboratory's own statements",
}


@dataclass(frozen=True)
class Claim:
    """A statement that can be run.

    expected: the status the registry records; undecided_at: efforts too small to decide.
    seconds: what the claim takes at quick, default and full effort, for the time left.
    """

    id: str
    paper: str
    title: str
    statement: str
    expected: Status
    run: Callable[..., Finding]
    seconds: tuple[float, float, float] = (2, 5, 60)
    undecided_at: frozenset[Effort] = frozenset()

    def expected_at(self, effort: Effort) -> Status:
        return Status.UNDECIDED if effort in self.undecided_at else self.expected

    @property
    def is_built_in(self) -> bool:
        """Whether the claim is the lab's own rather than from a user's file."""
        return (self.run.__module__ or "").startswith(f"{__package__}.")

    def budget(self, effort: Effort) -> float:
        """Seconds this claim is expected to take."""
        return self.seconds[list(Effort).index(effort)]


_REGISTERED: dict[str, Claim] = {}


def claim(
    id: str,
    *,
    paper: str = "lab",
    title: str,
    statement: str,
    expected: str | Status,
    seconds: tuple[float, float, float] = (2, 5, 60),
    undecided_at: tuple[str, ...] = (),
) -> Callable[[Callable[..., Finding]], Callable[..., Finding]]:
    """Register the decorated function, which takes a `Trial` and returns a `Finding`."""
    if paper not in PAPERS:
        raise ValueError(f"paper must be one of {', '.join(PAPERS)}, got {paper!r}")
    if not id or id.strip() != id or any(space in id for space in " \t\n/"):
        raise ValueError(f"a claim id is one word such as 'my-claim', got {id!r}")
    efforts = frozenset(Effort(effort) for effort in undecided_at)

    def register(function: Callable[..., Finding]) -> Callable[..., Finding]:
        taken = _REGISTERED.get(id)
        if taken and taken.is_built_in and taken.run.__module__ != function.__module__:
            raise ValueError(f"claim {id!r} exists already; choose another id")
        _REGISTERED[id] = Claim(
            id, paper, title, statement, Status(expected), function, seconds, efforts
        )
        return function

    return register


def registry() -> dict[str, Claim]:
    """Every claim of the lab by id, in the order of the papers; users' files are not in it."""
    for paper in PAPERS:
        name = f"{__package__}.{paper}"
        if importlib.util.find_spec(name) is None:
            continue
        package = importlib.import_module(name)
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{name}.{module.name}")
    order = list(PAPERS)
    own = [entry for entry in _REGISTERED.values() if entry.is_built_in]
    return {entry.id: entry for entry in sorted(own, key=lambda entry: order.index(entry.paper))}


def claims_from_file(path: str | Path) -> dict[str, Claim]:
    """The claims that a user's Python file registers with `@claim`.

    The file is run as Python code, so give only files you trust.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"no claims file at {path}")
    registry()
    before = dict(_REGISTERED)
    spec = importlib.util.spec_from_file_location(f"paritylab_claims_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"a claims file is a Python file ending in .py, got {path.name}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        line = traceback.extract_tb(error.__traceback__)[-1].lineno
        if isinstance(error, SyntaxError):  # its traceback ends in the loader, not in the file
            line = error.lineno
        raise ValueError(f"{path}, line {line}: {type(error).__name__}: {error}") from error
    added = {id: entry for id, entry in _REGISTERED.items() if before.get(id) is not entry}
    if not added:
        raise ValueError(f"{path} registers no claim; decorate a function with @claim(...)")
    return added

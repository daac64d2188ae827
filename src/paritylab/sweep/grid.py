"""Grids of specs, from Python or from a small TOML file."""

import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from paritylab.options import Option, check_known, check_value
from paritylab.sweep.spec import Spec


@dataclass(frozen=True)
class Grid:
    """Every combination of the listed values, each a cell with `runs` runs in blocks of `block`.

    problem and settings: tables whose entries are a value, or a list of values to combine; problem
    may also be a list of tables, for sizes that go together. until: stop a cell early once the
    95 % interval of its success rate lies on one side of this rate.

    >>> grid = Grid("heads", {"n": [8, 12], "k": 2}, {"preset": "code"}, runs=200, block=100)
    >>> len(list(grid.specs()))
    4
    """

    learner: str
    problem: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 100
    block: int = 100
    seed: int = 0
    until: float | None = None

    def __post_init__(self) -> None:
        for table in [*self._problems(), self.settings]:
            if not isinstance(table, Mapping):
                raise ValueError(f"problem and settings must be tables of values, got {table!r}")
        for name, least in (("runs", 1), ("block", 1), ("seed", 0)):
            check_value(name, getattr(self, name), Option(int, "", least=least))
        if self.runs % self.block:
            raise ValueError(f"runs must be a multiple of block={self.block}, got {self.runs}")
        if self.until is not None:
            check_value("until", self.until, Option(float, "", above=0, below=1))
        for table in [*self._problems(), self.settings]:
            for name, entry in table.items():
                # A problem's subset is one value; elsewhere a list is a grid.
                if isinstance(entry, list | tuple) and not entry:
                    raise ValueError(f"{name} is an empty list: nothing to run")

    def specs(self) -> Iterator[Spec]:
        """Block after block, cell by cell within each, so that early results cover all cells."""
        cells = list(self._cells())
        for number in range(self.runs // self.block):
            for problem, settings in cells:
                yield Spec.make(
                    self.learner,
                    problem,
                    settings,
                    seed=self.seed,
                    block=self.block,
                    first=number * self.block,
                )

    def _problems(self) -> list:
        single = isinstance(self.problem, Mapping | str) or not isinstance(self.problem, Sequence)
        return [self.problem] if single else list(self.problem)

    def _cells(self) -> Iterator[tuple[dict, dict]]:
        for table in self._problems():
            for problem in _combinations(table):
                for settings in _combinations(self.settings):
                    yield problem, settings


def _combinations(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    columns = [_values(name, entry) for name, entry in table.items()]
    for values in itertools.product(*columns):
        yield dict(zip(table, values, strict=True))


def grid_from_toml(path: str | Path) -> Grid:
    """A grid from a file such as

    learner = "heads"
    runs = 400
    block = 100
    [problem]
    n = [12, 16, 20]
    k = [2, 3]
    [settings]
    preset = "code"
    """
    path = Path(path)
    try:
        table = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise ValueError(f"no sweep file {path}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path} is not readable TOML: {error}") from None
    check_known(f"key in {path}:", table, [each.name for each in fields(Grid)])
    missing = {"learner", "problem"} - set(table)
    if missing:
        raise ValueError(f"{path} lacks {sorted(missing)[0]!r}")
    try:
        return Grid(**table)
    except (TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def _values(name: str, entry: Any) -> list:
    """The values to combine; a subset is one value unless it is a list of lists."""
    if name == "subset" and entry and not isinstance(entry[0], list | tuple):
        return [entry]
    return list(entry) if isinstance(entry, list | tuple) else [entry]

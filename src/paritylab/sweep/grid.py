"""Grids of specs, from Python or from a small TOML file."""

import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paritylab.sweep.spec import Spec


@dataclass(frozen=True)
class Grid:
    """Every combination of the listed values, each a cell with `runs` runs in blocks of `width`.

    problem and settings: tables whose entries are a value, or a list of values to combine; problem
    may also be a list of tables, for sizes that go together. until: stop a cell early once the
    95 % interval of its success rate lies on one side of this rate.

    >>> grid = Grid("coin", {"n": [1, 2], "k": 1}, {"rate": 0.5}, runs=200, width=100)
    >>> len(list(grid.specs()))
    4
    """

    learner: str
    problem: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 100
    width: int = 100
    seed: int = 0
    until: float | None = None

    def __post_init__(self) -> None:
        for table in [*self._problems(), self.settings]:
            if not isinstance(table, Mapping):
                raise ValueError(f"problem and settings must be tables of values, got {table!r}")
        if self.runs < 1 or self.runs % self.width:
            raise ValueError(
                f"runs must be a positive multiple of width={self.width}, got {self.runs}"
            )
        if self.until is not None and not 0 < self.until < 1:
            raise ValueError(f"until must be a rate between 0 and 1, got {self.until}")

    def specs(self) -> Iterator[Spec]:
        """Block after block, cell by cell within each, so that early results cover all cells."""
        cells = list(self._cells())
        for block in range(self.runs // self.width):
            for problem, settings in cells:
                yield Spec.make(
                    self.learner, problem, settings, seed=self.seed, width=self.width, block=block
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
    for values in itertools.product(*map(_values, table.values())):
        yield dict(zip(table, values, strict=True))


def grid_from_toml(path: str | Path) -> Grid:
    """A grid from a file such as

    learner = "start"
    runs = 400
    width = 100
    [problem]
    n = [12, 16, 20]
    k = [2, 3]
    [settings]
    below = 1.0
    """
    path = Path(path)
    try:
        table = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise ValueError(f"no sweep file {path}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path} is not readable TOML: {error}") from None
    known = {"learner", "problem", "settings", "runs", "width", "seed", "until"}
    unknown = set(table) - known
    if unknown:
        raise ValueError(f"{path}: unknown key {sorted(unknown)[0]!r}; known: {sorted(known)}")
    missing = {"learner", "problem"} - set(table)
    if missing:
        raise ValueError(f"{path} lacks {sorted(missing)[0]!r}")
    try:
        return Grid(**table)
    except (TypeError, AttributeError) as error:
        raise ValueError(f"{path}: {error}") from None


def _values(entry: Any) -> list:
    return list(entry) if isinstance(entry, list | tuple) else [entry]

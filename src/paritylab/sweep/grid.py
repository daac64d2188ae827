"""Specs and grids: what a block of runs is, and every combination of the values to try.

A spec names one block completely; equal specs give equal numbers. A grid is written in Python or in
a small TOML file.
"""

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from paritylab._support.checks import check_kind, shortened, whole
from paritylab._support.safe_io import printable, read_toml
from paritylab.options import check_known

#: Seeds that jax tells apart; larger ones repeat these.
MOST_SEEDS = 2**32

Pairs = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Spec:
    """One block of runs: what learns, on what, how, and with which seeds.

    learner: a name in `LEARNERS`. problem and settings: sorted (name, value) pairs of plain
    values. seed: run i of the sweep uses fold_in(seed, i). block: runs per compiled call; part of
    the identity, since another size may round differently. first: number of the block's first run.
    """

    learner: str
    problem: Pairs
    settings: Pairs = ()
    seed: int = 0
    block: int = 100
    first: int = 0

    @classmethod
    def make(
        cls,
        learner: str,
        problem: Mapping[str, object],
        settings: Mapping[str, object],
        **rest: int,
    ) -> "Spec":
        """A spec from plain dicts.

        >>> Spec.make("heads", {"n": 12, "k": 2}, {"preset": "code"}).cell
        'heads k=2 n=12 preset=code'
        """
        return cls(learner, _pairs(problem), _pairs(settings), **rest)

    def __post_init__(self) -> None:
        check_kind("learner", self.learner, str, "a name")
        whole("seed", self.seed, 0, MOST_SEEDS - 1)
        whole("block", self.block, 1)
        if not 0 <= whole("first", self.first) <= MOST_SEEDS - self.block:
            raise ValueError(
                f"runs are numbered from 0 to 2³² - 1, got {self.block} from {self.first} on"
            )

    @cached_property
    def hash(self) -> str:
        """Names the block and everything its numbers depend on but code and device."""
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def cell(self) -> str:
        """The block's cell for people: everything but the seeds."""
        pairs = [*self.problem, *self.settings]
        return " ".join([self.learner, *(f"{name}={value}" for name, value in pairs)])

    def plain(self) -> dict[str, Any]:
        """The spec as plain JSON values."""
        pairs = {"problem": dict(self.problem), "settings": dict(self.settings)}
        return {**asdict(self), **pairs}


def _pairs(values: Mapping[str, object]) -> Pairs:
    pairs = []
    for name, value in sorted(values.items()):
        if not isinstance(value, str | int | float | bool | list | tuple | None):
            raise ValueError(f"{name} must be a plain value, got {type(value).__name__}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name} must be a finite number, got {value}")
        pairs.append((str(name), tuple(value) if isinstance(value, list) else value))
    return tuple(pairs)


#: Beyond this the list of blocks alone would be a burden.
MOST_BLOCKS = 1_000_000

#: The problem and the settings of a cell; the values that cells take, by name.
_Cell = tuple[dict[str, object], dict[str, object]]
_Columns = dict[str, list[object]]


@dataclass(frozen=True)
class Grid:
    """Every combination of the listed values, each a cell with `runs` runs in blocks of `block`.

    problem and settings: tables whose entries are a value, or a list of values to combine; problem
    may also be a list of tables, for sizes that go together. Cells that cannot exist, such as
    k > n, are left out; `skipped` says which.

    >>> grid = Grid("heads", {"n": [8, 12], "k": 2}, {"preset": "code"}, runs=200, block=100)
    >>> len(list(grid.specs()))
    4
    >>> Grid("heads", {"n": [2, 8], "k": [2, 3]}).skipped()
    {'heads k=3 n=2': 'k=3 positions among n=2'}
    """

    learner: str
    problem: Mapping[str, object] | Sequence[Mapping[str, object]]
    settings: Mapping[str, object] = field(default_factory=dict)
    runs: int = 100
    block: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        check_kind("learner", self.learner, str, "a name")
        whole("runs", self.runs, 1)
        whole("block", self.block, 1)
        whole("seed", self.seed, 0, MOST_SEEDS - 1)
        if self.runs % self.block:
            raise ValueError(f"runs must be a multiple of block={self.block}, got {self.runs}")
        sizes = (math.prod(map(len, {**p, **s}.values())) for p, s in self._tables)
        blocks = sum(sizes) * (self.runs // self.block)
        if not blocks:
            raise ValueError("problem is an empty list: nothing to run")
        if blocks > MOST_BLOCKS:
            raise ValueError(
                f"a sweep has at most {MOST_BLOCKS:,} blocks, this grid has {blocks:,}: give "
                "fewer values, fewer runs or larger blocks"
            )

    def specs(self) -> Iterator[Spec]:
        """Block after block, cell by cell within each, so that early results cover all cells."""
        cells = [cell for cell in self._cells() if not why_impossible(cell[0])]
        if not cells:
            name, reason = next(iter(self.skipped().items()))
            raise ValueError(f"no cell of this grid can exist: {name} asks for {reason}")
        for number in range(self.runs // self.block):
            for cell in cells:
                yield self._spec(cell, number * self.block)

    def skipped(self) -> dict[str, str]:
        """Cells that cannot exist, each with the reason."""
        reasons = ((cell, why_impossible(cell[0])) for cell in self._cells())
        return {self._spec(cell, 0).cell: reason for cell, reason in reasons if reason}

    def _spec(self, cell: _Cell, first: int) -> Spec:
        return Spec.make(self.learner, *cell, seed=self.seed, block=self.block, first=first)

    @cached_property
    def _tables(self) -> list[tuple[_Columns, _Columns]]:
        """The values of every entry of each problem table, and those of the settings."""
        problems = self.problem if isinstance(self.problem, list | tuple) else [self.problem]
        return [(_columns(each), _columns(self.settings)) for each in problems]

    def _cells(self) -> Iterator[_Cell]:
        for problem, settings in self._tables:
            yield from itertools.product(_combinations(problem), _combinations(settings))


def why_impossible(problem: Mapping[str, object]) -> str:
    """Why no such problem exists, "" if it may; wrong values are somebody else's to refuse."""
    n, k = problem.get("n"), problem.get("k")
    if not (isinstance(n, int) and isinstance(k, int)):
        return ""
    if k > n:
        return f"k={k} positions among n={n}"
    if problem.get("target") == "majority" and k % 2 == 0:
        return f"the majority of an even number of bits, k={k}"
    return ""


def _columns(table: object) -> _Columns:
    """The values to combine, by name; a subset is one value unless it is a list of lists."""
    if not isinstance(table, Mapping):
        raise ValueError(f"problem and settings must be tables of values, got {shortened(table)}")
    columns: _Columns = {}
    for name, entry in table.items():
        is_list = isinstance(entry, list | tuple)
        if is_list and not entry:
            raise ValueError(f"{name} is an empty list: nothing to run")
        one_subset = is_list and name == "subset" and not isinstance(entry[0], list | tuple)
        columns[name] = list(entry) if is_list and not one_subset else [entry]
    return columns


def _combinations(columns: _Columns) -> Iterator[dict[str, object]]:
    for values in itertools.product(*columns.values()):
        yield dict(zip(columns, values, strict=True))


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
    path, name = Path(path), printable(str(path))
    if not path.exists():
        raise ValueError(f"no sweep file {name}")
    try:
        table = read_toml(path)
        check_known("key", table, [each.name for each in fields(Grid)])
        if missing := {"learner", "problem"} - set(table):
            raise ValueError(f"it lacks {min(missing)!r}")
        return Grid(**table)
    except (TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{name} is not a sweep: {error}") from None

"""The registry: which claims there are, what each states, how it is measured and judged."""

import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from paritylab.claims.engine.figures import as_series
from paritylab.claims.engine.places import place_of
from paritylab.claims.engine.recorded import recorded_status
from paritylab.claims.engine.sources import OURS, PAPERS, Source
from paritylab.claims.engine.verdict import Effort, Finding, Judged, Status, plain
from paritylab.sweep.provenance import helper_files

Seconds = tuple[float, float, float]
#: The package that holds one package of claims per paper.
CLAIMS = "paritylab.claims"


@dataclass(frozen=True)
class Efforts:
    """The settings of a measurement at each effort; all three name the same settings.

    >>> Efforts(quick={"runs": 10}, default={"runs": 30}, full={"runs": 400}).at(Effort.QUICK)
    {'runs': 10}
    """

    quick: Mapping[str, Any] = field(default_factory=dict)
    default: Mapping[str, Any] = field(default_factory=dict)
    full: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("default", "full"):
            odd = set(self.quick) ^ set(getattr(self, name))
            if odd:
                raise ValueError(
                    f"every effort names the same settings; {name} and quick differ in "
                    f"{', '.join(sorted(odd))}"
                )

    def at(self, effort: Effort) -> dict[str, Any]:
        """The settings of one effort."""
        return dict(getattr(self, effort.value))


class Outcome(NamedTuple):
    """What running a claim gives: the verdict, the settings it was measured with, the figure."""

    judged: Judged
    settings: dict[str, Any]
    series: dict[str, Any]


@dataclass(eq=False)
class Claim:
    """A statement that can be run: measure(trial, **settings) → record, judge(record) → `Judged`.

    efforts: settings of the measurement by effort. settings: what stays the same at every effort,
    for the row. seconds: what the claim takes at quick, default and full effort. The judge and the
    figure are registered with `@that.judge` and `@that.figure`; a measurement without a judge
    returns a whole `Finding`.
    """

    id: str
    source: Source
    title: str
    statement: str
    measure: Callable[..., Any]
    efforts: Efforts = field(default_factory=Efforts)
    seconds: Seconds = (2, 5, 60)
    settings: Mapping[str, Any] = field(default_factory=dict)
    judged_by: Callable[[Any], Judged] | None = field(default=None, repr=False)
    drawn_by: Callable[[Any], Any] | None = field(default=None, repr=False)

    def judge(self, function: Callable[[Any], Judged]) -> Callable[[Any], Judged]:
        """Register the pure function from a record to a verdict."""
        if self.judged_by is not None:
            raise ValueError(f"claim {self.id!r} has a judge already")
        self.judged_by = function
        return function

    def figure(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Register the function from a record to a figure (see claims.figures)."""
        self.drawn_by = function
        return function

    def run(self, trial: Any) -> Outcome:
        """Measure at the trial's effort, then judge and draw."""
        settings = self.efforts.at(trial.effort)
        record = self.measure(trial, **settings)
        if self.judged_by is None:
            if not isinstance(record, Finding):
                raise TypeError(
                    f"a claim without a judge returns a Finding, got {type(record).__name__}; "
                    "register a judge with @that.judge"
                )
            return Outcome(record.judged(), record.settings, record.series)
        series = {} if self.drawn_by is None else as_series(self.drawn_by(record))
        return Outcome(self.verdict_on(record), {**self.settings, **settings}, series)

    def verdict_on(self, record: Any) -> Judged:
        """What the judge says of a record, measured or invented."""
        if self.judged_by is None:
            raise TypeError(f"claim {self.id!r} has no judge")
        judged = self.judged_by(record)
        if not isinstance(judged, Judged):
            raise TypeError(
                f"a judge returns holds(…), corrected(…), refuted(…) or undecided(…), "
                f"got {type(judged).__name__}"
            )
        if judged.measured is not None:
            return judged
        numbers = plain(record)
        named = numbers if isinstance(numbers, dict) else {"record": numbers}
        return Judged(**{**vars(judged), "measured": named})

    def expected_at(self, effort: Effort) -> Status | None:
        """The recorded status; None for a claim that is not the lab's own."""
        return recorded_status(self.id, effort) if self.is_built_in else None

    @property
    def paper(self) -> str:
        return self.source.paper

    @property
    def file(self) -> Path:
        """The file of the measurement; a name in angle brackets if it was typed in."""
        return Path(inspect.unwrap(self.measure).__code__.co_filename)

    @property
    def line(self) -> int:
        return int(inspect.unwrap(self.measure).__code__.co_firstlineno)

    @property
    def is_built_in(self) -> bool:
        """Whether the claim is the lab's own rather than from a user's file."""
        return (self.measure.__module__ or "").startswith(f"{CLAIMS}.")

    def budget(self, effort: Effort) -> float:
        """Seconds this claim is expected to take."""
        return self.seconds[list(Effort).index(effort)]


#: Every claim in the order of its registration.
_REGISTERED: list[Claim] = []


def claim(
    id: str,
    *,
    source: Source | None = None,
    paper: str | None = None,
    title: str,
    statement: str,
    efforts: Efforts | None = None,
    seconds: Seconds = (2, 5, 60),
    settings: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Any]], Claim]:
    """Turn the decorated function measure(trial, **settings of the effort) into a `Claim`.

    source: `HG1("Theorem 5")`, `HG2(…)`, `KS(…)`; `OURS` if absent. paper: for claims that return
    a `Finding`, whose place is the beginning of the statement.
    """
    if not id or id.strip() != id or any(space in id for space in " \t\n/"):
        raise ValueError(f"a claim id is one word such as 'my-claim', got {id!r}")
    if source is not None and paper is not None:
        raise ValueError(f"claim {id!r}: give source or paper, not both")
    place = source or _source_from(paper or "lab", statement)

    def register(function: Callable[..., Any]) -> Claim:
        made = Claim(
            id, place, title, statement, function, efforts or Efforts(), seconds, settings or {}
        )
        if any(each.id == id and each.is_built_in for each in _REGISTERED):
            raise ValueError(f"claim {id!r} exists already; choose another id")
        _REGISTERED.append(made)
        return made

    return register


def _source_from(paper: str, statement: str) -> Source:
    """The source of a claim that does not give one: what its statement begins with."""
    if paper == OURS.paper:
        return OURS
    place, colon, _ = statement.partition(":")
    return Source(paper, place if colon and len(place) <= 60 else "see the statement")


def registry() -> dict[str, Claim]:
    """Every claim of the lab by id, in the order of the papers; users' files are not in it."""
    for paper in PAPERS:
        name = f"{CLAIMS}.{paper}"
        if importlib.util.find_spec(name) is None:
            continue
        package = importlib.import_module(name)
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{name}.{module.name}")
    order = list(PAPERS)
    own = [entry for entry in _REGISTERED if entry.is_built_in]
    # By place, since whoever imports a claim's module first would otherwise decide.
    own.sort(key=lambda entry: (order.index(entry.paper), str(entry.file), entry.line))
    return {entry.id: entry for entry in own}


def claims_from_file(path: str | Path) -> dict[str, Claim]:
    """The claims that a user's Python file registers with `@claim`.

    The file is run as Python code, so give only files you trust. Its folder is put first on the
    search path, as for a script, and modules beside it that it imports are read anew.
    """
    path = Path(path).absolute()
    if not path.is_file():
        raise ValueError(f"no claims file at {path}")
    registry()
    before = len(_REGISTERED)
    spec = importlib.util.spec_from_file_location(f"paritylab_claims_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"a claims file is a Python file ending in .py, got {path.name}")
    _search_first(path.parent)
    _forget_helpers(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        place = place_of(error, path) or (path, 1)
        raise ValueError(f"{place[0]}, line {place[1]}: {type(error).__name__}: {error}") from error
    added: dict[str, Claim] = {}
    for entry in _REGISTERED[before:]:
        if entry.id in added:
            raise ValueError(
                f"{path}: claim {entry.id!r} is registered twice, on lines "
                f"{added[entry.id].line} and {entry.line}; give each its own id"
            )
        added[entry.id] = entry
    if not added:
        raise ValueError(f"{path} registers no claim; decorate a function with @claim(...)")
    return added


def _search_first(folder: Path) -> None:
    sys.path[:] = [str(folder), *(entry for entry in sys.path if entry != str(folder))]


def _forget_helpers(path: Path) -> None:
    """Drop modules that the file would import from its folder, so that edits are seen."""
    folder = path.resolve().parent
    helpers = {file for file in helper_files(path) if file.is_relative_to(folder)}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and name != "__main__" and Path(file).resolve() in helpers:
            del sys.modules[name]
    importlib.invalidate_caches()

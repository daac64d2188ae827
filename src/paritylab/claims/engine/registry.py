"""The registry: which claims there are, what each states, how it is measured and judged."""

import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from paritylab.checks import check_kind, told
from paritylab.claims.engine.figures import as_series
from paritylab.claims.engine.places import place_of, words_of
from paritylab.claims.engine.reads import loading
from paritylab.claims.engine.record import evidence_of, is_record, measured, predicted, runs_of
from paritylab.claims.engine.recorded import recorded_status
from paritylab.claims.engine.sources import OURS, PAPERS, Source
from paritylab.claims.engine.verdict import Effort, Evidence, Judged, Status, plain
from paritylab.sweep.provenance import helper_files
from paritylab.untrusted import printable

Seconds = tuple[float, float, float]
#: The package that holds one package of claims per paper.
CLAIMS = "paritylab.claims"


def _numbers_of(record: Any) -> dict[str, Any]:
    """What a row takes from a record: its numbers, predictions, runs and kind of evidence."""
    if is_record(record):
        return {
            "measured": measured(record),
            "predicted": predicted(record),
            "runs": runs_of(record),
            "evidence": evidence_of(record),
        }
    numbers = plain(record)
    named = numbers if isinstance(numbers, dict) else {"record": numbers}
    return {"measured": named, "predicted": {}, "runs": 0}


class Planted(NamedTuple):
    """A case in which the statement is true or false by construction, run by the real measurement.

    what: the case in words. turns: the verdict it must get. measure: from a trial to a record.
    """

    what: str
    turns: Status
    measure: Callable[[Any], Any]


class Outcome(NamedTuple):
    """What running a claim gives: the verdict, the settings it was measured with, the figure."""

    judged: Judged
    settings: dict[str, Any]
    series: dict[str, Any]


@dataclass(eq=False)
class Claim:
    """A statement that can be run: measure(trial, **settings) → record, judge(record) → `Judged`.

    Default effort is what the measurement's signature says; quick, full: what changes there.
    settings: what stays the same at every effort, for the row. seconds: what the claim takes at
    quick, default and full effort. counted: whether its verdict stands in the tally. certificate:
    the id of a proof, if there is one. reads: files and environment variables that the measurement
    reads. The judge and the figure are registered with `@that.judge`
    and `@that.figure`.
    """

    id: str
    source: Source
    title: str
    statement: str
    measure: Callable[..., Any]
    quick: Mapping[str, Any] = field(default_factory=dict)
    full: Mapping[str, Any] = field(default_factory=dict)
    seconds: Seconds = (2, 5, 60)
    settings: Mapping[str, Any] = field(default_factory=dict)
    counted: bool = True
    certificate: str | None = None
    reads: tuple[str, ...] = ()
    judged_by: Callable[[Any], Judged] | None = field(default=None, repr=False)
    drawn_by: Callable[[Any], Any] | None = field(default=None, repr=False)
    glanced_by: Callable[[Any], Any] | None = field(default=None, repr=False)
    planted_cases: list[Planted] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        check_kind("source", self.source, Source, "a Source such as HG1('Theorem 5')")
        for name in ("id", "title", "statement"):
            check_kind(name, getattr(self, name), str, "text")
        for name in ("quick", "full", "settings"):
            check_kind(name, getattr(self, name), Mapping, "settings by name")
        check_kind("certificate", self.certificate, str | None, "the id of a proof, or None")
        check_kind("reads", self.reads, tuple, "names of files and variables")
        check_kind("planted_cases", self.planted_cases, list, "a list")
        check_kind("measure", self.measure, Callable, "a function of a trial")
        check_kind("seconds", self.seconds, tuple, "three numbers of seconds")
        for name in ("judged_by", "drawn_by", "glanced_by"):
            check_kind(name, getattr(self, name), Callable | None, "a function of the record")
        known = self.settings_at(Effort.DEFAULT)
        for effort in (Effort.QUICK, Effort.FULL):
            odd = set(getattr(self, effort.value)) - set(known)
            if odd:
                raise ValueError(
                    f"claim {self.id!r}: {effort} sets {', '.join(sorted(odd))}, which is no "
                    f"argument with a default of its measurement; those are: {', '.join(known)}"
                )
        self.counted = self.counted and self.is_built_in and self.source.is_read

    def judge(self, function: Callable[[Any], Judged]) -> Callable[[Any], Judged]:
        """Register the pure function from a record to a verdict."""
        if self.judged_by is not None:
            raise ValueError(f"claim {self.id!r} has a judge already")
        self.judged_by = function
        return function

    def figure(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Register the function from a record to a figure (see claims.engine.figures)."""
        self.drawn_by = function
        return function

    def overview(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Register the function from a record to the `Lines` that the first figure shows of it."""
        self.glanced_by = function
        return function

    def planted(
        self, what: str, *, turns: str
    ) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
        """Register a case that must turn the verdict: it calls the measurement with, say, another
        learner (a keyword-only argument of it, which is no setting) and returns its record."""

        def register(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
            self.planted_cases.append(Planted(what, Status(turns), function))
            return function

        return register

    def settings_at(self, effort: Effort) -> dict[str, Any]:
        """The arguments of the measurement at an effort, less the trial and what is planted."""
        arguments = inspect.signature(self.measure).parameters.values()
        usual = {
            a.name: a.default
            for a in arguments
            if a.default is not a.empty and a.kind is a.POSITIONAL_OR_KEYWORD
        }
        return {**usual, **({} if effort is Effort.DEFAULT else getattr(self, effort.value))}

    def run(self, trial: Any) -> Outcome:
        """Measure at the trial's effort, then judge and draw."""
        settings = self.settings_at(trial.effort)
        record = self.measure(trial, **settings)
        judged = self.verdict_on(record)
        series = {} if self.drawn_by is None else as_series(self.drawn_by(record))
        if self.glanced_by is not None:
            series["overview"] = as_series(self.glanced_by(record))
        return Outcome(judged, {**self.settings, **settings}, series)

    def verdict_on(self, record: Any) -> Judged:
        """What the judge says of a record, measured or invented, with the record's own numbers."""
        if self.judged_by is None:
            raise TypeError(f"claim {self.id!r} has no judge; register one with @that.judge")
        judged = self.judged_by(record)
        if not isinstance(judged, Judged):
            raise TypeError(
                f"a judge returns holds(…), corrected(…), refuted(…) or undecided(…), "
                f"got {type(judged).__name__}"
            )
        details = {k: v for k, v in _numbers_of(record).items() if getattr(judged, k) is None}
        if judged.counterexample is True:
            details["counterexample"] = self._counterexample()
        full = replace(judged, **details)
        if full.evidence is None:
            kinds = ", ".join(Evidence)
            raise ValueError(
                f"claim {self.id!r} does not say what kind of number decides; give the record "
                f"@record(evidence=…) or the judge's answer evidence=…, one of {kinds}"
            )
        return full

    def _counterexample(self) -> str:
        """The file of this claim's counterexample, as text."""
        path = self.file.parent / "counterexamples" / f"{self.id}.py"
        if not path.is_file():
            raise ValueError(f"claim {self.id!r} names a counterexample; expected it in {path}")
        return path.read_text(encoding="utf-8")

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
    source: Source = OURS,
    title: str,
    statement: str,
    quick: Mapping[str, Any] | None = None,
    full: Mapping[str, Any] | None = None,
    seconds: Seconds = (2, 5, 60),
    settings: Mapping[str, Any] | None = None,
    counted: bool = True,
    certificate: str | None = None,
    reads: Sequence[str] = (),
) -> Callable[[Callable[..., Any]], Claim]:
    """Turn the decorated function measure(trial, **settings) into a `Claim`.

    source: `HG1("Theorem 5")`, `HG2(…)`, `KS(…)`; `OURS` if absent. The other arguments are the
    fields of `Claim`.
    """
    if (
        not isinstance(id, str)
        or not id
        or id.strip() != id
        or any(space in id for space in " \t\n/")
    ):
        raise ValueError(f"a claim id is one word such as 'my-claim', got {told(id)}")

    def register(function: Callable[..., Any]) -> Claim:
        words = (id, source, title, statement, function)
        efforts = (quick or {}, full or {}, seconds, settings or {})
        made = Claim(*words, *efforts, counted, certificate, tuple(reads))
        if any(each.id == id and each.is_built_in for each in _REGISTERED):
            raise ValueError(f"claim {id!r} exists already; choose another id")
        _REGISTERED.append(made)
        return made

    return register


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
        raise ValueError(f"no claims file at {printable(str(path))}")
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
        with loading(path):
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        place = place_of(error, path) or (path, 1)
        raise ValueError(f"{place[0]}, line {place[1]}: {words_of(error)}") from error
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
    for name, module in list(sys.modules.items()) if helpers else ():
        file = getattr(module, "__file__", None)
        if file and name != "__main__" and Path(file).resolve() in helpers:
            del sys.modules[name]
    importlib.invalidate_caches()

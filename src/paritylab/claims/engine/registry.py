"""The registry: which claims there are, what each states, how it is measured."""

import importlib
import importlib.util
import inspect
import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from paritylab._support.user_modules import line_of, module_from_file
from paritylab.claims.engine.recorded import budget, recorded
from paritylab.claims.engine.rule import (
    CONFIDENCE,
    CONFIDENCE_OF_A_LOOK,
    LOOKS,
    Comparison,
    Decision,
    Judge,
    Sentence,
    decide,
    default_figure,
    sentence_of,
    wants_runs,
)
from paritylab.claims.engine.verdict import (
    OURS,
    PAPERS,
    Effort,
    Evidence,
    Judged,
    Source,
    Status,
)
from paritylab.figures import Bars, Heatmap, Lines, SideBySide

#: The package that holds one package of claims per paper.
CLAIMS = "paritylab.claims"


class Planted(NamedTuple):
    """A case in which the statement is true or false by construction, run by the real measurement.

    what: the case in words. settings: arguments of the measurement that plant it, on top of those
    of quick effort. turns: the verdict it must get.
    """

    what: str
    settings: Mapping[str, Any]
    turns: str


@dataclass(eq=False)
class Claim:
    """A statement that can be run: measure(trial, **settings) yields comparisons, figures and
    sentences, and the one rule (claims.engine.rule) makes the verdict.

    Default effort is what the measurement's signature says; quick, full: what changes there.
    Arguments after `*` are not settings: planted cases set them. evidence: the kind of the numbers
    that decide. more: the setting that is doubled while it is undecided for want of runs. planted:
    cases that must turn the verdict. judge: a rule of the claim's own, where the one rule cannot
    say what the statement says. counted: whether the verdict is in the tally. counted_with: the
    claim in whose row the same erratum is counted, so that it counts once. certificates: ids of
    proofs, the main one first. reads: files that the measurement reads.
    """

    id: str
    source: Source
    title: str
    statement: str
    measure: Callable[..., Any]
    quick: Mapping[str, Any] = field(default_factory=dict)
    full: Mapping[str, Any] = field(default_factory=dict)
    evidence: Evidence = Evidence.SAMPLED
    more: str | None = None
    planted: Sequence[Planted] = ()
    judge: Judge = decide
    counted: bool = True
    counted_with: str | None = None
    certificates: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = self.settings_at(Effort.DEFAULT)
        named = {**self.quick, **self.full, **({self.more: 0} if self.more else {})}
        odd = sorted(set(named) - set(known))
        if odd:
            raise ValueError(
                f"claim {self.id!r} sets {', '.join(odd)}, but its measurement has no such "
                f"setting; it has: {', '.join(known)}"
            )
        once = self.counted and self.counted_with is None
        self.counted = once and self.is_built_in and self.source.is_read

    def settings_at(self, effort: Effort) -> dict[str, Any]:
        """The arguments of the measurement at an effort, less the trial and what is planted."""
        arguments = inspect.signature(self.measure).parameters.values()
        usual = {
            a.name: a.default
            for a in arguments
            if a.default is not a.empty and a.kind is a.POSITIONAL_OR_KEYWORD
        }
        return {**usual, **({} if effort is Effort.DEFAULT else getattr(self, effort.value))}

    def run(self, trial: Any, **changes: Any) -> Judged:
        """Measure at the trial's effort and apply the rule; changes: settings other than usual.

        A claim that names its setting `more` is measured again with twice, then four times the
        runs while it is undecided for want of runs. Its intervals are then those of three looks,
        each at 98.3 %, so that all three together are right 95 % of the time.
        """
        usual = self.settings_at(trial.effort)
        settings = {**usual, **changes}
        most, confidence = (LOOKS, CONFIDENCE_OF_A_LOOK) if self.more else (1, CONFIDENCE)
        for looks in range(1, most + 1):
            found = list(self.measure(trial, **settings))
            figures = [as_series(e) for e in found if not isinstance(e, Comparison | Sentence)]
            comparisons = [each for each in found if isinstance(each, Comparison)]
            decision = self.judge(comparisons, confidence)
            if self.more is None or looks == most or not wants_runs(decision, confidence):
                break
            settings[self.more] *= 2
        figure = figures[-1] if figures else default_figure(comparisons)
        return Judged(
            decision.status,
            evidence=self.evidence,
            comparisons=[each.as_row(confidence) for each in comparisons],
            series=figure or {},
            margin=abs(decision.deciding.distance(confidence) or 0.0),
            runs=sum({id(each.value): each.runs for each in comparisons}.values()),
            settings={name: settings[name] for name in usual},
            looks=looks,
            **self._words(decision, [e for e in found if isinstance(e, Sentence)], confidence),
        )

    def _words(
        self, decision: Decision, said: Sequence[Sentence], confidence: float
    ) -> dict[str, Any]:
        """What a row says in words: its finding and, if the statement fails, what holds instead
        and the code that shows the failure."""
        own = [each.text for each in said if decision.status in each.when and not each.instead]
        finding = own[0] if own else sentence_of(decision, confidence)
        if decision.status not in (Status.CORRECTED, Status.REFUTED):
            return {"finding": finding}
        holds = [each.text for each in said if each.instead]
        shown = self.counterexample
        return {
            "finding": finding,
            "instead": holds[0] if holds else f"Measured: {finding}",
            "counterexample": shown and shown.read_text(encoding="utf-8"),
        }

    @property
    def counterexample(self) -> Path | None:
        """The file counterexamples/<id>.py beside the claim, if there is one."""
        path = self.file.parent / "counterexamples" / f"{self.id}.py"
        return path if path.is_file() else None

    def expected_at(self, effort: Effort) -> Status | None:
        """The recorded status; None for a claim that is not the lab's own."""
        known = recorded().get(self.id) if self.is_built_in else None
        return None if known is None else known.expected_at(effort)

    @property
    def certificate(self) -> str | None:
        """The main proof, which the row names."""
        return self.certificates[0] if self.certificates else None

    @property
    def paper(self) -> str:
        return self.source.paper

    @property
    def file(self) -> Path:
        """The file of the measurement; a name in angle brackets if it was typed in."""
        return Path(inspect.unwrap(self.measure).__code__.co_filename)

    @property
    def is_built_in(self) -> bool:
        """Whether the claim is the lab's own rather than from a user's file."""
        return (self.measure.__module__ or "").startswith(f"{CLAIMS}.")

    def budget(self, effort: Effort) -> float:
        """Seconds this claim took when its verdict was recorded; a guess where it was not."""
        return budget(self.id, effort)


def claim(id: str, source: Source = OURS, **fields: Any) -> Callable[[Callable[..., Any]], Claim]:
    """Turn the decorated generator measure(trial, **settings) into a `Claim`.

    The first line of its docstring is the title, the rest the statement. source: `HG1("Theorem
    5")`, `KS(…)`; `OURS` if absent. fields: those of `Claim`; planted may be one case or several,
    each (what, settings, turns).
    """
    if not re.fullmatch(r"[\w.+-]+", id):
        raise ValueError(f"a claim id is one word such as 'my-claim', got {id!r}")

    def register(function: Callable[..., Any]) -> Claim:
        title, _, statement = inspect.cleandoc(function.__doc__ or "").partition("\n")
        if not statement.strip():
            raise ValueError(f"claim {id!r} needs a docstring: title, empty line, statement")
        cases = fields.get("planted", ())
        one = bool(cases) and isinstance(cases[0], str)
        planted = [Planted(*case) for case in ([cases] if one else cases)]
        evidence = Evidence(fields.get("evidence", Evidence.SAMPLED))
        known = {**fields, "planted": planted, "evidence": evidence}
        words = " ".join(statement.split())
        return Claim(id, source, title.rstrip("."), words, function, **known)

    return register


def registry() -> dict[str, Claim]:
    """Every claim of the lab by id, in the order of the papers; users' files are not in it."""
    found: dict[str, Claim] = {}
    for paper in PAPERS:
        package = importlib.import_module(f"{CLAIMS}.{paper}")
        for module in sorted(each.name for each in pkgutil.iter_modules(package.__path__)):
            for each in claims_in(importlib.import_module(f"{package.__name__}.{module}")):
                if each.id in found:
                    raise ValueError(f"claim {each.id!r} is registered twice; choose another id")
                found[each.id] = each
    return found


def load_claim(id: str) -> Claim:
    """The lab's claim of this id, importing no module of claims but its own."""
    listed = recorded().get(id)
    if listed is not None and listed.module:
        name = f"{CLAIMS}.{listed.module}"
        if importlib.util.find_spec(name) is not None:
            for each in claims_in(importlib.import_module(name)):
                if each.id == id:
                    return each
    return registry()[id]  # it is new, or has moved since the list was written


def claims_in(module: ModuleType) -> list[Claim]:
    """The claims that a module defines, in the order of its lines."""
    found = [each for each in vars(module).values() if isinstance(each, Claim)]
    return [each for each in found if each.measure.__module__ == module.__name__]


def claims_from_file(path: str | Path) -> dict[str, Claim]:
    """The claims that a user's Python file defines with `@claim`.

    The file is run as Python code, so give only files you trust. It may import modules from its
    own folder.
    """
    path = Path(path).absolute()
    module = module_from_file(path, "claims")
    by_id = {each.id: each for each in claims_in(module)}
    if not by_id:
        raise ValueError(f"{path} has no claim; decorate a function with @claim(...)")
    written = re.findall(r"^@claim\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    if len(written) > len(by_id):
        raise ValueError(f"{path}: two claims share an id or a function name; give each its own")
    return by_id


def reason_of(error: BaseException, file: Path) -> str:
    """One line for people: what went wrong and where in the claim's own code."""
    text, line = " ".join(f"{type(error).__name__}: {error}".split()), line_of(error, file)
    return text if line is None else f"{text} ({file.name}, line {line})"


def as_series(figure: Any) -> dict[str, Any]:
    """The series of a builder; a dict is one already."""
    if isinstance(figure, Lines | Bars | Heatmap | SideBySide):
        return figure.series()
    if not isinstance(figure, dict):
        raise TypeError(
            "a claim yields comparisons (at_most, at_least, within, note), finding(…), instead(…) "
            f"or a figure (Lines, Bars, Heatmap, SideBySide); got {figure!r}"
        )
    return figure

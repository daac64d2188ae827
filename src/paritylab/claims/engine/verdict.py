"""A verdict is a value: what was found, how strong the evidence is, where it came from."""

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from paritylab.checks import told
from paritylab.statistics import Rate


class Status(StrEnum):
    """What became of a claim; `sentence` is what people read."""

    HOLDS = "holds"
    CORRECTED = "corrected"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    FAILED = "failed"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Status.HOLDS: "holds in every case tried",
    Status.CORRECTED: "holds with a stated correction",
    Status.REFUTED: "refuted by a counterexample or an interval that excludes it",
    Status.UNDECIDED: "undecided at this effort",
    Status.FAILED: "not decided: its code raised an error",
}


class Evidence(StrEnum):
    """Where the deciding number comes from; kinds are never mixed in one number."""

    PROVED = "proved"
    EXACT = "exact"
    NUMERICAL = "numerical"
    SAMPLED = "sampled"
    EXTRAPOLATED = "extrapolated"


class Effort(StrEnum):
    """One dial: how long a check may take."""

    QUICK = "quick"
    DEFAULT = "default"
    FULL = "full"


@dataclass(frozen=True)
class Judged:
    """What a judge makes of a record; built by `holds`, `corrected`, `refuted`, `undecided`.

    finding: the verdict in one sentence. instead: the nearest statement that does hold and was
    tested; corrected and refuted need it. margin: distance of the deciding number from the value
    at which the status would change, positive on the side of this status. interval: the deciding
    rate or law, or the 95 % interval of the deciding number. counterexample: Python that shows the
    failure and asserts it, or True for the file `counterexamples/<id>.py` beside the claim.
    evidence, measured, predicted, runs: read off the record where a claim returns one (see
    claims.engine.record); a claim of plain numbers gives them here. proof: what a certificate
    shows, in one sentence; set where it was verified.
    """

    status: Status
    finding: str
    instead: str | None = None
    margin: float | None = None
    interval: Any = None
    counterexample: str | bool | None = None
    evidence: Evidence | None = None
    runs: int | None = None
    measured: Mapping[str, Any] | None = None
    predicted: Mapping[str, Any] | None = None
    proof: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", _one_of(Status, self.status))
        if self.evidence is not None:
            object.__setattr__(self, "evidence", _one_of(Evidence, self.evidence))
        if self.status is Status.FAILED:
            raise ValueError("a judge cannot say failed; that is for claims that raise an error")
        if not isinstance(self.finding, str) or not self.finding.strip():
            raise ValueError(f"a finding is a sentence, got {told(self.finding)}")
        if self.instead is not None and not isinstance(self.instead, str):
            raise ValueError(f"instead is a statement, got {told(self.instead)}")
        if self.status in (Status.CORRECTED, Status.REFUTED) and not self.instead:
            raise ValueError(
                f"{self.status.value} needs `instead`, the nearest statement that holds"
            )
        if self.margin is not None and not _is_number(self.margin):
            raise ValueError(f"margin must be a number, got {told(self.margin)}")
        whole = isinstance(self.runs, numbers.Integral) and not isinstance(self.runs, bool)
        if self.runs is not None and not whole:
            raise ValueError(f"runs must be a whole number, got {told(self.runs)}")
        ends = getattr(self.interval, "low", None), getattr(self.interval, "high", None)
        if None not in ends:
            object.__setattr__(self, "interval", ends)
        _check_interval(self.interval)
        _check_code(self.counterexample)


def holds(text: str, **details: Any) -> Judged:
    """The statement holds in every case tried; details are fields of `Judged`."""
    return Judged(Status.HOLDS, text, **details)


def corrected(text: str, *, instead: str, **details: Any) -> Judged:
    """The statement holds once it is changed to `instead`, which is what was tested."""
    return Judged(Status.CORRECTED, text, instead=instead, **details)


def refuted(text: str, *, instead: str, **details: Any) -> Judged:
    """The statement is false within its own assumptions; `instead` is the nearest that holds."""
    return Judged(Status.REFUTED, text, instead=instead, **details)


def undecided(text: str, **details: Any) -> Judged:
    """The record does not decide; the text says what is missing."""
    return Judged(Status.UNDECIDED, text, **details)


@dataclass(frozen=True)
class Verdict:
    """One row of the results; reused: whether it comes from the store."""

    row: dict[str, Any]
    reused: bool = False

    @property
    def status(self) -> Status:
        return Status(self.row["status"])

    @property
    def differs(self) -> bool:
        """Whether the recorded verdict is another; without a recorded one nothing differs."""
        row = self.row
        return bool(row["expected"]) and row["status"] not in (row["expected"], Status.FAILED)


def plain(value: Any) -> Any:
    """`value` as plain JSON: arrays become lists, records dicts, infinities and NaN their names."""
    if isinstance(value, Rate):
        ends = ("successes", "runs", "low", "high")
        value = {name: getattr(value, name) for name in ends}
    elif isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    elif is_dataclass(value) and not isinstance(value, type):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    elif isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__"):
        value = np.asarray(value).tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | range | set | frozenset):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, StrEnum):
        return value.value
    if not isinstance(value, bool | str | int | float | None):
        raise TypeError(f"a row holds plain values and arrays, got {type(value).__name__}")
    return value


def _one_of(kind: type[StrEnum], value: Any) -> Any:
    try:
        return kind(value)
    except ValueError:
        name = kind.__name__.lower()
        raise ValueError(f"{name} must be one of {', '.join(kind)}; got {told(value)}") from None


def _is_number(value: Any) -> bool:
    real = isinstance(value, numbers.Real) or (isinstance(value, np.ndarray) and not value.ndim)
    return real and not isinstance(value, bool) and not math.isnan(float(value))


def _check_interval(interval: Any) -> None:
    if interval is None:
        return
    ends = tuple(interval) if isinstance(interval, tuple | list | np.ndarray) else ()
    if len(ends) != 2 or not all(_is_number(end) for end in ends):
        raise ValueError(f"an interval is two numbers (low, high), got {told(interval)}")
    if ends[0] > ends[1]:
        raise ValueError(f"an interval has low ≤ high, got {told(interval)}")


def _check_code(code: Any) -> None:
    if code is None or code is True:
        return
    if not isinstance(code, str):
        raise ValueError(f"a counterexample is Python as text, got {type(code).__name__}")
    try:
        compile(code, "<counterexample>", "exec")
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"the counterexample is not Python: {error}") from None

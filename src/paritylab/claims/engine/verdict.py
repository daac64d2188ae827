"""A verdict is a value: what was found, how strong the evidence is, where it came from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Any

import numpy as np

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
    """A verdict before it is a row.

    finding: the verdict in one sentence. instead: the nearest statement that does hold, for
    corrected and refuted. margin: distance of the deciding comparison from its bound.
    counterexample: Python that shows the failure and asserts it. runs: independent runs or drawn
    cases behind the comparisons. comparisons: what was asked, measured and bounded, as plain
    values. looks: how often it was measured, each time with twice the runs. proof: what a
    certificate shows, in one sentence.
    """

    status: Status
    finding: str
    evidence: Evidence
    comparisons: Sequence[Mapping[str, Any]]
    instead: str | None = None
    margin: float | None = None
    counterexample: str | None = None
    runs: int = 0
    looks: int = 1
    proof: str | None = None


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

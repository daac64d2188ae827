"""A verdict is a value: what was found, how strong the evidence is, where it came from."""

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np


class Status(StrEnum):
    """What became of a claim; `sentence` is what people read."""

    HOLDS = "holds"
    CORRECTED = "corrected"
    REFUTED = "refuted"
    UNDECIDED = "undecided"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Status.HOLDS: "holds in every case tried",
    Status.CORRECTED: "holds with a stated correction",
    Status.REFUTED: "refuted by a counterexample or an interval that excludes it",
    Status.UNDECIDED: "undecided at this effort",
}


class Evidence(StrEnum):
    """Where the deciding number comes from; kinds are never mixed in one number."""

    EXACT = "exact"
    SAMPLED = "sampled"
    EXTRAPOLATED = "extrapolated"


class Effort(StrEnum):
    """One dial: how long a check may take."""

    QUICK = "quick"
    DEFAULT = "default"
    FULL = "full"


@dataclass(frozen=True)
class Finding:
    """What a claim function returns.

    measured: numbers by name; the key "finding" holds the verdict in one sentence and, for
    corrected or refuted claims, "instead" the nearest statement that does hold.
    predicted: what the paper says, by the same names. margin: distance of the deciding number
    from the value at which the status would change, positive on the side of this status.
    interval: 95 % interval of the deciding number when it is sampled. counterexample: Python
    that shows the failure and asserts it. series: what a figure needs (see report.figures).
    """

    status: Status
    evidence: Evidence
    measured: dict[str, Any]
    predicted: dict[str, Any] = field(default_factory=dict)
    margin: float | None = None
    interval: tuple[float, float] | None = None
    runs: int = 1
    settings: dict[str, Any] = field(default_factory=dict)
    counterexample: str | None = None
    series: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Provenance:
    """Where and how a finding was made."""

    seed: int
    effort: Effort
    seconds: float
    device: str
    versions: dict[str, str]


@dataclass(frozen=True)
class Verdict:
    """One row of the results: the claim, what was found, where it came from."""

    row: dict[str, Any]
    reused: bool = False

    @property
    def status(self) -> Status:
        return Status(self.row["status"])


#: Keys of a row, in the order they are written.
ROW_KEYS = (
    "id",
    "paper",
    "title",
    "statement",
    "status",
    "expected",
    "evidence",
    "measured",
    "predicted",
    "margin",
    "interval",
    "runs",
    "seed",
    "settings",
    "counterexample",
    "series",
    "seconds",
    "effort",
    "device",
    "versions",
)


def make_row(claim, finding: Finding, provenance: Provenance) -> dict[str, Any]:
    """The JSON row of a verdict: plain Python values, exactly the keys of `ROW_KEYS`."""
    values = {
        "id": claim.id,
        "paper": claim.paper,
        "title": claim.title,
        "statement": claim.statement,
        "expected": claim.expected_at(provenance.effort).value,
        **vars(finding),
        **vars(provenance),
    }
    return {key: plain(values[key]) for key in ROW_KEYS}


def plain(value: Any) -> Any:
    """`value` as plain JSON: arrays become lists, infinities and NaN their names."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, bool | str | int) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return plain(np.asarray(value).tolist())

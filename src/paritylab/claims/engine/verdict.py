"""Where a statement comes from, and what became of it: a verdict is a value.

As a row it is plain JSON, from which pages, tables and documents are made.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from paritylab._support.checks import shortened

if TYPE_CHECKING:
    from paritylab.claims.engine.registry import Claim


PAPERS = {
    "hg1": "k heads learn k-parity (Han & Ghoshdastidar, arXiv 2502.07553 v1)",
    "hg2": "two heads learn sparse XOR in one step (arXiv 2502.07553 v2)",
    "ks": "chain of thought learns parity (Kim & Suzuki, arXiv 2410.08633)",
    "dm": "nets learn parity from biased inputs (Daniely & Malach, arXiv 2002.07400)",
    "lab": "beyond the papers: this laboratory's own statements",
}

#: How each source is known here; what is not listed is the laboratory's own.
READINGS = {"hg1": "text", "hg2": "abstract", "ks": "text", "dm": "second-hand"}
#: Ways to know a source; a statement is in the tally only if its words were read, or are our own.
KNOWN = ("text", "code", "second-hand", "abstract")


@dataclass(frozen=True)
class Source:
    """paper: a tag in `PAPERS`. place: theorem, lemma, section or figure in it, or "ours".

    reading: how the place is known here, one of `KNOWN`; the paper's own if absent, None if ours.

    >>> HG1("Theorem 5")
    Source(paper='hg1', place='Theorem 5', reading='text')
    """

    paper: str
    place: str
    reading: str | None = None

    def __post_init__(self) -> None:
        if self.paper not in PAPERS:
            names = ", ".join(PAPERS)
            raise ValueError(f"paper must be one of {names}, got {shortened(self.paper)}")
        if self.reading is None:
            object.__setattr__(self, "reading", READINGS.get(self.paper))
        elif self.reading not in KNOWN:
            names = ", ".join(KNOWN)
            raise ValueError(f"reading must be one of {names}, got {shortened(self.reading)}")

    @property
    def is_read(self) -> bool:
        """Whether its words were read, or are our own."""
        return self.reading in (None, "text", "code")


HG1 = partial(Source, "hg1")
HG2 = partial(Source, "hg2")
KS = partial(Source, "ks")
DM = partial(Source, "dm")
#: A statement of this laboratory, or of whoever writes the claim.
OURS = Source("lab", "ours")


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
    """What running a claim gives, before it is a row; the names are those of the row.

    margin: distance of the deciding comparison from its bound. counterexample: Python that shows
    the failure and asserts it. runs: independent runs or drawn cases behind the comparisons. looks:
    how often it was measured, each time with twice the runs.
    """

    status: Status
    finding: str
    evidence: Evidence | None = None
    comparisons: Sequence[Mapping[str, Any]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    series: Mapping[str, Any] = field(default_factory=dict)
    instead: str | None = None
    margin: float | None = None
    counterexample: str | None = None
    runs: int = 0
    looks: int = 0
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
    """`value` as plain JSON: arrays become lists, infinities and NaN their names."""
    if isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__"):
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


_NUMBER = int | float | str | None
#: Keys of a row in the order they are written, each with the type of its value.
ROW: dict[str, Any] = {
    **dict.fromkeys(("id", "paper"), str),
    "source": str | None,
    **dict.fromkeys(("title", "statement", "status"), str),
    "expected": str | None,
    "finding": str,
    **dict.fromkeys(("instead", "evidence"), str | None),
    "comparisons": list,
    **dict.fromkeys(("margin", "runs"), _NUMBER),
    "looks": int | None,
    "seed": _NUMBER,
    "settings": dict,
    "counterexample": str | None,
    "series": dict,
    "seconds": _NUMBER,
    **dict.fromkeys(("effort", "device"), str | None),
    "versions": dict,
    "schema": int,
    "reading": str | None,
    "counted": bool,
    **dict.fromkeys(("counted_with", "certificate", "proof", "file"), str | None),
}
#: The version of the row's form.
SCHEMA = 4


def make_row(claim: "Claim", judged: Judged, made: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON row of a verdict: plain Python values, exactly the keys of `ROW`.

    made: how it was made, by the row's names seed, effort, seconds, device and versions.
    """
    values = {
        "id": claim.id,
        "paper": claim.paper,
        "source": claim.source.place,
        "title": claim.title,
        "schema": SCHEMA,
        "reading": claim.source.reading,
        "counted": claim.counted,
        "counted_with": claim.counted_with,
        "certificate": claim.certificate,
        "file": None if claim.is_built_in else claim.file.name,
        "statement": claim.statement,
        "expected": claim.expected_at(made["effort"]),
        **vars(judged),
        **made,
    }
    return {key: plain(values[key]) for key in ROW}


def checked_row(row: Any, name: str = "row") -> dict[str, Any]:
    """A row from a file; what is not a row of this form is refused in one line that says why."""
    if not isinstance(row, dict):
        raise ValueError(f"{name} must be an object, got {type(row).__name__}")
    name = f"{name} ({row['id']})" if "id" in row else name
    if row.get("schema", SCHEMA) != SCHEMA:
        raise ValueError(
            f"{name} has form {row['schema']}, this version reads form {SCHEMA}; "
            "make rows again with: paritylab check --json FILE"
        )
    missing = [key for key in ROW if key not in row]
    if missing:
        raise ValueError(f"{name} lacks {', '.join(missing)}")
    for key, kind in ROW.items():
        if not isinstance(row[key], kind):
            expected = getattr(kind, "__name__", kind)
            raise ValueError(f"{name}: {key} must be a {expected}, got {row[key]!r}")
    if row["status"] not in list(Status):
        raise ValueError(f"{name} has the unknown status {row['status']!r}")
    return row

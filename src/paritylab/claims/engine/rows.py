"""Rows: verdicts as plain JSON, from which everything else is made."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from paritylab.claims.engine.registry import Claim, Outcome
from paritylab.claims.engine.sources import KNOWN, READ
from paritylab.claims.engine.verdict import Effort, Status, plain


@dataclass(frozen=True)
class Provenance:
    """Where and how a finding was made."""

    seed: int
    effort: Effort
    seconds: float
    device: str
    versions: dict[str, str]


#: Keys of a row, in the order they are written.
ROW_KEYS = (
    *("id", "paper", "source", "title", "statement", "status", "expected", "finding", "instead"),
    *("evidence", "measured", "predicted", "margin", "interval", "runs", "seed", "settings"),
    *("counterexample", "series", "seconds", "effort", "device", "versions"),
    *("schema", "reading", "counted", "certificate", "proof", "file"),
)
#: The version of the row's form: 3 has rates as counts with intervals, `reading` and `counted`.
SCHEMA = 3

#: In a row that came with a store and was not run here by this user: what the page says of it.
FOUND = "found"


def make_row(claim: Claim, outcome: Outcome, provenance: Provenance) -> dict[str, Any]:
    """The JSON row of a verdict: plain Python values, exactly the keys of `ROW_KEYS`."""
    return _row(
        claim,
        {**vars(outcome.judged), "settings": outcome.settings, "series": outcome.series},
        provenance,
    )


def failed_row(claim: Claim, reason: str, provenance: Provenance) -> dict[str, Any]:
    """The row of a claim whose code raised; the reason stands where the finding would."""
    empty = dict.fromkeys(("instead", "evidence", "margin", "interval", "counterexample", "proof"))
    facts = {"measured": {}, "predicted": {}, "settings": {}, "series": {}, "runs": 0}
    return _row(claim, {**empty, **facts, "status": Status.FAILED, "finding": reason}, provenance)


def _row(claim: Claim, found: dict[str, Any], provenance: Provenance) -> dict[str, Any]:
    values = {
        "id": claim.id,
        "paper": claim.paper,
        "source": claim.source.place,
        "title": claim.title,
        "schema": SCHEMA,
        "reading": claim.source.reading,
        "counted": claim.counted,
        "certificate": claim.certificate,
        "file": None if claim.is_built_in else claim.file.name,
        "statement": claim.statement,
        "expected": claim.expected_at(provenance.effort),
        **found,
        **vars(provenance),
    }
    return {key: plain(values[key]) for key in ROW_KEYS}


#: What the status of an uncounted row means, where its source is known by summary only.
_RECONSTRUCTED = {
    "holds": "reproduced",
    "corrected": "needs a change",
    "refuted": "counterexample",
    "undecided": "undecided",
    "failed": "failed",
}
#: How a source is known, for people.
READING_WORDS = {
    "text": "text read",
    "code": "code read",
    "second-hand": "known second-hand",
    "abstract": "abstract only",
}


def verdict_word(row: Mapping[str, Any]) -> str:
    """The verdict in a word or two; for what is not counted, what its status means there.

    >>> verdict_word({"status": "holds", "counted": False, "reading": "abstract", "file": None})
    'reproduced'
    """
    if row["counted"] or row["file"] or row["status"] in ("undecided", "failed"):
        return str(row["status"])
    if row["reading"] in KNOWN and row["reading"] not in READ:
        return _RECONSTRUCTED[row["status"]]
    return "by definition" if row["status"] == "holds" else str(row["status"])


def verdict_note(row: Mapping[str, Any]) -> str:
    """Why a row stands outside the tally; "" if it is counted.

    >>> verdict_note({"status": "holds", "counted": False, "reading": "abstract", "file": None})
    'abstract only; in our reconstruction: reproduced'
    """
    if row["counted"]:
        return ""
    if row["file"]:
        return f"a claim of {row['file']}, not one of the lab"
    if row["reading"] in KNOWN and row["reading"] not in READ:
        known = READING_WORDS[row["reading"]]
        return f"{known}; in our reconstruction: {_RECONSTRUCTED[row['status']]}"
    return "checked, not counted: true by algebra or by how it is defined"


def tally(rows: Iterable[Mapping[str, Any]]) -> str:
    """What became of the counted rows, and how many others there are.

    >>> one = {"counted": True, "reading": "text", "file": None}
    >>> tally([{**one, "status": "holds"}, {**one, "status": "refuted"}])
    '2 tested: 1 holds, 1 refuted'
    """
    rows = list(rows)
    counted = Counter(row["status"] for row in rows if row["counted"])
    other = Counter(verdict_word(row) for row in rows if not row["counted"])
    parts = []
    if counted:
        listed = [f"{counted[status]} {status}" for status in Status if counted[status]]
        parts.append(f"{counted.total()} tested: {', '.join(listed)}")
    if other:
        listed = [f"{count} {word}" for word, count in other.items()]
        parts.append(f"{other.total()} checked, not counted: {', '.join(listed)}")
    return "; ".join(parts)


#: Types of a row's values; None is allowed where the second entry says so.
_FORM: dict[str, tuple[type | tuple[type, ...], bool]] = {
    **dict.fromkeys(("id", "paper", "title", "statement", "status", "finding"), (str, False)),
    **dict.fromkeys(("source", "expected", "instead", "evidence", "reading", "file"), (str, True)),
    **dict.fromkeys(("effort", "device", "counterexample", "certificate", "proof"), (str, True)),
    **dict.fromkeys(("measured", "predicted", "settings", "series", "versions"), (dict, False)),
    **dict.fromkeys(("margin", "seconds", "runs", "seed"), ((int, float, str), True)),
    "schema": (int, True),
    "interval": ((list, str), True),
    "counted": (bool, False),
}


def checked_row(row: Any, name: str = "row") -> dict[str, Any]:
    """A row of any version as one of this one; what cannot be a row is refused by name.

    Rows of version 2 lack `schema`, `reading`, `counted`, `certificate`, `proof` and `file`, and
    their rates are text; they are shown as they are, counted as they were.
    """
    if not isinstance(row, dict):
        raise ValueError(f"{name} must be an object, got {type(row).__name__}")
    name = f"{name} ({row['id']})" if "id" in row else name
    schema = row.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise ValueError(
            f"{name} has form {row['schema']}, this version reads up to {SCHEMA}; "
            "use the paritylab that wrote it"
        )
    needed = ("id", "paper", "title", "statement", "status")
    missing = [key for key in needed if row.get(key) is None]
    if missing:
        raise ValueError(f"{name} lacks {', '.join(missing)}")
    empty: dict[str, Any] = {key: {} if kind is dict else None for key, (kind, _) in _FORM.items()}
    full = {**empty, "finding": "", "counted": True}
    full.update({key: value for key, value in row.items() if value is not None})
    for key, (kind, optional) in _FORM.items():
        if full[key] is None and optional:
            continue
        if not isinstance(full[key], kind):
            expected = kind.__name__ if isinstance(kind, type) else "number"
            raise ValueError(f"{name}: {key} must be a {expected}, got {full[key]!r}")
    if full["status"] not in list(Status):
        raise ValueError(f"{name} has the unknown status {full['status']!r}")
    # Rows of version 1 keep both sentences among the measured numbers.
    full["measured"] = dict(full["measured"])
    for key in ("finding", "instead"):
        full[key] = full["measured"].pop(key, None) or full[key]
    return full

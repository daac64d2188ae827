"""Rows: verdicts as plain JSON, from which everything else is made."""

from dataclasses import dataclass
from typing import Any

from paritylab.claims.engine.registry import Claim, Outcome
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
    *("evidence", "comparisons", "margin", "runs", "looks", "seed", "settings", "counterexample"),
    *("series", "seconds", "effort", "device", "versions"),
    *("schema", "reading", "counted", "counted_with", "certificate", "proof", "file"),
)
#: The version of the row's form: 4 has comparisons; 3 and before had measured numbers by label.
SCHEMA = 4


def make_row(claim: Claim, outcome: Outcome, provenance: Provenance) -> dict[str, Any]:
    """The JSON row of a verdict: plain Python values, exactly the keys of `ROW_KEYS`."""
    return _row(
        claim,
        {**vars(outcome.judged), "settings": outcome.settings, "series": outcome.series},
        provenance,
    )


def failed_row(claim: Claim, reason: str, provenance: Provenance) -> dict[str, Any]:
    """The row of a claim whose code raised; the reason takes the place of the finding."""
    empty = dict.fromkeys(("instead", "evidence", "margin", "counterexample", "proof"))
    facts = {"settings": {}, "series": {}, "comparisons": [], "runs": 0, "looks": 0}
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
        "counted_with": claim.counted_with,
        "certificate": claim.certificate,
        "file": None if claim.is_built_in else claim.file.name,
        "statement": claim.statement,
        "expected": claim.expected_at(provenance.effort),
        **found,
        **vars(provenance),
    }
    return {key: plain(values[key]) for key in ROW_KEYS}


#: Types of a row's values; None is allowed where the second entry says so.
_FORM: dict[str, tuple[type | tuple[type, ...], bool]] = {
    **dict.fromkeys(("id", "paper", "title", "statement", "status", "finding"), (str, False)),
    **dict.fromkeys(("source", "expected", "instead", "evidence", "reading", "file"), (str, True)),
    **dict.fromkeys(("effort", "device", "counterexample", "certificate", "proof"), (str, True)),
    "counted_with": (str, True),
    **dict.fromkeys(("settings", "series", "versions"), (dict, False)),
    **dict.fromkeys(("margin", "seconds", "runs", "seed"), ((int, float, str), True)),
    "schema": (int, True),
    "comparisons": (list, False),
    "looks": (int, True),
    "counted": (bool, False),
}


def checked_row(row: Any, name: str = "row") -> dict[str, Any]:
    """A row of any version as one of this one; what cannot be a row is refused by name.

    Rows of version 3 and before have measured numbers by label instead of comparisons; they are
    shown with their sentence and without a table.
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
    empty: dict[str, Any] = {
        key: {} if kind is dict else [] if kind is list else None
        for key, (kind, _) in _FORM.items()
    }
    full: dict[str, Any] = {**empty, "finding": "", "counted": True}
    full.update({key: value for key, value in row.items() if value is not None})
    for key, (kind, optional) in _FORM.items():
        if full[key] is None and optional:
            continue
        if not isinstance(full[key], kind):
            expected = kind.__name__ if isinstance(kind, type) else "number"
            raise ValueError(f"{name}: {key} must be a {expected}, got {full[key]!r}")
    if full["status"] not in list(Status):
        raise ValueError(f"{name} has the unknown status {full['status']!r}")
    return full

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
    *("evidence", "measured", "predicted", "margin", "interval", "runs", "seed", "settings"),
    *("counterexample", "series", "seconds", "effort", "device", "versions"),
    *("schema", "reading", "counted", "certificate", "file"),
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
    empty = dict.fromkeys(("instead", "evidence", "margin", "interval", "counterexample"))
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

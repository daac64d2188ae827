"""The list of claims as data: what `paritylab claims` and a stored verdict need, without jax.

`make docs` writes it from the registry; a test fails when the two differ.
"""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from paritylab.claims.engine.recorded import recorded_status
from paritylab.claims.engine.registry import Claim
from paritylab.claims.engine.verdict import Effort, Status

FILE = Path(__file__).with_name("catalogue.json")


class Entry(NamedTuple):
    """A claim as it is listed; the fields are those of `Claim` and its source."""

    id: str
    paper: str
    place: str
    reading: str | None
    counted: bool
    certificate: str | None
    title: str
    statement: str
    seconds: tuple[float, float, float]

    def expected_at(self, effort: Effort) -> Status | None:
        """The recorded status."""
        return recorded_status(self.id, effort)

    def budget(self, effort: Effort) -> float:
        """Seconds this claim is expected to take."""
        return self.seconds[list(Effort).index(effort)]


@cache
def catalogue() -> dict[str, Entry]:
    """Every claim of the lab by id, in the order of the papers."""
    listed = json.loads(FILE.read_text(encoding="utf-8"))
    return {each["id"]: Entry(**{**each, "seconds": tuple(each["seconds"])}) for each in listed}


def entry_of(claim: Claim) -> Entry:
    """What the list says of a claim."""
    source = claim.source
    return Entry(
        claim.id,
        source.paper,
        source.place,
        source.reading,
        claim.counted,
        claim.certificate,
        claim.title,
        claim.statement,
        claim.seconds,
    )


def render(claims: Iterable[Claim]) -> str:
    """The file: one line per claim, so that a change is a small difference."""
    lines = [json.dumps(entry_of(claim)._asdict(), ensure_ascii=False) for claim in claims]
    return "[\n" + ",\n".join(lines) + "\n]\n"

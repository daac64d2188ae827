"""The one generated file of the claims: what each states, and the verdict on record.

`paritylab claims` and a stored verdict read it without loading jax. `check --record` writes status
and seconds of every effort; `make docs` writes titles and statements anew from the registry.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from paritylab._support.output_files import write_atomically
from paritylab.claims.engine.verdict import Effort, Status

if TYPE_CHECKING:
    from paritylab.claims.engine.registry import Claim

#: Next to the code, so that an installed package has it too.
FILE = Path(__file__).with_name("recorded.json")
#: A verdict is recorded if it comes out the same with each of these.
SEEDS = (0, 1, 2)


class Entry(NamedTuple):
    """A claim as it is listed. status, seconds: by effort, as recorded. module: the module of
    paritylab.claims that holds it, such as "hg1.scope"."""

    id: str
    paper: str
    place: str
    reading: str | None
    counted: bool
    certificate: str | None
    title: str
    statement: str
    status: dict[str, str] = {}  # noqa: RUF012  never changed
    seconds: dict[str, float] = {}  # noqa: RUF012
    module: str = ""

    def expected_at(self, effort: Effort) -> Status | None:
        """The recorded status, None if there is none."""
        status = self.status.get(effort.value)
        return None if status is None else Status(status)

    def budget(self, effort: Effort) -> float:
        """Seconds this claim took when it was recorded; a guess where it was not."""
        return self.seconds.get(effort.value, 5.0 if effort is not Effort.FULL else 300.0)


def recorded(file: Path | None = None) -> dict[str, Entry]:
    """Every claim of the lab by id, in the order of the papers."""
    file = file or FILE
    return _read(file, file.stat().st_mtime_ns) if file.is_file() else {}


def budget(id: str, effort: Effort) -> float:
    """Seconds that a claim took when its verdict was recorded; a guess where it was not."""
    listed = recorded().get(id)
    return 5.0 if listed is None else listed.budget(effort)


@cache
def _read(file: Path, changed: int) -> dict[str, Entry]:
    return {each["id"]: Entry(**each) for each in json.loads(file.read_text(encoding="utf-8"))}


def record(
    rows: Iterable[Mapping[str, Any]], effort: Effort, file: Path | None = None
) -> dict[str, str]:
    """Record status and seconds of every claim whose rows (one per seed) agree.

    Returns the claims that were refused with the reason; their entries stay as they were.
    """
    file = file or FILE
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["id"], []).append(row)
    entries, refused = dict(recorded(file)), {}
    for id, each in found.items():
        statuses = [row["status"] for row in each]
        if Status.FAILED in statuses or len(set(statuses)) > 1 or len(each) < len(SEEDS):
            refused[id] = f"seeds {', '.join(map(str, SEEDS))} gave {', '.join(statuses)}"
            continue
        seconds = round(sum(row["seconds"] for row in each) / len(each), 1)
        old = entries[id]
        entries[id] = old._replace(
            status={**old.status, effort.value: statuses[0]},
            seconds={**old.seconds, effort.value: seconds},
        )
    write_atomically(file, render(entries.values()))
    return refused


def with_words_of(claims: Iterable["Claim"]) -> list[Entry]:
    """The entries of these claims, with their words as they are now and what is on record."""
    made = []
    for claim in claims:
        old, source = recorded().get(claim.id), claim.source
        words = (claim.id, source.paper, source.place, source.reading, claim.counted)
        known = ({}, {}) if old is None else (old.status, old.seconds)
        module = claim.measure.__module__.partition(".claims.")[2]
        made.append(Entry(*words, claim.certificate, claim.title, claim.statement, *known, module))
    return made


def render(entries: Iterable[Entry]) -> str:
    """One line per claim, so that a changed verdict is one changed line."""
    lines = [json.dumps(each._asdict(), ensure_ascii=False) for each in entries]
    return "[\n" + ",\n".join(lines) + "\n]\n"

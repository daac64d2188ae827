"""The verdicts on record: one small file that `check --record` writes and `check` compares with."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from paritylab.claims.engine.verdict import Effort, Status
from paritylab.files import write_atomically

#: claim id → effort → status. Beside the code, so that an installed package has it too.
FILE = Path(__file__).with_name("recorded.json")
#: A verdict is recorded if it comes out the same with each of these.
SEEDS = (0, 1, 2)


def recorded(file: Path | None = None) -> dict[str, dict[str, str]]:
    """Every recorded status by claim and effort."""
    file = file or FILE
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def recorded_status(id: str, effort: Effort) -> Status | None:
    """The recorded status of a claim, or None if there is none."""
    status = recorded().get(id, {}).get(effort.value)
    return None if status is None else Status(status)


def record(
    rows: Iterable[Mapping[str, Any]], effort: Effort, file: Path | None = None
) -> dict[str, str]:
    """Record the status of every claim whose rows (one per seed) agree.

    Returns the claims that were refused with the reason; their entries stay as they were.
    """
    file = file or FILE
    statuses: dict[str, list[str]] = {}
    for row in rows:
        statuses.setdefault(row["id"], []).append(row["status"])
    entries, refused = recorded(file), {}
    for id, found in statuses.items():
        if Status.FAILED in found or len(set(found)) > 1 or len(found) < len(SEEDS):
            refused[id] = f"seeds {', '.join(map(str, SEEDS))} gave {', '.join(found)}"
        else:
            entries.setdefault(id, {})[effort.value] = found[0]
    write_atomically(file, render(entries))
    return refused


def render(entries: Mapping[str, Mapping[str, str]]) -> str:
    """One line per claim, in order of ids, so that a changed verdict is one changed line."""
    order = [effort.value for effort in Effort]
    lines = [
        f" {json.dumps(id)}: {json.dumps({e: entries[id][e] for e in order if e in entries[id]})}"
        for id in sorted(entries)
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"

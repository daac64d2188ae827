"""What people read of a row: numbers, the table of comparisons, what counts.

Page, terminal and documents take their words from here, so that they say the same.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from paritylab.claims.engine.verdict import Status
from paritylab.claims.engine.wording import bound_text, number, prose, value_text

__all__ = ["Line", "duration", "lines", "note", "number", "prose", "tally"]

Row = Mapping[str, Any]

#: How a source is known here. A statement is counted only if its words or code were read.
READINGS = {
    "text": "text read",
    "code": "code read",
    "second-hand": "known second-hand",
    "abstract": "only the abstract was read",
}


def duration(seconds: float) -> str:
    """Seconds below two minutes, then minutes, then hours.

    >>> [duration(s) for s in (0.31, 99, 600, 9000)]
    ['0.3 s', '99 s', '10 min', '2.5 h']
    """
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


# ---- the table of a verdict


class Line(NamedTuple):
    """One comparison of a verdict as text: what was asked, measured, allowed, and whether it
    passed. value: the measured number itself. role: printed, repair, control or note."""

    asked: str
    measured: str
    bound: str
    passed: str
    value: Any
    role: str


#: The heads of the columns, everywhere a table is shown.
COLUMNS = ("asked", "measured", "bound", "passed")
#: What stands before the label of a comparison that is not the printed statement's.
_ROLES = {"printed": "", "repair": "instead: ", "control": "control: ", "note": "note: "}


def lines(row: Row) -> list[Line]:
    """The comparisons of a row, as lines of a table.

    >>> rate = {"value": 0.25, "low": 0.15, "high": 0.38, "runs": 60, "successes": 15}
    >>> one = {"label": "runs that learn", "value": rate, "bound": 0.85, "side": "at least",
    ...        "role": "printed", "passed": False}
    >>> lines({"comparisons": [one]})[0][:4]
    ('runs that learn', '15 of 60, 25 % [15, 38]', 'at least 85 %', 'no')
    """
    made = []
    for each in row.get("comparisons") or ():
        value, role = each["value"], each["role"]
        rate = isinstance(value, dict) and "successes" in value
        passed = {True: "yes", False: "no", None: "" if role == "note" else "straddles"}
        made.append(
            Line(
                f"{_ROLES[role]}{prose(each['label'])}",
                value_text(value),
                bound_text(each["side"], each["bound"], share=rate),
                passed[each["passed"]],
                value["value"] if isinstance(value, dict) else value,
                role,
            )
        )
    return made


# ---- what counts


def note(row: Row) -> str:
    """Why a row is not counted, in addition to its status; "" if it is.

    >>> note({"counted": False, "reading": "abstract", "file": None})
    'in our reconstruction, not counted: only the abstract was read'
    """
    if row["counted"]:
        return ""
    if row["file"]:
        return f"a claim of {row['file']}, not counted"
    if row["reading"] in ("second-hand", "abstract"):
        return f"in our reconstruction, not counted: {READINGS[row['reading']]}"
    if row.get("counted_with"):
        return f"not counted again: the same erratum is counted with {row['counted_with']}"
    return "not counted"


def tally(rows: Iterable[Row]) -> str:
    """What became of the counted rows, then of the others, in the same words.

    >>> one = {"counted": True, "reading": "text", "file": None}
    >>> tally([{**one, "status": "holds"}, {**one, "status": "refuted"}])
    '2 tested: 1 holds, 1 refuted'
    """
    groups: dict[str, Counter[str]] = {"tested": Counter()}
    for row in rows:
        kind = note(row).partition(":")[0] or "tested"
        groups.setdefault(kind, Counter())[row["status"]] += 1
    return "; ".join(
        f"{found.total()} {kind}: "
        # 1 holds, 2 hold, 2 refuted
        + ", ".join(
            f"{found[each]} {'hold' if each is Status.HOLDS and found[each] > 1 else each}"
            for each in Status
            if found[each]
        )
        for kind, found in groups.items()
        if found
    )

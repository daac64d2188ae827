"""What people read of a row: numbers, the table of comparisons, why a row is not counted.

Page, terminal and documents take their words from here, so that they say the same.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from paritylab.claims.engine.verdict import Status
from paritylab.statistics import share_text

Row = Mapping[str, Any]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: So many entries of a list are written out.
LONG = 8
#: How a source is known here. A statement is counted only if its words or code were read.
READINGS = {
    "text": "text read",
    "code": "code read",
    "second-hand": "known second-hand",
    "abstract": "only the abstract was read",
}


def number(value: Any) -> str:
    """A value for people: three digits that matter, powers of ten written as such.

    >>> [number(v) for v in (0.0, -0.0, 12345, 0.126589, 4e-14, 1e6, None)]
    ['0', '0', '12,345', '0.127', '4·10⁻¹⁴', '1,000,000', '–']
    """
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    if isinstance(value, float):
        return _float(value) if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return "; ".join(f"{words(key)}: {number(entry)}" for key, entry in value.items())
    if isinstance(value, list | tuple):
        more = [f"… {len(value)} in all"] if len(value) > LONG else []
        return ", ".join([*map(number, value[:LONG]), *more])
    return prose(str(value))


def _float(value: float) -> str:
    rounded = float(f"{value:.3g}")
    size = abs(rounded)
    if not rounded:
        return "0"
    if size >= 1e7 or size < 1e-3:
        factor, exponent = f"{size:.2e}".split("e")
        head = "" if float(factor) == 1 else f"{float(factor):g}·"
        text = f"{head}10{str(int(exponent)).translate(_SUPERSCRIPTS)}"
    else:
        text = f"{round(abs(value)):,}" if size >= 1000 else f"{size:g}"
    return f"−{text}" if rounded < 0 else text


def short(value: float) -> str:
    """A tick of an axis: as `number`, but 66k and 1M for large numbers.

    >>> [short(v) for v in (64, 1024, 65536, 1e6, 1e-5, 0.25, -2.0)]
    ['64', '1,024', '66k', '1M', '10⁻⁵', '0.25', '−2']
    """
    size = abs(value)
    if 1e4 <= size < 1e9:
        unit, name = (1e6, "M") if size >= 1e6 else (1e3, "k")
        text = f"{size / unit:.3g}{name}" if size < 10 * unit else f"{size / unit:.0f}{name}"
        return f"−{text}" if value < 0 else text
    return number(int(value) if value == round(value) and size < 1e4 else float(value))


def prose(text: str) -> str:
    """A sentence with its numbers as people write them.

    >>> prose("risk 4e-14, 0e+00 and 15% of printed_bound")
    'risk 4·10⁻¹⁴, 0 and 15\\xa0% of printed bound'
    """
    text = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)(?!\w)", _power, str(text))
    text = re.sub(r"(?<=\d) ?%", "\u00a0%", text)
    return re.sub(r"(?<=[a-zA-Z])_(?=[a-z]{2})", " ", text)


def _power(found: re.Match[str]) -> str:
    factor, exponent = found[1], int(found[2])
    if float(factor) == 0:
        return "0"
    if 0 <= exponent <= 3:
        return f"{float(factor) * 10**exponent:,.12g}"
    power = "10" + str(exponent).translate(_SUPERSCRIPTS)
    return power if float(factor) == 1 else f"{factor}·{power}"


def words(key: Any) -> str:
    """A name in words."""
    return prose(str(key).replace("_", " "))


def first_sentence(text: str) -> str:
    """The first sentence of a finding; older rows have several.

    >>> first_sentence("Off by 0.16 at n = 8. The rest stands.")
    'Off by 0.16 at n = 8.'
    """
    first = re.split(r"(?<=[^\s.]{2})\.\s+(?=[A-Z])|(?<=[0-9])\.\s+(?=[A-Z])", prose(text))[0]
    return first if first.endswith((".", "!", "?")) else f"{first}."


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
    """The comparisons of a row; none for rows of the older forms.

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
                _measured(value),
                _bound(each["side"], each["bound"], share=rate),
                passed[each["passed"]],
                value["value"] if isinstance(value, dict) else value,
                role,
            )
        )
    return made


def _measured(value: Any) -> str:
    if not isinstance(value, dict):
        return number(value)
    if "successes" in value:
        if not value["runs"]:
            return "no runs"
        share, low, high = (share_text(value[part], 1) for part in ("value", "low", "high"))
        ends = f"[{low.removesuffix(' %')}, {high.removesuffix(' %')}]"
        return f"{number(value['successes'])} of {number(value['runs'])}, {share} {ends}"
    ends = f"[{number(value['low'])}, {number(value['high'])}]"
    count = f" of {number(value['runs'])}" if value.get("runs") else ""
    return f"{number(value['value'])} {ends}{count}"


def _bound(side: str | None, bound: Any, share: bool) -> str:
    if side is None or bound is None:
        return ""
    shown = [f"{100 * each:.3g} %" if share else number(each) for each in _ends(bound)]
    return f"{side} {' to '.join(shown)}"


def _ends(bound: Any) -> list[float]:
    return list(bound) if isinstance(bound, list | tuple) else [bound]


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
        + ", ".join(_counted(found[status], status) for status in Status if found[status])
        for kind, found in groups.items()
        if found
    )


def _counted(count: int, status: Status) -> str:
    """The count with its word: 1 holds, 2 hold, 2 refuted."""
    return f"{count} {'hold' if status is Status.HOLDS and count > 1 else status}"

"""Rows for the tests of page and browser: real ones, invented ones, hostile ones."""

import json
from pathlib import Path

from paritylab.claims import Line, Lines
from paritylab.claims.engine.figures import Bars, Heatmap, SideBySide

KEPT = Path(__file__).parents[2] / "docs" / "rows.json"
HOSTILE = (
    "\"'><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>{{7*7}}</style>"
)
LINES = Lines([Line("a", [1, 2], [3, 4])], x="n", y="risk").series()


def kept_rows():
    """The rows of the last default check."""
    return json.loads(KEPT.read_text())


def many_rows(count):
    """As many rows as the laboratory will have, made of the kept ones under other ids."""
    rows = kept_rows()
    more = [{**rows[i % len(rows)], "id": f"{rows[i % len(rows)]['id']}-{i}"} for i in range(count)]
    return (rows + more)[:count]


def row(**changes):
    """A row that can be shown, changed as asked."""
    fine = {
        "id": "lab-one",
        "paper": "lab",
        "source": "ours",
        "title": "A title",
        "statement": "A statement.",
        "status": "holds",
        "expected": "holds",
        "finding": "It does.",
        "instead": None,
        "evidence": "exact",
        "measured": {"largest error": 1e-9},
        "series": LINES,
    }
    return {**fine, **changes}


def hostile_rows():
    """A row for each status, with a hostile string wherever a string may be."""
    lines = Lines([Line(HOSTILE, [1, 2], [1, 2])], x=HOSTILE, y=HOSTILE, caption=HOSTILE)
    bars = Bars({HOSTILE: 0.5}, y=HOSTILE, caption=HOSTILE)
    heat = Heatmap([[0.1, 0.9]], x=HOSTILE, y=HOSTILE, title=HOSTILE, x_names=[HOSTILE] * 2)
    everywhere = dict.fromkeys(
        ("title", "statement", "source", "finding", "instead", "evidence", "expected"), HOSTILE
    )
    everywhere |= dict.fromkeys(("counterexample", "device", "effort", "paper"), HOSTILE)
    everywhere |= {
        name: {HOSTILE: HOSTILE, "inner": {HOSTILE: [HOSTILE]}}
        for name in ("measured", "predicted", "settings", "versions")
    }
    everywhere |= dict.fromkeys(("seed", "runs", "margin", "seconds", "interval"), HOSTILE)
    series = SideBySide([lines, bars, heat], caption=HOSTILE).series()
    statuses = ("holds", "corrected", "refuted", "undecided", "failed")
    return [
        {**everywhere, "id": f"{HOSTILE}{status}", "status": status, "series": series}
        for status in statuses
    ]

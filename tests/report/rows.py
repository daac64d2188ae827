"""Rows for the tests of page and browser: recorded ones, invented ones, hostile ones."""

import json
from pathlib import Path

from paritylab.claims.engine.verdict import ROW, SCHEMA
from paritylab.figures import Bars, Heatmap, Line, Lines, SideBySide

KEPT = Path(__file__).parents[2] / "docs" / "rows.json"
HOSTILE = (
    "\"'><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>{{7*7}}</style>"
)
RATE = {"value": 0.25, "low": 0.15, "high": 0.38, "runs": 60, "successes": 15}
MEAN = {"value": -1.02, "low": -1.1, "high": -0.94, "runs": 12}


def comparison(label="runs that learn", value=RATE, role="printed", **changes):
    """One comparison of a row: a quarter of the runs learn, 85 % was asked."""
    fine = {"bound": 0.85, "side": "at least", "passed": False}
    if role == "note":
        fine = {"bound": None, "side": None, "passed": None}
    return {"label": label, "value": value, "role": role, **fine, **changes}


#: A row in which nothing is known but its form.
EMPTY = dict.fromkeys(ROW) | {"settings": {}, "versions": {}, "schema": SCHEMA, "counted": True}
#: A row that can be shown, with a comparison of every role and every kind of value.
FINE = {
    "id": "lab-one",
    "paper": "lab",
    "source": "ours",
    "title": "A title",
    "statement": "A statement.",
    "status": "holds",
    "expected": "holds",
    "finding": "It does.",
    "evidence": "exact",
    "comparisons": [
        comparison(),
        comparison("error", 3.2e-12, "control", bound=1e-9, side="at most", passed=True),
        comparison("slope", MEAN, "repair", bound=[-1.2, -0.8], side="within", passed=True),
        comparison("gap", 0.5, bound=0.4, side="at most", passed=None),
        comparison("runs without jitter", {**RATE, "successes": 0, "value": 0.0, "low": 0}, "note"),
    ],
    "looks": 1,
    "series": Lines([Line("a", [1, 2], [3, 4])], x="n", y="risk").series(),
}


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
    return {**EMPTY, **FINE, **changes}


def hostile_rows():
    """A row for each status, with a hostile string wherever a string may be."""
    lines = Lines([Line(HOSTILE, [1, 2], [1, 2])], x=HOSTILE, y=HOSTILE, caption=HOSTILE)
    bars = Bars({HOSTILE: 0.5}, y=HOSTILE, caption=HOSTILE)
    heat = Heatmap([[0.1, 0.9]], x=HOSTILE, y=HOSTILE, title=HOSTILE, x_names=[HOSTILE] * 2)
    nested = {HOSTILE: HOSTILE, "inner": {HOSTILE: [HOSTILE]}}
    everywhere = dict.fromkeys(ROW, HOSTILE) | {
        "schema": SCHEMA,
        "counted": True,
        "looks": 2,
        "settings": nested,
        "versions": nested,
        "comparisons": [comparison(HOSTILE), comparison("x", HOSTILE, "note")],
        "series": SideBySide([lines, bars, heat], caption=HOSTILE).series(),
    }
    return [
        {**everywhere, "id": f"{HOSTILE}{status}", "status": status}
        for status in ("holds", "corrected", "refuted", "undecided", "failed")
    ]

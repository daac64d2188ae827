"""One figure for the whole laboratory: three findings, each with its sentence, from rows alone."""

from typing import Any

Row = dict[str, Any]
Series = dict[str, Any]
#: So many findings are shown.
PANELS = 3
#: The claims of each panel, in order of worth: their overviews are drawn into one, the first has
#: the title.
CLAIMS = (
    ("hg1-thm5", "hg1-remark10", "lab-heads-learn"),
    ("hg2-one-step",),
    ("ks-experiments",),
    ("hg1-temperature",),
    ("lab-fixed-tau",),
)


def glance(rows: list[Row]) -> Series:
    """Heads that learn, XOR in one step, a chain of thought; others where these are not there."""
    overviews = {row["id"]: (row.get("series") or {}).get("overview") for row in rows}
    panels = [_panel([overviews.get(id) for id in ids]) for ids in CLAIMS]
    shown = [panel for panel in panels if panel][:PANELS]
    if not shown:
        return {}
    return {
        "kind": "side by side",
        "parts": shown,
        "caption": "Findings at a glance; whiskers are 95 % intervals.",
    }


def _panel(overviews: list[Any]) -> Series:
    """The overviews of a panel as one figure of lines; none if its first claim is not there."""
    known = [each for each in overviews if isinstance(each, dict) and each.get("lines")]
    if not known or overviews[0] is not known[0]:
        return {}
    return {**known[0], "lines": [line for each in known for line in each["lines"]]}

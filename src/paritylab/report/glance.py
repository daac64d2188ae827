"""One figure for the whole laboratory, drawn from the rows of three claims."""

from typing import Any


def glance(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Heads that learn, XOR in one step, a chain of thought; empty if no such row is there."""
    by_id = {row["id"]: row for row in rows}
    parts = [
        panel
        for id, pick in (("hg1-code", _first), ("hg2-one-step", _first), ("ks-experiments", _first))
        if id in by_id and (panel := pick(by_id[id].get("series") or {}))
    ]
    if not parts:
        return {}
    return {
        "kind": "side by side",
        "parts": parts,
        "caption": "Left: k heads trained as in HG1's public code. Middle: the worst error over "
        "all inputs after one XOR step (HG2). Right: loss of KS's four models.",
    }


def _first(series: dict[str, Any]) -> dict[str, Any]:
    """The series itself, or the first part of one with several."""
    return series["parts"][0] if series.get("kind") == "side by side" else series

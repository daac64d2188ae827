"""One figure for the whole laboratory, drawn from the rows of a few claims."""

import re
from typing import Any


def glance(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Heads that learn, XOR in one step, a chain of thought; empty if no such row is there."""
    by_id = {row["id"]: row for row in rows}
    parts = [
        panel
        for panel in (_heads(by_id), _first(by_id, "hg2-one-step"), _first(by_id, "ks-experiments"))
        if panel
    ]
    if not parts:
        return {}
    return {
        "kind": "side by side",
        "parts": parts,
        "caption": "HG1: how often k heads find the hidden bits, by procedure (k differs along the "
        "line). HG2: the largest error over all inputs after one XOR step. KS: loss of the four "
        "published models.",
    }


def _heads(by_id: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Success rate against n: the theorem's procedure, the public code's, ours."""
    sources = (
        ("theorem's procedure", "hg1-thm5", "share of runs that reach risk 0.05"),
        ("public code", "lab-code", "share of runs with heads on exactly B"),
        ("annealed (ours)", "lab-heads-learn", "single_start_rate"),
    )
    lines = []
    for label, id, name in sources:
        points = _by_size(by_id.get(id, {}), name)
        if points:
            lines.append({"label": label, "x": list(points), "y": list(points.values())})
    if not lines:
        return {}
    return {
        "kind": "lines",
        "x": {"label": "n", "scale": "log"},
        "y": {"label": "share of runs that find B"},
        "lines": lines,
    }


def _by_size(row: dict[str, Any], name: str) -> dict[int, float]:
    """Rates by n from {"n=12, k=2": rate, …}, or one rate at the n of the row's settings."""
    value = row.get("measured", {}).get(name)
    if isinstance(value, dict):
        found = {re.search(r"n ?= ?(\d+)", str(key)): rate for key, rate in value.items()}
        return {int(match[1]): float(rate) for match, rate in found.items() if match}
    if isinstance(value, int | float) and "n" in row.get("settings", {}):
        return {int(row["settings"]["n"]): float(value)}
    return {}


def _first(by_id: dict[str, dict[str, Any]], id: str) -> dict[str, Any]:
    """A claim's figure, or its first part."""
    series = by_id.get(id, {}).get("series") or {}
    return series["parts"][0] if series.get("kind") == "side by side" else series

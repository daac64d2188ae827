"""A rule told to people: sentences, a small picture for the terminal, the series of a figure."""

from typing import Any

from paritylab.discovery.rules import Rule, target_phrase
from paritylab.discovery.words import chance, counted, duration, percent, shown

#: Columns a picture on the terminal may take, and lines.
_WIDTH, _LINES = 40, 16


def lines_of(rule: Rule) -> list[str]:
    """Everything that is said of a target, a sentence a line."""
    facts = rule.evidence
    if rule.found:
        lines = [
            f"{rule.statement}; holds for {percent(facts['agreement'])} of "
            f"{counted(facts['rows'], 'row')}; chance of seeing this by luck "
            f"{chance(facts['p_value'])}"
        ]
        low, high = facts["noise_interval"]
        lines.append(
            f"  noise: {percent(facts['noise_rate'])} of rows do not fit "
            f"[{100 * low:.1f}, {100 * high:.1f}]"
        )
        if facts.get("uneven_errors"):
            lines.append("  beware: rows that do not fit are not spread evenly over these columns")
        lines += _alternatives(facts.get("alternatives", []))
    else:
        lines = _nothing(rule)
    lines.append(f"  searched: {facts['searched']}; {duration(facts['seconds'])}")
    if not facts["complete"]:
        lines.append(f"  not searched, because the budget ended: {facts['not_searched']}")
    return lines


def _alternatives(others: list[list[str]], most: int = 5) -> list[str]:
    if not others:
        return []
    sets = "; ".join("{" + ", ".join(shown(name) for name in each) + "}" for each in others[:most])
    rest = f" and {len(others) - most:,} more" if len(others) > most else ""
    return [f"  ambiguous: on these rows the same holds, or its opposite, for {sets}{rest}"]


def _nothing(rule: Rule) -> list[str]:
    facts = rule.evidence
    name = shown(rule.target.name)
    if facts["better_table"]:
        return [
            f"no parity explains {name}: another function of a few columns fits better",
            f"  {facts['better_table']}",
        ]
    ended = "" if facts["complete"] else " before the budget ended"
    lines = [f"{rule.statement}{ended} (false alarms allowed: {facts['alpha']:g})"]
    seen = [
        f"of {counted(each['k'], 'column')} {percent(each['agreement'])}"
        for each in facts["seen"]
        if each["agreement"] is not None
    ]
    rows = counted(facts["rows"], "row")
    if seen:
        lines.append(f"  {rows} would have shown a parity that fits this many: {', '.join(seen)}")
    elif facts["seen"]:
        lines.append(f"  {rows} are too few to show even a parity without noise")
    if facts["rows_needed"]:
        lines.append(
            f"  the best candidate fits {percent(facts['agreement'])} of rows; if it is real, "
            f"about {facts['rows_needed']:,} rows would show it"
        )
    return lines


def picture(rule: Rule, blocks: bool = True) -> list[str]:
    """How often the target is true by the number of terms that are, as bars of text."""
    profile = rule.evidence.get("profile", [])
    if not profile or len(profile) > _LINES:
        return []
    title = target_phrase(rule.target)
    lines = [f"  {'terms true':>10}  {'rows':>9}  {title}"]
    for each in profile:
        bar = ("█" if blocks else "#") * round(_WIDTH * each["share"])
        lines.append(
            f"  {each['true']:>10}  {each['rows']:>9,}  {bar}{' ' if bar else ''}"
            f"{percent(each['share'])}"
        )
    return lines


def series(rules: list[Rule]) -> dict[str, Any]:
    """The same as a figure for `report.figures`: one panel per rule."""
    parts = [
        {
            "kind": "bars",
            "x": {"label": _safe(f"terms that are true, of {len(rule.terms)}")},
            "y": {"label": _safe(f"share of rows with {target_phrase(rule.target)}")},
            "bars": {
                "names": [str(each["true"]) for each in rule.evidence["profile"]],
                "values": [each["share"] for each in rule.evidence["profile"]],
                "low": [each["low"] for each in rule.evidence["profile"]],
                "high": [each["high"] for each in rule.evidence["profile"]],
            },
        }
        for rule in rules
    ]
    return {"kind": "side by side", "parts": parts}


def _safe(text: str) -> str:
    """Text in which matplotlib sees no formula."""
    return text.replace("$", r"\$")

"""A rule told to people: sentences, a small picture for the terminal, the series of a figure."""

from typing import Any

from paritylab.discovery.genotypes import penetrance_lines
from paritylab.discovery.rules import Rule, target_phrase
from paritylab.discovery.words import chance, counted, duration, shown
from paritylab.solvers.outcome import Search, Stop
from paritylab.solvers.outcome_text import not_searched_text, searched_text
from paritylab.statistics import Rate, share_text

#: Columns a picture on the terminal may take, and lines.
_WIDTH, _LINES = 40, 16
_ENDED = {Stop.BUDGET: " before the budget ended", Stop.TOO_MANY: " within the budget"}
_SIDES = ("false", "true")


def lines_of(rule: Rule) -> list[str]:
    """Everything that is said of a target, a sentence a line."""
    search = rule.search
    if search is None:
        return [rule.statement]
    lines = _found(rule) if rule.found else _nothing(rule, search)
    if "pair" in rule.evidence:
        lines += penetrance_lines(rule.evidence["pair"], target_phrase(rule.target))
    lines.append(f"  searched: {searched_text(search)}; {duration(search.seconds)}")
    left = not_searched_text(search)
    return lines if left is None else [*lines, f"  {left}"]


def _found(rule: Rule) -> list[str]:
    facts = rule.evidence
    rows, fitting = facts["rows"], facts["fitting"]
    lines = [
        f"{rule.statement}; holds for {share_text(fitting, rows)} of {counted(rows, 'row')}; "
        f"chance of seeing this by luck {chance(facts['p_value'])}",
        f"  noise: {Rate(rows - fitting, rows)} of rows do not fit",
    ]
    if facts["uneven_errors"]:
        lines.append(f"  beware: {_uneven(facts['uneven_errors'])}")
    return lines + _alternatives(facts["alternatives"])


def _uneven(uneven: dict[str, Any]) -> str:
    """What the rows that do not fit depend on."""
    off, on = (share_text(uneven[side]["misses"], uneven[side]["rows"]) for side in _SIDES)
    if not uneven["columns"]:
        return f"{off} of rows predicted false do not fit, {on} of those predicted true"
    columns = ", ".join(uneven["columns"])
    one = len(uneven["columns"]) == 1
    when = f"{columns} is" if one else f"an odd number of {{{columns}}} are"
    return f"{on} of rows do not fit where {when} true, {off} elsewhere"


def _alternatives(others: list[list[str]], most: int = 5) -> list[str]:
    if not others:
        return []
    sets = "; ".join("{" + ", ".join(shown(name) for name in each) + "}" for each in others[:most])
    rest = f" and {len(others) - most:,} more" if len(others) > most else ""
    return [f"  ambiguous: on these rows the same holds, or its opposite, for {sets}{rest}"]


def _nothing(rule: Rule, search: Search) -> list[str]:
    facts = rule.evidence
    if facts["better_table"]:
        return [
            f"no parity explains {shown(rule.target.name)}: another function of a few columns fits "
            "better",
            f"  {_better(facts['better_table'], facts['rows'])}",
        ]
    lines = [
        f"{rule.statement}{_ENDED.get(search.stop, '')} (false alarms allowed: {search.alpha:g})"
    ]
    lines += _power(search)
    if facts["rows_needed"]:
        lines.append(
            f"  the best candidate fits {share_text(facts['fitting'], facts['rows'])} of rows; if "
            f"it is real, about {facts['rows_needed']:,} rows would show it"
        )
    return lines


def _better(better: dict[str, Any], rows: int) -> str:
    columns = ", ".join(better["columns"])
    return (
        f"the more frequent answer to each combination of {{{columns}}} fits "
        f"{share_text(better['fitting'], rows)} of rows, the best parity "
        f"{share_text(better['parity_fitting'], rows)} "
        f"(chance of seeing this by luck {chance(better['p_value'])})"
    )


def _power(search: Search) -> list[str]:
    """What would have been seen, for the smallest sizes that were searched completely."""
    power, rows = search.power(most=3), counted(search.rows, "row")
    seen = [
        f"of {counted(k, 'column')} {share_text(agreement, 1)}"
        for k, agreement in power
        if agreement is not None
    ]
    if seen:
        return [f"  {rows} would have shown a parity that fits this many: {', '.join(seen)}"]
    if not power:
        return []
    rare = min(search.minus, search.rows - search.minus)
    if 4 * rare >= search.rows:
        return [f"  {rows} are too few to show even a parity without noise"]
    few = f"{rare:,} of them differ from the others in the target"
    return [f"  {rows} are too few to show any parity: only {few}"]


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
            f"{share_text(each['share'], 1)}"
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

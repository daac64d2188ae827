"""A rule told to people: sentences, a small picture for the terminal, the series of a figure."""

from typing import Any

from paritylab.discovery.genotypes import penetrance_lines
from paritylab.discovery.rules import Rule, target_phrase
from paritylab.discovery.words import chance, counted, duration
from paritylab.solvers.conclusion import Outcome
from paritylab.solvers.independent_rows import Dependence
from paritylab.solvers.outcome import Conclusion, Search, Stop
from paritylab.solvers.outcome_text import not_searched_text, searched_text
from paritylab.statistics import share_text

#: Columns a picture on the terminal may take, and lines.
_WIDTH, _LINES = 40, 16
_ENDED = {Stop.BUDGET: " before the budget ended", Stop.TOO_MANY: " within the budget"}
_KNOWN = "if the rows are independent all the same, --rows independent uses all of them"


def lines_of(rule: Rule) -> list[str]:
    """Everything that is said of a target, a sentence a line."""
    search, outcome = rule.search, rule.outcome
    if search is None or outcome is None:
        return [rule.statement]
    if outcome.conclusion is Conclusion.NONE:
        lines = _nothing(rule, search, outcome)
    else:
        first, *more = outcome.sentences()
        lines = [first, *(f"  {each}" for each in more), *_luck(rule, outcome)]
    lines += [f"  {each}" for each in outcome.rows_text()]
    if {Dependence.ORDER, Dependence.FAMILIES} & set(outcome.rows.why):
        lines.append(f"  {_KNOWN}")
    if "pair" in rule.evidence:
        lines += penetrance_lines(rule.evidence["pair"], target_phrase(rule.target))
    lines.append(f"  searched: {searched_text(search)}; {duration(search.seconds)}")
    left = not_searched_text(search)
    return lines if left is None else [*lines, f"  {left}"]


def _luck(rule: Rule, outcome: Outcome) -> list[str]:
    """The chance of a false alarm, and what it assumes."""
    facts = rule.evidence
    fits = f"{facts['fitting']:,} of {counted(facts['rows'], 'row')} fit"
    assumes = (
        "if these rows do not depend on each other"
        if outcome.rows.checked
        else "rows taken as independent, as asked"
    )
    return [
        f"  {fits} ({share_text(facts['fitting'], facts['rows'])}); chance of such a fit by luck "
        f"{chance(facts['p_value'])}, {assumes}"
    ]


def _nothing(rule: Rule, search: Search, outcome: Outcome) -> list[str]:
    facts = rule.evidence
    lines = [f"{outcome.statement}{_ENDED.get(search.stop, '')}"]
    if outcome.rows.too_few:
        return [*lines, f"  {outcome.reason}"]
    lines.append(
        f"  alpha {search.alpha:g}: of 100 targets that have nothing to do with the columns, about "
        f"{100 * search.alpha:.3g} at most get a parity"
    )
    lines += _power(search)
    if facts["rows_needed"]:
        lines.append(
            f"  the best candidate fits {facts['fitting']:,} of {counted(facts['rows'], 'row')} "
            f"({share_text(facts['fitting'], facts['rows'])}); if it is real, about "
            f"{facts['rows_needed']:,} rows would show it"
        )
    return lines


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

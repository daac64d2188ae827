"""Numbers and sentences of a row as people read them; every number keeps its value in the page."""

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from markupsafe import Markup, escape

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: So many entries of a list are written out.
LONG = 8
#: How many numbers of a card stand out.
KEY_NUMBERS = 3

Row = dict[str, Any]


class Fact(NamedTuple):
    """A number of a row. name: what it is. case: for which size or setting, or "". value: as it
    is in the row. predicted: what the source says, or None."""

    name: str
    case: str
    value: Any
    predicted: Any = None


class Group(NamedTuple):
    """Facts of one name, for a table."""

    name: str
    facts: list[Fact]


def number(value: Any) -> str:
    """A value for people: four digits that matter, powers of ten written as such.

    >>> [number(v) for v in (0.0, -0.0, 12345, 0.126589, 4e-14, 1e6, None)]
    ['0', '0', '12,345', '0.1266', '4·10⁻¹⁴', '1,000,000', '–']
    """
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    if isinstance(value, float) and math.isfinite(value):
        return _float(value)
    if isinstance(value, dict):
        return "; ".join(f"{words(key)}: {number(entry)}" for key, entry in value.items())
    if isinstance(value, list | tuple):
        shown = [number(entry) for entry in value[:LONG]]
        more = [f"… {len(value)} in all"] if len(value) > LONG else []
        return ", ".join([*shown, *more])
    return prose(str(value))


def _float(value: float) -> str:
    rounded = float(f"{value:.4g}")
    size = abs(rounded)
    if not rounded:
        return "0"
    if size >= 1e7 or size < 1e-3:
        factor, exponent = f"{size:.3e}".split("e")
        head = f"{float(factor):.3g}"
        power = "10" + str(int(exponent)).translate(_SUPERSCRIPTS)
        text = power if head == "1" else f"{head}·{power}"
    else:
        text = f"{size:,.0f}" if size == round(size) else f"{size:,.12g}"
    return f"−{text}" if rounded < 0 else text


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


def data(value: Any, name: str = "") -> Markup:
    """A number as an element that also holds the row's own value; shares are percentages."""
    if isinstance(value, list | tuple):
        shown = [data(entry, name) for entry in value[:LONG]]
        more = [f"… {len(value)} in all"] if len(value) > LONG else []
        return Markup(", ").join([*shown, *more])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return escape(number(value))
    share = re.match(r"share|rate|how often", name) and 0 <= value <= 1
    text = f"{100 * value:.3g}\u00a0%" if share else number(value)
    return Markup('<data value="{}">{}</data>').format(repr(value), text)


def groups(row: Row) -> tuple[list[Fact], list[Group]]:
    """The numbers that stand out, and all others as groups for a table."""
    facts = list(_facts(row))
    simple = [fact for fact in facts if _is_simple(fact.value)]
    names = [fact.name for fact in simple]
    # What the source speaks of comes first, then numbers of different names.
    ranks = [(f.predicted is None, names[:i].count(f.name), i) for i, f in enumerate(simple)]
    chosen = [simple[i] for *_, i in sorted(ranks)[:KEY_NUMBERS]]
    rest: list[Group] = []
    for fact in facts:
        if any(fact is each for each in chosen):
            continue
        if rest and rest[-1].name == fact.name and fact.case:
            rest[-1].facts.append(fact)
        else:
            rest.append(Group(fact.name, [fact]))
    return chosen, rest


def full_name(fact: Fact) -> str:
    """Name and case in one."""
    return f"{fact.name}, {fact.case}" if fact.case else fact.name


def _is_simple(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= 20)


def _facts(row: Row) -> Iterator[Fact]:
    measured, predicted = row["measured"], row["predicted"]
    bases = [_split(key)[0] for key in measured]
    for key, value in measured.items():
        name, case = _split(key)
        if bases.count(name) < 2:
            name, case = str(key), ""
        said = predicted.get(key, predicted.get(name))
        if isinstance(value, dict):
            for case, entry in _cases(value):
                told = said.get(case) if isinstance(said, dict) else said
                yield Fact(words(key), words(case), entry, told)
        else:
            yield Fact(words(name), words(case), value, said)
    for key, value in predicted.items():
        if key not in measured and key not in bases:
            yield Fact(words(key), "", None, value)


def _cases(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The numbers of a table of any depth, each with the names on its way."""
    for name, entry in value.items():
        if isinstance(entry, dict):
            yield from ((f"{name}, {inner}", each) for inner, each in _cases(entry))
        else:
            yield str(name), entry


def _split(key: str) -> tuple[str, str]:
    """The name and the case of "risk at the start, n = 8, k = 2"."""
    found = re.fullmatch(r"(.+?), ([^,=]+ = .+)", str(key), re.DOTALL)
    return (found[1], found[2]) if found else (str(key), "")

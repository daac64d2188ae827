"""Numbers and sentences of a row as people read them; every number keeps its value in the page."""

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from paritylab.statistics import Rate

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


def as_rate(value: Any) -> Rate | None:
    """The rate that an object of a row is, or None."""
    if not isinstance(value, dict) or not {"successes", "runs"} <= set(value):
        return None
    return Rate(int(value["successes"]), int(value["runs"]))


def as_interval(value: Any) -> str | None:
    """A mean, a law or another number with its interval, as text; None for other objects."""
    if not isinstance(value, dict) or not {"low", "high"} <= set(value):
        return None
    middle = value.get("value", value.get("exponent"))
    if middle is None:
        return None
    count = f" of {number(value['runs'])}" if "runs" in value else ""
    return f"{number(middle)} [{number(value['low'])}, {number(value['high'])}]{count}"


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
    return _compound(value) if isinstance(value, dict | list | tuple) else prose(str(value))


def _compound(value: Any) -> str:
    """A rate, a number with its interval, a table or a list as text."""
    if isinstance(value, list | tuple):
        shown = [number(entry) for entry in value[:LONG]]
        more = [f"… {len(value)} in all"] if len(value) > LONG else []
        return ", ".join([*shown, *more])
    rate = as_rate(value)
    whole = str(rate) if rate is not None else as_interval(value)
    return whole or "; ".join(f"{words(key)}: {number(entry)}" for key, entry in value.items())


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


def data(value: Any) -> Markup:
    """A number as an element that also holds the row's own value; a rate has its counts."""
    if isinstance(value, list | tuple):
        shown = [data(entry) for entry in value[:LONG]]
        more = [f"… {len(value)} in all"] if len(value) > LONG else []
        return Markup(", ").join([*shown, *more])
    if (rate := as_rate(value)) is not None:
        return Markup('<data value="{}">{}</data>').format(repr(rate.value), str(rate))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return escape(number(value))
    return Markup('<data value="{}">{}</data>').format(repr(value), number(value))


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
    short_text = isinstance(value, str) and len(value) <= 20
    return isinstance(value, int | float) or short_text or as_rate(value) is not None


def _facts(row: Row) -> Iterator[Fact]:
    measured, predicted = row["measured"], row["predicted"]
    for name, value in measured.items():
        said = predicted.get(name)
        for case, entry in _cases(value):
            told = said.get(case) if isinstance(said, dict) else said
            yield Fact(words(name), words(case), entry, told)
    for name, value in predicted.items():
        if name not in measured:
            yield Fact(words(name), "", None, value)


def _cases(value: Any) -> Iterator[tuple[str, Any]]:
    """The numbers of a table of any depth, each with the names on its way."""
    is_table = isinstance(value, dict) and as_rate(value) is None and as_interval(value) is None
    if not is_table:
        yield "", value
        return
    for name, entry in value.items():
        yield from (
            (f"{name}, {inner}" if inner else str(name), each) for inner, each in _cases(entry)
        )

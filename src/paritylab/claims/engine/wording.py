"""Numbers, measured values and bounds as people read them.

A finding, a table, the terminal and the documents take the words of a comparison from here, so that
one number is written one way.
"""

import re
from typing import Any

from paritylab._support.number_text import SUPERSCRIPTS, number_text
from paritylab.statistics import share_text

#: So many entries of a list are written out.
LONG = 8


def number(value: Any) -> str:
    """A value for people: three digits that matter, powers of ten written as such.

    >>> [number(v) for v in (0.0, -0.0, 12345, 0.126589, 4e-14, 1e6, None)]
    ['0', '0', '12,345', '0.127', '4·10⁻¹⁴', '1,000,000', '–']
    """
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, dict):
        return "; ".join(
            f"{prose(str(key).replace('_', ' '))}: {number(entry)}" for key, entry in value.items()
        )
    if isinstance(value, list | tuple):
        more = [f"… {len(value)} in all"] if len(value) > LONG else []
        return ", ".join([*map(number, value[:LONG]), *more])
    return prose(str(value))


def _power(factor: str, exponent: int) -> str:
    """factor·10^exponent as people write it."""
    if float(factor) == 0:
        return "0"
    if 0 <= exponent <= 3:
        return f"{float(factor) * 10**exponent:,.12g}"
    power = "10" + str(exponent).translate(SUPERSCRIPTS)
    return power if float(factor) == 1 else f"{factor}·{power}"


def prose(text: str) -> str:
    """A sentence with its numbers as people write them, names of settings as words.

    >>> prose("risk 4e-14, 0e+00 and 15% of printed_bound, f_emb")
    'risk 4·10⁻¹⁴, 0 and 15\\xa0% of printed bound, f_emb'
    """
    number = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)(?!\w)")
    text = number.sub(lambda found: _power(found[1], int(found[2])), str(text))
    text = re.sub(r"(?<=\d) ?%", "\u00a0%", text)
    return re.sub(r"(?<=[a-zA-Z]{2})_(?=[a-z]{2})", " ", text)


def value_text(value: Any) -> str:
    """The value of a comparison, as its row holds it: a number, or one with an interval.

    >>> value_text({"value": 0.25, "low": 0.15, "high": 0.38, "runs": 60, "successes": 15})
    '15 of 60, 25 % [15, 38]'
    >>> value_text({"value": 1.5, "low": 1.25, "high": 2.0, "runs": 40}), value_text(1e-12)
    ('1.5 [1.25, 2] of 40', '10⁻¹²')
    """
    if not isinstance(value, dict):
        return number(value)
    if "successes" in value:
        if not value["runs"]:
            return "no runs"
        share, low, high = (share_text(value[part], 1) for part in ("value", "low", "high"))
        ends = f"[{low.removesuffix(' %')}, {high.removesuffix(' %')}]"
        return f"{number(value['successes'])} of {number(value['runs'])}, {share} {ends}"
    ends = f"[{number(value['low'])}, {number(value['high'])}]"
    count = f" of {number(value['runs'])}" if value.get("runs") else ""
    return f"{number(value['value'])} {ends}{count}"


def bound_text(side: str | None, bound: Any, *, share: bool) -> str:
    """Side and bound of a comparison; "" for a note. share: whether the value is a rate.

    >>> bound_text("at most", 1e-12, share=False), bound_text("within", (0.1, 0.9), share=True)
    ('at most 10⁻¹²', 'between 10 % and 90 %')
    """
    if side is None or bound is None:
        return ""
    ends = bound if isinstance(bound, list | tuple) else [bound]
    shown = [f"{100 * end:.3g} %" if share else number(end) for end in ends]
    return f"between {shown[0]} and {shown[1]}" if side == "within" else f"{side} {shown[0]}"

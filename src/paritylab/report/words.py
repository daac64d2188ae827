"""What people read of a row: numbers, the table of comparisons, what counts, what letters mean.

Page, terminal and documents take their words from here, so that they say the same.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from paritylab.charts import SUPERSCRIPTS, short
from paritylab.claims.engine.verdict import Status
from paritylab.statistics import share_text

Row = Mapping[str, Any]

#: So many entries of a list are written out.
LONG = 8
#: How a source is known here. A statement is counted only if its words or code were read.
READINGS = {
    "text": "text read",
    "code": "code read",
    "second-hand": "known second-hand",
    "abstract": "only the abstract was read",
}


def number(value: Any) -> str:
    """A value for people: three digits that matter, powers of ten written as such.

    >>> [number(v) for v in (0.0, -0.0, 12345, 0.126589, 4e-14, 1e6, None)]
    ['0', '0', '12,345', '0.127', '4·10⁻¹⁴', '1,000,000', '–']
    """
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    if isinstance(value, float):
        return short(value) if math.isfinite(value) else str(value)
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
    """A sentence with its numbers as people write them.

    >>> prose("risk 4e-14, 0e+00 and 15% of printed_bound")
    'risk 4·10⁻¹⁴, 0 and 15\\xa0% of printed bound'
    """
    number = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)(?!\w)")
    text = number.sub(lambda found: _power(found[1], int(found[2])), str(text))
    text = re.sub(r"(?<=\d) ?%", "\u00a0%", text)
    return re.sub(r"(?<=[a-zA-Z])_(?=[a-z]{2})", " ", text)


def duration(seconds: float) -> str:
    """Seconds below two minutes, then minutes, then hours.

    >>> [duration(s) for s in (0.31, 99, 600, 9000)]
    ['0.3 s', '99 s', '10 min', '2.5 h']
    """
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


# ---- the table of a verdict


class Line(NamedTuple):
    """One comparison of a verdict as text: what was asked, measured, allowed, and whether it
    passed. value: the measured number itself. role: printed, repair, control or note."""

    asked: str
    measured: str
    bound: str
    passed: str
    value: Any
    role: str


#: The heads of the columns, everywhere a table is shown.
COLUMNS = ("asked", "measured", "bound", "passed")
#: What stands before the label of a comparison that is not the printed statement's.
_ROLES = {"printed": "", "repair": "instead: ", "control": "control: ", "note": "note: "}


def lines(row: Row) -> list[Line]:
    """The comparisons of a row, as lines of a table.

    >>> rate = {"value": 0.25, "low": 0.15, "high": 0.38, "runs": 60, "successes": 15}
    >>> one = {"label": "runs that learn", "value": rate, "bound": 0.85, "side": "at least",
    ...        "role": "printed", "passed": False}
    >>> lines({"comparisons": [one]})[0][:4]
    ('runs that learn', '15 of 60, 25 % [15, 38]', 'at least 85 %', 'no')
    """
    made = []
    for each in row.get("comparisons") or ():
        value, role = each["value"], each["role"]
        rate = isinstance(value, dict) and "successes" in value
        passed = {True: "yes", False: "no", None: "" if role == "note" else "straddles"}
        made.append(
            Line(
                f"{_ROLES[role]}{prose(each['label'])}",
                _measured(value),
                _bound(each["side"], each["bound"], share=rate),
                passed[each["passed"]],
                value["value"] if isinstance(value, dict) else value,
                role,
            )
        )
    return made


def _measured(value: Any) -> str:
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


def _bound(side: str | None, bound: Any, share: bool) -> str:
    if side is None or bound is None:
        return ""
    ends = bound if isinstance(bound, list | tuple) else [bound]
    return f"{side} " + " to ".join(f"{100 * e:.3g} %" if share else number(e) for e in ends)


# ---- what counts


def note(row: Row) -> str:
    """Why a row is not counted, in addition to its status; "" if it is.

    >>> note({"counted": False, "reading": "abstract", "file": None})
    'in our reconstruction, not counted: only the abstract was read'
    """
    if row["counted"]:
        return ""
    if row["file"]:
        return f"a claim of {row['file']}, not counted"
    if row["reading"] in ("second-hand", "abstract"):
        return f"in our reconstruction, not counted: {READINGS[row['reading']]}"
    if row.get("counted_with"):
        return f"not counted again: the same erratum is counted with {row['counted_with']}"
    return "not counted"


def tally(rows: Iterable[Row]) -> str:
    """What became of the counted rows, then of the others, in the same words.

    >>> one = {"counted": True, "reading": "text", "file": None}
    >>> tally([{**one, "status": "holds"}, {**one, "status": "refuted"}])
    '2 tested: 1 holds, 1 refuted'
    """
    groups: dict[str, Counter[str]] = {"tested": Counter()}
    for row in rows:
        kind = note(row).partition(":")[0] or "tested"
        groups.setdefault(kind, Counter())[row["status"]] += 1
    return "; ".join(
        f"{found.total()} {kind}: "
        # 1 holds, 2 hold, 2 refuted
        + ", ".join(
            f"{found[each]} {'hold' if each is Status.HOLDS and found[each] > 1 else each}"
            for each in Status
            if found[each]
        )
        for kind, found in groups.items()
        if found
    )


# ---- what the letters of a statement mean

#: Letters that mean the same in every claim; docs/notation.md has the papers' own.
EVERYWHERE = {
    "n": "number of bits",
    "k": "size of the hidden set",
    "B": "the hidden set of positions",
    "N": "number of rows",
    "τ": "temperature (small is sharp)",
    "tau": "temperature (small is sharp)",
    "η": "step size",
    "y": "the label, +1 or -1",
    "ŷ": "the prediction",
    "x": "an input, x_j its bits",
    "s": "attended sum: bits times attention, added over heads",
    "L": "the risk, a mean over all inputs",
    "L*": "the risk that hard heads on B leave",
    "gain": "step size in units that raise the pair's score by 1",
}
_STEP = {"m": "numbers in the code of a position", "w": "a head, the numbers trained"}
_CHAIN = {
    "M": "number of tokens a node can see",
    "W": "the scores, trained",
    "φ": "the link, from the mean of two signs to their product",
    "link": "from the mean of two signs to their product",
}
#: Letters of one paper; our own statements are about the models of all three.
OF_PAPER = {
    "hg1": {
        "b": "smoothing, ReLU becomes (x + √(x² + b))/2",
        "m": "number of heads",
        "γ": "a head's attention, γ_j at position j",
        "α": "output weights of the net",
        "β": "hidden weights of the net",
        "a₁₃": "trained with a₁₄: a head's direction on the circle",
        "ℓ": "the loss of one input",
        "l₁": "Lipschitz constant of ŷ",
        "l₂": "Lipschitz constant of ŷ·∇ŷ",
    },
    "hg2": _STEP,
    "ks": {**_CHAIN, "p": "a target, the parity of a set", "f": "the model's prediction"},
    "lab": {**_CHAIN, **_STEP, "b": "smoothing, ReLU becomes (x + √(x² + b))/2"},
}


def meanings(row: Row) -> list[tuple[str, str]]:
    """Symbols that statement, correction and comparisons of a row use, each with its meaning.

    >>> meanings({"paper": "hg1", "statement": "Heads on B have risk 0 for every b > 0."})
    [('B', 'the hidden set of positions'), ('b', 'smoothing, ReLU becomes (x + √(x² + b))/2')]
    """
    labels = [each["label"] for each in row.get("comparisons") or ()]
    parts = [row.get("title"), row["statement"], row.get("finding"), row.get("instead"), *labels]
    text = " ".join(str(part) for part in parts if part)
    known = {**EVERYWHERE, **OF_PAPER.get(row["paper"], {})}
    if "tau" in text:
        known.pop("τ")
    return [(symbol, meaning) for symbol, meaning in known.items() if _stands_in(symbol, text)]


def _stands_in(symbol: str, text: str) -> bool:
    """Whether the symbol is in the text as itself: no part of a word, no unit after a number.

    Factors and indices count: n and m are in 2m/n, γ is in γ_p.
    """
    if not symbol.isascii():
        return symbol in text
    star = r"(?!\*)" if len(symbol) == 1 else ""
    around = rf"(?<![A-Za-z'’_])(?<!\d ){re.escape(symbol)}(?![A-Za-z'’]){star}"
    return re.search(around, text) is not None

"""Answers in words. Every sentence is made from the record; none is read back."""

import math

from xorfind.answer import Answer, Conclusion, Search, Size, Step, Stop
from xorfind.evidence.dependence import Dependence
from xorfind.evidence.form import Better, Rest
from xorfind.evidence.levels import Columns
from xorfind.statistics import Rate, share_text
from xorfind.words import chance, counted, duration

_WHY = {
    Dependence.REPEATED: "rows are repeated more often than chance makes; one of each is used",
    Dependence.ORDER: "neighbouring rows resemble each other",
    Dependence.FAMILIES: "similar rows share what a parity does not explain; rows far apart are "
    "used",
    Dependence.GROUPS: "one row of each group is used",
}
_ENDED = {Stop.BUDGET: " before the budget ended", Stop.TOO_MANY: " within the budget"}
_KNOWN = "if the rows are independent all the same, --rows independent uses all of them"


# The conclusion.


def statement(answer: Answer) -> str:
    """The conclusion in one clause."""
    target = answer.target
    if answer.conclusion is Conclusion.NONE:
        return f"no parity found for {target.name}"
    when = when_text(answer.best.subset, answer.best.sign > 0)
    if answer.on.successes == answer.on.runs and not answer.off.successes:
        return f"{target.true} exactly when {when}"
    usual = answer.on.value > 0.5 > answer.off.value
    text = f"{target.tends if usual else f'{target.true} more often'} when {when}"
    return f"related, but not only: {text}" if answer.abstained else text


def when_text(columns: Columns, odd: bool) -> str:
    """The condition that a parity of columns is."""
    names = _names(columns)
    if len(names) == 1:
        return f"{names[0]} is {'true' if odd else 'false'}"
    return f"{'an odd' if odd else 'an even'} number of {{{', '.join(names)}}} are true"


def answer_text(answer: Answer) -> str:
    """Everything an answer says, in one line."""
    if answer.conclusion is Conclusion.NONE:
        return "; ".join([f"{statement(answer)}: {reason(answer)}", *_rows_text(answer)])
    return "; ".join([*_sentences(answer), p_text(answer.best.log_p), *_rows_text(answer)])


def lines_of(answer: Answer) -> list[str]:
    """Everything that is said of a target of a table, a sentence a line."""
    if answer.conclusion is Conclusion.NONE:
        lines = _nothing(answer)
    else:
        first, *more = _sentences(answer)
        lines = [first, *(f"  {each}" for each in more), _luck(answer)]
    lines += [f"  {each}" for each in _rows_text(answer)]
    if {Dependence.ORDER, Dependence.FAMILIES} & set(answer.used.why):
        lines.append(f"  {_KNOWN}")
    return lines


def search_lines(search: Search) -> list[str]:
    """What was searched, and what was not."""
    left = not_searched_text(search)
    lines = [f"  searched: {searched_text(search)}; {duration(search.seconds)}"]
    return lines if left is None else [*lines, f"  {left}"]


def _sentences(answer: Answer) -> list[str]:
    """What is said of a parity, the conclusion first."""
    on, off = (_of(each) for each in (answer.on, answer.off))
    lines = [f"{statement(answer)}: in {on} rows then, in {off} of the others"]
    if answer.form.rest is not None:
        lines.append(rest_text(answer.form.rest))
    if answer.form.better is not None:
        lines.append(better_text(answer.form.better))
    for text, sets in (
        ("the same on every row, or the opposite, says", answer.equivalents),
        ("nearly as well fits", answer.near),
    ):
        if sets:
            lines.append(f"{text} {_sets(sets)}")
    return lines


def rest_text(rest: Rest) -> str:
    """What the label depends on besides the parity."""
    text = f"the rest depends on {', '.join(_names(rest.columns))}"
    if not rest.xor:
        return text
    off, on = (share_text(each.successes, each.runs) for each in (rest.off, rest.on))
    when = when_text(rest.xor, True)
    return f"{text}: it fails for {on} of rows when {when}, for {off} of the others"


def better_text(better: Better) -> str:
    """Which table of columns predicts more rows than the parity does."""
    fits, parity, constant = (
        share_text(each.successes, each.runs)
        for each in (better.fits, better.parity, better.constant)
    )
    return (
        f"the more frequent answer to each combination of {{{', '.join(_names(better.columns))}}} "
        f"is right for {fits} of rows, the parity for {parity}, always the same answer for "
        f"{constant}"
    )


def p_text(log_p: float) -> str:
    """A p-value in words, however small."""
    return f"p = {math.exp(min(0.0, log_p)):.1g}" if log_p > -690 else "p < 1e-299"


def reason(answer: Answer) -> str:
    """Why no parity was found."""
    search, used, best = answer.search, answer.used, answer.best
    if used.too_few:
        return (
            f"only {used.used:,} of {used.total:,} rows can be called independent, too few to tell "
            "a parity from what resembles it"
        )
    if search.minus in (0, search.rows):
        return "all labels are equal, so nothing can depend on the columns"
    if not search.columns:
        return "no column changes over the rows"
    if not best.subset:
        shape = f"{search.rows} rows of {search.columns} distinct columns"
        return f"{shape}: {_why_not(search)}"
    size = f"a parity of {len(best.subset)} columns"
    power = (
        f"these rows are too few for {size} even without noise"
        if answer.detectable is None
        else f"these rows would show {size} only up to {share_text(answer.detectable, 1)} noise"
    )
    names, fits = ", ".join(_names(best.subset)), share_text(best.fitting, search.rows)
    return (
        f"the best candidate {{{names}}} fits {fits} of the rows, {p_text(best.log_p)} after "
        f"correction; {power}"
    )


def _why_not(search: Search) -> str:
    """Why a search named no candidate at all."""
    if len(search.notable) > 1:
        return "no method found a subset that reaches the level"
    step = search.notable[0]
    if step.stop is Stop.CONTRADICTION:
        return "no parity fits every row: some sum to 0 = 1"
    if step.stop is Stop.TOO_FEW_ROWS:
        return f"{search.rows} rows are too few for {search.columns} columns"
    if step.clean:
        return f"no supported subset of {sizes_text(step.sizes)} fits every row"
    return "no subset that was searched reaches the level"


def _rows_text(answer: Answer) -> list[str]:
    """What was done about rows that depend on each other."""
    used = answer.used
    why = "; ".join(_WHY[each] for each in used.why)
    worth = "" if used.effective is None else f"about {used.effective:,} independent rows in "
    if used.used == used.total and not worth:
        return []
    return [f"evidence from {worth}{used.used:,} of {used.total:,} rows: {why}"]


def _luck(answer: Answer) -> str:
    """The chance of a false alarm, and what it assumes."""
    fitting, rows = answer.best.fitting, answer.rows
    assumes = (
        "if these rows do not depend on each other"
        if answer.used.checked
        else "rows taken as independent, as asked"
    )
    return (
        f"  {fitting:,} of {counted(rows, 'row')} fit ({share_text(fitting, rows)}); chance of "
        f"such a fit by luck {chance(answer.p_value)}, {assumes}"
    )


def _nothing(answer: Answer) -> list[str]:
    search, fitting, rows = answer.search, answer.best.fitting, answer.rows
    lines = [f"{statement(answer)}{_ENDED.get(search.stop, '')}"]
    if answer.used.too_few:
        return [*lines, f"  {reason(answer)}"]
    lines.append(
        f"  alpha {search.alpha:g}: of 100 targets that have nothing to do with the columns, about "
        f"{100 * search.alpha:.3g} at most get a parity"
    )
    if answer.used.effective is None:  # else rows say less than their number
        lines += _power(search)
    if answer.rows_needed:
        lines.append(
            f"  the best candidate fits {fitting:,} of {counted(rows, 'row')} "
            f"({share_text(fitting, rows)}); if it is real, about {answer.rows_needed:,} rows "
            "would show it"
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


# The search.


def searched_text(search: Search) -> str:
    """What was looked at, step by step."""
    return "; ".join(_looked(step, search.columns) + _part(step) for step in search.notable)


def _part(step: Step) -> str:
    if step.rows is None:
        return ""
    return f", on {step.rows:,} of the rows; what stood out there, on all"


def not_searched_text(search: Search) -> str | None:
    """What was left out for lack of time, and why; None if nothing was."""
    if search.complete:
        return None
    ended = search.stop in (Stop.BUDGET, Stop.FOUND)
    why = "the budget ended" if ended else "too many for the budget"
    if search.k is not None:
        return f"not searched, because {why}: the other sets of {search.k} columns"
    begun = [size.k for size in search.sizes if not size.complete and size.examined]
    what = f"the other sets of {begun[-1]} columns and larger ones" if begun else "larger sets"
    return f"not searched, because {why}: {what}" + ("" if begun else " of columns")


def sizes_text(sizes: tuple[Size, ...]) -> str:
    """The sizes that were searched completely, and what of the last one was.

    >>> sizes_text((Size.whole(9, 1), Size.whole(9, 2), Size.of(9, 3, 20)))
    'sizes 1 to 2 and 20 of 84 of size 3'
    """
    whole = [size.k for size in sizes if size.complete]
    parts = [
        f"{size.examined:,} of {'more than 2^53' if size.sets is None else f'{size.sets:,}'} of "
        f"size {size.k}"
        for size in sizes
        if not size.complete and size.examined
    ]
    if whole:
        ends = f"size {whole[0]}" if len(whole) == 1 else f"sizes {whole[0]} to {whole[-1]}"
        parts.insert(0, ends)
    return " and ".join(parts) or "no size"


def _looked(step: Step, columns: int) -> str:
    """What one step looked at."""
    if step.words:
        return step.words
    if step.every_size:
        return f"all {2**columns - 1:,} subsets of {columns} columns"
    if step.clean:
        sizes = sizes_text(step.sizes)
        return f"all subsets of {columns} columns, {sizes}, that fit every row" * bool(step.sizes)
    examined = sum(size.examined for size in step.sizes)
    return f"{examined:,} subsets of {columns} columns, {sizes_text(step.sizes)}"


def _names(columns: Columns) -> list[str]:
    """Names as they are; numbers as x0, x1, …"""
    return [each if isinstance(each, str) else f"x{each}" for each in columns]


def _of(rate: Rate) -> str:
    if not rate.runs:
        return "0 of 0"
    return f"{rate.successes:,} of {rate.runs:,} ({share_text(rate.successes, rate.runs)})"


def _sets(sets: tuple[Columns, ...], most: int = 5) -> str:
    text = "; ".join("{" + ", ".join(_names(each)) + "}" for each in sets[:most])
    return f"{text} and {len(sets) - most:,} more" if len(sets) > most else text

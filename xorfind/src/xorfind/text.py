"""Answers in words. Every sentence is made from the record; none is read back."""

from xorfind.answer import Answer, Conclusion, Search, Size, Step, Stop
from xorfind.evidence.dependence import Dependence
from xorfind.evidence.form import Better, Rest
from xorfind.evidence.levels import Columns
from xorfind.statistics import Rate, share_text
from xorfind.words import chance, counted, duration

_WHY = {
    Dependence.REPEATED: "rows are repeated more often than by chance, so one of each counts",
    Dependence.ORDER: "neighbouring rows resemble each other",
    Dependence.FAMILIES: "similar rows have similar labels beyond the parity, so only rows far "
    "apart count",
    Dependence.GROUPS: "one row of each group counts",
}
_ENDED = {Stop.BUDGET: " before the budget ended", Stop.TOO_MANY: " within the budget"}
_KNOWN = "if you know that rows are independent, --rows independent uses all of them"
_BATCHES = "rows measured in batches can look like this; --group COLUMN names the batch"


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


def lines_of(answer: Answer) -> list[str]:
    """Everything that is said of a target of a table, a sentence a line."""
    first, *more = said(answer)
    return [first, *(f"  {each}" for each in [*more, *search_lines(answer.search)])]


def said(answer: Answer) -> list[str]:
    """The conclusion, what speaks for and against it, and which rows it rests on."""
    if answer.conclusion is Conclusion.NONE:
        lines = _nothing(answer)
    else:
        lines = [*_sentences(answer), _luck(answer)]
    lines += _rows_text(answer)
    if {Dependence.ORDER, Dependence.FAMILIES} & set(answer.used.why):
        lines.append(_KNOWN)
    elif answer.conclusion is Conclusion.RELATED and Dependence.GROUPS not in answer.used.why:
        lines.append(_BATCHES)
    return lines


def search_lines(search: Search) -> list[str]:
    """What was searched, and what was not."""
    left = not_searched_text(search)
    lines = [f"searched: {searched_text(search)}; {duration(search.seconds)}"]
    return lines if left is None else [*lines, left]


def _sentences(answer: Answer) -> list[str]:
    """What is said of a parity, the conclusion first."""
    on, off = (_of(each) for each in (answer.on, answer.off))
    lines = [f"{statement(answer)}: in {on} such rows, in {off} other rows"]
    if answer.form.rest is not None:
        lines.append(rest_text(answer.form.rest, answer.target.name))
    if answer.form.better is not None:
        lines.append(better_text(answer.form.better))
    for text, sets in (
        ("these rows cannot tell it from", answer.equivalents),
        ("fits nearly as well:", answer.near),
    ):
        if sets:
            lines.append(f"{text} {_sets(sets)}")
    return lines


def rest_text(rest: Rest, target: str) -> str:
    """What else the label depends on, given the parity."""
    text = f"beyond the parity, {target} depends on {', '.join(_names(rest.columns))}"
    if not rest.xor:
        return text
    off, on = (share_text(each.successes, each.runs) for each in (rest.off, rest.on))
    when = when_text(rest.xor, True)
    return f"{text}: the parity is wrong in {on} of rows when {when}, in {off} of the others"


def better_text(better: Better) -> str:
    """Which table of columns predicts more rows than the parity does."""
    fits, parity, constant = (
        share_text(each.successes, each.runs)
        for each in (better.fits, better.parity, better.constant)
    )
    names = ", ".join(_names(better.columns))
    return (
        f"the more frequent value for each combination of {{{names}}} is right in {fits} of rows, "
        f"the parity in {parity}, always the same value in {constant}"
    )


def _rows_text(answer: Answer) -> list[str]:
    """What was done about rows that depend on each other."""
    used = answer.used
    why = "; ".join(_WHY[each] for each in used.why)
    if used.used == used.total and used.effective is None:
        return []
    text = f"{used.used:,} of {used.total:,} rows were used"
    if used.effective is not None:
        text = "" if used.used == used.total else f"{text}; "
        text += f"the {used.used:,} rows count as about {used.effective:,} independent ones"
    return [f"{text}: {why}"]


def _luck(answer: Answer) -> str:
    """The chance of a false alarm, and what it assumes."""
    fitting, rows = answer.best.fitting, answer.rows
    assumes = (
        "if rows are independent" if answer.used.checked else "rows taken as independent, as asked"
    )
    return (
        f"the parity is right in {fitting:,} of {counted(rows, 'row')} "
        f"({share_text(fitting, rows)}); luck makes some set fit so well with chance "
        f"{chance(answer.p_value)}, {assumes}"
    )


def _nothing(answer: Answer) -> list[str]:
    """That no parity was found, what would have been seen, and what came nearest."""
    search, used, fitting = answer.search, answer.used, answer.best.fitting
    first = f"{statement(answer)}{_ENDED.get(search.stop, '')}"
    if used.too_few:
        return [
            first,
            f"only {used.used:,} of {used.total:,} rows are so far apart that they count as "
            "independent, too few to tell a parity from luck",
        ]
    if search.minus in (0, search.rows):
        return [first, "all labels are equal, so nothing can depend on the columns"]
    if not search.columns:
        return [first, "no column changes over the rows"]
    lines = [
        first,
        f"false alarms: of {1 / search.alpha:,.0f} targets that have nothing to do with the "
        f"columns, about 1 at most gets a parity (alpha {search.alpha:g})",
    ]
    # Rows that count for fewer say less than their number.
    if used.effective is None:
        lines += _power(search)
    if answer.best.subset:
        text = f"the best set is right in {fitting:,} of {counted(search.rows, 'row')} "
        text += f"({share_text(fitting, search.rows)}), which may be luck"
        if answer.rows_needed and used.effective is None:
            text += f"; if it is real, about {answer.rows_needed:,} rows would show it"
        lines.append(text)
    return lines


def _power(search: Search) -> list[str]:
    """What would have been seen, for the smallest sizes that were searched completely."""
    power, rows = search.power(most=3), counted(search.rows, "row")
    seen = [(counted(k, "column"), share_text(least, 1)) for k, least in power if least is not None]
    if seen:
        (size, share), *others = seen
        text = f"{rows} would have shown a parity of {size} that is right in {share} of them"
        return [text + "".join(f", of {size} in {share}" for size, share in others)]
    if not power:
        return []
    rare = min(search.minus, search.rows - search.minus)
    if 4 * rare >= search.rows:
        return [f"{rows} are too few to show even a parity without noise"]
    few = f"{rare:,} of them differ from the others in the target"
    return [f"{rows} are too few to show any parity: only {few}"]


# The search.


def searched_text(search: Search) -> str:
    """What was looked at, step by step."""
    looked = [_looked(step, search.columns) for step in search.notable]
    return "; ".join(each for each in looked if each) or "nothing"


def not_searched_text(search: Search) -> str | None:
    """What was left out for lack of time, and why; None if nothing was."""
    if search.complete:
        return None
    ended = search.stop in (Stop.BUDGET, Stop.FOUND)
    why = "the budget ended" if ended else "they are too many for the budget"
    begun = [size.k for size in search.sizes if not size.complete and size.examined]
    if search.k is not None:
        what = f"the other sets of {counted(search.k, 'column')}"
    elif begun:
        what = f"the other sets of {counted(begun[-1], 'column')} and larger ones"
    else:
        what = "larger sets of columns"
    return f"not searched: {what}, because {why}"


def sizes_text(sizes: tuple[Size, ...]) -> str:
    """The sizes that were searched completely, and what of the last one was.

    >>> sizes_text((Size.of(9, 1, 9), Size.of(9, 2, 36), Size.of(9, 3, 20)))
    'all of sizes 1 to 2, 20 of 84 of size 3'
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
        parts.insert(0, f"all of {ends}")
    return ", ".join(parts) or "no size"


def _looked(step: Step, columns: int) -> str:
    """What one step looked at, "" if at nothing."""
    examined = sum(size.examined for size in step.sizes)
    if step.words:
        text = step.words
    elif step.every_size:
        text = f"all {2**columns - 1:,} sets of {columns} columns"
    elif not examined:
        return ""
    elif step.clean:
        text = f"sets of {columns} columns that fit every row ({sizes_text(step.sizes)})"
    else:
        text = f"{examined:,} sets of {columns} columns ({sizes_text(step.sizes)})"
    if step.rows is None:
        return text
    return f"{text}, on {step.rows:,} random rows; what stood out there, on all rows"


def _names(columns: Columns) -> list[str]:
    """Names as they are; numbers as x0, x1, …"""
    return [each if isinstance(each, str) else f"x{each}" for each in columns]


def _of(rate: Rate) -> str:
    if not rate.runs:
        return "0 of 0"
    return f"{rate.successes:,} of {rate.runs:,} ({share_text(rate.successes, rate.runs)})"


def _sets(sets: tuple[Columns, ...]) -> str:
    """The first five sets, and how many more there are."""
    text = "; ".join("{" + ", ".join(_names(each)) + "}" for each in sets[:5])
    return f"{text} and {len(sets) - 5:,} more" if len(sets) > 5 else text

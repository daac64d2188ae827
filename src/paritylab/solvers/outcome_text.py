"""A search in words. Every sentence is made from the record; none is read back."""

from paritylab.solvers.outcome import Draws, Search, Size, Space, Step, Stop
from paritylab.statistics import share_text


def searched_text(search: Search) -> str:
    """What was looked at, step by step."""
    return "; ".join(_looked(step, search.columns) for step in search.told)


def not_searched_text(search: Search) -> str | None:
    """What was left out for lack of time, and why; None if nothing was."""
    if search.complete:
        return None
    why = (
        "the budget ended"
        if search.stop in (Stop.BUDGET, Stop.FOUND)
        else "too many for the budget"
    )
    if search.k is not None:
        return f"not searched, because {why}: the other sets of {search.k} columns"
    begun = [size.k for size in search.sizes if not size.complete and size.examined]
    what = f"the other sets of {begun[-1]} columns and larger ones" if begun else "larger sets"
    return f"not searched, because {why}: {what}" + ("" if begun else " of columns")


def reason_text(search: Search) -> str:
    """Why the search ended as it did."""
    shape = f"{search.rows} rows of {search.columns} distinct columns"
    if search.found:
        return f"{shape}: {_why_found(search.steps[-1], search)}"
    if len(search.told) > 1:
        return f"{shape}: no method found a subset that reaches the level"
    return f"{shape}: {_why_not(search.told[0], search)}"


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
    if step.training is not None:
        what = "one step of two heads" if step.training.sizes == (2,) else "annealed heads"
        sizes = ", ".join(map(str, step.training.sizes))
        return f"{what} on {step.training.rows} rows, sizes {sizes}"
    if step.draws is not None:
        return _drawn(step.draws, columns)
    if step.every_size and step.clean:
        text = f"all 2^{columns} subsets of {columns} columns that fit every row"
        return text if step.space is None else f"{text}; the sparsest of {_space(step.space)}"
    if step.every_size:
        return f"all {2**columns - 1:,} subsets of {columns} columns"
    if step.clean:
        return (
            f"all subsets of {columns} columns, {sizes_text(step.sizes)}, that fit every row"
            if step.sizes
            else "nothing"
        )
    examined = sum(size.examined for size in step.sizes)
    return f"{examined:,} subsets of {columns} columns, {sizes_text(step.sizes)}"


def _drawn(draws: Draws, columns: int) -> str:
    if draws.what == "rows":
        return (
            f"{draws.tries:,} random choices of {draws.drawn} rows, enough for "
            f"{share_text(draws.noise, 1)} noise"
        )
    return (
        f"{draws.tries:,} random choices of {draws.drawn} of {columns} columns, about "
        f"{draws.expected:,.0f} needed for {draws.members} members"
    )


def _space(space: Space) -> str:
    dimensions, looked = space
    if looked == 2**dimensions:
        return f"all {looked:,} solutions"
    return f"{looked:,} of 2^{dimensions} solutions"


def _why_found(step: Step, search: Search) -> str:
    """Why the set that a step found stands."""
    if step.training is not None:
        return f"{step.training.unseen} rows that attention has not seen agree with what it named"
    if step.draws is not None:
        return _why_drawn(step.draws)
    if step.every_size and step.clean:
        alike = "one parity"
        if step.space is not None:
            alike = f"the same 2^{step.space.dimensions} parities"
        return f"all {search.rows} rows fit {alike}"
    if step.every_size:
        return f"{search.columns} distinct columns allow every subset at once"
    sizes = sizes_text(step.sizes)
    if step.clean:
        return f"of all subsets of {sizes} few fit every row"
    return f"every subset of {sizes} was correlated with the labels, and the best one stands out"


def _why_drawn(draws: Draws) -> str:
    if draws.what == "columns":
        return f"columns that hold the whole subset were drawn and solved, {draws.tries:,} tries"
    drawn = f"with at most {draws.wrong} wrong labels" if draws.wrong else "without a wrong label"
    solved = "corrected and solved" if draws.wrong else "solved"
    return (
        f"rows {drawn} were drawn and {solved}; about {draws.expected:,.0f} tries "
        f"were expected at {share_text(draws.noise, 1)} noise, {draws.tries:,} made"
    )


def _why_not(step: Step, search: Search) -> str:
    """Why one step alone found nothing."""
    if step.stop is Stop.CONTRADICTION:
        return "no parity fits every row: some sum to 0 = 1"
    if step.stop is Stop.TOO_FEW_ROWS:
        return f"{search.rows} rows are too few for {search.columns} columns"
    if step.stop is Stop.NOT_APPLICABLE:
        return "there is nothing to explain"
    if step.training is not None:
        return "attention named no subset of the size asked for"
    if step.clean:
        return f"no supported subset of {sizes_text(step.sizes)} fits every row"
    return "no subset that was searched reaches the level"

"""Risks of hard readouts against enumeration in extended precision, as a part of the suite."""

from collections.abc import Callable, Iterator

from tests.faults.drivers import Tally
from tests.risk.exactness import drawn, loop_outside, outside, slopes_outside


def hard_readouts(first: int, count: int) -> Tally:
    """None may be off by more than it says; of some the slopes and the loops are asked, too."""
    tally = Tally("risk of a hard readout outside its error")
    for number in range(first, first + count):
        for check in _checks(number):
            tally.attempts += 1
            try:
                route, share = check(number)
            except Exception as error:
                tally.tracebacks += 1
                tally.notes[f"case {number}: {type(error).__name__}: {str(error)[:80]}"] += 1
                continue
            tally.notes[route] += 1
            if share is not None and not share <= 1:
                tally.wrong += 1
                case = drawn(number)
                shape = f"{check.__name__}, {case.route}, shape {int(case.readout.which)}"
                tally.notes[f"case {number} ({shape}): {share:.3g} errors"] += 1
    return tally


def _checks(number: int) -> Iterator[Callable[[int], tuple[str, float | None]]]:
    """Every twentieth case is a series, which takes seconds; the others take a hundredth."""
    yield outside
    if number % 10 == 5 or number % 100 == 0:
        yield slopes_outside
    if number % 100 == 5 or number % 200 == 0:
        yield loop_outside

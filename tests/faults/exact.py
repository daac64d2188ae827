"""Risks of hard readouts against enumeration in extended precision, as a part of the suite."""

from tests.faults.drivers import Tally
from tests.risk.exactness import drawn, outside


def hard_readouts(first: int, count: int) -> Tally:
    """None may be off by more than it says."""
    tally = Tally("risk of a hard readout outside its error")
    for number in range(first, first + count):
        tally.attempts += 1
        try:
            route, share = outside(number)
        except Exception as error:
            tally.tracebacks += 1
            tally.notes[f"case {number}: {type(error).__name__}: {str(error)[:80]}"] += 1
            continue
        tally.notes[route] += 1
        if share is not None and not share <= 1:
            tally.wrong += 1
            case = drawn(number)
            which = int(case.readout.which)
            tally.notes[f"case {number} ({case.route}, shape {which}): {share:.3g} errors"] += 1
    return tally

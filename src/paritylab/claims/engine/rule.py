"""A claim is a list of comparisons, and one rule makes the verdict.

A comparison says in plain words what was asked, holds the measured value with its interval, the
bound, and its role:

- printed: what the source says;
- repair: part of the nearest statement that does hold;
- control: without it the measurement says nothing, such as a learner that can learn at all;
- note: a number to show, which is not judged.

The rule (`decide`):

1. A control that fails or straddles its bound: undecided.
2. Every printed comparison passes: holds.
3. None fails, but one straddles: undecided.
4. One fails: corrected if there are repairs and all of them pass, refuted if there are none or one
   of them fails, undecided if a repair straddles its bound.

An interval passes only if it lies wholly on the right side of the bound and fails only if it lies
wholly on the wrong side; in between it straddles and decides nothing. A number without an interval
cannot straddle.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from numbers import Real
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np

from paritylab.claims.engine.verdict import Status
from paritylab.claims.engine.wording import bound_text, value_text
from paritylab.figures import Bars, Mark
from paritylab.statistics import Estimate, Mean, PowerLaw, Rate, rate_interval

Side = Literal["at most", "at least", "within"]
#: A number, or anything with an interval: a rate, a mean, an estimate, a law's exponent.
Value = Any
Bound = float | tuple[float, float] | None

#: Confidence of an interval that is looked at once.
CONFIDENCE = 0.95
#: Looks at a comparison that straddles its bound, each with twice the runs of the one before.
LOOKS = 3
#: Confidence of each look: the looks share one error (Bonferroni), so that all of them together
#: keep `CONFIDENCE`.
CONFIDENCE_OF_A_LOOK = 1 - (1 - CONFIDENCE) / LOOKS


class Role(StrEnum):
    """What a comparison is for."""

    PRINTED = "printed"
    REPAIR = "repair"
    CONTROL = "control"
    NOTE = "note"


@dataclass(frozen=True)
class Comparison:
    """One line of a verdict. label: what is measured, in plain words, with its setting.

    value: a number, `Rate`, `Mean`, `Estimate` or `PowerLaw` (its exponent). side: where the value
    must lie of the bound; None for a note. bound: a number, or (low, high) for "within".
    """

    label: str
    value: Value
    side: Side | None = None
    bound: Bound = None
    role: Role = Role.PRINTED

    def __post_init__(self) -> None:
        if isinstance(self.value, bool | np.bool_):
            raise TypeError(
                f"{self.label!r} has the value {self.value}: a value is a measured quantity, such "
                "as a count or a distance, never a truth value"
            )
        if not isinstance(self.value, Real | Rate | Mean | Estimate | PowerLaw):
            if np.ndim(self.value):
                raise TypeError(f"{self.label!r}: a value is one number or has an interval")
            object.__setattr__(self, "value", float(self.value))
        if self.side is None and self.role is not Role.NOTE:
            raise ValueError(f"{self.label!r} needs a side: at_most, at_least or within")

    def ends(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """The interval of the value; the number itself, twice, if it has none.

        A rate's interval is Wilson's at that confidence. Other intervals are known at 95 % and are
        stretched about the value as a normal law would be.
        """
        value = self.value
        if isinstance(value, Real):
            return float(value), float(value)
        if isinstance(value, Rate):
            known = value.runs and rate_interval(value.successes, value.runs, confidence)
            return known or (0.0, 1.0)
        middle = _middle(value)
        stretch = _quantile(confidence) / _quantile(CONFIDENCE)
        return middle - stretch * (middle - value.low), middle + stretch * (value.high - middle)

    def distance(self, confidence: float = CONFIDENCE) -> float | None:
        """How far the interval lies inside the allowed side; negative if wholly outside of it.

        None where it straddles the bound, or where nothing is known.
        """
        low, high = self.ends(confidence)
        if self.bound is None:
            raise ValueError(f"{self.label!r} is a note; it has no bound")
        if math.isnan(low) or math.isnan(high):
            return None
        if isinstance(self.bound, tuple):
            least, most = self.bound
            inside, outside = min(low - least, most - high), max(least - high, low - most)
        elif self.side == "at most":
            inside, outside = self.bound - high, low - self.bound
        else:
            inside, outside = low - self.bound, self.bound - high
        return inside if inside >= 0 else -outside if outside > 0 else None

    def passed(self, confidence: float = CONFIDENCE) -> bool | None:
        """True, False, or None if the interval straddles the bound (or this is a note)."""
        distance = None if self.role is Role.NOTE else self.distance(confidence)
        return None if distance is None else distance >= 0

    @property
    def runs(self) -> int:
        """Independent runs or draws behind the value; 0 for a number."""
        return int(getattr(self.value, "runs", 0))

    def value_text(self, confidence: float = CONFIDENCE) -> str:
        """The value as a reader sees it, with at most three digits that matter."""
        return value_text(self.as_row(confidence)["value"])

    @property
    def bound_text(self) -> str:
        """Side and bound as a reader sees them: "at most 10 %"."""
        return bound_text(self.side, self.bound, share=isinstance(self.value, Rate))

    def as_row(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """What the JSON row holds of it."""
        value: Any = _middle(self.value)
        if isinstance(self.value, Real):
            value = int(value) if value.is_integer() else value
        else:
            low, high = self.ends(confidence)
            value = {"value": value, "low": low, "high": high, "runs": self.runs}
            if isinstance(self.value, Rate):
                value["successes"] = self.value.successes
        return {**vars(self), "value": value, "passed": self.passed(confidence)}


def at_most(label: str, value: Value, bound: float) -> Comparison:
    """The value should not exceed the bound."""
    return Comparison(label, value, "at most", float(bound))


def at_least(label: str, value: Value, bound: float) -> Comparison:
    """The value should reach the bound."""
    return Comparison(label, value, "at least", float(bound))


def within(label: str, value: Value, low: float, high: float) -> Comparison:
    """The value should lie between low and high."""
    if low > high:
        raise ValueError(f"{label!r}: within needs low ≤ high, got {low} and {high}")
    return Comparison(label, value, "within", (float(low), float(high)))


def repair(comparison: Comparison) -> Comparison:
    """The comparison as part of the nearest statement that holds."""
    return replace(comparison, role=Role.REPAIR)


def control(comparison: Comparison) -> Comparison:
    """The comparison as a condition without which the measurement says nothing."""
    return replace(comparison, role=Role.CONTROL)


def note(label: str, value: Value) -> Comparison:
    """A number to show, which is not judged."""
    return Comparison(label, value, role=Role.NOTE)


class Sentence(NamedTuple):
    """A sentence of the claim's own, shown only if the verdict is one of `when`."""

    text: str
    when: tuple[Status, ...]
    instead: bool = False


#: An own finding may have this many words.
MOST_WORDS = 30


def finding(text: str, *when: str) -> Sentence:
    """The verdict in one sentence of under 30 words, for the statuses in `when`.

    Without it the sentence is made from the comparison that decides.
    """
    words = len(text.split())
    if words >= MOST_WORDS:
        raise ValueError(f"a finding has fewer than {MOST_WORDS} words, got {words}: {text!r}")
    if not when:
        raise ValueError("a finding names the verdicts it is for, such as finding(text, 'holds')")
    return Sentence(text, tuple(Status(each) for each in when))


def instead(text: str) -> Sentence:
    """The nearest statement that holds, shown if the claim is corrected or refuted."""
    return Sentence(text, (Status.CORRECTED, Status.REFUTED), instead=True)


class Decision(NamedTuple):
    """What the rule says: the status, and the comparison that decides it."""

    status: Status
    deciding: Comparison


#: A claim's own rule, where the one rule cannot say what the statement says.
Judge = Callable[[Sequence[Comparison], float], Decision]


def decide(comparisons: Iterable[Comparison], confidence: float = CONFIDENCE) -> Decision:
    """The one rule; the order of comparisons does not matter.

    >>> decide([at_most("wrong answers", 0, 0)]).status.value
    'holds'
    >>> decide([at_least("runs that learn", Rate(5, 60), 0.5)]).status.value
    'refuted'
    >>> decide([at_least("runs that learn", Rate(28, 60), 0.5)]).status.value
    'undecided'
    """
    found: dict[tuple[Role, bool | None], list[Comparison]] = defaultdict(list)
    for each in comparisons:
        found[each.role, each.passed(confidence)].append(each)
    passed, failed, straddling = (found[Role.PRINTED, answer] for answer in (True, False, None))
    mended, unmended, unsure = (found[Role.REPAIR, answer] for answer in (True, False, None))
    if not (passed or failed or straddling):
        raise ValueError("a claim compares at least one number with what its source says")
    for weak in (found[Role.CONTROL, False], found[Role.CONTROL, None]):
        if weak:
            return Decision(Status.UNDECIDED, nearest(weak, confidence))
    if failed and unsure and not unmended:
        return Decision(Status.UNDECIDED, nearest(unsure, confidence))
    if failed:
        worst = max(failed, key=lambda each: (_relative(each, confidence), each.label))
        return Decision(Status.CORRECTED if mended and not unmended else Status.REFUTED, worst)
    if straddling:
        return Decision(Status.UNDECIDED, nearest(straddling, confidence))
    return Decision(Status.HOLDS, nearest(passed, confidence))


def nearest(comparisons: Iterable[Comparison], confidence: float = CONFIDENCE) -> Comparison:
    """The comparison closest to its bound, in multiples of the bound."""
    return min(comparisons, key=lambda each: (_relative(each, confidence), each.label))


def wants_runs(decision: Decision, confidence: float = CONFIDENCE) -> bool:
    """Whether more runs could decide: a value with an interval straddles its bound.

    A rate, a mean, an estimate or a law's exponent has one; a plain number has none.
    """
    deciding = decision.deciding
    straddles = deciding.passed(confidence) is None and not isinstance(deciding.value, Real)
    return decision.status is Status.UNDECIDED and straddles


#: The word before a bound. Most bounds are ours: a paper rarely says from where on a rate is high.
_ASKS = {Role.PRINTED: "threshold", Role.REPAIR: "as corrected", Role.CONTROL: "needed"}


def sentence_of(decision: Decision, confidence: float = CONFIDENCE) -> str:
    """One sentence from the comparison that decides.

    >>> sentence_of(decide([at_least("runs that learn", Rate(5, 60), 0.5)]))
    'Runs that learn: 5 of 60, 8 % [4, 18]; threshold: at least 50 %.'
    """
    deciding = decision.deciding
    start = deciding.label[:1].upper() + deciding.label[1:]
    asked = f"{_ASKS[deciding.role]}: {deciding.bound_text}"
    return f"{start}: {deciding.value_text(confidence)}; {asked}."


def default_figure(comparisons: Sequence[Comparison]) -> dict[str, Any] | None:
    """Bars of the values with their bounds: rates as shares, other numbers over their bound."""
    judged = [each for each in comparisons if each.role is not Role.NOTE]
    rates = {each.label: each.value for each in judged if isinstance(each.value, Rate)}
    if len(rates) > 1:
        bounds = {each.bound_text: each.bound for each in judged if each.label in rates}
        marks = [Mark(at, text) for text, at in bounds.items() if isinstance(at, float)]
        return Bars.of_rates(rates, y="share of runs", marks=marks).series()
    value, bottom, top = {}, {}, {}
    for each in judged:
        low, high = each.ends()
        # A logarithmic axis shows only what is positive.
        if isinstance(each.bound, float) and each.bound > 0 and 0 < low <= high < math.inf:
            value[each.label] = _middle(each.value) / each.bound
            bottom[each.label], top[each.label] = low / each.bound, high / each.bound
    if len(value) < 2:
        return None
    ends: dict[str, Any] = {"low": bottom, "high": top, "log": "y", "marks": [Mark(1, "bound")]}
    return Bars(value, y="measured over its bound", **ends).series()


def _relative(comparison: Comparison, confidence: float) -> float:
    """The distance from the bound in multiples of the bound; 0 where the interval straddles it."""
    if any(map(math.isnan, comparison.ends(confidence))):
        return math.inf
    ends = comparison.bound if isinstance(comparison.bound, tuple) else (comparison.bound,)
    scale = max((abs(end) for end in ends if end), default=1.0)
    return abs(comparison.distance(confidence) or 0.0) / scale


def _middle(value: Value) -> float:
    """The number itself: a law's exponent, or the value of an estimate."""
    if isinstance(value, Real):
        return float(value)
    return float(value.exponent if isinstance(value, PowerLaw) else value.value)


def _quantile(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)

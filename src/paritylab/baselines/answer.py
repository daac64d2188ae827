"""What a search returns: the best set with its evidence, and a record of what was searched."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from paritylab.baselines.significance import Fit
from paritylab.statistics import share_text

#: The least p-value that is reported.
SMALLEST_P_VALUE = 1e-301


class Stop(StrEnum):
    """Why a search stopped."""

    FOUND = "found"
    EXHAUSTED = "exhausted"
    CONTRADICTION = "contradiction"
    BUDGET = "budget"
    TOO_MANY = "too many"
    TOO_FEW_ROWS = "too few rows"
    NOT_APPLICABLE = "not applicable"


#: Stops that leave sets which the rows could support unexamined.
UNFINISHED = (Stop.BUDGET, Stop.TOO_MANY)


class Size(NamedTuple):
    """Sets of k columns: how many there are, and how many were examined."""

    k: int
    sets: int
    examined: int

    @property
    def complete(self) -> bool:
        return self.examined == self.sets


@dataclass(frozen=True)
class Step:
    """What one method did.

    sizes: the sets it examined one by one. every_size: it examined all sets of all sizes. clean: it
    could only see parities that fit every row. trials: random systems it solved, or pairs of rows
    it summed. rows: of the random part that it looked at, None for all.
    """

    method: str
    stop: Stop
    sizes: tuple[Size, ...] = ()
    every_size: bool = False
    clean: bool = False
    trials: int = 0
    rows: int | None = None

    @property
    def examined(self) -> bool:
        """Whether it examined anything."""
        return self.every_size or self.trials > 0 or any(size.examined for size in self.sizes)

    @property
    def complete(self) -> bool:
        """Whether it came to its end."""
        return self.stop not in UNFINISHED

    @property
    def largest(self) -> int:
        """The largest k up to which all sets were examined."""
        return max((size.k for size in self.sizes if size.complete), default=0)


@dataclass(frozen=True)
class Search:
    """A whole search.

    rows: of the table. minus: those labelled -1. columns: that vary and differ. k: the requested
    size, if any. alpha: the level. steps: what the methods did, in order. stop: why it ended.
    seconds: it took.
    """

    rows: int
    minus: int
    columns: int
    k: int | None
    alpha: float
    steps: tuple[Step, ...]
    stop: Stop
    seconds: float

    @property
    def complete(self) -> bool:
        """Whether no set that these rows could support was left out for lack of time."""
        last = self.steps[-1:] if self.stop is Stop.FOUND else self.steps
        return all(step.complete for step in last)

    @property
    def method(self) -> str:
        """The method that found the set, or all that looked for one, as "elimination+walsh"."""
        if self.stop is Stop.FOUND:
            return self.steps[-1].method
        steps = [s for s in self.steps if s.examined or not (s.complete or s.clean)] or self.steps
        return "+".join(dict.fromkeys(step.method for step in steps))


@dataclass(frozen=True)
class Answer:
    """The parity that rows support, or an abstention.

    best: the best candidate, supported or not. Its p-value is that of "labels do not depend on the
    rows", given how often the parity and the label are -1, and corrected for every subset that
    could have been named. equivalents: other subsets that say the same on these rows. rows_needed:
    where nothing is supported, about how many rows would support the best candidate if it were
    real. search: what was searched, and why it stopped.
    """

    best: Fit
    equivalents: tuple[tuple[int, ...], ...]
    rows_needed: int | None
    search: Search

    @property
    def abstained(self) -> bool:
        """Whether no candidate reaches the level."""
        return not self.best.subset or self.best.log_p > math.log(self.search.alpha)

    @property
    def subset(self) -> tuple[int, ...] | None:
        """The columns, None after an abstention."""
        return None if self.abstained else self.best.subset

    @property
    def sign(self) -> int:
        """The label is sign·(-1)^(xor of the bits in subset)."""
        return 1 if self.abstained else self.best.sign

    @property
    def rows(self) -> int:
        """Rows that the evidence rests on."""
        return self.search.rows

    @property
    def agreement(self) -> float:
        """Share of the rows that the parity fits; of the best candidate after an abstention."""
        return self.best.agreeing / self.rows

    @property
    def noise_rate(self) -> float:
        """Share of the rows that it does not fit."""
        return (self.rows - self.best.agreeing) / self.rows

    @property
    def p_value(self) -> float:
        """Of the best candidate, after correction; 1e-301 stands for anything smaller."""
        return math.exp(min(0.0, max(self.best.log_p, math.log(SMALLEST_P_VALUE))))

    @property
    def method(self) -> str:
        """The method that found the subset, or all that looked for one."""
        return self.search.method

    @property
    def complete(self) -> bool:
        """False if sets that these rows could support were left out for lack of time."""
        return self.search.complete

    @property
    def seconds(self) -> float:
        """Duration of the search."""
        return self.search.seconds

    def __str__(self) -> str:
        if not self.best.subset:
            return "no parity found"
        parity = " + ".join(f"x{column}" for column in self.best.subset)
        sign = "" if self.best.sign > 0 else "-"
        share = share_text(self.best.agreeing, self.rows)
        evidence = (
            f"{sign}(-1)^({parity}) fits {self.best.agreeing:,} of {self.rows:,} rows ({share}), "
            f"p-value {self.p_value:.1e}"
        )
        return f"no parity found; the best candidate {evidence}" if self.abstained else evidence

"""The answer: what was searched, what was found, how sure, what speaks against it.

One frozen record serves `solve`, `discover` and the estimator; JSON holds it (`codec`), and every
sentence is made from it (`text`). Columns are numbers in an answer of `solve` and names in one of
`discover`; `Answer.named` turns the former into the latter.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, partial
from typing import NamedTuple

from xorfind.evidence.dependence import RowsUsed
from xorfind.evidence.form import Form
from xorfind.evidence.levels import Columns, Fit
from xorfind.evidence.power import least_agreement
from xorfind.statistics import Rate

#: The least p-value that is shown.
SMALLEST = 1e-301
#: Sets are counted up to here: as far as every reader of JSON keeps whole numbers exact.
MOST_COUNTED = 2**53


class Conclusion(StrEnum):
    """What the rows say: this parity explains the label up to noise; it is related to the label,
    but not only; no parity was found."""

    EXPLAINS = "explains"
    RELATED = "related"
    NONE = "none"


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
    """Sets of k columns: how many there are (None: 2^53 or more), and how many were examined."""

    k: int
    sets: int | None
    examined: int

    @property
    def complete(self) -> bool:
        return self.examined == self.sets

    @classmethod
    def of(cls, columns: int, k: int, examined: int) -> "Size":
        """So many of the sets of k columns."""
        sets = math.comb(columns, k)
        return cls(k, sets if sets < MOST_COUNTED else None, min(examined, MOST_COUNTED))


@dataclass(frozen=True)
class Step:
    """What one method did.

    sizes: the sets it examined one by one. every_size: it examined all sets of all sizes. clean:
    it could only see parities that fit every row. words: what it did, where sizes do not say it.
    rows: that it looked at, None for all.
    """

    method: str
    stop: Stop
    sizes: tuple[Size, ...] = ()
    every_size: bool = False
    clean: bool = False
    words: str = ""
    rows: int | None = None

    @property
    def began(self) -> bool:
        """Whether anything was looked at."""
        looked = any(size.examined for size in self.sizes)
        return looked or self.every_size or bool(self.words)

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

    rows: of the table; minus: those labelled -1. columns: that change and differ. k: the size asked
    for, if any. alpha: the level. imbalance: for k = 1, 2, … the least and the largest |mean| of a
    product of k columns ±1, taken for independent; empty where something was found. steps: what the
    methods did, in order. stop: why it ended. seconds: it took.
    """

    rows: int
    minus: int
    columns: int
    k: int | None
    alpha: float
    imbalance: tuple[tuple[float, float], ...]
    steps: tuple[Step, ...]
    stop: Stop
    seconds: float

    @property
    def found(self) -> bool:
        """Whether a set reached the level."""
        return self.stop is Stop.FOUND

    @property
    def complete(self) -> bool:
        """Whether no set that these rows could support was left out for lack of time."""
        return all(step.complete for step in (self.steps[-1:] if self.found else self.steps))

    @property
    def notable(self) -> tuple[Step, ...]:
        """The steps worth a word: the one that found; or those that looked at something or had no
        time to."""
        if self.found:
            return self.steps[-1:]
        worth = [s for s in self.steps if s.began or not (s.complete or s.clean)]
        return tuple(worth) or self.steps

    @property
    def method(self) -> str:
        """The methods that were used, such as "elimination+walsh"."""
        return "+".join(dict.fromkeys(step.method for step in self.notable))

    @cached_property
    def sizes(self) -> tuple[Size, ...]:
        """Sizes of which sets were examined, however noisy the parity; k ascending."""
        best: dict[int, Size] = {}
        for step in self.steps:
            if step.clean:
                continue
            every = range(1, self.columns + 1) if step.every_size else ()
            whole = (Size.of(self.columns, k, math.comb(self.columns, k)) for k in every)
            for size in (*step.sizes, *whole):
                if size.examined >= best.get(size.k, size).examined:
                    best[size.k] = size
        return tuple(best[k] for k in sorted(best))

    def power(self, most: int | None = None) -> list[tuple[int, float | None]]:
        """What a parity had to fit to be found: for sizes k that were searched completely the least
        share of rows, found 99 times in 100, None if these rows could show none.

        Nothing where something was found. most: only that many of the smallest sizes.
        """
        whole = [size.k for size in self.sizes if size.complete and size.k <= len(self.imbalance)]
        least = partial(least_agreement, alpha=self.alpha, known=self.k is not None)
        return [
            (k, least(self.columns, k, self.rows, self.minus, self.imbalance[k - 1]))
            for k in whole[:most]
        ]


class Target(NamedTuple):
    """A label in words: that it is true, that it tends to be, and its name."""

    true: str = "the label is -1"
    tends: str = "the label tends to be -1"
    name: str = "the label"


LABEL = Target()


@dataclass(frozen=True)
class Answer:
    """The parity that rows support, or nothing.

    best: the best candidate, supported or not; the label is sign·(-1)^(xor of its columns), and its
    p-value is that of "labels do not depend on the rows", given the margins of column and label and
    corrected for every subset that could have been named. on, off: rows labelled -1, of those where
    the parity says so, and of the others. form: what labels depend on besides the parity, and what
    fits better. equivalents: other subsets that say the same on these rows. near: subsets that
    differ in one column and fit nearly as well. used: the rows that all this rests on. rows_needed:
    where nothing is supported, about how many rows would support the best candidate if it were
    real. search: what was searched, and why it stopped. target: the label in words.
    """

    best: Fit
    on: Rate
    off: Rate
    form: Form
    equivalents: tuple[Columns, ...]
    near: tuple[Columns, ...]
    used: RowsUsed
    rows_needed: int | None
    search: Search
    target: Target = LABEL

    @property
    def supported(self) -> bool:
        """Whether the best candidate reaches the level, on enough rows."""
        reached = bool(self.best.subset) and self.best.log_p <= math.log(self.search.alpha)
        return reached and not self.used.too_few

    @property
    def conclusion(self) -> Conclusion:
        """Whether the parity explains the label, is related to it but not only, or is none."""
        if not self.supported:
            return Conclusion.NONE
        return Conclusion.EXPLAINS if self.form.rest is None else Conclusion.RELATED

    @property
    def abstained(self) -> bool:
        """Whether no parity explains the labels: none is supported, or it is only related."""
        return self.conclusion is not Conclusion.EXPLAINS

    @property
    def subset(self) -> Columns | None:
        """The columns, None if nothing is supported at the level asked for."""
        return self.best.subset if self.supported else None

    @property
    def sign(self) -> int:
        """The label is sign·(-1)^(xor of the bits in subset)."""
        return self.best.sign if self.supported else 1

    @property
    def rows(self) -> int:
        """That the evidence rests on."""
        return self.search.rows

    @property
    def agreement(self) -> float:
        """Share of the rows that fit, of the best candidate where nothing is supported."""
        return self.best.fitting / self.rows

    @property
    def noise_rate(self) -> float:
        """Share of the rows that do not fit."""
        return (self.rows - self.best.fitting) / self.rows

    @property
    def p_value(self) -> float:
        """Of the best candidate, after correction; 1e-301 stands for anything smaller."""
        return math.exp(min(0.0, max(self.best.log_p, math.log(SMALLEST))))

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
        """That the search took."""
        return self.search.seconds

    def named(self, name: Callable[[int], str], target: Target = LABEL) -> "Answer":
        """The same answer with names of columns and words for the label."""

        def of(columns: Columns) -> Columns:
            return tuple(name(int(each)) for each in columns)

        rest, better = self.form
        return replace(
            self,
            best=self.best._replace(subset=of(self.best.subset)),
            form=Form(
                rest and rest._replace(columns=of(rest.columns), xor=of(rest.xor)),
                better and better._replace(columns=of(better.columns)),
            ),
            equivalents=tuple(map(of, self.equivalents)),
            near=tuple(map(of, self.near)),
            target=target,
        )

    def __str__(self) -> str:
        from xorfind.text import said

        return "; ".join(said(self))

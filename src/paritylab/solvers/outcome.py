"""What a search did, as one record.

Answers, rules, JSON and every sentence about a search are made from it, so they cannot disagree.
Sentences are made in `outcome_text`; nothing reads them back.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, NamedTuple

from paritylab.solvers.evidence import log_choose
from paritylab.solvers.power import least_agreement

#: Sets are counted up to here: as far as every reader of JSON keeps whole numbers exact.
MOST_COUNTED = 2**53
#: Columns up to which all sets of all sizes can have been examined.
MOST_COLUMNS = 53


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


class Conclusion(StrEnum):
    """What the rows say: this parity explains the label up to noise; it is related to the label,
    but not only; no parity was found."""

    EXPLAINS = "explains"
    RELATED = "related"
    NONE = "none"


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
        """Sets of k of so many columns."""
        if k > columns:
            return cls(k, 0, examined)
        few = log_choose(columns, k) < math.log(MOST_COUNTED)
        return cls(k, math.comb(columns, k) if few else None, examined)

    @classmethod
    def whole(cls, columns: int, k: int) -> "Size":
        """All sets of k of at most 53 columns."""
        return cls(k, math.comb(columns, k), math.comb(columns, k))


class Draws(NamedTuple):
    """Random parts of the table that were solved.

    what: parts of the "rows" or of the "columns". tries: made. drawn: rows or columns in each.
    expected: tries until one is right, for a parity with this noise (rows) or this many members
    (columns). wrong: labels among the rows drawn that may be wrong, because they are corrected.
    """

    what: Literal["rows", "columns"]
    tries: int
    drawn: int
    expected: float
    noise: float = 0.0
    members: int = 0
    wrong: int = 0


class Space(NamedTuple):
    """The 2^dimensions parities that fit every row, and at how many of them the search for the
    sparsest looked."""

    dimensions: int
    looked: int


class Training(NamedTuple):
    """Rows that attention was trained on, rows kept to judge it, and the sizes it tried."""

    rows: int
    unseen: int
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """What one method did.

    sizes: the sets it examined one by one. every_size: it examined all sets of all sizes. clean:
    it could only see parities that fit every row. draws, space, training: what else it did.
    """

    method: str
    stop: Stop
    sizes: tuple[Size, ...] = ()
    every_size: bool = False
    clean: bool = False
    draws: Draws | None = None
    space: Space | None = None
    training: Training | None = None

    @property
    def began(self) -> bool:
        """Whether anything was looked at."""
        looked = any(size.examined for size in self.sizes)
        return looked or self.every_size or self.draws is not None or self.training is not None

    @property
    def complete(self) -> bool:
        """Whether it came to its end."""
        return self.stop not in UNFINISHED

    @property
    def largest(self) -> int:
        """The largest k up to which all sets were examined."""
        return max((size.k for size in self.sizes if size.complete), default=0)


class Power(NamedTuple):
    """The least share of rows that a parity of k columns had to fit to be found 99 times in 100;
    None if these rows could show none."""

    k: int
    agreement: float | None


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

    def __post_init__(self) -> None:
        sane = 0 <= self.minus <= self.rows and 0 < self.alpha < 1
        if not sane or any(not 0 <= least <= most <= 1 for least, most in self.imbalance):
            raise ValueError("a search needs 0 ≤ minus ≤ rows, alpha and imbalance within 0 and 1")
        if self.columns > MOST_COLUMNS and any(s.every_size and not s.clean for s in self.steps):
            raise ValueError(f"nobody examines all sets of {self.columns} columns")

    @property
    def found(self) -> bool:
        """Whether a set reached the level."""
        return self.stop is Stop.FOUND

    @property
    def complete(self) -> bool:
        """Whether no set that these rows could support was left out for lack of time."""
        return all(step.complete for step in (self.steps[-1:] if self.found else self.steps))

    @property
    def told(self) -> tuple[Step, ...]:
        """The steps worth telling: the one that found; or those that looked at something or had
        no time to."""
        if self.found:
            return self.steps[-1:]
        worth = [s for s in self.steps if s.began or not (s.complete or s.clean)]
        return tuple(worth) or self.steps

    @property
    def method(self) -> str:
        """The methods that were used, such as "elimination+walsh"."""
        return "+".join(dict.fromkeys(step.method for step in self.told))

    @cached_property
    def sizes(self) -> tuple[Size, ...]:
        """Sizes of which sets were examined, however noisy the parity; k ascending."""
        best: dict[int, Size] = {}
        for step in self.steps:
            if step.clean:
                continue
            every = range(1, self.columns + 1) if step.every_size else ()
            for size in (*step.sizes, *(Size.whole(self.columns, k) for k in every)):
                if size.examined >= best.get(size.k, size).examined:
                    best[size.k] = size
        return tuple(best[k] for k in sorted(best))

    def power(self, most: int | None = None) -> tuple[Power, ...]:
        """What a parity had to fit to be found, for sizes that were searched completely and for no
        other; nothing where something was found. most: only that many of the smallest sizes."""
        whole = [size.k for size in self.sizes if size.complete and size.k <= len(self.imbalance)]
        return tuple(Power(k, self._least_agreement(k)) for k in whole[:most])

    def _least_agreement(self, k: int) -> float | None:
        return least_agreement(
            self.columns,
            k,
            self.rows,
            self.minus,
            self.imbalance[k - 1],
            alpha=self.alpha,
            known=self.k is not None,
        )

    def to_json(self) -> dict[str, Any]:
        """The search as JSON; docs/howto/discover.md says what each entry means."""
        least = {each.k: each.agreement for each in self.power()}
        return {
            "rows": self.rows,
            "minus": self.minus,
            "columns": self.columns,
            "k": self.k,
            "alpha": self.alpha,
            "method": self.method,
            "stop": str(self.stop),
            "complete": self.complete,
            "seconds": round(self.seconds, 3),
            "sizes": [
                {**_size_json(size), "least_agreement": least.get(size.k)} for size in self.sizes
            ],
            "imbalance": [list(each) for each in self.imbalance],
            "steps": [_step_json(step) for step in self.steps],
        }

    @classmethod
    def from_json(cls, data: Any) -> "Search":
        """The search of `to_json`; anything else is a ValueError."""
        try:
            return cls(
                rows=int(data["rows"]),
                minus=int(data["minus"]),
                columns=int(data["columns"]),
                k=None if data["k"] is None else int(data["k"]),
                alpha=float(data["alpha"]),
                imbalance=tuple((float(least), float(most)) for least, most in data["imbalance"]),
                steps=tuple(_step(each) for each in data["steps"]),
                stop=Stop(data["stop"]),
                seconds=float(data["seconds"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f'"search" cannot be read: {error!r}') from None


def _size_json(size: Size) -> dict[str, Any]:
    return {**size._asdict(), "complete": size.complete}


def _step_json(step: Step) -> dict[str, Any]:
    """A step without what does not apply to its method."""
    made: dict[str, Any] = {"method": step.method, "stop": str(step.stop)}
    if step.sizes:
        made["sizes"] = [_size_json(size) for size in step.sizes]
    made |= {name: True for name in ("every_size", "clean") if getattr(step, name)}
    if step.draws is not None:
        expected = step.draws.expected if math.isfinite(step.draws.expected) else None
        made["draws"] = {**step.draws._asdict(), "expected": expected}
    if step.space is not None:
        made["space"] = step.space._asdict()
    if step.training is not None:
        made["training"] = {**step.training._asdict(), "sizes": list(step.training.sizes)}
    return made


def _step(data: Mapping[str, Any]) -> Step:
    draws, space, training = (data.get(name) for name in ("draws", "space", "training"))
    return Step(
        str(data["method"]),
        Stop(data["stop"]),
        sizes=tuple(_size(each) for each in data.get("sizes", ())),
        every_size=bool(data.get("every_size", False)),
        clean=bool(data.get("clean", False)),
        draws=None if draws is None else _draws(draws),
        space=None if space is None else Space(int(space["dimensions"]), int(space["looked"])),
        training=None
        if training is None
        else Training(
            int(training["rows"]),
            int(training["unseen"]),
            tuple(int(each) for each in training["sizes"]),
        ),
    )


def _size(entry: Mapping[str, Any]) -> Size:
    sets = None if entry["sets"] is None else int(entry["sets"])
    return Size(int(entry["k"]), sets, int(entry["examined"]))


def _draws(entry: Mapping[str, Any]) -> Draws:
    if entry["what"] not in ("rows", "columns"):
        raise ValueError(f"draws are of rows or columns, got {entry['what']!r}")
    return Draws(
        entry["what"],
        tries=int(entry["tries"]),
        drawn=int(entry["drawn"]),
        expected=math.inf if entry["expected"] is None else float(entry["expected"]),
        noise=float(entry["noise"]),
        members=int(entry["members"]),
        wrong=int(entry.get("wrong", 0)),
    )

"""What rows say of a label, as one record with names: the same object and words everywhere.

`solve` gives it with column numbers, `discover` with a table's names, `ParityClassifier` with those
of its features; the command line prints it and JSON holds it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paritylab.solvers.form import p_text
from paritylab.solvers.independent_rows import Dependence, RowsUsed
from paritylab.solvers.outcome import Conclusion
from paritylab.statistics import Rate, share_text

NOTHING = Rate(0, 0)
_WHY = {
    Dependence.REPEATED: "rows are repeated more often than chance makes; one of each is used",
    Dependence.ORDER: "neighbouring rows resemble each other; one row in {spacing} is used",
    Dependence.FAMILIES: "families of rows resemble each other; rows far apart are used",
    Dependence.GROUPS: "one row of each group is used",
}


@dataclass(frozen=True)
class Target:
    """A label in words: that it is true, that it tends to be, and its name."""

    true: str
    tends: str
    name: str


@dataclass(frozen=True)
class BetterTable:
    """Columns whose combinations predict more rows than the parity and than a constant do."""

    columns: tuple[str, ...]
    fits: Rate
    parity: Rate
    constant: Rate

    def __str__(self) -> str:
        fits, parity, constant = (
            share_text(each.successes, each.runs)
            for each in (self.fits, self.parity, self.constant)
        )
        return (
            f"the more frequent answer to each combination of {{{', '.join(self.columns)}}} is "
            f"right for {fits} of rows, the parity for {parity}, always the same answer for "
            f"{constant}"
        )


@dataclass(frozen=True)
class RestOn:
    """Columns that the target depends on beside the parity.

    xor: those whose parity shows it; off, on: rows where the parity fails, of those where that is
    false, and true. p_value: of such a dependence by luck.
    """

    columns: tuple[str, ...]
    xor: tuple[str, ...]
    off: Rate
    on: Rate
    p_value: float

    def __str__(self) -> str:
        text = f"the rest depends on {', '.join(self.columns)}"
        if not self.xor:
            return text
        off, on = (share_text(each.successes, each.runs) for each in (self.off, self.on))
        when = when_text(self.xor, True)
        return f"{text}: it fails for {on} of rows when {when}, for {off} of the others"


@dataclass(frozen=True)
class Outcome:
    """One of three conclusions, with what it rests on.

    columns: of the parity, empty if none was found; where it is only related, the best one. odd:
    whether an odd number of them goes with a true target. on, off: rows with a true target, of
    those where the parity says so, and of the others. p_value: of such a parity by luck. rest,
    better: why it is not the parity alone. near: sets that fit nearly as well. same: sets that say
    the same on every row. rows: what was used. reason: why none was found. aside: columns that
    were left out because they only follow the row order, and so does the target.
    """

    conclusion: Conclusion
    target: Target
    rows: RowsUsed
    columns: tuple[str, ...] = ()
    odd: bool = True
    on: Rate = NOTHING
    off: Rate = NOTHING
    p_value: float = 1.0
    rest: RestOn | None = None
    better: BetterTable | None = None
    near: tuple[tuple[str, ...], ...] = ()
    same: tuple[tuple[str, ...], ...] = ()
    reason: str = ""
    aside: tuple[str, ...] = ()

    @property
    def explains(self) -> bool:
        """Whether this parity explains the target, up to noise that is even on either side."""
        return self.conclusion is Conclusion.EXPLAINS

    @property
    def statement(self) -> str:
        """The conclusion in one clause."""
        if self.conclusion is Conclusion.NONE:
            return f"no parity found for {self.target.name}"
        when = when_text(self.columns, self.odd)
        if self.on.successes == self.on.runs and not self.off.successes:
            return f"{self.target.true} exactly when {when}"
        usual = self.on.value > 0.5 > self.off.value
        says = self.target.tends if usual else f"{self.target.true} more often"
        text = f"{says} when {when}"
        return text if self.explains else f"related, but not only: {text}"

    def sentences(self) -> list[str]:
        """Everything it says, the conclusion first."""
        if self.conclusion is Conclusion.NONE:
            return [f"{self.statement}: {self.reason}" if self.reason else self.statement]
        on, off = (_of(each) for each in (self.on, self.off))
        first = f"{self.statement}: in {on} rows then, in {off} of the others"
        more = [str(each) for each in (self.rest, self.better) if each is not None]
        more += [
            f"{text} {_sets(sets)}"
            for text, sets in (
                ("the same on every row, or the opposite, says", self.same),
                ("nearly as well fits", self.near),
            )
            if sets
        ]
        return [first, *more]

    def rows_text(self) -> list[str]:
        """What was done about rows that depend on each other."""
        lines = list[str]()
        if self.rows.used < self.rows.total:
            used = f"evidence from {self.rows.used:,} of {self.rows.total:,} rows"
            why = "; ".join(_WHY[each].format(spacing=self.rows.spacing) for each in self.rows.why)
            lines.append(f"{used}: {why}")
        if self.aside:
            names = ", ".join(self.aside)
            lines.append(
                f"left out, because it only follows the row order, as the target does: {names}"
            )
        return lines

    def __str__(self) -> str:
        last = [p_text(math.log(self.p_value))] if self.columns else []
        return "; ".join([*self.sentences(), *last, *self.rows_text()])

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON takes it."""
        rest, better = self.rest, self.better
        return {
            "conclusion": str(self.conclusion),
            "statement": self.statement,
            "target": {
                "true": self.target.true,
                "tends": self.target.tends,
                "name": self.target.name,
            },
            "columns": list(self.columns),
            "true_when": "odd" if self.odd else "even",
            "on": _rate_json(self.on),
            "off": _rate_json(self.off),
            "p_value": self.p_value,
            "rest": None
            if rest is None
            else {
                "columns": list(rest.columns),
                "xor": list(rest.xor),
                "off": _rate_json(rest.off),
                "on": _rate_json(rest.on),
                "p_value": rest.p_value,
            },
            "better": None
            if better is None
            else {
                "columns": list(better.columns),
                "fits": _rate_json(better.fits),
                "parity": _rate_json(better.parity),
                "constant": _rate_json(better.constant),
            },
            "near": [list(each) for each in self.near],
            "same": [list(each) for each in self.same],
            "rows": {
                "total": self.rows.total,
                "used": self.rows.used,
                "why": [str(each) for each in self.rows.why],
                "spacing": self.rows.spacing,
                "checked": self.rows.checked,
            },
            "reason": self.reason,
            "aside": list(self.aside),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Outcome":
        """The record that `to_json` wrote."""
        rest, better, rows = data["rest"], data["better"], data["rows"]
        return cls(
            Conclusion(data["conclusion"]),
            Target(**{str(key): str(value) for key, value in data["target"].items()}),
            RowsUsed(
                int(rows["total"]),
                int(rows["used"]),
                tuple(Dependence(each) for each in rows["why"]),
                int(rows["spacing"]),
                bool(rows["checked"]),
            ),
            columns=_texts(data["columns"]),
            odd=data["true_when"] == "odd",
            on=_rate(data["on"]),
            off=_rate(data["off"]),
            p_value=float(data["p_value"]),
            rest=None
            if rest is None
            else RestOn(
                _texts(rest["columns"]),
                _texts(rest["xor"]),
                _rate(rest["off"]),
                _rate(rest["on"]),
                float(rest["p_value"]),
            ),
            better=None
            if better is None
            else BetterTable(
                _texts(better["columns"]),
                _rate(better["fits"]),
                _rate(better["parity"]),
                _rate(better["constant"]),
            ),
            near=tuple(_texts(each) for each in data["near"]),
            same=tuple(_texts(each) for each in data["same"]),
            reason=str(data["reason"]),
            aside=_texts(data["aside"]),
        )


def when_text(columns: tuple[str, ...], odd: bool) -> str:
    """The condition that a parity of named columns is."""
    if len(columns) == 1:
        return f"{columns[0]} is {'true' if odd else 'false'}"
    return f"{'an odd' if odd else 'an even'} number of {{{', '.join(columns)}}} are true"


def _of(rate: Rate) -> str:
    if not rate.runs:
        return "0 of 0"
    return f"{rate.successes:,} of {rate.runs:,} ({share_text(rate.successes, rate.runs)})"


def _sets(sets: tuple[tuple[str, ...], ...], most: int = 5) -> str:
    text = "; ".join("{" + ", ".join(each) + "}" for each in sets[:most])
    return f"{text} and {len(sets) - most:,} more" if len(sets) > most else text


def _rate_json(rate: Rate) -> dict[str, int]:
    return {"successes": rate.successes, "runs": rate.runs}


def _rate(entry: Mapping[str, Any]) -> Rate:
    return Rate(int(entry["successes"]), int(entry["runs"]))


def _texts(entry: Any) -> tuple[str, ...]:
    return tuple(str(each) for each in entry)

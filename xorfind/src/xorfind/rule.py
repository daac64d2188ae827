"""A rule: which columns, counted odd or even, give the target; with its evidence.

A rule file is JSON that people can read. Nothing in it is run or unpickled.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xorfind.answer import Answer, Conclusion, Target
from xorfind.codec import from_json, to_json
from xorfind.files import write_atomically
from xorfind.statistics import Rate, share_text
from xorfind.table.columns import Coding
from xorfind.table.reading import read_table
from xorfind.table.table import Table
from xorfind.text import lines_of
from xorfind.untrusted import read_json
from xorfind.words import listed, shown

VERSION = 3
#: Columns a picture on the terminal may take, and lines.
_WIDTH, _LINES = 40, 16


class Share(NamedTuple):
    """Of the rows in which so many terms are true: how many have a true target."""

    true: int
    rate: Rate


@dataclass(frozen=True)
class Rule:
    """The target is, or tends to be, true when an odd (or even) number of terms are true.

    target, terms: how columns are read; no terms: no parity was found. odd: whether an odd number
    makes the target true. statement: the rule in one clause. answer: what is known of it, with
    names of columns; None for a rule of an earlier version. profile: the target by the number of
    terms that are true.
    """

    target: Coding
    terms: tuple[Coding, ...] = ()
    odd: bool = True
    statement: str = ""
    answer: Answer | None = None
    profile: tuple[Share, ...] = ()

    @property
    def found(self) -> bool:
        """Whether there is a parity to apply."""
        return bool(self.terms)

    @property
    def conclusion(self) -> Conclusion:
        """Whether a parity explains the target, is related to it but not only, or is none."""
        if self.answer is not None:
            return self.answer.conclusion
        related = self.statement.startswith("related")
        fallback = Conclusion.RELATED if related else Conclusion.NONE
        return Conclusion.EXPLAINS if self.found else fallback

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the terms, such as `smoker` or `address.6`."""
        return tuple(term.name for term in self.terms)

    @property
    def values(self) -> tuple[str, str]:
        """What is predicted for an untrue and a true target."""
        if self.target.above is not None:
            return "false", "true"
        return self.target.false, self.target.true

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Everything that is said of the target, a sentence a line."""
        return [self.statement] if self.answer is None else lines_of(self.answer)

    def picture(self, block: str = "█") -> list[str]:
        """How often the target is true by the number of terms that are, as bars of text."""
        if not self.profile or len(self.profile) > _LINES:
            return []
        lines = [f"  {'terms true':>10}  {'rows':>9}  {self.target.meaning}"]
        for true, rate in self.profile:
            bar = block * round(_WIDTH * rate.value)
            share = share_text(rate.successes, rate.runs)
            lines.append(f"  {true:>10}  {rate.runs:>9,}  {bar}{' ' if bar else ''}{share}")
        return lines

    def bits(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Predicted bits of the rows of a table, and flags of those where all terms are known."""
        if not self.found:
            raise ValueError("no parity was found; there is no rule to apply")
        needed = dict.fromkeys(term.column for term in self.terms)
        absent = [name for name in needed if name not in table.names]
        if absent:
            raise ValueError(f"the table lacks {listed(absent)}; the rule needs {listed(needed)}")
        parity = np.full(table.rows, 0 if self.odd else 1, dtype=np.uint8)
        known = np.ones(table.rows, dtype=bool)
        for term in self.terms:
            bits, there = term.read(table.column(term.column))
            parity ^= bits
            known &= there
        return parity, known

    def apply(self, table: Any) -> np.ndarray:
        """The predicted value of the target for every row, "" where a cell is missing.

        table: a path, a mapping from names to columns, or a data frame.
        """
        bits, known = self.bits(read_table(table))
        return np.array([*self.values, ""])[np.where(known, bits, 2)]

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON; docs/table.md says what each entry means."""
        return {
            "xorfind": "rule",
            "version": VERSION,
            "found": self.found,
            "words": self.statement,
            "target": self.target.to_json(),
            "true_when": "odd" if self.odd else "even",
            "columns": [term.to_json() for term in self.terms],
            "answer": to_json(self.answer),
            "profile": to_json(self.profile),
        }

    def save(self, path: str | Path) -> Path:
        """Write the rule as JSON."""
        text = json.dumps(self.to_json(), indent=1, allow_nan=False, ensure_ascii=True)
        return write_atomically(Path(path), text + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "Rule":
        """Read a rule file."""
        try:
            return cls.from_json(read_json(path))
        except ValueError as error:
            raise ValueError(f"{shown(str(path))} is no rule of xorfind: {error}") from None

    @classmethod
    def from_json(cls, data: object) -> "Rule":
        """The rule of `to_json`, or one that paritylab 0.3.0 or earlier wrote, without its
        evidence; anything else is one clear ValueError."""
        if not isinstance(data, dict) or "rule" not in (data.get("xorfind"), data.get("paritylab")):
            raise ValueError('expected an object with "xorfind": "rule"')
        version = data.get("version")
        if version not in (1, 2, VERSION):
            raise ValueError(f"version {version!r}, this program reads 1 to {VERSION}")
        columns, when = data.get("columns"), data.get("true_when")
        if not isinstance(columns, list) or when not in ("odd", "even"):
            raise ValueError('"columns" must be a list and "true_when" odd or even')
        known = data if version == VERSION else {}
        return cls(
            Coding.from_json(data.get("target")),
            tuple(Coding.from_json(each) for each in columns),
            when == "odd",
            shown(str(data.get("words", "")), 10_000),
            from_json(Answer | None, known.get("answer"), '"answer"'),  # type: ignore[arg-type]
            from_json(tuple[Share, ...], known.get("profile", []), '"profile"'),
        )


def target_words(target: Coding) -> Target:
    """A target as answers speak of it."""
    name = shown(target.name)
    value = f"> {target.above:.6g}" if target.above is not None else shown(target.true)
    return Target(target.meaning, f"{name} tends to be {value}", name)

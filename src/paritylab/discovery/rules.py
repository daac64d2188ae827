"""A rule: which columns, counted odd or even, give the target; with its evidence.

A rule file is JSON that people can read. Nothing in it is run or unpickled.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paritylab.discovery.blocks import Block
from paritylab.discovery.columns import Coding
from paritylab.discovery.reading import TableReader, open_table
from paritylab.discovery.words import listed, shown
from paritylab.files import write_atomically
from paritylab.untrusted import read_json

if TYPE_CHECKING:
    from paritylab.solvers.conclusion import Outcome, Target
    from paritylab.solvers.outcome import Conclusion, Search

VERSION = 2


@dataclass(frozen=True)
class Rule:
    """The target is, or tends to be, true when an odd (or even) number of terms are true.

    target, terms: how columns are read; no terms: no parity was found. odd: whether an odd number
    makes the target true. evidence: what is known of it, as in the JSON output; empty for a rule
    of version 1, which told it in sentences.
    """

    target: Coding
    terms: tuple[Coding, ...] = ()
    odd: bool = True
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def found(self) -> bool:
        """Whether there is a parity to apply."""
        return bool(self.terms)

    @property
    def conclusion(self) -> "Conclusion":
        """Whether a parity explains the target, is related to it but not only, or is none."""
        from paritylab.solvers.outcome import Conclusion

        fallback = Conclusion.EXPLAINS if self.found else Conclusion.NONE
        return Conclusion(self.evidence.get("conclusion", fallback))

    @property
    def outcome(self) -> "Outcome | None":
        """The conclusion with what it rests on; None without evidence."""
        from paritylab.solvers.conclusion import Outcome

        told = self.evidence.get("outcome")
        return None if told is None else Outcome.from_json(told)

    @property
    def search(self) -> "Search | None":
        """What was searched, and why it stopped; None without evidence."""
        from paritylab.solvers.outcome import Search

        return Search.from_json(self.evidence["search"]) if self.evidence else None

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

    @property
    def statement(self) -> str:
        """The rule in words, without its evidence."""
        if self.outcome is not None:
            return self.outcome.statement
        if not self.terms:
            return f"no parity found for {shown(self.target.name)}"
        from paritylab.solvers.conclusion import when_text

        phrases = tuple(term.phrase for term in self.terms)
        return f"{target_words(self.target).tends} when {when_text(phrases, self.odd)}"

    def __str__(self) -> str:
        from paritylab.discovery.rule_text import lines_of

        try:
            return "\n".join(lines_of(self))
        except (KeyError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f'the "evidence" of this rule cannot be told: {error!r}') from None

    def bits(self, block: Block, names: list[str], first: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Predicted bits of a block of rows, and flags of the rows where all terms are known."""
        places = {name: at for at, name in enumerate(names)}
        parity = np.full(block.rows, 0 if self.odd else 1, dtype=np.uint8)
        known = np.ones(block.rows, dtype=bool)
        for term in self.terms:
            bits, there = term.read(block.column(places[term.column]), first)
            parity ^= bits
            known &= there
        return parity, known

    def over(self, table: TableReader) -> Iterator[tuple[Block, np.ndarray, np.ndarray]]:
        """Blocks of an open table with their predicted bits and flags of known rows."""
        if not self.found:
            raise ValueError("no parity was found; there is no rule to apply")
        needed = dict.fromkeys(term.column for term in self.terms)
        absent = [name for name in needed if name not in table.names]
        if absent:
            raise ValueError(f"the table lacks {listed(absent)}; the rule needs {listed(needed)}")
        done = 0
        for block in table.blocks():
            yield block, *self.bits(block, table.names, done + 1)
            done += block.rows

    def apply(self, table: Any) -> np.ndarray:
        """The predicted value of the target for every row, "" where a cell is missing.

        table: a path, a mapping from names to columns, or a data frame.
        """
        words = np.array([*self.values, ""])
        with open_table(table) as opened:
            parts = [words[np.where(known, bits, 2)] for _, bits, known in self.over(opened)]
        return np.concatenate(parts) if parts else words[:0]

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON; docs/howto/discover.md says what each entry means."""
        return {
            "paritylab": "rule",
            "version": VERSION,
            "found": self.found,
            "words": self.statement,
            "target": _coding_json(self.target),
            "true_when": "odd" if self.odd else "even",
            "columns": [_coding_json(term) for term in self.terms],
            "evidence": self.evidence,
        }

    def save(self, path: str | Path) -> Path:
        """Write the rule as JSON."""
        text = json.dumps(self.to_json(), indent=1, allow_nan=False, ensure_ascii=True)
        return write_atomically(Path(path), text + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "Rule":
        """Read a rule file."""
        what = shown(str(path))
        try:
            return cls.from_json(read_json(path))
        except ValueError as error:
            raise ValueError(f"{what} is no rule of paritylab discover: {error}") from None

    @classmethod
    def from_json(cls, data: object) -> "Rule":
        """The rule of `to_json`; anything else is one clear ValueError."""
        if not isinstance(data, dict) or data.get("paritylab") != "rule":
            raise ValueError('expected an object with "paritylab": "rule"')
        if data.get("version") not in (1, VERSION):
            raise ValueError(f"version {data.get('version')!r}, this program reads 1 and {VERSION}")
        columns, when = data.get("columns"), data.get("true_when")
        if not isinstance(columns, list) or when not in ("odd", "even"):
            raise ValueError('"columns" must be a list and "true_when" odd or even')
        evidence = data.get("evidence", {})
        if not isinstance(evidence, dict):
            raise ValueError('"evidence" must be an object')
        terms = tuple(_coding(each) for each in columns)
        kept = {} if data["version"] == 1 else evidence
        return cls(_coding(data.get("target")), terms, when == "odd", kept)


def target_phrase(target: Coding) -> str:
    """What it means that the target is true."""
    if target.above is not None or target.bit is not None:
        return target.phrase
    return f"{shown(target.column)} is {shown(target.true)}"


def target_words(target: Coding) -> "Target":
    """A target as conclusions speak of it."""
    from paritylab.solvers.conclusion import Target

    name = shown(target.name)
    if target.above is not None:
        return Target(target.phrase, f"{name} tends to be > {target.above:.6g}", name)
    return Target(target_phrase(target), f"{name} tends to be {shown(target.true)}", name)


def _coding_json(coding: Coding) -> dict[str, Any]:
    """A column with its levels, its threshold or its bit; nothing that does not apply."""
    entry = {name: value for name, value in asdict(coding).items() if value is not None}
    if coding.above is not None or coding.bit is not None:
        del entry["false"], entry["true"]
    return entry


def _coding(entry: object) -> Coding:
    if not isinstance(entry, dict) or not isinstance(entry.get("column"), str):
        raise ValueError('a column needs a "column" with its name')
    kinds = {"false": str, "true": str, "above": (int, float), "bit": int}
    values = {name: entry[name] for name in kinds if name in entry}
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, kinds[name]):  # type: ignore[arg-type]
            raise ValueError(f'"{name}" of {shown(entry["column"])!r} cannot be {value!r}')
    levels = "false" in values and "true" in values
    if levels + ("above" in values) + ("bit" in values) != 1:
        raise ValueError(f'{shown(entry["column"])!r} needs "false" and "true", "above" or "bit"')
    if not 0 <= values.get("bit", 0) < 64:
        raise ValueError(f'"bit" of {shown(entry["column"])!r} must be from 0 to 63')
    return Coding(entry["column"], **values)

"""The XOR matrix: every bit of a field as an XOR of input bits, with its constants.

Two matrices say the same up to row operations if their rows span the same space: then each output
of one is an XOR of outputs of the other. That is how bank functions are compared.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paritylab.discovery.words import shown
from paritylab.files import write_atomically
from paritylab.solvers.gf2 import back_substitution, echelon
from paritylab.solvers.labelled_rows import packed, unpacked
from paritylab.untrusted import read_json

VERSION = 1


def reduced(rows: np.ndarray) -> np.ndarray:
    """The reduced echelon form, zero rows left out: the same for every basis of one row space.

    >>> reduced(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], np.uint8)).tolist()
    [[1, 0, 1], [0, 1, 1]]
    """
    bits = np.asarray(rows, np.uint8)
    columns = bits.shape[1]
    if not len(bits) or not columns:
        return np.zeros((0, columns), np.uint8)
    form = echelon(packed(bits), columns)
    upper = unpacked(form.rows[: form.rank], columns)
    return back_substitution(upper[:, form.pivots], upper)


class Comparison(NamedTuple):
    """Two row spaces side by side. ranks: of both. common: dimension of what they share.
    constants: whether the constants agree too; None where that cannot be asked."""

    ranks: tuple[int, int]
    common: int
    constants: bool | None

    @property
    def same(self) -> bool:
        """Whether they are equal up to row operations."""
        return self.ranks[0] == self.ranks[1] == self.common

    def __str__(self) -> str:
        if self.same:
            tail = {True: ", constants too", False: "; constants differ", None: ""}
            return f"the same up to row operations (rank {self.common}){tail[self.constants]}"
        return (
            f"not the same: ranks {self.ranks[0]} and {self.ranks[1]}, of which {self.common} "
            "in common"
        )


@dataclass(frozen=True)
class XorMatrix:
    """outputs = rows·inputs ⊕ constants over GF(2).

    outputs, inputs: names of bits. rows: (outputs, inputs) of 0/1. constants: (outputs,).
    reading: how to read inputs and target from a file: slices as text and columns in hex.
    """

    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    rows: np.ndarray
    constants: np.ndarray
    reading: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.rows.shape != (len(self.outputs), len(self.inputs)):
            raise ValueError(
                f"a matrix of {len(self.outputs)} outputs and {len(self.inputs)} inputs cannot "
                f"have the shape {self.rows.shape}"
            )

    @cached_property
    def basis(self) -> np.ndarray:
        """Canonical basis of what the outputs compute, constants apart."""
        return reduced(self.rows)

    @property
    def rank(self) -> int:
        """How many outputs are independent."""
        return len(self.basis)

    def apply(self, bits: np.ndarray) -> np.ndarray:
        """The outputs for rows of input bits. bits: (N, inputs); returns (N, outputs)."""
        mask = packed(self.rows)
        made = np.empty((len(bits), len(self.outputs)), np.uint8)
        for start in range(0, len(bits), 1 << 16):
            words = packed(bits[start : start + (1 << 16)])
            for at in range(len(self.outputs)):
                odd = np.bitwise_count(words & mask[at]).sum(axis=1, dtype=np.uint64)
                made[start : start + len(words), at] = (odd & np.uint64(1)).astype(np.uint8)
        made ^= self.constants
        return made

    def formula(self, output: int) -> str:
        """One output in words: `bank[0] = addr[17] ^ addr[13] ^ 1`."""
        terms = [self.inputs[at] for at in np.flatnonzero(self.rows[output])]
        if self.constants[output] or not terms:
            terms.append(str(int(self.constants[output])))
        return f"{self.outputs[output]} = {' ^ '.join(terms)}"

    def compared(self, other: "XorMatrix") -> Comparison:
        """Whether two matrices say the same up to row operations; inputs are matched by name.

        If each has the bits of one column only, the columns are taken for the same.
        """
        columns = [{_column(name) for name in each.inputs} for each in (self, other)]
        if len(columns[0]) == len(columns[1]) == 1 and columns[0] != columns[1]:
            return self._bare().compared(other._bare())
        names = tuple(dict.fromkeys((*self.inputs, *other.inputs)))
        mine, theirs = self._over(names), other._over(names)
        ranks = len(reduced(mine)), len(reduced(theirs))
        common = sum(ranks) - len(reduced(np.concatenate([mine, theirs])))
        constants = None
        if ranks[0] == ranks[1] == common and self.outputs == other.outputs:
            constants = bool((self.constants == other.constants).all())
        return Comparison(ranks, common, constants)

    def _bare(self) -> "XorMatrix":
        return replace(self, inputs=tuple(n.removeprefix(_column(n)) for n in self.inputs))

    def _over(self, names: Sequence[str]) -> np.ndarray:
        place = {name: at for at, name in enumerate(names)}
        made = np.zeros((len(self.outputs), len(names)), np.uint8)
        made[:, [place[name] for name in self.inputs]] = self.rows
        return made

    def to_json(self) -> dict[str, Any]:
        """As JSON that people can read; docs/howto/checksums.md says what each entry means."""
        return {
            "paritylab": "xor",
            "version": VERSION,
            "inputs": list(self.inputs),
            "outputs": [
                {
                    "name": name,
                    "xor_of": [self.inputs[at] for at in np.flatnonzero(row)],
                    "constant": int(constant),
                }
                for name, row, constant in zip(self.outputs, self.rows, self.constants, strict=True)
            ],
            "rank": self.rank,
            "reading": self.reading,
        }

    def save(self, path: str | Path) -> Path:
        """Write it as JSON."""
        return write_atomically(Path(path), json.dumps(self.to_json(), indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "XorMatrix":
        """Read what `save` wrote, or a mapping written by hand: "outputs" suffice."""
        what = shown(str(path))
        try:
            return cls.from_json(read_json(path))
        except ValueError as error:
            raise ValueError(f"{what} is no XOR matrix of paritylab xor: {error}") from None

    @classmethod
    def from_json(cls, data: object) -> "XorMatrix":
        """The matrix of `to_json`; anything else is one clear ValueError."""
        if not isinstance(data, dict) or data.get("paritylab") != "xor":
            raise ValueError('expected an object with "paritylab": "xor"')
        if data.get("version") != VERSION:
            raise ValueError(f"version {data.get('version')!r}, this program reads {VERSION}")
        outputs = data.get("outputs")
        if not isinstance(outputs, list) or not outputs:
            raise ValueError('"outputs" must be a list that is not empty')
        rows = [_output(each) for each in outputs]
        named = dict.fromkeys(name for _, terms, _ in rows for name in terms)
        inputs = data.get("inputs", list(named))
        reading = data.get("reading", {})
        if not _are_texts(inputs) or len(set(inputs)) < len(inputs):
            raise ValueError('"inputs" must be a list of different names')
        if not isinstance(reading, dict):
            raise ValueError('"reading" must be an object')
        place = {name: at for at, name in enumerate(inputs)}
        made = np.zeros((len(rows), len(inputs)), np.uint8)
        for at, (name, terms, _) in enumerate(rows):
            for term in terms:
                if term not in place:
                    raise ValueError(f"{shown(name)!r} uses {shown(term)!r}, which is no input")
                made[at, place[term]] ^= 1
        constants = np.array([constant for *_, constant in rows], np.uint8)
        return cls(tuple(name for name, *_ in rows), tuple(inputs), made, constants, reading)


def _column(name: str) -> str:
    return name.partition("[")[0]


def _output(entry: object) -> tuple[str, list[str], int]:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise ValueError('an output needs a "name"')
    terms, constant = entry.get("xor_of"), entry.get("constant", 0)
    if not isinstance(terms, list) or not _are_texts(terms):
        raise ValueError(f'"xor_of" of {shown(entry["name"])!r} must be a list of names')
    if isinstance(constant, bool) or constant not in (0, 1):
        raise ValueError(f'"constant" of {shown(entry["name"])!r} must be 0 or 1')
    return entry["name"], list(terms), constant


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)

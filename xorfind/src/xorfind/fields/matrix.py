"""The XOR matrix: every bit of a field as an XOR of input bits, with its constants."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from xorfind.codec import from_json, to_json
from xorfind.fields.equations import numbers
from xorfind.fields.reading import read_fields
from xorfind.fields.slices import Slice, parse
from xorfind.files import write_atomically
from xorfind.gf2 import products, reduced
from xorfind.untrusted import read_json
from xorfind.words import shown


class Applied(NamedTuple):
    """Lines of new rows, the value of each as a number, and whether the row has that value itself
    (None if the table does not say)."""

    lines: np.ndarray
    values: np.ndarray
    right: np.ndarray | None


class _Output(NamedTuple):
    """An output in a file."""

    name: str
    xor_of: tuple[str, ...]
    constant: Literal[0, 1] = 0


class _File(NamedTuple):
    """What a file of a matrix must say; version 1 was also written by paritylab 0.3.0."""

    version: Literal[1]
    outputs: tuple[_Output, ...]
    inputs: tuple[str, ...] | None = None
    reading: dict | None = None  # type: ignore[type-arg]


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

    @cached_property
    def rank(self) -> int:
        """How many outputs are independent."""
        return len(reduced(self.rows))

    def apply(self, bits: np.ndarray) -> np.ndarray:
        """The outputs for rows of input bits. bits: (N, inputs); returns (N, outputs)."""
        return products(bits, self.rows) ^ self.constants.astype(np.uint8)

    def formula(self, output: int) -> str:
        """One output in words: `bank[0] = addr[17] ^ addr[13] ^ 1`."""
        terms = [self.inputs[at] for at in np.flatnonzero(self.rows[output])]
        if self.constants[output] or not terms:
            terms.append(str(int(self.constants[output])))
        return f"{self.outputs[output]} = {' ^ '.join(terms)}"

    def on_rows(self, source: Any) -> Applied:
        """The field of every row of a file or table, the first output the most significant bit."""
        if len(self.outputs) > 64:
            raise ValueError(f"a value has up to 64 bits, this matrix gives {len(self.outputs)}")

        fields = read_fields(source, [str(name) for name in self.reading.get("hex", [])])
        inputs, target = parse(self.inputs, fields.names), self._target(fields.names)
        part, *others = fields.parts([*inputs, *target])
        if others:
            raise ValueError("a matrix serves frames of one length; keep each length in a file")
        values, right = numbers(self.apply(part.taken(part.bits(inputs)))), None
        if target:
            right = numbers(part.taken(part.bits(parse(self.outputs, fields.names)))) == values
        return Applied(fields.lines, values, right)

    def _target(self, names: Sequence[str]) -> tuple[Slice, ...]:
        """The slices of the target, where the table has them."""
        try:
            return parse(str(self.reading.get("target")), names)
        except ValueError:
            return ()

    def to_json(self) -> dict[str, Any]:
        """As JSON that people can read; docs/checksums.md says what each entry means."""
        each = zip(self.outputs, self.rows, self.constants, strict=True)
        outputs = tuple(
            _Output(
                name, tuple(self.inputs[at] for at in np.flatnonzero(row)), 1 if constant else 0
            )
            for name, row, constant in each
        )
        file = _File(1, outputs, self.inputs, self.reading)
        return {"xorfind": "xor", **to_json(file), "rank": self.rank}

    def save(self, path: str | Path) -> Path:
        """Write it as JSON."""
        return write_atomically(Path(path), json.dumps(self.to_json(), indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "XorMatrix":
        """Read what `save` wrote, or a mapping written by hand: "outputs" suffice."""
        try:
            return cls.from_json(read_json(path))
        except ValueError as error:
            raise ValueError(
                f"{shown(str(path))} is not an XOR matrix of xorfind: {error}"
            ) from None

    @classmethod
    def from_json(cls, data: object) -> "XorMatrix":
        """The matrix of `to_json`; anything else is one clear ValueError."""
        if not isinstance(data, dict) or "xor" not in (data.get("xorfind"), data.get("paritylab")):
            raise ValueError('expected an object with "xorfind": "xor"')
        file = from_json(_File, data, "the matrix")
        used = dict.fromkeys(term for output in file.outputs for term in output.xor_of)
        inputs = tuple(used) if file.inputs is None else file.inputs
        if strange := set(used) - set(inputs):
            raise ValueError(f"an output uses {shown(min(strange))!r}, which is not an input")
        rows = [[output.xor_of.count(name) % 2 for name in inputs] for output in file.outputs]
        names = tuple(output.name for output in file.outputs)
        constants = np.array([output.constant for output in file.outputs], np.uint8)
        return cls(names, inputs, np.array(rows, np.uint8), constants, file.reading or {})

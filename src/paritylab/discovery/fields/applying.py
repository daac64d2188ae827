"""An XOR matrix on new rows."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from paritylab.discovery.fields.batches import FieldTable
from paritylab.discovery.fields.matrix import XorMatrix
from paritylab.discovery.fields.messages import numbers
from paritylab.discovery.fields.reading import read_fields
from paritylab.discovery.fields.slices import parse, place_of
from paritylab.discovery.words import shown


class Applied(NamedTuple):
    """Lines of the rows, the value of each as a number, and whether the row has it itself (None if
    the table does not say)."""

    lines: np.ndarray
    values: np.ndarray
    right: np.ndarray | None


def applied(matrix: XorMatrix, source: Any) -> Applied:
    """The field of every row by a matrix, the first output the most significant bit."""
    if len(matrix.outputs) > 64:
        raise ValueError(f"a value has up to 64 bits, this matrix gives {len(matrix.outputs)}")
    places = [place_of(label) for label in matrix.inputs]
    for label, place in zip(matrix.inputs, places, strict=True):
        if place is None:
            raise ValueError(
                f"the input {shown(label)!r} is no bit of a row; a matrix for frames of several "
                "lengths cannot be applied"
            )
    columns = {name for place in places if place is not None for name in place.name.split("^")}
    target = matrix.reading.get("target")
    hex_columns = [str(name) for name in matrix.reading.get("hex", [])]
    table = read_fields(source, lambda names: _needed(names, columns, target), hex_columns)
    parts = [*_batches(matrix, table, target)]
    lines, values = (np.concatenate([part[at] for part in parts]) for at in range(2))
    order = np.argsort(lines, kind="stable")
    right = None
    if all(part[2] is not None for part in parts):
        right = np.concatenate([part[2] for part in parts if part[2] is not None])[order]
    return Applied(lines[order], values[order], right)


def _needed(names: Any, columns: set[str], target: Any) -> set[str]:
    absent = columns - set(names)
    if absent:
        raise ValueError(f"the table lacks the column {shown(min(absent))!r} of the matrix")
    return columns | _target_columns(names, target)


def _target_columns(names: Any, target: Any) -> set[str]:
    """The columns of the target, where the table has them."""
    try:
        return {name for each in parse(str(target), names) for name in each.columns}
    except ValueError:
        return set()


def _batches(
    matrix: XorMatrix, table: FieldTable, target: Any
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
    for batch in table:
        bits = batch.resolved([parse(label, table.names)[0] for label in matrix.inputs])
        values = numbers(matrix.apply(batch.taken(bits)))
        right = None
        if _target_columns(table.names, target):
            given = batch.resolved([parse(label, table.names)[0] for label in matrix.outputs])
            right = numbers(batch.taken(given)) == values
        yield batch.lines, values, right

"""What the two halves of `paritylab xor` and `paritylab apply` share: reading and writing."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paritylab.cli import console
from paritylab.files import write_atomically, written_beside

if TYPE_CHECKING:
    from paritylab.discovery.fields.batches import FieldTable
    from paritylab.discovery.fields.matrix import XorMatrix


class Asked:
    """What was asked for, as texts."""

    def __init__(
        self,
        target: list[str],
        bits: list[str],
        ignore: list[str],
        by: str | None,
        same: str | None,
        slow: str | None,
        hex_columns: list[str],
    ) -> None:
        self.target, self.bits, self.ignore = target, bits, ignore
        self.by, self.same, self.slow, self.hex_columns = by, same, slow, hex_columns

    def read(self, file: str) -> "FieldTable":
        """The table, without columns that nobody asked for."""
        from paritylab.discovery.fields.reading import read_fields

        return read_fields(file, self._wanted, self.hex_columns)

    def _wanted(self, names: Any) -> set[str]:
        from paritylab.discovery.fields.batches import parse_all

        asked = [*self.target, *self.bits, *([self.by] if self.by else [])]
        asked += [self.same] if self.same else []
        columns = {name for each in parse_all(asked, names) for name in each.columns}
        if not self.bits:
            whole = {each.columns[0] for each in parse_all(self.ignore, names) if not each.ends}
            columns |= set(names) - whole
        if self.slow is not None:
            columns.discard(self.slow)
        return columns

    def reading(self, target: str) -> dict[str, Any]:
        """How to read the same again."""
        return {"target": target, "bits": self.bits, "ignore": self.ignore, "hex": self.hex_columns}


def say_reading(table: "FieldTable") -> None:
    parts = []
    for name, reading in table.readings.items():
        parts.append(f"{name}: {reading}" + (f" of {table.lengths}" if reading == "frames" else ""))
    console.say("; ".join(parts[:8]) + (f" and {len(parts) - 8} more" if len(parts) > 8 else ""))


def compare(matrix: "XorMatrix | None", published: "XorMatrix | None", out: Any) -> None:
    if published is not None:
        text = "nothing found to compare" if matrix is None else str(matrix.compared(published))
        print(f"  against the given matrix: {text}", file=out)


def save(matrix: "XorMatrix | None", save: Path) -> None:
    if matrix is not None:
        matrix.save(save)
    unwritten = (
        f"{save} was not written: no XOR matrix serves new rows here (several lengths, or no row "
        "to spare); --emit may"
    )
    console.say(f"matrix: {save}" if matrix else unwritten)


def write_json(data: dict[str, Any], file: str, json_file: str | None) -> None:
    if not json_file:
        return
    text = json.dumps({"paritylab": "xor", "version": 1, "file": file, **data}, indent=1) + "\n"
    if json_file == "-":
        sys.stdout.write(text)
    else:
        write_atomically(Path(json_file), text)


def is_matrix(path: Path) -> bool:
    """Whether a file begins as an XOR matrix of `--save` does."""
    try:
        with path.open("rb") as stream:
            return b'"paritylab": "xor"' in stream.read(200)
    except OSError:
        return False


def apply_matrix(matrix_file: Path, file: str, out: Path | None) -> str:
    """Write line and value of every row; what to say in the end."""
    from paritylab.discovery.fields.applying import applied
    from paritylab.discovery.fields.matrix import XorMatrix
    from paritylab.discovery.words import counted
    from paritylab.statistics import share_text

    matrix = XorMatrix.load(matrix_file)
    made = applied(matrix, file)
    digits = -(-len(matrix.outputs) // 4)
    rows = (
        (int(line), f"0x{int(value):0{digits}x}")
        for line, value in zip(made.lines, made.values, strict=True)
    )
    if out is None:
        csv.writer(sys.stdout, lineterminator="\n").writerows([("line", "predicted"), *rows])
    else:
        with written_beside(out) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
            csv.writer(text, lineterminator="\n").writerows([("line", "predicted"), *rows])
            text.flush()
            text.detach()
    told = counted(len(made.lines), "row")
    if made.right is not None:
        told += f", as predicted in {share_text(int(made.right.sum()), len(made.right))}"
    return told

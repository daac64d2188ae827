"""`xorfind apply`: a saved rule or matrix on new rows."""

import argparse
import csv
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np

from xorfind.cli import console
from xorfind.fields.matrix import XorMatrix
from xorfind.files import check_target, write_atomically
from xorfind.rule import Rule
from xorfind.statistics import share_text
from xorfind.table.reading import read_table
from xorfind.untrusted import read_json
from xorfind.words import counted, shown, spreadsheet_safe


def run(asked: argparse.Namespace) -> int:
    """Write the predictions and say how many there are."""
    out = Path(asked.out) if asked.out else None
    if out is not None:
        _check_out(out, asked.rule, asked.file)
    tab = out is not None and out.suffix.lower() == ".tsv"
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if tab else ",", lineterminator="\n")
    said = (_apply_matrix if _is_matrix(asked.rule) else _apply_rule)(asked, writer)
    if out is None:
        sys.stdout.write(text.getvalue())
        console.say(said)
    else:
        write_atomically(out, text.getvalue())
        print(f"{said}: {out}")
    return 0


def _check_out(out: Path, *read: str) -> None:
    check_target(out, "--out")
    for given in read:
        if out.exists() and Path(given).exists() and out.samefile(given):
            raise ValueError(f"--out {out} is what is read; name another file")
    if out.suffix.lower() in (".parquet", ".gz"):
        raise ValueError(f"--out writes CSV, or TSV to a name in .tsv, got {out.name!r}")


def _is_matrix(path: str) -> bool:
    try:
        data = read_json(path)
    except ValueError:
        return False
    return isinstance(data, dict) and "xor" in (data.get("paritylab"), data.get("xorfind"))


def _apply_matrix(asked: argparse.Namespace, writer: Any) -> str:
    """Line and value of every row."""
    matrix = XorMatrix.load(asked.rule)
    made = matrix.on_rows(asked.file)
    digits = -(-len(matrix.outputs) // 4)
    writer.writerow(("line", "predicted"))
    for line, value in zip(made.lines, made.values, strict=True):
        writer.writerow((int(line), f"0x{int(value):0{digits}x}"))
    said = counted(len(made.lines), "row")
    if made.right is not None:
        said += f", as predicted in {share_text(int(made.right.sum()), len(made.right))}"
    return said


def _apply_rule(asked: argparse.Namespace, writer: Any) -> str:
    """The rows with their predictions."""
    rule, table = Rule.load(asked.rule), read_table(asked.file)
    if "predicted" in table.names:
        raise ValueError("the table already has a column 'predicted'; rename it first")
    bits, known = rule.bits(table)
    if not table.rows:
        raise ValueError("the table has column names but no rows")
    words = np.array([*map(spreadsheet_safe, rule.values), ""], dtype=object)
    cells = [map(spreadsheet_safe, column.texts()) for column in table.columns.values()]
    writer.writerow([*map(spreadsheet_safe, table.names), "predicted"])
    writer.writerows(zip(*cells, words[np.where(known, bits, 2)], strict=True))
    said = counted(table.rows, "row")
    if rule.target.column in table.names:
        truth, given = rule.target.read(table.column(rule.target.column))
        judged = known & given
        right = share_text(int((judged & (truth == bits)).sum()), int(judged.sum()))
        name = shown(rule.target.column)
        said += f", {name} as predicted in {right} of {int(judged.sum()):,}"
    if not known.all():
        said += f", {int((~known).sum()):,} without prediction for a missing value"
    return said

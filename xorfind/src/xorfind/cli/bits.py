"""`xorfind bits`: fields of frames and tables, and functions that groups of rows share."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from xorfind.cli import console
from xorfind.fields.emit import code_of, emit
from xorfind.fields.groups import set_differences, shared_functions
from xorfind.fields.hunt import Finding, hunt
from xorfind.fields.matrix import XorMatrix
from xorfind.fields.reading import Fields, read_fields
from xorfind.fields.slices import parse
from xorfind.fields.text import as_json, function_lines, lines_of, timing_lines
from xorfind.fields.timings import histogram_lines, threshold
from xorfind.files import check_target, write_atomically
from xorfind.table.reading import read_table
from xorfind.table.table import Table

Differences = tuple[tuple[str, ...], np.ndarray, np.ndarray]


def run(asked: argparse.Namespace) -> int:
    """Explain a field, or find the functions of groups."""
    start = time.perf_counter()
    _check(asked)
    out = sys.stderr if asked.emit or asked.json == "-" else sys.stdout
    code = _explain(asked, out) if asked.target else _share(asked, out)
    console.say(f"{time.perf_counter() - start:.1f} s in all")
    return code


def _check(asked: argparse.Namespace) -> None:
    for name in ("target", "bits", "ignore", "hex"):
        setattr(asked, name, getattr(asked, name) or [])
    if sum([bool(asked.target), asked.same is not None, asked.slow is not None]) != 1:
        raise ValueError(
            "say what to explain: --target SLICE (a field), --same COLUMN (groups without labels) "
            "or --slow COLUMN (pairs with a latency); one of them"
        )
    if not asked.budget > 0:
        raise ValueError(f"--budget must be a number of seconds above 0, got {asked.budget}")
    if asked.json and asked.json != "-":
        check_target(Path(asked.json), "--json")
    if asked.save:
        check_target(Path(asked.save), "--save")
        if len(asked.target) > 1:
            raise ValueError("--save writes one matrix; join slices by commas to one target")


def _read(asked: argparse.Namespace, source: Table | str) -> Fields:
    """The fields of a file or table, without columns that nobody asked for."""

    def wanted(names: Sequence[str]) -> set[str]:
        texts = [*asked.target, *asked.bits, *([asked.same] if asked.same else [])]
        columns = {name for each in parse(texts, names) for name in each.columns}
        if not asked.bits:
            whole = {each.columns[0] for each in parse(asked.ignore, names) if not each.ends}
            columns |= set(names) - whole
        return columns - {asked.slow}

    fields = read_fields(source, wanted, asked.hex)
    fields = fields.framed([*asked.target, *asked.bits, *asked.ignore])
    parts = [
        f"{name}: {each.reading}" + (f" of {fields.lengths}" if each.reading == "frames" else "")
        for name, each in fields.columns.items()
    ]
    console.say("; ".join(parts[:8]) + (f" and {len(parts) - 8} more" if len(parts) > 8 else ""))
    return fields


def _explain(asked: argparse.Namespace, out: TextIO) -> int:
    published = XorMatrix.load(asked.against) if asked.against else None
    fields, findings = _read(asked, asked.file), list[Finding]()
    for target in asked.target:
        others = [] if asked.bits else [each for each in asked.target if each != target]
        ignore, budget = [*asked.ignore, *others], asked.budget / len(asked.target)
        found = hunt(fields, target, asked.bits, ignore, budget=budget)
        findings.append(found)
        print("\n".join(lines_of(found)), file=out)
        _compare(found.matrix, published, out)
    _write(asked, {"findings": [as_json(each) for each in findings]}, findings[0].usable_matrix)
    if asked.emit:
        print("\n".join(code_of(found, asked.emit) for found in findings))
    return 0 if all(found.found for found in findings) else 3


def _compare(matrix: XorMatrix | None, published: XorMatrix | None, out: TextIO) -> None:
    if published is not None:
        text = "nothing found to compare" if matrix is None else str(matrix.compared(published))
        print(f"  against the given matrix: {text}", file=out)


def _write(asked: argparse.Namespace, data: dict[str, Any], matrix: XorMatrix | None) -> None:
    if asked.json:
        whole = {"xorfind": "bits", "version": 1, "file": asked.file, **data}
        text = json.dumps(whole, indent=1) + "\n"
        if asked.json == "-":
            sys.stdout.write(text)
        else:
            write_atomically(Path(asked.json), text)
    if asked.save and matrix is not None:
        matrix.save(asked.save)
        console.say(f"matrix: {asked.save}")
    elif asked.save:
        console.say(
            f"{asked.save} was not written: no XOR matrix serves new rows here (several lengths, "
            "or no row to spare); --emit may"
        )


def _share(asked: argparse.Namespace, out: TextIO) -> int:
    """Functions that groups share, from sets or from timings of pairs."""
    published = XorMatrix.load(asked.against) if asked.against else None
    labels, within, across = _timed(asked, out) if asked.slow is not None else _sets(asked)
    found = shared_functions(labels, within, across, asked.budget)
    print("\n".join(function_lines(found)), file=out)
    missing = timing_lines(found, within, across) if asked.slow is not None else []
    print("".join(f"{line}\n" for line in missing), end="", file=out)
    matrix = found.matrix if len(found.basis) else None
    _compare(matrix, published, out)
    entry = None if matrix is None else matrix.to_json()
    _write(asked, {"functions": len(found.basis), "matrix": entry}, matrix)
    if asked.emit:
        if matrix is None:
            raise ValueError("no function was found, so there is no code to print")
        print(emit(matrix, asked.emit, "functions"))
    return 0 if matrix is not None and not missing else 3


def _sets(asked: argparse.Namespace) -> Differences:
    fields = _read(asked, asked.file)
    if len(fields.parts) > 1:
        raise ValueError("groups need frames of one length")
    bits = fields.inputs(asked.bits, asked.ignore if asked.bits else [*asked.ignore, asked.same])
    own = fields.taken(fields.bits(parse(asked.same, fields.names)))
    groups = np.unique(own, axis=0, return_inverse=True)[1].ravel()
    return tuple(bit.label() for bit in bits), *set_differences(fields.taken(bits), groups)


def _timed(asked: argparse.Namespace, out: TextIO) -> Differences:
    if not asked.bits:
        raise ValueError("--slow needs --bits, such as --bits 'a^b[35:6]' for pairs a and b")
    table = read_table(asked.file)
    if asked.slow not in table.names:
        raise ValueError(f"no column {asked.slow!r} for --slow")
    try:
        times = np.array(table.column(asked.slow).texts(), float)
    except ValueError:
        raise ValueError(f"column {asked.slow!r} must hold numbers to be timings") from None
    fields = _read(asked, table)
    cut = threshold(times, asked.threshold)
    bar = "█" if str(out.encoding or "utf-8").lower().startswith("utf") else "#"
    print("\n".join([f"{asked.slow}:", *histogram_lines(times, cut, bar)]), file=out)
    if not cut.separates:
        raise ValueError(
            "the timings show no valley between fast and slow, so nothing separates them; give "
            "--threshold, or measure with fewer disturbances"
        )
    bits = fields.inputs(asked.bits, asked.ignore)
    rows = fields.taken(bits)
    # A function of the XOR of two addresses is the XOR of its values: name it after an address.
    labels = tuple(bit._replace(columns=("addr",)).label() for bit in bits)
    return labels, rows[cut.slow(times)], rows[cut.fast(times)]

"""`xorfind bits`: fields of frames and tables, and functions that groups of rows share."""

import argparse
import sys
import time
from typing import TextIO

import numpy as np

from xorfind.cli import console
from xorfind.fields.emit import code_of, emit
from xorfind.fields.groups import set_differences, shared_functions
from xorfind.fields.hunt import hunt
from xorfind.fields.matrix import XorMatrix
from xorfind.fields.reading import Fields, Part, read_fields
from xorfind.fields.slices import Bit, parse
from xorfind.fields.text import as_json, function_lines, lines_of, timing_lines
from xorfind.fields.timings import histogram_lines, threshold

Differences = tuple[tuple[str, ...], np.ndarray, np.ndarray]


def run(asked: argparse.Namespace) -> int:
    """Explain a field, or find the functions of groups."""
    start = time.perf_counter()
    if not asked.budget > 0:
        raise ValueError(f"--budget must be a number of seconds above 0, got {asked.budget}")
    if asked.slow is not None and not asked.bits:
        raise ValueError("--slow needs --bits, such as --bits 'a^b[35:6]' for pairs a and b")
    console.check_outputs(asked, "matrix")
    out = sys.stderr if asked.emit or asked.json == "-" else sys.stdout
    code = _explain(asked, out) if asked.target else _share(asked, out)
    console.say(f"{time.perf_counter() - start:.1f} s in all")
    return code


def _explain(asked: argparse.Namespace, out: TextIO) -> int:
    fields, findings = read_fields(asked.file, asked.hex), []
    for target in asked.target:
        others = [] if asked.bits else [each for each in asked.target if each != target]
        ignore, budget = [*asked.ignore, *others], asked.budget / len(asked.target)
        findings.append(hunt(fields, target, asked.bits, ignore, budget=budget))
        print("\n".join(lines_of(findings[-1])), file=out)
    _say_readings(fields)
    console.write_json(asked, 2, {"findings": [as_json(each) for each in findings]})
    _save(asked, findings[0].usable_matrix)
    if asked.emit:
        print("\n".join(code_of(found, asked.emit) for found in findings))
    return 0 if all(found.found for found in findings) else 3


def _say_readings(fields: Fields) -> None:
    """How each column was read, on standard error."""
    parts = [f"{name}: {each.reading}" for name, each in fields.columns.items()]
    console.say("; ".join(parts[:8]) + (f" and {len(parts) - 8} more" if len(parts) > 8 else ""))


def _save(asked: argparse.Namespace, matrix: XorMatrix | None) -> None:
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
    labels, within, across = _timed(asked, out) if asked.slow is not None else _sets(asked)
    found = shared_functions(labels, within, across, asked.budget)
    missing = timing_lines(found, within, across) if asked.slow is not None else []
    print("\n".join([*function_lines(found), *missing]), file=out)
    matrix = found.matrix if len(found.basis) else None
    entry = None if matrix is None else matrix.to_json()
    console.write_json(asked, 1, {"functions": len(found.basis), "matrix": entry})
    _save(asked, matrix)
    if asked.emit:
        if matrix is None:
            raise ValueError("no function was found, so there is no code to print")
        print(emit(matrix, asked.emit, "functions"))
    return 0 if matrix is not None and not missing else 3


def _sets(asked: argparse.Namespace) -> Differences:
    fields = read_fields(asked.file, asked.hex)
    same = parse(asked.same, fields.names)
    part, bits = _of_one_length(fields.explaining(same, asked.bits, asked.ignore))
    _say_readings(fields)
    groups = np.unique(part.taken(part.bits(same)), axis=0, return_inverse=True)[1].ravel()
    return tuple(bit.label() for bit in bits), *set_differences(part.taken(bits), groups)


def _of_one_length(parts: list[tuple[Part, list[Bit]]]) -> tuple[Part, list[Bit]]:
    if len(parts) > 1:
        raise ValueError("groups need frames of one length")
    return parts[0]


def _timed(asked: argparse.Namespace, out: TextIO) -> Differences:
    fields = read_fields(asked.file, asked.hex)
    if fields.table is None or asked.slow not in fields.names:
        raise ValueError(f"no column {asked.slow!r} for --slow")
    try:
        times = np.array(fields.table.column(asked.slow).texts(), float)
    except ValueError:
        raise ValueError(f"column {asked.slow!r} must hold numbers to be timings") from None
    part, bits = _of_one_length(fields.explaining([], asked.bits, asked.ignore))
    cut = threshold(times, asked.threshold)
    _say_readings(fields)
    lines = histogram_lines(times, cut, console.bar_of(out))
    print("\n".join([f"{asked.slow}:", *lines]), file=out)
    if not cut.separates:
        raise ValueError(
            "the timings show no valley between fast and slow, so nothing separates them; give "
            "--threshold, or measure with fewer disturbances"
        )
    rows = part.taken(bits)
    # A function of the XOR of two addresses is the XOR of its values: name it after an address.
    labels = tuple(bit._replace(columns=("addr",)).label() for bit in bits)
    return labels, rows[cut.slow(times)], rows[cut.fast(times)]

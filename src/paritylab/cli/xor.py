"""`paritylab xor`: several XORs at once, from frames, fields, groups and timings."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from paritylab.cli import console
from paritylab.cli.xor_files import Asked, compare, save as save_matrix, say_reading, write_json
from paritylab.cli.xor_groups import NOTHING_FOUND, share
from paritylab.files import check_target

if TYPE_CHECKING:
    from paritylab.discovery.fields.batches import FieldTable
    from paritylab.discovery.fields.hunt import Finding
    from paritylab.discovery.fields.matrix import XorMatrix

Language = Literal["c", "python", "verilog"]


def add_to(app: typer.Typer) -> None:
    """Register this module's command."""
    app.command("xor", epilog="Example: paritylab xor frames.txt --target 'frame[-1]' --emit c")(
        run_xor
    )


Target = Annotated[
    list[str] | None,
    typer.Option(metavar="SLICE", help="Field to explain: bank, crc[7:0], frame[-1]."),
]
Bits = Annotated[
    list[str] | None,
    typer.Option(metavar="SLICE", help="What may explain it; all the rest if absent."),
]
Ignore = Annotated[list[str] | None, typer.Option(metavar="SLICE", help="What may not explain it.")]
By = Annotated[
    str | None, typer.Option(metavar="SLICE", help="Also a table by these values (an opcode).")
]
Same = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Rows with one value share a bank.")
]
Slow = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Timings: slow pairs share a bank.")
]
Cut = Annotated[float | None, typer.Option(help="Slower is slow; from the histogram if absent.")]
Hex = Annotated[
    list[str] | None, typer.Option("--hex", metavar="COLUMN", help="Digits are hexadecimal.")
]
Against = Annotated[
    Path | None, typer.Option(metavar="MATRIX", help="Compare up to row operations.")
]
Budget = Annotated[float, typer.Option(metavar="SECONDS", help="Time for a search under noise.")]
Emit = Annotated[
    Language | None, typer.Option(help="Print code that computes it; words go to stderr.")
]
Save = Annotated[
    Path | None, typer.Option(metavar="MATRIX", help="Write the matrix for paritylab apply.")
]
Json = Annotated[str | None, typer.Option("--json", metavar="FILE|-", help="Write all as JSON.")]
Figure = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Histogram of timings: svg, pdf or png.")
]


def run_xor(
    file: Annotated[str, typer.Argument(help="Hex frames, one per line, or a table; - for stdin.")],
    target: Target = None,
    bits: Bits = None,
    ignore: Ignore = None,
    by: By = None,
    same: Same = None,
    slow: Slow = None,
    threshold: Cut = None,
    hex_columns: Hex = None,
    against: Against = None,
    budget: Budget = 30.0,
    emit: Emit = None,
    save: Save = None,
    json_file: Json = None,
    figure: Figure = None,
) -> int:
    """Explain every bit of a field as an XOR of others, name it, and say what to measure next.

    Exit code 0: all of it is explained; 3: not all; 2: the file or an option cannot be used.
    """
    start = time.perf_counter()
    _check(target, same, slow, json_file, save, figure, budget)
    out = sys.stderr if emit is not None or json_file == "-" else sys.stdout
    names = Asked(target or [], bits or [], ignore or [], by, same, slow, hex_columns or [])
    if target:
        code = _explain(file, names, budget, against, emit, save, json_file, out)
    else:
        code = share(file, names, threshold, budget, against, emit, save, json_file, figure, out)
    console.say(f"{time.perf_counter() - start:.1f} s in all")
    return code


def _check(
    target: list[str] | None,
    same: str | None,
    slow: str | None,
    json_file: str | None,
    save: Path | None,
    figure: Path | None,
    budget: float,
) -> None:
    if sum([bool(target), same is not None, slow is not None]) != 1:
        raise ValueError(
            "say what to explain: --target SLICE (a field), --same COLUMN (groups without labels) "
            "or --slow COLUMN (pairs with a latency); one of them"
        )
    if not budget > 0:
        raise ValueError(f"--budget must be a number of seconds above 0, got {budget}")
    if json_file and json_file != "-":
        check_target(Path(json_file), "--json")
    if save is not None:
        check_target(save, "--save")
        if target and len(target) > 1:
            raise ValueError("--save writes one matrix; join slices by commas to one target")
    if figure is not None:
        from paritylab.report.figures import figure_format

        if slow is None:
            raise ValueError("--figure draws the timings of --slow COLUMN")
        check_target(figure, "--figure")
        figure_format(figure)


def _explain(
    file: str,
    names: Asked,
    budget: float,
    against: Path | None,
    emit: str | None,
    save: Path | None,
    json_file: str | None,
    out: Any,
) -> int:
    from paritylab.discovery.fields.hunt import hunt
    from paritylab.discovery.fields.matrix import XorMatrix
    from paritylab.discovery.fields.text import as_json, lines_of

    published = None if against is None else XorMatrix.load(against)
    table = names.read(file)
    say_reading(table)
    findings: list[Finding] = []
    for target in names.target:
        others = [each for each in names.target if each != target]
        selection = table.select(target, names.bits, names.ignore, others)
        found = hunt(
            table,
            selection,
            target=target,
            budget=budget / len(names.target),
            reading=names.reading(target),
            tell=console.say,
        )
        findings.append(found)
        print("\n".join(lines_of(found)), file=out)
        _by_group(table, selection, names, found, out)
        compare(found.matrix, published, out)
    write_json({"findings": [as_json(found) for found in findings]}, file, json_file)
    if save is not None:
        save_matrix(_best_matrix(findings[0]), save)
    if emit is not None:
        print("\n".join(_code(found, emit) for found in findings))
    return 0 if all(found.found for found in findings) else NOTHING_FOUND


def _by_group(
    table: "FieldTable", selection: Any, names: Asked, found: "Finding", out: Any
) -> None:
    """A table by group where it was asked for, or where lengths differ and nothing fits all."""
    from paritylab.discovery.fields.consistency import consistency, together
    from paritylab.discovery.fields.slices import parse
    from paritylab.discovery.fields.text import group_lines

    if names.by is None and (found.found or len(table.batches) == 1):
        return
    by = () if names.by is None else parse(names.by, table.names)
    groups = consistency(table, selection, by)
    joint = together(table, found.system, by) if by else ()
    print("\n".join(group_lines(groups, joint)), file=out)


def _best_matrix(found: "Finding") -> "XorMatrix | None":
    """The matrix; that of a CRC where this says more than the rows alone."""
    from dataclasses import replace

    from paritylab.discovery.fields.emit_checksums import crc_matrix

    matrix, crc = found.matrix, found.crc
    if matrix is None or crc is None or found.sums or not found.fit.missing:
        return matrix
    if crc.fitting == crc.rows and len(crc.constants) == 1:
        made = crc_matrix(crc, matrix.inputs, matrix.outputs)
        return replace(made, reading=matrix.reading)
    return matrix


def _code(found: "Finding", language: str) -> str:
    from paritylab.discovery.fields.emit import emit
    from paritylab.discovery.fields.emit_checksums import emit_crc, emit_sum
    from paritylab.discovery.fields.hunt import Outcome
    from paritylab.discovery.fields.sums import SumFit

    if not found.found:
        raise ValueError(f"{found.target} is not explained, so there is no code to print")
    if found.outcome == Outcome.TWO:
        raise ValueError(f"{found.target} has two formulas; keep the rows of one of them in a file")
    best = found.named if found.outcome == Outcome.NAMED and found.shape is None else None
    if found.matrix is not None and not found.system.lengths and language == "verilog":
        best = None
    if isinstance(best, SumFit):
        return emit_sum(best, language, found.target)
    if best is not None and all(length % 8 == 0 for length in best.constants):
        return emit_crc(best, language, found.target)
    matrix = _best_matrix(found)
    assert matrix is not None
    return emit(matrix, language, found.target)

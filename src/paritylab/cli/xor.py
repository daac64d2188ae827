"""`paritylab xor`: several XORs at once, from frames, fields, groups and timings."""

import csv
import io
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from paritylab.cli import console
from paritylab.files import check_target, write_atomically, written_beside

if TYPE_CHECKING:
    import numpy as np

    from paritylab.discovery.fields.batches import FieldTable
    from paritylab.discovery.fields.hunt import Finding
    from paritylab.discovery.fields.matrix import XorMatrix

NOTHING_FOUND = 3

Language = Literal["c", "python", "verilog"]


def add_to(app: typer.Typer) -> None:
    """Register this module's command."""
    app.command("xor", epilog="Example: paritylab xor frames.txt --target 'frame[-1]' --emit c")(
        run_xor
    )


def run_xor(
    file: Annotated[str, typer.Argument(help="Hex frames, one per line, or a table; - for stdin.")],
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="SLICE", help="Field to explain: bank, crc[7:0], frame[-1]."),
    ] = None,
    bits: Annotated[
        list[str] | None,
        typer.Option(metavar="SLICE", help="What may explain it; all the rest if absent."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="SLICE", help="What may not explain it.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="SLICE", help="Also a table by these values (an opcode).")
    ] = None,
    same: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Rows with one value share a bank.")
    ] = None,
    slow: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Timings: slow pairs share a bank.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Slower is slow; from the histogram if absent.")
    ] = None,
    hex_columns: Annotated[
        list[str] | None, typer.Option("--hex", metavar="COLUMN", help="Digits are hexadecimal.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="MATRIX", help="Compare up to row operations.")
    ] = None,
    budget: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time for a search under noise.")
    ] = 30.0,
    emit: Annotated[
        Language | None, typer.Option(help="Print code that computes it; words go to stderr.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="MATRIX", help="Write the matrix for paritylab apply.")
    ] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", metavar="FILE|-", help="Write all as JSON.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Histogram of timings: svg, pdf or png.")
    ] = None,
) -> int:
    """Explain every bit of a field as an XOR of others, name it, and say what to measure next.

    Exit code 0: all of it is explained; 3: not all; 2: the file or an option cannot be used.
    """
    start = time.perf_counter()
    _check(target, same, slow, json_file, save, figure, budget)
    out = sys.stderr if emit is not None or json_file == "-" else sys.stdout
    names = _Names(target or [], bits or [], ignore or [], by, same, slow, hex_columns or [])
    if target:
        code = _explain(file, names, budget, against, emit, save, json_file, out)
    else:
        code = _share(file, names, threshold, budget, against, emit, save, json_file, figure, out)
    console.say(f"{time.perf_counter() - start:.1f} s in all")
    return code


class _Names:
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
    names: _Names,
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
    _say_reading(table)
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
        _compare(found.matrix, published, out)
    _write_json({"findings": [as_json(found) for found in findings]}, file, json_file)
    if save is not None:
        _save(_best_matrix(findings[0]), save)
    if emit is not None:
        print("\n".join(_code(found, emit) for found in findings))
    return 0 if all(found.found for found in findings) else NOTHING_FOUND


def _say_reading(table: "FieldTable") -> None:
    parts = []
    for name, reading in table.readings.items():
        parts.append(f"{name}: {reading}" + (f" of {table.lengths}" if reading == "frames" else ""))
    console.say("; ".join(parts[:8]) + (f" and {len(parts) - 8} more" if len(parts) > 8 else ""))


def _by_group(
    table: "FieldTable", selection: Any, names: _Names, found: "Finding", out: Any
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


def _compare(matrix: "XorMatrix | None", published: "XorMatrix | None", out: Any) -> None:
    if published is not None:
        text = "nothing found to compare" if matrix is None else str(matrix.compared(published))
        print(f"  against the given matrix: {text}", file=out)


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


def _save(matrix: "XorMatrix | None", save: Path) -> None:
    if matrix is not None:
        matrix.save(save)
    console.say(f"matrix: {save}" if matrix else f"no XOR matrix, so {save} was not written")


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


def _share(
    file: str,
    names: _Names,
    threshold: float | None,
    budget: float,
    against: Path | None,
    emit: str | None,
    save: Path | None,
    json_file: str | None,
    figure: Path | None,
    out: Any,
) -> int:
    """Functions that groups share, from sets or from timings of pairs."""
    from paritylab.discovery.fields.emit import emit as code_of
    from paritylab.discovery.fields.groups import shared_functions
    from paritylab.discovery.fields.matrix import XorMatrix
    from paritylab.discovery.fields.text import function_lines

    published = None if against is None else XorMatrix.load(against)
    labels, within, across = (
        _timed(file, names, threshold, figure, out)
        if names.slow is not None
        else _sets(file, names)
    )
    found = shared_functions(labels, within, across, budget)
    print("\n".join(function_lines(found, "shared functions")), file=out)
    matrix = found.matrix if len(found.basis) else None
    _compare(matrix, published, out)
    entry = None if matrix is None else matrix.to_json()
    _write_json({"functions": len(found.basis), "matrix": entry}, file, json_file)
    if save is not None:
        _save(matrix, save)
    if emit is not None:
        if matrix is None:
            raise ValueError("no function was found, so there is no code to print")
        print(code_of(matrix, emit, "functions"))
    return 0 if matrix is not None else NOTHING_FOUND


Differences = tuple[tuple[str, ...], "np.ndarray", "np.ndarray"]


def _sets(file: str, names: _Names) -> Differences:
    import numpy as np

    from paritylab.discovery.fields.affine import keys_of
    from paritylab.discovery.fields.groups import set_differences
    from paritylab.discovery.fields.slices import labels_of

    assert names.same is not None
    table = names.read(file)
    _say_reading(table)
    if len(table.batches) > 1:
        raise ValueError("groups need frames of one length")
    (batch,) = table.batches
    selection = table.select(None, names.bits, names.ignore, [names.same])
    bits = selection.input_bits(batch)
    keys = keys_of(batch.taken(table.select(names.same).target_bits(batch)))
    groups = np.unique(keys, return_inverse=True)[1].ravel()
    return labels_of(bits), *set_differences(batch.taken(bits), groups)


def _timed(
    file: str, names: _Names, given: float | None, figure: Path | None, out: Any
) -> Differences:
    import numpy as np

    from paritylab.discovery.fields.slices import labels_of
    from paritylab.discovery.fields.timings import histogram_lines, threshold
    from paritylab.discovery.reading import open_table

    if not names.bits:
        raise ValueError("--slow needs --bits, such as --bits 'a^b[35:6]' for pairs a and b")
    with open_table(file) as opened:
        if names.slow not in opened.names:
            raise ValueError(f"no column {names.slow!r} for --slow")
        at = opened.names.index(names.slow)
        try:
            times = np.concatenate(
                [np.asarray(block.column(at), np.float64) for block in opened.blocks()]
            )
        except ValueError:
            raise ValueError(f"column {names.slow!r} must hold numbers to be timings") from None
    table = names.read(file)
    _say_reading(table)
    (batch,) = table.batches
    cut = threshold(times, given)
    block = "█" if str(out.encoding or "utf-8").lower().startswith("utf") else "#"
    print("\n".join([f"{names.slow}:", *histogram_lines(times, cut, block)]), file=out)
    if figure is not None:
        _draw(times, cut, names.slow, figure)
    if not cut.separates:
        raise ValueError(
            "the timings show no valley between fast and slow, so nothing separates them; give "
            "--threshold, or measure with fewer disturbances"
        )
    bits = table.select(None, names.bits, names.ignore).input_bits(batch)
    rows = batch.taken(bits)
    # A function of the XOR of two addresses is the XOR of its values: name it after an address.
    labels = tuple(
        label.replace("^".join(bit.columns), "addr", 1)
        for bit, label in zip(bits, labels_of(bits), strict=True)
    )
    return labels, rows[cut.slow(times)], rows[cut.fast(times)]


def _draw(times: Any, cut: Any, label: str, figure: Path) -> None:
    from paritylab.claims import Histogram, Mark
    from paritylab.report.figures import save_figure

    near = times[times <= cut.top]
    marks = [Mark(cut.value, "threshold", "x")]
    save_figure(Histogram(near.tolist(), x=label, marks=marks).series(), figure)
    console.say(f"figure: {figure}")


def _write_json(data: dict[str, Any], file: str, json_file: str | None) -> None:
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

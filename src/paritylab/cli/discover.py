"""`paritylab discover` and `paritylab apply`."""

import csv
import io
import json
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from paritylab.cli import console
from paritylab.files import check_target, write_atomically, written_beside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paritylab.discovery.blocks import Cells
    from paritylab.discovery.notes import Notes
    from paritylab.discovery.rules import Rule
    from paritylab.discovery.search import Progress

NOTHING_FOUND = 3

Missing = Literal["refuse", "drop"]
JsonFile = Annotated[
    str | None, typer.Option("--json", metavar="FILE|-", help="Write all as JSON; - for stdout.")
]
Group = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Rows with one value here depend on each other."),
]
RowsAre = Annotated[
    Literal["check", "independent"],
    typer.Option(help="Look whether rows depend on each other, or take all of them."),
]


def add_to(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.command("discover", epilog="Example: paritylab discover people.csv --target smoker")(
        run_discover
    )
    app.command("apply", epilog="Example: paritylab apply rule.json new.csv --out predicted.csv")(
        run_apply
    )


Bits = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN[:HI-LO]", help="Take whole numbers apart into bits."),
]
Thresholds = Annotated[
    list[str] | None,
    typer.Option(metavar="[COLUMN=]V", help="Numbers above V are true; the median if absent."),
]
SavedRule = Annotated[
    Path | None, typer.Option(metavar="RULE", help="Write the rule for paritylab apply.")
]


def run_discover(
    file: Annotated[
        str, typer.Argument(help="CSV, TSV (also gzipped), NPZ, Parquet; - for stdin.")
    ],
    target: Annotated[
        list[str], typer.Option(metavar="COLUMN", help="What to explain; may be repeated.")
    ],
    k: Annotated[int | None, typer.Option(help="Number of columns in the parity.")] = None,
    alpha: Annotated[float, typer.Option(help="Chance of naming a parity where none is.")] = 0.01,
    budget: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Time for the search; 30 if absent.")
    ] = None,
    bits: Bits = None,
    threshold: Thresholds = None,
    missing: Annotated[Missing, typer.Option(help="Rows with missing values.")] = "refuse",
    group: Group = None,
    rows: RowsAre = "check",
    json_file: JsonFile = None,
    save: SavedRule = None,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Picture to write: svg, pdf or png.")
    ] = None,
) -> int:
    """Find a small set of columns whose parity gives a target, or say that none is supported.

    Exit code 0: a parity explains every target; 3: one has none at this confidence, or a parity is
    only part of the story, or the budget ended first; 2: the table or an option cannot be used.
    """
    from paritylab.discovery.search import discover_all

    _check_outputs(json_file, save, figure, target)
    start = time.perf_counter()
    with _progress(30.0 if budget is None else budget) as progress:
        rules, notes = discover_all(
            file,
            target,
            k=k,
            alpha=alpha,
            budget=budget,
            bits=bits or (),
            threshold=threshold,
            missing=missing,
            rows=rows,
            group=group,
            progress=progress,
        )
    seconds = time.perf_counter() - start
    _write(rules, notes, file, json_file, save, figure)
    if json_file != "-":
        _tell(rules, notes)
    console.say(f"{seconds:.1f} s in all")
    return 0 if all(rule.found for rule in rules) else NOTHING_FOUND


def _check_outputs(
    json_file: str | None, save: Path | None, figure: Path | None, targets: list[str]
) -> None:
    if json_file and json_file != "-":
        check_target(Path(json_file), "--json")
    if save is not None:
        check_target(save, "--save")
        if len(targets) > 1:
            raise ValueError("--save writes one rule; with several targets use --json")
    if figure is not None:
        from paritylab.report.figures import figure_format

        check_target(figure, "--figure")
        figure_format(figure)


@contextmanager
def _progress(budget: float) -> "Iterator[Progress]":
    """How far the search is, with the time left; off a terminal a line every ten seconds."""
    with console.Progress(1.0, []) as bar:
        spoken = begin = time.monotonic()

        def tell(share: float, text: str) -> None:
            nonlocal spoken
            bar.start(text, 1.0)
            bar.advance(share)
            now = time.monotonic()
            if not bar.moves and now - spoken > 10:
                spoken = now
                left = max(budget - (now - begin), 0.0)
                if share > 0:
                    left = min(left, (now - begin) * (1 / share - 1))
                console.say(f"{text}: {100 * share:.0f} %, at most {left:.0f} s left")

        yield tell


def _write(
    rules: list["Rule"],
    notes: "Notes",
    file: str,
    json_file: str | None,
    save: Path | None,
    figure: Path | None,
) -> None:
    found = [rule for rule in rules if rule.found]
    if json_file:
        text = json.dumps(_as_json(rules, notes, file), indent=1, allow_nan=False) + "\n"
        if json_file == "-":
            sys.stdout.write(text)
        else:
            write_atomically(Path(json_file), text)
    if save is not None:
        if found:
            found[0].save(save)
        console.say(f"rule: {save}" if found else f"nothing found, so {save} was not written")
    if figure is not None:
        if found:
            from paritylab.discovery.rule_text import series
            from paritylab.report.figures import save_figure

            save_figure(series(found), figure)
        console.say(f"figure: {figure}" if found else f"nothing found, so {figure} was not drawn")


def _as_json(rules: list["Rule"], notes: "Notes", file: str) -> dict[str, Any]:
    return {
        "paritylab": "discover",
        "version": 2,
        "file": file,
        "rows": notes.rows,
        "rows_dropped": notes.dropped,
        "columns": {
            "constant": notes.constant,
            "twins": {
                name: [{"column": other, "complementary": flip} for other, flip in twins]
                for name, twins in notes.twins.items()
            },
            "ignored": notes.ignored,
            "thresholds": notes.thresholds,
        },
        "rules": [rule.to_json() for rule in rules],
    }


def _tell(rules: list["Rule"], notes: "Notes") -> None:
    from paritylab.discovery.rule_text import lines_of, picture

    for rule in rules:
        _print("\n".join([*lines_of(rule), *picture(rule, _can_show("█"))]))
    for line in notes.lines():
        _print(f"note: {line}")


def _can_show(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _print(text: str) -> None:
    """Print, whatever characters the terminal knows."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text if _can_show(text) else text.encode(encoding, "replace").decode(encoding))


def run_apply(
    rule_file: Annotated[Path, typer.Argument(metavar="RULE", help="From discover or xor --save.")],
    file: Annotated[str, typer.Argument(help="New rows, as for discover; - for stdin.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV or TSV to write; stdout if absent.")
    ] = None,
) -> None:
    """Write the rows with a column `predicted`, and say how often it is right if that is known."""
    from paritylab.cli.xor_files import apply_matrix, is_matrix
    from paritylab.discovery.rules import Rule

    if is_matrix(rule_file):
        console.say(apply_matrix(rule_file, file, out))
        return
    rule = Rule.load(rule_file)
    if out is None:
        told = _apply(rule, file, sys.stdout)
        console.say(told)
        return
    check_target(out, "--out")
    for given in (str(rule_file), file):
        if out.exists() and Path(given).exists() and out.samefile(given):
            raise ValueError(f"--out {out} is what is read; name another file")
    if out.suffix.lower() in (".npz", ".parquet", ".gz"):
        raise ValueError(f"--out writes CSV, or TSV to a name in .tsv, got {out.name!r}")
    with written_beside(out) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        told = _apply(rule, file, text, tab=out.suffix.lower() == ".tsv")
        text.flush()
        text.detach()
    _print(f"{told}: {out}")


def _apply(rule: "Rule", file: str, stream: TextIO, tab: bool = False) -> str:
    """Stream the rows with their predictions; what to say in the end."""
    from paritylab.discovery.reading import open_table
    from paritylab.discovery.words import counted, shown, spreadsheet_safe
    from paritylab.statistics import share_text

    writer = csv.writer(stream, delimiter="\t" if tab else ",", lineterminator="\n")
    rows = right = judged = unknown = 0
    with open_table(file) as table:
        if "predicted" in table.names:
            raise ValueError("the table already has a column 'predicted'; rename it first")
        at = table.names.index(rule.target.column) if rule.target.column in table.names else None
        words = (*map(spreadsheet_safe, rule.values), "")
        for block, bits, known in rule.over(table):
            if not rows:
                writer.writerow([*map(spreadsheet_safe, table.names), "predicted"])
            predicted = [words[bit if there else 2] for bit, there in zip(bits, known, strict=True)]
            columns = [_texts(block.column(j)) for j in range(len(table.names))]
            writer.writerows(zip(*columns, predicted, strict=True))
            rows += block.rows
            unknown += int((~known).sum())
            if at is not None:
                truth, given = rule.target.read(block.column(at))
                judged += int((known & given).sum())
                right += int(((truth == bits) & known & given).sum())
    if not rows:
        raise ValueError("the table has column names but no rows")
    told = f"{counted(rows, 'row')}"
    if judged:
        name = shown(rule.target.column)
        told += f", {name} as predicted in {share_text(right, judged)} of {judged:,}"
    if unknown:
        told += f", {unknown:,} without prediction for a missing value"
    return told


def _texts(cells: "Cells") -> list[str]:
    from paritylab.discovery.words import spreadsheet_safe

    return [
        spreadsheet_safe(str(cell))
        for cell in (cells.tolist() if hasattr(cells, "tolist") else cells)
    ]

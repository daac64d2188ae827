"""`paritylab sweep plot|export`: what stored rows show, as a picture or as a table."""

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paritylab.cli.options import DEFAULT_STORE, EffortName, StoreFile
from paritylab.files import check_target, write_atomically
from paritylab.untrusted import printable

if TYPE_CHECKING:
    from paritylab.report.phases import PhaseDiagram
    from paritylab.sweep import Grid, Spec
    from paritylab.sweep.cells import Cell

SweepName = Annotated[
    str | None,
    typer.Argument(metavar="[NAME|FILE.toml]", help="Which sweep; all that is stored if absent."),
]
EffortOfName = Annotated[EffortName, typer.Option(help="Size of a named sweep.")]


def add_to(app: typer.Typer) -> None:
    """Register this module's commands below `sweep`."""
    app.command("plot", epilog="Example: paritylab sweep plot xor-samples --out phases.svg")(plot)
    app.command("export", epilog="Example: paritylab sweep export noise --csv rates.csv")(export)


def grids_of(name: str, effort: EffortName) -> list["Grid"]:
    """The grids a name or a TOML file stands for."""
    from paritylab.sweep import grid_from_toml
    from paritylab.sweep.named import named_sweep

    return [grid_from_toml(name)] if name.endswith(".toml") else named_sweep(name).grids(effort)


def skipped_line(grids: list["Grid"]) -> str:
    """One sentence on cells that cannot exist; "" if there are none."""
    skipped = {cell: reason for grid in grids for cell, reason in grid.skipped().items()}
    if not skipped:
        return ""
    one = len(skipped) == 1
    words = "cell asks for what cannot be and is" if one else "cells ask for what cannot be and are"
    return f"{len(skipped)} {words} left out, such as {next(iter(skipped.values()))}"


def plot(
    name: SweepName = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Picture: svg, pdf or png.")
    ] = None,
    effort: EffortOfName = "default",
    x: Annotated[str, typer.Option(help="Entry along the horizontal axis.")] = "",
    y: Annotated[str, typer.Option(help="Entry along the vertical axis of a heat map.")] = "",
    store: StoreFile = DEFAULT_STORE,
) -> None:
    """Draw a sweep from its stored rows: heat maps with the 50 % contour, curves with intervals.

    A named sweep has its own axes and theory's line where there is one. Otherwise n is drawn
    against k, or the first two numbers that vary; --x and --y choose others.
    """
    from paritylab.report.figures import figure_format, save_figure
    from paritylab.report.phases import phase_figure, usual_layout
    from paritylab.sweep import open_store
    from paritylab.sweep.cells import stored_cells
    from paritylab.sweep.named import NAMED, named_sweep

    target = out or Path(f"{Path(name or 'sweep').stem}.svg")
    check_target(target, "--out")
    figure_format(target)
    existing(store)
    grids = [] if name is None else grids_of(name, effort)
    specs = _specs_of(name, effort)
    with open_store(store, reading=True) as opened:
        cells = stored_cells(opened.blocks(), specs)
    if not cells:
        raise ValueError(
            f"nothing of {name or 'any sweep'} is stored in {store}; run it first: "
            f"paritylab sweep run {name or 'NAME'}"
        )
    known = named_sweep(name) if name in NAMED else None
    layout = known.layout if known and not (x or y) else usual_layout(cells, x, y)
    caption = _caption(known.shows if known else "", cells, specs, grids)
    save_figure(phase_figure(cells, layout, caption), target)
    print(caption)
    print(f"figure: {target}")


def _caption(
    shows: str, cells: list["Cell"], specs: list["Spec"] | None, grids: list["Grid"]
) -> str:
    """What the picture shows, how many runs are behind it, and what is missing from it."""
    runs = sorted({cell.rate.runs for cell in cells})
    counted = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    parts = [shows, f"{len(cells)} cells of {counted} runs each."]
    missing = 0 if specs is None else len({spec.cell for spec in specs}) - len(cells)
    parts += [f"{missing} cells are not stored yet."] if missing else []
    parts += [f"{line}."] if (line := skipped_line(grids)) else []
    if any(not cell.current for cell in cells):
        parts.append("Some were made by other code, versions or another device.")
    return " ".join(filter(None, parts))


def stored_phases(store: Path) -> list["PhaseDiagram"]:
    """A diagram for every named sweep that is stored whole, at its largest such effort, as made by
    this code on this machine."""
    from paritylab.report.phases import PhaseDiagram, phase_figure
    from paritylab.sweep import open_store
    from paritylab.sweep.cells import stored_cells
    from paritylab.sweep.named import EFFORTS, NAMED, named_sweep

    if not store.is_file():
        return []
    with open_store(store, reading=True) as opened:
        blocks = list(opened.blocks())
    made = []
    for name in NAMED:
        sweep = named_sweep(name)
        for effort in reversed(EFFORTS):
            grids = sweep.grids(effort)
            specs = [spec for grid in grids for spec in grid.specs()]
            cells = stored_cells(blocks, specs)
            runs = sum(cell.rate.runs for cell in cells if cell.current)
            if runs == sum(spec.block for spec in specs):
                series = phase_figure(
                    cells, sweep.layout, _caption(sweep.shows, cells, specs, grids)
                )
                command = f"paritylab sweep run {name} --effort {effort}"
                made.append(PhaseDiagram(sweep.title, command, series))
                break
    return made


def export(
    name: SweepName = None,
    effort: EffortOfName = "default",
    store: StoreFile = DEFAULT_STORE,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write a CSV file.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Write a Parquet file.")] = None,
    runs: Annotated[
        bool, typer.Option("--runs", help="One row per run instead of one per cell.")
    ] = False,
) -> None:
    """Write the rate of every cell with its 95 % interval, one tidy row each.

    With --runs every stored run is a row: cell, seed, run number, results and provenance.
    """
    if csv_file is None and parquet is None:
        raise ValueError("say where to: --csv FILE or --parquet FILE")
    for path, option in ((csv_file, "--csv"), (parquet, "--parquet")):
        if path is not None:
            check_target(path, option)
    write_table = _parquet_writer() if parquet is not None else None
    from paritylab.sweep import open_store
    from paritylab.sweep.cells import stored_cells, tidy

    existing(store)
    specs = _specs_of(name, effort)
    with open_store(store, reading=True) as opened:
        blocks = opened.blocks()
        rows = _run_rows(blocks, specs) if runs else tidy(stored_cells(blocks, specs))
    if csv_file is not None:
        _write_csv(rows, csv_file)
        print(f"{len(rows)} rows: {csv_file}")
    if parquet is not None and write_table is not None:
        write_table(rows, parquet)
        print(f"{len(rows)} rows: {parquet}")


def existing(store: Path) -> None:
    """Refuse a store that is not there; reading makes none."""
    if not store.is_file():
        raise ValueError(f"no store {store}; make one with: paritylab sweep run FILE.toml")


def _specs_of(name: str | None, effort: EffortName) -> list["Spec"] | None:
    """The specs of a sweep; None, which means all that is stored, without a name."""
    if name is None:
        return None
    return [spec for grid in grids_of(name, effort) for spec in grid.specs()]


def _run_rows(blocks: Iterable[Any], specs: list["Spec"] | None) -> list[dict[str, Any]]:
    """A flat row for every stored run, with its cell and provenance."""
    wanted, flat = None if specs is None else {spec.hash for spec in specs}, []
    for block in blocks:
        spec = block["spec"]
        shared = {
            "learner": spec["learner"],
            **spec["problem"],
            **spec["settings"],
            "seed": spec["seed"],
            "block": spec["block"],
            "spec_hash": block["hash"],
            "fingerprint": block["fingerprint"],
            "device": block["device"],
            "block_seconds": block["seconds"],
            "versions": json.dumps(block["versions"]),
        }
        for index, row in enumerate(block["rows"]):
            if wanted is None or block["hash"] in wanted:
                # A measured number keeps its name unless a setting has it already.
                named = {f"{k}_measured" if k in shared else k: v for k, v in row.items()}
                flat.append({**shared, "run": spec["first"] + index, **named})
    return flat


def _write_csv(rows: list[dict], path: Path) -> None:
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, restval="")
    writer.writerow({name: _cell(name) for name in names})
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    write_atomically(path, text.getvalue())


def _cell(value: Any) -> Any:
    """A cell of CSV: a store may come from elsewhere, and its text must not run as a formula."""
    from xorfind.words import spreadsheet_safe

    return spreadsheet_safe(printable(value)) if isinstance(value, str) else value


def _parquet_writer() -> Any:
    """What writes rows as Parquet; refused before any work where pyarrow is missing."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError("Parquet needs pyarrow: pip install 'paritylab[data]'") from None

    def write(rows: list[dict], path: Path) -> None:
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = {name: _column([row.get(name) for row in rows]) for name in names}
        sink = pyarrow.BufferOutputStream()
        parquet.write_table(pyarrow.table(columns), sink)
        write_atomically(path, sink.getvalue().to_pybytes())

    return write


def _column(values: list[Any]) -> list[Any]:
    """Values of one type: text where numbers, words or lists are mixed, as in tau = "1/n"."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float}:
        return [None if value is None else str(value) for value in values]
    return values

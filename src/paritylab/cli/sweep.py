"""`paritylab sweep run|status|plot|export`: many runs, what they show, their rows as a table."""

import csv
import io
import logging
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from paritylab._support.output_files import write_atomically
from paritylab.cli import console
from paritylab.cli.compiled import keep_compiled
from paritylab.cli.options import FAILED, EffortName, StoreFile, check_outputs, store_path

if TYPE_CHECKING:
    from paritylab.execution.engines import Engine
    from paritylab.sweep import Grid, Spec
    from paritylab.sweep.cells import Cell

EngineName = Literal["serial", "processes", "dask"]
SweepName = Annotated[
    str | None,
    typer.Argument(metavar="[NAME|FILE.toml]", help="Which sweep; all that is stored if absent."),
]
EffortOfName = Annotated[EffortName, typer.Option(help="Size of a named sweep.")]

app = typer.Typer(
    help="Many runs: success rates over random starts and targets, kept in a store.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def add_to(parent: typer.Typer) -> None:
    """Register this module's commands."""
    parent.add_typer(app, name="sweep", epilog="Example: paritylab sweep run grid.toml --dry-run")


@app.command("run", epilog="Example: paritylab sweep run grid.toml --store results.db")
def run(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE.toml", help="The grid to run.")],
    effort: EffortOfName = "default",
    store: StoreFile = None,
    engine: Annotated[
        EngineName, typer.Option(help="Blocks one by one, side by side, or on a dask cluster.")
    ] = "serial",
    cluster: Annotated[
        str, typer.Option(metavar="local|ADDRESS", help="With --engine dask: whose workers.")
    ] = "local",
    file: Annotated[
        Path | None, typer.Option(help="Your own learners, a Python file; it is run as code.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what is stored.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would run.")] = False,
) -> int:
    """Run every cell of a grid that is not stored yet.

    Finished blocks are kept: interrupt with Ctrl-C or lose power, then run the same command again.
    """
    if cluster != "local" and engine != "dask":
        raise ValueError(f"--cluster {cluster} goes with --engine dask, got --engine {engine}")
    keep_compiled()
    from paritylab.execution import Store
    from paritylab.report.phases import skipped_line
    from paritylab.sweep import learners_from_file, run_sweep
    from paritylab.sweep.runner import BlockError, check_specs

    if file is not None:
        learners_from_file(file)
    grids = _grids(name, effort)
    specs = _specs(grids)
    check_specs(specs)
    if impossible := skipped_line(grids):
        console.say(impossible)
    path = store_path(store)
    if dry_run:
        return _say_what_would_run(specs, path)
    chosen = _chosen_engine(engine, cluster, len(specs))
    failures, start = [], time.perf_counter()
    with Store(path) as opened, console.Progress(len(specs), "blocks") as counter:
        try:
            computed = run_sweep(
                specs,
                opened,
                engine=chosen,
                fresh=fresh,
                file=None if file is None else str(file),
                on_block=lambda spec, new: counter.advance(seconds=None if new else 0.0),
            )
        except BlockError as error:
            failures, computed = error.failures, error.computed
    skipped = len(specs) - computed - len(failures)
    seconds = time.perf_counter() - start
    console.say(f"{computed} blocks computed in {seconds:.1f} s, {skipped} reused")
    _print_rates([cell for cell in _cells(path, grids) if cell.current])
    for spec, failure in failures[:5]:
        console.complain(f"failed: {spec.cell}, runs from {spec.first}: {failure.reason}")
    if len(failures) > 5:
        console.complain(f"and {len(failures) - 5} more blocks failed")
    return FAILED if failures else 0


def _chosen_engine(name: EngineName, cluster: str, tasks: int) -> "Engine":
    from paritylab.execution import engines

    if name == "serial":
        return engines.serial()
    if name == "dask":
        quiet_dask()
    jobs = engines.usual_jobs(tasks)
    return engines.processes(jobs) if name == "processes" else engines.cluster(cluster, jobs)


def quiet_dask() -> None:
    """Leave it to the engine to say, in one line, which workers died and which connections were
    lost. For a process that is this command's own: the engine leaves a caller's loggers alone."""
    for library in ("distributed", "tornado.application", "asyncio"):
        logging.getLogger(library).setLevel(logging.CRITICAL)


def _say_what_would_run(specs: list["Spec"], store: Path) -> int:
    from paritylab.execution import Store
    from paritylab.sweep.runner import block_key

    done = 0
    if store.exists():
        with Store(store, reading=True) as opened:
            done = sum(opened.is_finished(block_key(spec)) for spec in specs)
    cells = len({spec.cell for spec in specs})
    size = " or ".join(map(str, sorted({spec.block for spec in specs})))
    print(f"{cells} cells, {len(specs)} blocks of {size} runs, {done} stored")
    return 0


def _grids(name: str | None, effort: EffortName) -> list["Grid"]:
    """The grids that a name or a TOML file stands for; none stand for all that is stored."""
    from paritylab.sweep import grid_from_toml
    from paritylab.sweep.named import named_sweep

    if name is None:
        return []
    return [grid_from_toml(name)] if name.endswith(".toml") else named_sweep(name).grids(effort)


def _specs(grids: list["Grid"]) -> list["Spec"]:
    return [spec for grid in grids for spec in grid.specs()]


def _cells(store: Path, grids: list["Grid"]) -> list["Cell"]:
    """The stored cells of these grids; all of them if there are none."""
    from paritylab.execution import Store
    from paritylab.sweep.cells import stored_cells

    if not store.is_file():  # reading makes none
        raise ValueError(f"no store {store}; make one with: paritylab sweep run FILE.toml")
    with Store(store, reading=True) as opened:
        return stored_cells(opened.blocks(), _specs(grids) if grids else None)


@app.command("status", epilog="Example: paritylab sweep status --store results.db")
def status(store: StoreFile = None) -> None:
    """Success rate of every stored cell with its 95 % interval (Wilson)."""
    _print_rates(_cells(store_path(store), []))


def _print_rates(cells: list["Cell"]) -> None:
    """Rates of this code and machine; those of others only where nothing newer is stored."""
    marks = {True: "", False: " (made by other code, versions or device)"}
    rows = [[cell.name + marks[cell.current], str(cell.rate)] for cell in cells]
    console.print_table(["cell", "success rate [95 % interval]"], rows)


@app.command("plot", epilog="Example: paritylab sweep plot xor-samples --figure phases.svg")
def plot(
    name: SweepName = None,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Picture to write: svg, pdf or png.")
    ] = None,
    effort: EffortOfName = "default",
    store: StoreFile = None,
) -> None:
    """Draw a sweep from its stored rows: heat maps with the 50 % contour, curves with intervals.

    A named sweep has its own axes and theory's line where there is one. Otherwise n is drawn
    against k, or the first two numbers that vary.
    """
    if figure is None:
        raise ValueError("say where to: --figure FILE")
    check_outputs(figure=figure)
    from paritylab.figures import figure_format, save_figure
    from paritylab.report.phases import caption_of, phase_figure, usual_layout
    from paritylab.sweep.named import NAMED, named_sweep

    figure_format(figure)
    grids, path = _grids(name, effort), store_path(store)
    cells = _cells(path, grids)
    if not cells:
        raise ValueError(
            f"nothing of {name or 'any sweep'} is stored in {path}; run it first: "
            f"paritylab sweep run {name or 'NAME'}"
        )
    known = named_sweep(name) if name in NAMED else None
    layout = known.layout if known else usual_layout(cells)
    caption = caption_of(known.shows if known else "", cells, grids)
    save_figure(phase_figure(cells, layout, caption), figure)
    print(f"{caption}\nfigure: {figure}")


@app.command("export", epilog="Example: paritylab sweep export noise --csv rates.csv")
def export(
    name: SweepName = None,
    effort: EffortOfName = "default",
    store: StoreFile = None,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write a CSV file.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Write a Parquet file.")] = None,
) -> None:
    """Write the rate of every cell with its 95 % interval, one tidy row each."""
    if csv_file is None and parquet is None:
        raise ValueError("say where to: --csv FILE or --parquet FILE")
    if parquet is not None and find_spec("pyarrow") is None:
        raise ValueError("Parquet needs pyarrow: pip install 'paritylab[data]'")
    check_outputs(csv=csv_file, parquet=parquet)
    from paritylab.sweep.cells import tidy

    rows = tidy(_cells(store_path(store), _grids(name, effort)))
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    for path, content in ((csv_file, _as_csv), (parquet, _as_parquet)):
        if path is not None:
            write_atomically(path, content(columns))
            print(f"{len(rows)} rows: {path}")


def _as_csv(columns: dict[str, list[Any]]) -> bytes:
    """A store may come from elsewhere: its text must not run as a formula of a spreadsheet."""
    from paritylab._support.safe_io import printable, spreadsheet_safe

    def cell(value: Any) -> Any:
        return spreadsheet_safe(printable(value)) if isinstance(value, str) else value

    text = io.StringIO()
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    csv.writer(text).writerows([map(cell, row) for row in rows])
    return text.getvalue().encode()


def _as_parquet(columns: dict[str, list[Any]]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    def column(values: list[Any]) -> Any:
        try:
            return pyarrow.array(values)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):  # tau = 0.1 and tau = "1/n"
            return pyarrow.array([None if value is None else str(value) for value in values])

    sink = pyarrow.BufferOutputStream()
    table = pyarrow.table({name: column(values) for name, values in columns.items()})
    parquet.write_table(table, sink)
    return bytes(sink.getvalue().to_pybytes())

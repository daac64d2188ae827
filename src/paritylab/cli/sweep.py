"""`paritylab sweep run|status`; `plot` and `export` are in phases."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from paritylab.cli import console, phases
from paritylab.cli.compiled import keep_compiled
from paritylab.cli.options import DEFAULT_STORE, FAILED, EffortName, StoreFile

if TYPE_CHECKING:
    from paritylab.sweep import Spec
    from paritylab.sweep.engines import Engine
    from paritylab.sweep.runner import BlockError

EngineName = Literal["serial", "processes", "dask"]

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
    effort: Annotated[EffortName, typer.Option(help="Size of a named sweep.")] = "default",
    store: StoreFile = DEFAULT_STORE,
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
    keep_compiled()
    workers = _chosen_engine(engine, cluster)
    with console.patience("loading"):
        from paritylab.sweep import learners_from_file, open_store, run_sweep
        from paritylab.sweep.runner import BlockError, check_specs

    if file is not None:
        learners_from_file(file)
    grids = phases.grids_of(name, effort)
    specs = [spec for grid in grids for spec in grid.specs()]
    check_specs(specs)
    if impossible := phases.skipped_line(grids):
        console.say(impossible)
    if dry_run:
        return _say_what_would_run(specs, store)
    failed = None
    with open_store(store) as opened, console.Progress(len(specs), "blocks") as counter:
        start = time.perf_counter()
        try:
            computed = run_sweep(
                specs,
                opened,
                engine=workers(len(specs)),
                until=grids[0].until,
                fresh=fresh,
                file=None if file is None else str(file),
                on_block=lambda spec, new: counter.advance(),
                say=console.say,
            )
        except BlockError as error:
            failed, computed = error, error.computed
        seconds = time.perf_counter() - start
    skipped = len(specs) - computed - (len(failed.failures) if failed else 0)
    reason = "reused" if grids[0].until is None else "reused or decided early"
    console.say(f"{computed} blocks computed in {seconds:.1f} s, {skipped} {reason}")
    _print_rates(store, specs)
    return _report_failures(failed)


def _chosen_engine(name: EngineName, cluster: str) -> Callable[[int], "Engine"]:
    """The engine for a number of tasks; an unreachable scheduler is refused now, not then."""
    from paritylab.sweep import engines

    if name != "dask":
        if cluster != "local":
            raise ValueError(f"--cluster {cluster} goes with --engine dask, got --engine {name}")
        if name == "serial":
            return lambda tasks: engines.serial()
        return lambda tasks: engines.processes(engines.usual_jobs(tasks))
    engines.cluster(cluster)
    return lambda tasks: engines.cluster(
        cluster, engines.usual_jobs(tasks) if cluster == "local" else 1, say=console.say
    )


def _report_failures(error: "BlockError | None") -> int:
    """Name the blocks that failed; returns the command's exit code."""
    if error is None:
        return 0
    for spec, failure in error.failures[:5]:
        console.complain(f"failed: {spec.cell}, runs from {spec.first}: {failure.reason}")
    if len(error.failures) > 5:
        console.complain(f"and {len(error.failures) - 5} more blocks failed")
    return FAILED


def _say_what_would_run(specs: list["Spec"], store: Path) -> int:
    from paritylab.sweep import open_store
    from paritylab.sweep.runner import block_key

    done = 0
    if store.exists():
        with open_store(store, reading=True) as opened:
            stored = opened.finished_blocks()
        done = sum(block_key(spec) in stored for spec in specs)
    cells = len({spec.cell for spec in specs})
    size = " or ".join(map(str, sorted({spec.block for spec in specs})))
    print(f"{cells} cells, {len(specs)} blocks of {size} runs, {done} stored")
    return 0


@app.command("status", epilog="Example: paritylab sweep status --store results.db")
def status(store: StoreFile = DEFAULT_STORE) -> None:
    """Success rate of every stored cell with its 95 % interval (Wilson)."""
    phases.existing(store)
    _print_rates(store)


phases.add_to(app)


def _print_rates(store: Path, specs: "list[Spec] | None" = None) -> None:
    """Rates of this code and machine; those of others only where nothing newer is stored."""
    from paritylab.sweep import open_store
    from paritylab.sweep.cells import stored_cells

    with open_store(store, reading=True) as opened:
        found = stored_cells(opened.blocks(), specs)
    columns = ["cell", "runs", "success rate", "95 % interval"]
    columns += [] if all(cell.current for cell in found) else ["made by"]
    table = [
        [
            cell.name,
            str(cell.rate.runs),
            f"{cell.rate.value:.3f}",
            f"[{cell.rate.low:.3f}, {cell.rate.high:.3f}]",
            "" if cell.current else "other code, versions or device",
        ]
        for cell in found
        if cell.current or specs is None
    ]
    console.print_table(columns, [row[: len(columns)] for row in table])

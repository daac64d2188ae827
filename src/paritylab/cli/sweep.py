"""`paritylab sweep run|status|export`."""

import csv
import io
import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from paritylab.cli import console
from paritylab.cli.check import DEFAULT_STORE, EffortName, StoreFile
from paritylab.cli.compiled import keep_compiled
from paritylab.cli.engines import EngineName, chosen_engine, report_failures, rescue
from paritylab.files import write_atomically

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
    keep_compiled(store)
    workers = chosen_engine(engine, cluster)
    from paritylab.sweep import grid_from_toml, learners_from_file, open_store, run_sweep
    from paritylab.sweep.named import named_grid
    from paritylab.sweep.runner import BlockError, block_key, check_specs

    if file is not None:
        learners_from_file(file)
    grid = grid_from_toml(name) if name.endswith(".toml") else named_grid(name, effort)
    specs = list(grid.specs())
    check_specs(specs)
    cells = list(dict.fromkeys(spec.cell for spec in specs))
    if dry_run:
        stored = _stored(store)
        done = sum(block_key(spec) in stored for spec in specs)
        print(f"{len(cells)} cells, {len(specs)} blocks of {grid.block} runs, {done} stored")
        return 0
    with open_store(store) as opened, console.Counter("blocks", len(specs)) as counter:
        start = time.perf_counter()
        try:
            computed = run_sweep(
                specs,
                opened,
                engine=workers(len(specs)),
                until=grid.until,
                fresh=fresh,
                file=None if file is None else str(file),
                on_block=lambda spec, new: counter.advance(),
            )
            failed = None
        except BlockError as error:
            failed, computed = error, error.computed
        seconds = time.perf_counter() - start
    others = len(specs) - computed - (len(failed.failures) if failed else 0)
    reason = "reused" if grid.until is None else "reused or decided early"
    console.say(f"{computed} blocks computed in {seconds:.1f} s, {others} {reason}")
    _print_rates(store, cells)
    return report_failures(failed)


app.command("rescue", epilog="Example: paritylab sweep rescue results.db --to whole.db")(rescue)


@app.command("status", epilog="Example: paritylab sweep status --store results.db")
def status(store: StoreFile = DEFAULT_STORE) -> None:
    """Success rate of every stored cell with its 95 % interval (Wilson)."""
    _existing(store)
    _print_rates(store)


@app.command("export", epilog="Example: paritylab sweep export --store results.db --csv rows.csv")
def export(
    store: StoreFile = DEFAULT_STORE,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write rows as CSV.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Write rows as Parquet.")] = None,
) -> None:
    """Write every stored run as one row: cell, seed, run number, results and provenance."""
    if csv_file is None and parquet is None:
        raise ValueError("say where to: --csv FILE or --parquet FILE")
    _existing(store)
    rows = _flat_rows(store)
    if csv_file is not None:
        _write_csv(rows, csv_file)
        print(f"{len(rows)} rows: {csv_file}")
    if parquet is not None:
        _write_parquet(rows, parquet)
        print(f"{len(rows)} rows: {parquet}")


def _stored(store: Path) -> set[str]:
    from paritylab.sweep import open_store

    if not store.exists():
        return set()
    with open_store(store, reading=True) as opened:
        return opened.finished_blocks()


def _existing(store: Path) -> None:
    if not store.is_file():
        raise ValueError(f"no store {store}; make one with: paritylab sweep run FILE.toml")


def _print_rates(store: Path, cells: list[str] | None = None) -> None:
    """Rates of this code and machine; those of others only where nothing newer is stored."""
    from paritylab.sweep import open_store, rates

    with open_store(store) as opened:
        found = rates(opened)
    if cells is not None:
        found = [each for each in found if each.cell in cells and each.current]
        found.sort(key=lambda each: cells.index(each.cell))
    table = [
        [
            each.cell,
            str(each.rate.runs),
            f"{each.rate.value:.3f}",
            f"[{each.rate.low:.3f}, {each.rate.high:.3f}]",
            "" if each.current else "other code, versions or device",
        ]
        for each in found
    ]
    columns = ["cell", "runs", "success rate", "95 % interval", "made by"]
    if all(each.current for each in found):
        columns, table = columns[:-1], [row[:-1] for row in table]
    console.print_table(columns, table)


def _flat_rows(store: Path) -> list[dict[str, Any]]:
    from paritylab.sweep import open_store

    flat = []
    with open_store(store) as opened:
        for block in opened.blocks():
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
                # A measured number keeps its name unless a setting has it already.
                named = {f"{k}_measured" if k in shared else k: v for k, v in row.items()}
                flat.append({**shared, "run": spec["first"] + index, **named})
    return flat


def _write_csv(rows: list[dict], path: Path) -> None:
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, restval="")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue())


def _write_parquet(rows: list[dict], path: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError("Parquet needs pyarrow: pip install 'paritylab[data]'") from None
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pyarrow.table({name: [row.get(name) for row in rows] for name in names})
    try:
        parquet.write_table(table, path)
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error}") from None

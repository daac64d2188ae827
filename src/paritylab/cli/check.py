"""`paritylab claims`, `check` and `report`."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from paritylab.cli import console
from paritylab.cli.compiled import keep_compiled
from paritylab.files import write_atomically

# typing.Literal, not the enums of paritylab.claims: --help must not import them.
EffortName = Literal["quick", "default", "full"]
PaperName = Literal["hg1", "hg2", "ks", "lab"]

JsonFile = Annotated[
    str | None, typer.Option("--json", metavar="FILE|-", help="Write rows as JSON; - for stdout.")
]
StoreFile = Annotated[
    Path,
    typer.Option("--store", envvar="PARITYLAB_STORE", help="Where finished work is kept."),
]
#: So few claims have their whole finding printed below the table.
FEW = 3
DEFAULT_STORE = Path(".paritylab/store.db")


def add_to(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.command("claims", epilog="Example: paritylab claims --json -")(list_claims)
    app.command("check", epilog="Example: paritylab check hg1-mask --effort quick")(run_check)
    app.command("report", epilog="Example: paritylab report --from rows.json --out report")(
        make_report
    )


def list_claims(json_file: JsonFile = None) -> None:
    """List every claim with its paper and the verdict the registry expects."""
    from paritylab.claims import registry

    claims = registry().values()
    if json_file:
        rows = [
            {
                "id": c.id,
                "paper": c.paper,
                "title": c.title,
                "statement": c.statement,
                "expected": c.expected.value,
                "seconds": list(c.seconds),
            }
            for c in claims
        ]
        _write_json(rows, json_file)
        return
    table = [[c.id, c.paper, c.expected.value, c.title] for c in claims]
    console.print_table(["id", "paper", "expected", "claim"], table)


def run_check(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Claims.")] = None,
    paper: Annotated[PaperName | None, typer.Option(help="Only the claims of one paper.")] = None,
    effort: Annotated[EffortName, typer.Option(help="How hard to try.")] = "default",
    json_file: JsonFile = None,
    report: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the page here.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what is stored.")] = False,
    file: Annotated[Path | None, typer.Option(help="Your own claims, a Python file.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of every random draw.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Claims run side by side; one per core if absent.")
    ] = None,
    store: StoreFile = DEFAULT_STORE,
) -> int:
    """Run claims and print each verdict with its evidence.

    Without ids every claim runs (with --file: the claims of that file). Finished verdicts are
    kept and reused while effort, seed, code and versions stay the same. Exit code 0: all
    verdicts as expected; 1: one differs.
    """
    if seed < 0:
        raise ValueError(f"--seed must be 0 or more, got {seed}")
    if jobs is not None and jobs < 1:
        raise ValueError(f"--jobs must be at least 1, got {jobs}")
    keep_compiled(store)
    claims = _chosen(ids or [], paper, file)
    _check_targets(json_file, report)
    rows = _run_all(claims, effort, seed, fresh, store, jobs)
    to_stdout = json_file == "-"
    if json_file:
        _write_json(rows, json_file)
    if not to_stdout:
        table = [_cells(row) for row in rows]
        console.print_table(_COLUMNS, table)
        if len(rows) <= FEW:
            for row in rows:
                print(f"{row['id']}: {row['measured'].get('finding', '')}")
        elif report is None and not json_file:
            console.say("whole findings: --report DIR writes a page, --json FILE the rows")
    if report is not None:
        from paritylab.report import write_report

        page = write_report(rows, report)
        print(f"report: {page}", file=sys.stderr if to_stdout else sys.stdout)
    differing = [row["id"] for row in rows if row["status"] != row["expected"]]
    if differing:
        console.say(f"not as expected: {', '.join(differing)}")
    return 1 if differing else 0


def make_report(
    source: Annotated[Path, typer.Option("--from", metavar="FILE", help="Rows from check --json.")],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for index.html.")] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for every figure as SVG and PDF.")
    ] = None,
) -> None:
    """Build the HTML page, the figures as files, or both, from verdict rows."""
    from paritylab.report import read_rows, write_figures, write_report

    if out is None and figures is None:
        raise ValueError("give --out DIR for the page, --figures DIR for the figures, or both")
    rows = read_rows(source)
    if out is not None:
        print(f"report: {write_report(rows, out)}")
    if figures is not None:
        print(f"figures: {len(write_figures(rows, figures))} files in {figures}")


_COLUMNS = ["claim", "verdict", "evidence", "seconds", "finding"]


def _cells(row: dict, finding_length: int = 72) -> list[str]:
    finding = str(row["measured"].get("finding", ""))
    if len(finding) > finding_length:
        finding = finding[: finding_length - 1].rsplit(" ", 1)[0] + " …"
    status = row["status"]
    return [row["id"], status, row["evidence"], f"{row['seconds']:.1f}", finding]


def _chosen(ids: list[str], paper: str | None, file: Path | None) -> list:
    from paritylab.claims import claims_from_file, registry

    known = registry()
    mine = {} if file is None else claims_from_file(file)
    pool = {**known, **mine}
    unknown = [id for id in ids if id not in pool]
    if unknown:
        raise ValueError(f"no claim {unknown[0]!r}; paritylab claims lists them")
    chosen = [pool[id] for id in ids] if ids else list((mine or known).values())
    chosen = [claim for claim in chosen if paper is None or claim.paper == paper]
    if not chosen:
        raise ValueError(f"no claim of paper {paper!s} here yet; paritylab claims lists them")
    return chosen


def _run_all(
    claims: list, effort: str, seed: int, fresh: bool, store_path: Path, jobs: int | None
) -> list[dict]:
    from paritylab.claims import Effort, check
    from paritylab.claims.workers import usual_jobs
    from paritylab.sweep.store import open_store

    jobs = usual_jobs(len(claims)) if jobs is None else jobs
    budgets = {claim.id: claim.budget(Effort(effort)) for claim in claims}
    rows, reused = [], 0
    with (
        open_store(store_path) as store,
        console.Progress(sum(budgets.values()), _COLUMNS) as progress,
    ):
        verdicts = check(
            claims,
            effort=effort,
            seed=seed,
            store=store,
            fresh=fresh,
            jobs=jobs,
            on_start=lambda claim: progress.start(claim.id, budgets[claim.id]),
            on_progress=progress.advance,
        )
        for verdict in verdicts:
            row = verdict.row
            rows.append(row)
            reused += verdict.reused
            progress.finish(_cells(row, 40), budgets[row["id"]])
            if jobs > 1 and len(rows) < len(claims):
                progress.start(f"{len(rows)} of {len(claims)}, {jobs} at a time", 0.0)
            done = f"[{len(rows)}/{len(claims)}] " if len(claims) > 1 else ""
            console.say_plainly(f"{done}{row['id']}: {row['status']} ({row['seconds']} s)")
    if reused:
        console.say(f"{reused} of {len(rows)} reused from {store_path} (--fresh runs them again)")
    order = [claim.id for claim in claims]
    return sorted(rows, key=lambda row: order.index(row["id"]))


def _check_targets(json_file: str | None, report: Path | None) -> None:
    """Refuse places that cannot be written before hours are spent on results for them."""
    if json_file and json_file != "-":
        target = Path(json_file)
        if target.is_dir() or not target.absolute().parent.is_dir():
            raise ValueError(f"--json needs a file in an existing folder, got {target}")
        if not os.access(target.absolute().parent, os.W_OK):
            raise ValueError(f"--json: the folder {target.absolute().parent} is not writable")
    if report is not None:
        if report.exists() and not report.is_dir():
            raise ValueError(f"--report needs a folder, {report} is a file")
        existing = next(path for path in [report, *report.absolute().parents] if path.exists())
        if not os.access(existing, os.W_OK):
            raise ValueError(f"--report: the folder {existing} is not writable")


def _write_json(rows: list, target: str) -> None:
    text = json.dumps(rows, indent=1, allow_nan=False) + "\n"
    if target == "-":
        sys.stdout.write(text)
        return
    write_atomically(Path(target), text)

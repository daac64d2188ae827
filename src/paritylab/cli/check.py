"""`paritylab check` and `report`."""

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paritylab._support.output_files import check_folder
from paritylab.cli import console
from paritylab.cli.claims import chosen_ids, show_statement, show_verdict
from paritylab.cli.compiled import keep_compiled
from paritylab.cli.options import (
    FAILED,
    EffortName,
    JsonFile,
    PaperTag,
    StoreFile,
    check_outputs,
    store_path,
)

if TYPE_CHECKING:
    from paritylab.claims import Claim, Verdict
    from paritylab.report.phases import PhaseDiagram

Row = dict[str, Any]
#: So few claims are shown in full: statement, table of comparisons, what is true instead.
FEW = 3
_COLUMNS = ["claim", "verdict", "evidence", "seconds", "finding"]


def add_to(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.command("check", epilog="Example: paritylab check hg1-mask --effort quick")(run_check)
    example = "Example: paritylab report --from rows.json --out report"
    app.command("report", epilog=example)(make_report)


def run_check(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Claims.")] = None,
    paper: PaperTag = None,
    effort: Annotated[EffortName, typer.Option(help="How hard to try.")] = "default",
    json_file: JsonFile = None,
    report: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the page here.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what is stored.")] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Run seeds 0, 1, 2 and record verdicts that agree.")
    ] = False,
    file: Annotated[Path | None, typer.Option(help="Your own claims, a Python file.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of every random draw.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Claims run side by side; one per core if absent.")
    ] = None,
    store: StoreFile = None,
) -> int:
    """Run claims and print each verdict with its evidence.

    Without ids every claim runs (with --file: the claims of that file). Finished verdicts are
    kept and reused while effort, seed, code and versions stay the same. Exit code 0: every
    verdict as recorded; 1: one differs; 4: a claim's code failed, the rest was done.
    """
    if record and (seed or file):
        raise ValueError(
            "--record runs the lab's own claims at seeds 0, 1, 2: no --seed, no --file"
        )
    keep_compiled()
    check_outputs(json=json_file, report=report)
    own = _own_claims(file)
    chosen = chosen_ids(ids or [], paper, {id: claim.paper for id, claim in own.items()})
    claims = [own.get(id, id) for id in chosen]
    kept = store_path(store)
    run = partial(_run_all, effort=effort, fresh=fresh, store=kept, jobs=jobs)
    if record:
        return _record(chosen, effort, run, partial(_show, json_file, report, kept))
    verdicts = run(claims, seed)
    rows = [verdict.row for verdict in verdicts]
    _show(json_file, report, kept, rows)
    _name_unchecked_proofs(rows)
    failed = [row["id"] for row in rows if row["status"] == "failed"]
    differing = [verdict.row["id"] for verdict in verdicts if verdict.differs]
    if failed:
        console.say(f"failed: {', '.join(failed)}")
    if differing:
        console.say(f"not as recorded: {', '.join(differing)}")
    return FAILED if failed else int(bool(differing))


def _name_unchecked_proofs(rows: list[Row]) -> None:
    """Name verdicts that have a certificate and are not called proved on this machine."""
    waiting = [row["id"] for row in rows if row["certificate"] and row["evidence"] != "proved"]
    if waiting:
        from paritylab.proofs import missing_extra

        why = missing_extra() or "paritylab prove ID says why"
        console.say(f"proofs not counted: {', '.join(waiting)}; {why}")


def _show(json_file: str | None, report: Path | None, store: Path, rows: list[Row]) -> None:
    """Rows where they were asked for: JSON, table, page (with the sweeps of the store)."""
    for_people = console.write_json(json_file, rows)
    if for_people and len(rows) <= FEW:
        for row in rows:
            show_statement(row)
            show_verdict(row)
    elif for_people:
        console.print_table(_COLUMNS, map(_cells, rows), whole=2)
        print("\n".join(_summaries(rows)))
        console.say("whole verdicts: paritylab claims ID, or --report DIR for a page of all")
    if report is not None:
        from paritylab.report import write_report

        page = write_report(rows, report, _phases(store))
        print(f"report: {page}", file=sys.stdout if for_people else sys.stderr)


def _phases(path: Path) -> "list[PhaseDiagram]":
    """The diagrams of stored sweeps; what draws them is loaded only if there is any block."""
    from paritylab.execution.store import Store

    if not path.is_file():
        return []
    with Store(path, reading=True) as store:
        if not store.has_blocks():
            return []
    from paritylab.report.phases import stored_phases

    return stored_phases(path)


def _cells(row: Row) -> list[str]:
    from paritylab.report.words import prose

    return [
        row["id"],
        row["status"],
        row["evidence"] or "–",
        f"{row['seconds']:.1f}",
        prose(row["finding"] or ""),
    ]


def _summaries(rows: list[Row]) -> list[str]:
    """A line for each paper or file: what became of its claims, how long they took."""
    from paritylab.report.words import tally

    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["file"] or row["paper"].upper(), []).append(row)
    return [
        f"{group}: {tally(mine)} ({sum(row['seconds'] for row in mine):.0f} s)"
        for group, mine in groups.items()
    ]


def _record(
    ids: list[str],
    effort: EffortName,
    run: Callable[[list[str], int], list["Verdict"]],
    show: Callable[[list[Row]], None],
) -> int:
    """Run every seed, show the first, record what agrees; exit code 1 if something does not."""
    from paritylab.claims import Effort
    from paritylab.claims.engine.recorded import FILE, SEEDS, record, recorded

    if not os.access(FILE.parent, os.W_OK):
        raise ValueError(f"--record: the folder {FILE.parent} is not writable")
    rows = [verdict.row for seed in SEEDS for verdict in run(ids, seed)]
    refused = record(rows, Effort(effort))
    expected = {id: recorded()[id].expected_at(Effort(effort)) for id in ids}
    show([{**row, "expected": expected[row["id"]]} for row in rows[: len(ids)]])
    for id, reason in refused.items():
        console.say(f"not recorded: {id}: {reason}")
    console.say(f"{len(ids) - len(refused)} of {len(ids)} verdicts recorded in {FILE}")
    failed = any(row["status"] == "failed" for row in rows)
    return FAILED if failed else int(bool(refused))


def make_report(
    source: Annotated[Path, typer.Option("--from", metavar="FILE", help="Rows from check --json.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for index.html.")],
) -> None:
    """Build the HTML page from verdict rows."""
    from paritylab.report import read_rows, write_report

    check_folder(out, "--out")
    print(f"report: {write_report(read_rows(source), out)}")


def _own_claims(file: Path | None) -> dict[str, "Claim"]:
    """The claims of a user's file by id."""
    if file is None:
        return {}
    from paritylab.claims import claims_from_file

    return dict(claims_from_file(file))


def _run_all(
    claims: Sequence["str | Claim"],
    seed: int,
    *,
    effort: EffortName,
    fresh: bool,
    store: Path,
    jobs: int | None,
) -> list["Verdict"]:
    """Verdicts in the order of the claims, with progress on the way."""
    from paritylab.claims.engine.recorded import budget
    from paritylab.claims.engine.running import check
    from paritylab.claims.engine.verdict import Effort
    from paritylab.execution.engines import usual_jobs
    from paritylab.execution.store import Store

    ids = [each if isinstance(each, str) else each.id for each in claims]
    jobs = jobs or usual_jobs(len(ids))
    budgets = {id: budget(id, Effort(effort)) for id in ids}
    done: dict[str, Verdict] = {}
    running = ""

    def started(claim: "Claim") -> None:
        nonlocal running
        running = claim.id
        progress.follow(running)

    with Store(store) as opened, console.Progress(sum(budgets.values()), jobs=jobs) as progress:
        for verdict in check(
            claims,
            effort=effort,
            seed=seed,
            store=opened,
            fresh=fresh,
            jobs=jobs,
            on_start=started,
            on_progress=lambda share: progress.follow(running, budgets[running], share),
        ):
            row = verdict.row
            done[row["id"]] = verdict
            count = f"[{len(done)}/{len(ids)}] " if len(ids) > 1 else ""
            line = f"{count}{row['id']}: {row['status']} ({row['seconds']} s)"
            seconds = 0.0 if verdict.reused else row["seconds"]
            progress.advance(budgets[row["id"]], line, seconds)
    reused = sum(verdict.reused for verdict in done.values())
    if reused:
        console.say(f"{reused} of {len(done)} reused from {store} (--fresh runs them again)")
    return [done[id] for id in ids]

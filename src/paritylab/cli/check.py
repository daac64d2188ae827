"""`paritylab claims`, `check` and `report`."""

import difflib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from paritylab.cli import console
from paritylab.cli.compiled import keep_compiled
from paritylab.files import check_folder, check_target, write_atomically

if TYPE_CHECKING:
    from paritylab.claims import Claim, Verdict

# typing.Literal, not the enums of paritylab.claims: --help must not import them.
EffortName = Literal["quick", "default", "full"]

JsonFile = Annotated[
    str | None, typer.Option("--json", metavar="FILE|-", help="Write rows as JSON; - for stdout.")
]
StoreFile = Annotated[
    Path,
    typer.Option("--store", envvar="PARITYLAB_STORE", help="Where finished work is kept."),
]
Row = dict[str, Any]
#: Exit code if a claim's code failed; the rest was done.
FAILED = 4
#: So few claims have their whole finding printed below the table.
FEW = 3
DEFAULT_STORE = Path(".paritylab/store.db")


def add_to(app: typer.Typer) -> None:
    """Register this module's commands."""
    claims = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
    claims.callback(epilog="Example: paritylab claims --json -")(list_claims)
    claims.command("new", epilog="Example: paritylab claims new my_claim.py")(new_claim)
    app.add_typer(claims, name="claims")
    app.command("check", epilog="Example: paritylab check hg1-mask --effort quick")(run_check)
    app.command("report", epilog="Example: paritylab report --from rows.json --out report")(
        make_report
    )


def new_claim(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The Python file to write.")],
) -> None:
    """Write a claim that runs, with its judge, a planted case and a table of invented records."""
    if file.suffix != ".py":
        raise ValueError(f"a claims file ends in .py, got {file.name}")
    if file.exists():
        raise ValueError(f"{file} exists already; choose another name")
    check_target(file, "FILE")
    template = Path(__file__).with_name("claim_template.txt").read_text(encoding="utf-8")
    write_atomically(file, template.format(name=file.name, id=file.stem.replace("_", "-")))
    print(f"written: {file}; run it: paritylab check --file {file} --effort quick")


def list_claims(context: typer.Context, json_file: JsonFile = None) -> None:
    """List every claim with its source and the verdict on record at default effort."""
    if context.invoked_subcommand is not None:
        return
    from paritylab.claims.engine.catalogue import catalogue
    from paritylab.claims.engine.verdict import Effort

    _check_targets(json_file, None)
    claims = catalogue().values()
    if json_file:
        rows = [
            {
                "id": c.id,
                "paper": c.paper,
                "source": c.place,
                "reading": c.reading,
                "counted": c.counted,
                "title": c.title,
                "statement": c.statement,
                "recorded": {effort.value: c.expected_at(effort) for effort in Effort},
                "seconds": list(c.seconds),
            }
            for c in claims
        ]
        _write_json(rows, json_file)
        return
    table = [[c.id, c.paper, c.expected_at(Effort.DEFAULT) or "–", c.title] for c in claims]
    console.print_table(["id", "paper", "recorded", "claim"], table)


def run_check(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Claims.")] = None,
    paper: Annotated[
        str | None, typer.Option(metavar="TAG", help="Only one source: hg1, hg2, ks, lab, dm, …")
    ] = None,
    effort: Annotated[EffortName, typer.Option(help="How hard to try.")] = "default",
    json_file: JsonFile = None,
    report: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the page here.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what is stored.")] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Run seeds 0, 1, 2 and record verdicts that agree.")
    ] = False,
    file: Annotated[Path | None, typer.Option(help="Your own claims, a Python file.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of every random draw.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Claims run side by side; one per core if absent.")
    ] = None,
    store: StoreFile = DEFAULT_STORE,
) -> int:
    """Run claims and print each verdict with its evidence.

    Without ids every claim runs (with --file: the claims of that file). Finished verdicts are
    kept and reused while effort, seed, code and versions stay the same. Exit code 0: every
    verdict as recorded; 1: one differs; 4: a claim's code failed, the rest was done.
    """
    if not 0 <= seed < 2**32:
        raise ValueError(f"--seed must be from 0 to 2³² - 1, got {seed}")
    if jobs is not None and jobs < 1:
        raise ValueError(f"--jobs must be at least 1, got {jobs}")
    if record and (seed or file):
        raise ValueError(
            "--record runs the lab's own claims at seeds 0, 1, 2: no --seed, no --file"
        )
    keep_compiled()
    _check_targets(json_file, report)
    work = _Work(effort, fresh, store, jobs)
    chosen = _chosen(ids or [], paper, file)
    if record:
        return _record(_loaded(chosen, file), work, json_file, report)
    verdicts = _all_stored(chosen, seed, work) if file is None else None
    if verdicts is None:
        verdicts = _run_all(_loaded(chosen, file), seed, work)
    rows = [verdict.row for verdict in verdicts]
    _show(rows, json_file, report, store)
    failed = [row["id"] for row in rows if row["status"] == "failed"]
    differing = [verdict.row["id"] for verdict in verdicts if verdict.differs]
    if failed:
        console.say(f"failed: {', '.join(failed)}")
    if differing:
        console.say(f"not as recorded: {', '.join(differing)}")
    return FAILED if failed else int(bool(differing))


def _show(rows: list[Row], json_file: str | None, report: Path | None, store: Path) -> None:
    """Rows where they were asked for: JSON, table, page (with the sweeps of the store)."""
    to_stdout = json_file == "-"
    if json_file:
        _write_json(rows, json_file)
    if not to_stdout:
        console.print_table(_COLUMNS, [_cells(row) for row in rows], spare=_SPARE)
        if len(rows) > 1:
            print("\n".join(_summaries(rows)))
        if len(rows) <= FEW:
            for row in rows:
                print(f"{row['id']}: {row['finding']}")
        elif report is None and not json_file:
            console.say("whole findings: --report DIR writes a page, --json FILE the rows")
    if report is not None:
        from paritylab.cli.phases import stored_phases
        from paritylab.report import write_report

        page = write_report(rows, report, stored_phases(store))
        print(f"report: {page}", file=sys.stderr if to_stdout else sys.stdout)


def _record(
    claims: list["Claim"], work: "_Work", json_file: str | None, report: Path | None
) -> int:
    """Run every seed, show the first, record what agrees; exit code 1 if something does not."""
    from paritylab.claims import Effort
    from paritylab.claims.engine.recorded import FILE, SEEDS, record

    if not os.access(FILE.parent, os.W_OK):
        raise ValueError(f"--record: the folder {FILE.parent} is not writable")
    rows = [verdict.row for seed in SEEDS for verdict in _run_all(claims, seed, work)]
    effort = Effort(work.effort)
    refused = record(rows, effort)
    expected = {claim.id: claim.expected_at(effort) for claim in claims}
    first = [{**row, "expected": expected[row["id"]]} for row in rows[: len(claims)]]
    _show(first, json_file, report, work.store)
    for id, reason in refused.items():
        console.say(f"not recorded: {id}: {reason}")
    console.say(f"{len(claims) - len(refused)} of {len(claims)} verdicts recorded in {FILE}")
    failed = any(row["status"] == "failed" for row in rows)
    return FAILED if failed else int(bool(refused))


def make_report(
    source: Annotated[Path, typer.Option("--from", metavar="FILE", help="Rows from check --json.")],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for index.html.")] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for every figure as SVG and PDF.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="A store whose sweeps are to be on the page.")
    ] = None,
) -> None:
    """Build the HTML page, the figures as files, or both, from verdict rows.

    With --store the page has a phase diagram of every named sweep that is stored whole.
    """
    from paritylab.cli.phases import stored_phases
    from paritylab.report import read_rows, write_figures, write_report

    if out is None and figures is None:
        raise ValueError("give --out DIR for the page, --figures DIR for the figures, or both")
    for folder, option in ((out, "--out"), (figures, "--figures")):
        if folder is not None:
            check_folder(folder, option)
    rows = read_rows(source)
    if out is not None:
        phases = [] if store is None else stored_phases(store)
        print(f"report: {write_report(rows, out, phases)}")
    if figures is not None:
        print(f"figures: {len(write_figures(rows, figures))} files in {figures}")


_COLUMNS = ["claim", "verdict", "evidence", "seconds", "finding"]
#: Left out one after the other on a narrow terminal, so that ids and verdicts stay whole.
_SPARE = ("seconds", "evidence", "finding")


def _cells(row: Row, finding_length: int = 72) -> list[str]:
    from paritylab.claims.engine.rows import verdict_word

    finding = str(row["finding"])
    if len(finding) > finding_length:
        finding = finding[: finding_length - 1].rsplit(" ", 1)[0] + " …"
    return [row["id"], verdict_word(row), row["evidence"] or "–", f"{row['seconds']:.1f}", finding]


def _summaries(rows: list[Row]) -> list[str]:
    """A line for each paper or file: what became of its claims, how long they took."""
    from paritylab.claims.engine.rows import tally

    lines = []
    groups = [row["file"] or row["paper"].upper() for row in rows]
    for group in dict.fromkeys(groups):
        mine = [row for row, its in zip(rows, groups, strict=True) if its == group]
        seconds = sum(row["seconds"] for row in mine)
        lines.append(f"{group}: {tally(mine)} ({seconds:.0f} s)")
    return lines


def _chosen(ids: list[str], paper: str | None, file: Path | None) -> list[str]:
    """Ids of the claims asked for, of the lab's list or a user's file; jax is not loaded yet."""
    from paritylab.claims.engine.catalogue import catalogue

    papers = {id: entry.paper for id, entry in catalogue().items()}
    known = list(papers)
    if file is not None:
        from paritylab.claims import claims_from_file

        mine = {id: claim.paper for id, claim in claims_from_file(file).items()}
        papers, known = {**papers, **mine}, list(mine)
    for id in ids:
        if id not in papers:
            near = difflib.get_close_matches(id, papers, 1)
            hint = f"did you mean {near[0]}?" if near else "paritylab claims lists them"
            raise ValueError(f"no claim {id!r}; {hint}")
    tags = list(dict.fromkeys(papers.values()))
    if paper is not None and paper not in tags:
        raise ValueError(f"--paper must be one of {', '.join(tags)}, got {paper!r}")
    chosen = [id for id in ids or known if paper is None or papers[id] == paper]
    if not chosen:
        raise ValueError(f"none of the claims asked for is of paper {paper!s}")
    return list(dict.fromkeys(chosen))


def _loaded(ids: list[str], file: Path | None) -> list["Claim"]:
    """The claims themselves."""
    from paritylab.claims import claims_from_file, registry

    pool = {**registry(), **({} if file is None else claims_from_file(file))}
    return [pool[id] for id in ids]


def _all_stored(ids: list[str], seed: int, work: "_Work") -> list["Verdict"] | None:
    """Stored verdicts of all these claims of the lab, in less than a second; None if one is not."""
    from paritylab.claims.engine import freshness
    from paritylab.claims.engine.recorded import recorded_status
    from paritylab.claims.engine.running import stored_row
    from paritylab.claims.engine.verdict import Effort, Verdict
    from paritylab.sweep.store import open_store

    if work.fresh or not work.store.is_file():
        return None
    found = []
    with open_store(work.store) as store:
        for id in ids:
            row = stored_row(store, freshness.verdict_key(id, work.effort, seed, None))
            if row is None:
                return None
            expected = recorded_status(id, Effort(work.effort))
            found.append(Verdict({**row, "expected": expected and expected.value}, reused=True))
    console.say(f"{len(ids)} of {len(ids)} reused from {work.store} (--fresh runs them again)")
    return found


class _Work(NamedTuple):
    """How claims are to be run."""

    effort: EffortName
    fresh: bool
    store: Path
    jobs: int | None


def _run_all(claims: list["Claim"], seed: int, work: _Work) -> list["Verdict"]:
    """Verdicts in the order of the claims, with progress on the way."""
    from paritylab.claims import Effort, check
    from paritylab.claims.engine.rows import FOUND
    from paritylab.sweep.engines import usual_jobs
    from paritylab.sweep.store import open_store

    jobs = usual_jobs(len(claims)) if work.jobs is None else work.jobs
    budgets = {claim.id: claim.budget(Effort(work.effort)) for claim in claims}
    done: dict[str, Verdict] = {}
    with (
        open_store(work.store) as store,
        console.Progress(sum(budgets.values()), _COLUMNS, _SPARE) as progress,
    ):
        for verdict in check(
            claims,
            effort=work.effort,
            seed=seed,
            store=store,
            fresh=work.fresh,
            jobs=jobs,
            on_start=lambda claim: progress.start(claim.id, budgets[claim.id]),
            on_progress=progress.advance,
        ):
            row = verdict.row
            done[row["id"]] = verdict
            progress.finish(_cells(row, 40), budgets[row["id"]])
            if jobs > 1 and len(done) < len(claims):
                progress.start(f"{len(done)} of {len(claims)}, {jobs} at a time", 0.0)
            count = f"[{len(done)}/{len(claims)}] " if len(claims) > 1 else ""
            console.say_plainly(f"{count}{row['id']}: {row['status']} ({row['seconds']} s)")
    reused = sum(verdict.reused for verdict in done.values())
    found = sum(FOUND in verdict.row for verdict in done.values())
    if reused:
        console.say(f"{reused} of {len(done)} reused from {work.store} (--fresh runs them again)")
    if found:
        console.say(f"{found} of these came with the store and were not run here by you")
    return [done[claim.id] for claim in claims]


def _check_targets(json_file: str | None, report: Path | None) -> None:
    """Refuse places that cannot be written before hours are spent on results for them."""
    if json_file and json_file != "-":
        check_target(Path(json_file), "--json")
    if report is not None:
        check_folder(report, "--report")


def _write_json(rows: list[Row], target: str) -> None:
    text = json.dumps(rows, indent=1, allow_nan=False) + "\n"
    if target == "-":
        sys.stdout.write(text)
        return
    write_atomically(Path(target), text)

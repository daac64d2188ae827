"""`paritylab claims`: the list, one claim in full, a file for a claim of one's own."""

from pathlib import Path
from typing import Annotated, Any

import typer

from paritylab._support.output_files import check_target, write_atomically
from paritylab.cli import console
from paritylab.cli.options import (
    JsonFile,
    PaperTag,
    StoreFile,
    check_outputs,
    store_path,
)
from paritylab.options import check_ids

Row = dict[str, Any]


def add_to(app: typer.Typer) -> None:
    """Register this module's command."""
    app.command("claims", epilog="Example: paritylab claims hg1-thm5")(list_claims)


def list_claims(
    id: Annotated[
        str | None, typer.Argument(metavar="[ID|new]", help="One claim in full; all if absent.")
    ] = None,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="With new: the Python file to write.")
    ] = None,
    paper: PaperTag = None,
    json_file: JsonFile = None,
    store: StoreFile = None,
) -> None:
    """List every claim with its source and the verdict on record at default effort.

    With an ID: the statement with its place, the recorded verdict, and the comparisons of the last
    check in the store. `paritylab claims new FILE` writes a claim that runs, to be changed.
    """
    from paritylab.claims.engine.recorded import recorded

    if id == "new":
        _write_template(file)
        return
    check_outputs(json=json_file)
    chosen = [recorded()[each] for each in chosen_ids([id] if id else [], paper)]
    names = {"place": "source", "status": "recorded"}
    rows: list[Row] = [
        {names.get(key, key): value for key, value in entry._asdict().items()} for entry in chosen
    ]
    if id:
        if console.write_json(json_file, rows):
            _show_claim(rows[0], store_path(store))
        return
    table = [[r["id"], r["paper"], r["recorded"].get("default", "–"), r["title"]] for r in rows]
    console.table_or_json(json_file, rows, ["id", "paper", "recorded", "claim"], table)


def chosen_ids(ids: list[str], paper: str | None, more: dict[str, str] | None = None) -> list[str]:
    """Ids of the lab's claims that were asked for; all without ids, or all of `more`.

    more: claims of a user's file, id → paper.
    """
    from paritylab.claims.engine.recorded import recorded

    papers = {id: entry.paper for id, entry in recorded().items()} | (more or {})
    check_ids(ids, papers, "no claim", "paritylab claims lists them")
    tags = list(dict.fromkeys(papers.values()))
    if paper is not None and paper not in tags:
        raise ValueError(f"--paper must be one of {', '.join(tags)}, got {paper!r}")
    chosen = [id for id in ids or more or papers if paper is None or papers[id] == paper]
    if not chosen:
        raise ValueError(f"none of the claims asked for is of paper {paper!s}")
    return list(dict.fromkeys(chosen))


def _show_claim(listed: Row, store: Path) -> None:
    """One claim: what it says and where, then its verdict, as stored or as recorded."""
    show_statement(listed)
    if row := _stored(listed["id"], store):
        show_verdict(row)
        return
    from paritylab.claims.errata import ERRATA

    id, certificate = listed["id"], listed["certificate"]
    print(f"recorded: {listed['recorded'].get('default') or 'no verdict yet'}")
    for each in ERRATA:
        if id in each.claims:
            console.paragraph(f"what would have to change ({each.place}): {each.change}")
    if certificate:
        print(f"proof: paritylab prove {certificate}")
    print(f"its numbers: paritylab check {id}")


def _stored(id: str, path: Path) -> Row | None:
    """The last check's row of a claim, at default effort if there is one."""
    from paritylab.claims.engine.running import Trial, key_of
    from paritylab.claims.engine.verdict import Effort
    from paritylab.execution.store import Store

    if not path.is_file():
        return None
    with Store(path, reading=True) as store:
        for effort in (Effort.DEFAULT, Effort.FULL, Effort.QUICK):
            key = key_of(id, Trial(effort))
            if key and (row := store.verdict(key)):
                return row
    return None


def show_statement(row: Row) -> None:
    """Id, place, title and statement."""
    place = row["file"] if row.get("file") else f"{row['paper'].upper()}, {row['source']}"
    console.paragraph(f"{row['id']} ({place}): {row['title']}")
    console.paragraph(row["statement"], "  ")


def show_verdict(row: Row) -> None:
    """Verdict and finding, the table of comparisons, what is true instead, the evidence."""
    from paritylab.report import words

    note = f" ({why})" if (why := words.note(row)) else ""
    console.paragraph(f"{row['status']}{note}: {words.prose(row['finding'])}")
    if lines := words.lines(row):
        ordered = sorted(lines, key=lambda line: line.role == "note")
        console.print_table(words.COLUMNS, [line[:4] for line in ordered], fits=True)
    if row["instead"]:
        console.paragraph(f"what does hold: {words.prose(row['instead'])}")
    looks = f", measured {row['looks']} times" if (row.get("looks") or 1) > 1 else ""
    proof = f"; proof: paritylab prove {row['certificate']}" if row.get("certificate") else ""
    runs = f", {row['runs']:,} runs or cases{looks}" if row["runs"] else ""
    effort = f"{row['effort']} effort, seed {row['seed']}, {row['seconds']:.1f} s"
    console.paragraph(f"evidence: {row['evidence'] or 'none'}{runs}; {effort}{proof}")


def _write_template(file: Path | None) -> None:
    """A claim that runs, with a planted case."""
    if file is None or file.suffix != ".py" or file.exists():
        taken = f"{file} exists already; " if file and file.exists() else ""
        raise ValueError(f"{taken}give a free name that ends in .py: paritylab claims new FILE")
    check_target(file, "FILE")
    template = Path(__file__).with_name("claim_template.txt").read_text(encoding="utf-8")
    write_atomically(file, template.format(name=file.name, id=file.stem.replace("_", "-")))
    print(f"written: {file}; run it: paritylab check --file {file} --effort quick")

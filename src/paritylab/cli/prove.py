"""`paritylab prove`."""

import os
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paritylab.cli import console
from paritylab.cli.options import JsonFile, check_outputs
from paritylab.options import check_ids

if TYPE_CHECKING:
    from paritylab.proofs import Result

#: Exit code if an inequality could not be shown; the others were tried, too.
NOT_SHOWN = 1
#: So few proofs have every inequality printed below the table.
FEW = 3
_COLUMNS = ["claim", "proof", "seconds", "what is proved"]


def add_to(app: typer.Typer) -> None:
    """Register this module's command."""
    app.command("prove", epilog="Example: paritylab prove hg1-lemma8-pl")(run_proofs)


def run_proofs(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Claims.")] = None,
    file: Annotated[
        Path | None, typer.Option(help="A certificate of your own instead of the package's.")
    ] = None,
    json_file: JsonFile = None,
    keep: Annotated[
        bool, typer.Option("--record", help="Note in the package which long proofs were verified.")
    ] = False,
    coq: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the certificates for Rocq (Coq) there, and stop."),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, max=64, help="Processes for the long proofs.")
    ] = os.cpu_count() or 1,
) -> int:
    """Prove claims from their certificates, in ball arithmetic or whole numbers.

    Without ids every certificate is checked, the quick ones first. Exit code 0: all verified; 1: an
    inequality could not be shown; 2: python-flint is missing or a file is no certificate.
    """
    from paritylab.proofs import (
        expected_seconds,
        load_certificate,
        missing_extra,
        provable,
        record,
        verify,
    )

    if missing := missing_extra():
        raise ValueError(missing)
    if coq is not None:
        from paritylab.proofs import rocq

        print(f"{len(rocq.write(coq))} files in {coq}; {rocq.HOW}")
        return 0
    check_outputs(json=json_file)
    own = None if file is None else load_certificate(file)
    if own is not None and ids:
        raise ValueError("--file names the claim itself: give no ids with it")
    check_ids(ids or [], provable(), "no proof of", f"there are: {', '.join(provable())}")
    chosen = [own["claim"]] if own is not None else list(dict.fromkeys(ids or provable()))
    budgets = {id: expected_seconds(id) for id in chosen}
    results: list[Result] = []
    with console.Progress(sum(budgets.values())) as progress:
        for id in sorted(chosen, key=lambda id: budgets[id]):
            result = verify(id, own, report=partial(progress.follow, id, budgets[id]), jobs=jobs)
            results.append(result)
            if keep and own is None:
                record(result)
            word = "verified" if result.verified else f"not shown: {result.failure}"
            line = f"[{len(results)}/{len(chosen)}] {id}: {word} ({result.seconds:.1f} s)"
            progress.advance(budgets[id], line)
    _show(results, json_file)
    return 0 if all(result.verified for result in results) else NOT_SHOWN


def _show(results: "list[Result]", json_file: str | None) -> None:
    cells = [
        [
            each.claim,
            "verified" if each.verified else "not shown",
            f"{each.seconds:.2f}",
            each.title,
        ]
        for each in results
    ]
    if not console.table_or_json(json_file, [asdict(each) for each in results], _COLUMNS, cells):
        return
    for result in results:
        if result.failure:
            print(f"{result.claim}: not shown: {result.failure}")
        elif len(results) <= FEW:
            steps = [f"{result.claim}: {words}: {shown}" for words, shown in result.steps]
            print("\n".join(dict.fromkeys(steps)))

"""`paritylab live`: the page in which heads move and a chain fills."""

from pathlib import Path
from typing import Annotated

import typer

from paritylab.cli.options import check_outputs


def add_to(app: typer.Typer) -> None:
    """Register this module's command."""
    app.command("live", epilog="Example: paritylab live --out live.html --open")(write_page)


def write_page(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path(
        "live.html"
    ),
    open_it: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="A run to replay: JSON, or .npz of --save."),
    ] = None,
    run: Annotated[int, typer.Option(help="Which run of a .npz file.")] = 0,
) -> None:
    """Write the live page: four demos in one file that opens offline in any browser.

    Runs fall into a landscape of risk, heads look for hidden bits, two heads learn XOR in one
    step, a chain of thought fills. With --from it also replays a run: paritylab train heads --save
    runs.npz, then paritylab live --from runs.npz.
    """
    check_outputs(out=out)
    from paritylab.report.live.page import write_live_page
    from paritylab.report.live.runs import read_run

    page = write_live_page(out, None if source is None else read_run(source, run))
    print(f"page: {page}")
    if open_it:
        import webbrowser

        webbrowser.open(page.absolute().as_uri())

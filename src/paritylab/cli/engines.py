"""Options that say where blocks are computed, and what became of those that were not."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from paritylab.cli import console

if TYPE_CHECKING:
    from paritylab.sweep.engines import Engine
    from paritylab.sweep.runner import BlockError

EngineName = Literal["serial", "processes", "dask"]
#: Exit code if a block's code failed; the rest was done and saved.
FAILED = 4


def chosen_engine(name: EngineName, cluster: str) -> Callable[[int], "Engine"]:
    """The engine for a number of tasks; an unreachable scheduler is refused now, not then."""
    from paritylab.sweep import engines

    if name != "dask":
        if cluster != "local":
            raise ValueError(f"--cluster {cluster} goes with --engine dask, got --engine {name}")
        if name == "serial":
            return lambda tasks: engines.serial()
        return lambda tasks: engines.processes(engines.usual_jobs(tasks))
    from paritylab.sweep.cluster import cluster as dask_cluster

    dask_cluster(cluster)
    return lambda tasks: dask_cluster(
        cluster, engines.usual_jobs(tasks) if cluster == "local" else 1, say=console.say
    )


def report_failures(error: "BlockError | None") -> int:
    """Name the blocks that failed; returns the command's exit code."""
    if error is None:
        return 0
    for spec, failure in error.failures[:5]:
        console.complain(f"failed: {spec.cell}, runs from {spec.first}: {failure.reason}")
    if len(error.failures) > 5:
        console.complain(f"and {len(error.failures) - 5} more blocks failed")
    return FAILED


def rescue(
    store: Annotated[Path, typer.Argument(help="The damaged store; it is only read.")],
    to: Annotated[Path, typer.Option(metavar="NEW", help="Where the whole rows go, a new file.")],
) -> None:
    """Copy every whole row of a damaged store into a new one."""
    from paritylab.sweep.rescue import rescue as rescue_store

    found = rescue_store(store, to)
    print(f"{found.blocks} blocks and {found.verdicts} verdicts rescued to {to}")
    if found.damaged:
        print(f"{found.damaged} damaged rows left behind; run their sweep or check again")

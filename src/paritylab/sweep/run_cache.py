"""Trained runs kept as files next to the store, so that a command goes on where it stopped."""

from pathlib import Path
from typing import Any, NamedTuple

from paritylab.learning import Runs
from paritylab.sweep.blocks import run_spec
from paritylab.sweep.runner import block_key
from paritylab.sweep.spec import Spec


class Kept(NamedTuple):
    """The runs of a block, and whether they were found rather than computed."""

    runs: Runs[Any]
    reused: bool


def kept_runs(spec: Spec, folder: Path, *, trace: int | None = None, fresh: bool = False) -> Kept:
    """The runs of a block, from its file if the same code, versions and device made it."""
    path = folder / f"{block_key(spec)}-{trace}.npz"
    if path.is_file() and not fresh:
        try:
            return Kept(Runs.load(path), True)
        except ValueError:
            pass  # a damaged file is computed again and replaced
    runs = run_spec(spec, trace)
    folder.mkdir(parents=True, exist_ok=True)
    runs.save(path)
    return Kept(runs, False)

"""Trained runs kept as files beside the store, so that a command goes on where it stopped."""

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

from paritylab.files import write_atomically
from paritylab.learning import Runs
from paritylab.sweep import origin
from paritylab.sweep.blocks import run_spec
from paritylab.sweep.runner import block_key
from paritylab.sweep.spec import Spec
from paritylab.untrusted import read_json


class Kept(NamedTuple):
    """The runs of a block, whether they were found rather than computed, and whether this user's
    installation computed them."""

    runs: Runs[Any]
    reused: bool
    own: bool = True


def kept_runs(spec: Spec, folder: Path, *, trace: int | None = None, fresh: bool = False) -> Kept:
    """The runs of a block, from its file if the same code, versions and device made it."""
    path = folder / f"{block_key(spec)}-{trace}.npz"
    if path.is_file() and not fresh:
        try:
            return Kept(Runs.load(path), True, _is_own(path))
        except ValueError:
            pass  # a damaged file is computed again and replaced
    runs = run_spec(spec, trace)
    folder.mkdir(parents=True, exist_ok=True)
    runs.save(path)
    write_atomically(_mark_of(path), json.dumps(origin.marked(path.name, _digest(path))))
    return Kept(runs, False)


def _is_own(path: Path) -> bool:
    try:
        kept = read_json(_mark_of(path))
    except ValueError:
        return False
    right = isinstance(kept, dict) and kept.get("sha256") == _digest(path)["sha256"]
    return right and origin.is_own(path.name, kept)


def _mark_of(path: Path) -> Path:
    return path.with_suffix(".mark")


def _digest(path: Path) -> dict[str, str]:
    return {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}

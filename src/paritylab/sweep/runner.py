"""Runs specs block by block, and keeps every finished block."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from paritylab.execution.engines import Engine, Failure, serial
from paritylab.execution.provenance import device, fingerprint_of, versions
from paritylab.execution.store import Store
from paritylab.learning import LEARNERS, Runs
from paritylab.sweep.blocks import (
    Row,
    data_of,
    files_of_parts,
    learner_of,
    learners_from_file,
    plain_rows,
    run_spec,
)
from paritylab.sweep.grid import Spec


class BlockError(ValueError):
    """Blocks without rows, all others being saved; the message names the first one's cell.

    computed: how many blocks of this run were computed and saved.
    """

    def __init__(self, failures: list[tuple[Spec, Failure]], computed: int) -> None:
        spec, failure = failures[0]
        more = f" (and {len(failures) - 1} more failed)" if len(failures) > 1 else ""
        super().__init__(f"{spec.cell}, runs from {spec.first}: {failure.reason}{more}")
        self.failures, self.computed = failures, computed


def fingerprint(learner: str, parts: Iterable[Path] = ()) -> str:
    """Hash of the code, versions, precision and device behind the blocks of a learner.

    parts: the user's files that its settings name.
    """
    return fingerprint_of(LEARNERS.get(learner), parts)


def _files(spec: Spec) -> list[Path]:
    return files_of_parts(spec.learner, dict(spec.settings))


def code_behind(spec: Spec) -> str:
    """A spec's learner and the user's files that its settings name: equal code, equal text."""
    return " ".join([spec.learner, *map(str, _files(spec))])


def block_key(spec: Spec, mark: str | None = None) -> str:
    """Names a block together with everything that computed it. mark: its fingerprint, if known."""
    mark = fingerprint(spec.learner, _files(spec)) if mark is None else mark
    return hashlib.sha256(f"{spec.hash}|{mark}".encode()).hexdigest()


#: Users' files that this process has run for its tasks.
_LOADED: set[str] = set()


class Task(NamedTuple):
    """A block for an engine: its spec, and the user's file that registers its learner or loss."""

    spec: Spec
    file: str | None = None


def made_rows(task: Task, marks: dict[str, str]) -> list[Row]:
    """What an engine maps over the blocks. marks: the driver's fingerprints, by `code_behind`.

    A worker whose code, versions or learner's file differ from the driver's must not answer.
    """
    if task.file is not None and task.file not in _LOADED:
        _LOADED.add(task.file)
        learners_from_file(task.file)
    mark = fingerprint(task.spec.learner, _files(task.spec))
    if mark != marks.get(code_behind(task.spec)):
        raise RuntimeError(
            "its worker has other code, versions or another learner's file than this process; "
            "give all machines the same ones and start old workers anew"
        )
    return plain_rows(run_spec(task.spec))


def run_sweep(
    specs: Iterable[Spec],
    store: Store,
    *,
    engine: Engine | None = None,
    fresh: bool = False,
    file: str | None = None,
    on_block: Callable[[Spec, bool], None] = lambda spec, computed: None,
) -> int:
    """Run what is not stored yet; returns how many blocks were computed.

    Finished blocks are saved one transaction each and never computed again, unless `fresh`; those
    that another process saves meanwhile are left to it. file: the user's file that registers
    the learner, for engines with other processes. Blocks that fail do not keep the rest from being
    run; they are reported at the end by a `BlockError`.
    """
    specs, engine = list(specs), engine or serial()
    check_specs(specs)
    if file is not None:
        _LOADED.add(file)  # the caller has run it
    codes = {spec: code_behind(spec) for spec in specs}
    marks = {
        code: fingerprint(spec.learner, _files(spec))
        for code, spec in {code: spec for spec, code in codes.items()}.items()
    }
    keys = {spec: block_key(spec, marks[codes[spec]]) for spec in specs}

    def waiting() -> Iterator[Task]:
        for spec in specs:
            if not fresh and store.is_finished(keys[spec]):
                on_block(spec, False)
            else:
                yield Task(spec, file)

    computed, failures = 0, []
    for done in engine(partial(made_rows, marks=marks), waiting()):
        spec, rows = done.task.spec, done.value
        if isinstance(rows, Failure):
            failures.append((spec, rows))
            continue
        facts = {
            "status": "done",
            "seconds": round(done.seconds, 6),
            "device": device(),
            "versions": versions(),
            "fingerprint": marks[codes[spec]],
        }
        computed += store.save_block(keys[spec], spec, rows, facts, replace=fresh)
        on_block(spec, True)
    if failures:
        raise BlockError(failures, computed)
    return computed


def check_specs(specs: Iterable[Spec]) -> None:
    """Build the learner and the data of one block per cell, so that mistakes show at once."""
    for spec in {each.cell: each for each in specs}.values():
        try:
            data_of(spec, learner_of(spec))
        except ValueError as error:
            raise ValueError(f"{spec.cell}: {error}") from None


# ---- trained runs kept whole, as files next to the store


class Kept(NamedTuple):
    """The runs of a block, and whether they were found rather than computed."""

    runs: Runs[Any]
    reused: bool


def kept_runs(spec: Spec, folder: Path, *, trace: int | None = None, fresh: bool = False) -> Kept:
    """The runs of a block, from its file if the same code, versions and device made it."""
    path = folder / f"{block_key(spec)}-{trace}.npz"
    if path.is_file() and not fresh:
        try:
            return Kept(Runs.load(path, learner=learner_of(spec)), True)
        except ValueError:
            pass  # a damaged file is computed again and replaced
    runs = run_spec(spec, trace)
    folder.mkdir(parents=True, exist_ok=True)
    runs.save(path)
    return Kept(runs, False)

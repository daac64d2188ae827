"""Runs specs block by block, keeps every finished block, and turns rows into rates."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from paritylab.learning import LEARNERS
from paritylab.statistics import Rate
from paritylab.sweep.blocks import Task, data_of, learner_of, rows_of
from paritylab.sweep.engines import Engine, Failure, serial
from paritylab.sweep.provenance import device, fingerprint_of, versions
from paritylab.sweep.spec import Spec
from paritylab.sweep.store import Store


class BlockError(ValueError):
    """A block's own code failed; the message names its cell."""


class CellRate(NamedTuple):
    """Success rate of a cell. current: computed by this code, these versions and this device."""

    cell: str
    rate: Rate
    current: bool


def fingerprint(spec: Spec) -> str:
    """Hash of the code, versions, precision and device behind a block."""
    return fingerprint_of(LEARNERS.get(spec.learner))


def block_key(spec: Spec) -> str:
    """Names a block together with everything that computed it."""
    return hashlib.sha256(f"{spec.hash}|{fingerprint(spec)}".encode()).hexdigest()


def run_sweep(
    specs: Iterable[Spec],
    store: Store,
    *,
    engine: Engine | None = None,
    until: float | None = None,
    fresh: bool = False,
    file: str | None = None,
    on_block: Callable[[Spec, bool], None] = lambda spec, computed: None,
) -> int:
    """Run what is not stored yet; returns how many blocks were computed.

    Finished blocks are saved one transaction each and never computed again, unless `fresh`. until:
    leave a cell alone once the 95 % interval of its success rate lies on one side of this rate.
    (Looking after every block makes the interval cover a little less often than a single look
    would.) file: the user's file that registers the learner, for engines with other processes.
    """
    specs = list(specs)
    check_specs(specs)
    keys = {spec: block_key(spec) for spec in specs}
    finished = set() if fresh else store.finished_blocks()
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    if until is not None and not fresh:
        for block in store.blocks():
            if block["key"] in set(keys.values()):
                _count(counts[block["cell"]], block["rows"])

    def waiting() -> Iterator[Task]:
        for spec in specs:
            decided = until is not None and Rate(*counts[spec.cell]).decides(until)
            if keys[spec] in finished or decided:
                on_block(spec, False)
            else:
                yield Task(spec, file)

    computed = 0
    for done in (engine or serial())(rows_of, waiting()):
        spec = done.task.spec
        if isinstance(done.value, Failure):
            raise BlockError(f"{spec.cell}, runs from {spec.first}: {done.value.reason}")
        facts = {
            "status": "done",
            "seconds": round(done.seconds, 6),
            "device": device(),
            "versions": versions(),
            "fingerprint": fingerprint(spec),
        }
        computed += store.save_block(keys[spec], spec, done.value, facts, replace=fresh)
        _count(counts[spec.cell], done.value)
        on_block(spec, True)
    return computed


def check_specs(specs: Iterable[Spec]) -> None:
    """Build the learner and the data of one block per cell, so that mistakes show at once."""
    for spec in {each.cell: each for each in specs}.values():
        try:
            data_of(spec, learner_of(spec))
        except ValueError as error:
            raise ValueError(f"{spec.cell}: {error}") from None


def rates(store: Store) -> list[CellRate]:
    """Success rate of every cell, never mixing code, versions, devices, seeds or block sizes."""
    counts: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
    current: dict[str, str] = {}
    for block in store.blocks():
        spec = block["spec"]
        learner = spec["learner"]
        current.setdefault(learner, fingerprint_of(LEARNERS.get(learner)))
        key = (block["cell"], spec["seed"], spec["block"], block["fingerprint"])
        _count(counts[key], block["rows"])
    learner_of_cell = lambda cell: cell.split(" ")[0]  # noqa: E731
    return [
        CellRate(cell, Rate(*count), current[learner_of_cell(cell)] == mark)
        for (cell, _, _, mark), count in sorted(counts.items())
    ]


def _count(count: list[int], rows: list[dict[str, Any]]) -> None:
    count[0] += sum(bool(row.get("success")) for row in rows)
    count[1] += len(rows)

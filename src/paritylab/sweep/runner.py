"""Runs specs block by block, keeps every finished block, and turns rows into rates."""

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from paritylab.statistics import Rate
from paritylab.sweep.learners import Row, learner_of
from paritylab.sweep.provenance import device, versions
from paritylab.sweep.spec import Spec
from paritylab.sweep.store import Store

#: An engine maps specs to (spec, rows, seconds), in any order; `serial` is the reference.
Engine = Callable[[Iterable[Spec]], Iterator[tuple[Spec, list[Row], float]]]


def serial(specs: Iterable[Spec]) -> Iterator[tuple[Spec, list[Row], float]]:
    """One block after another in this process."""
    for spec in specs:
        start = time.perf_counter()
        rows = learner_of(spec)(spec)
        if len(rows) != spec.width:
            raise ValueError(
                f"learner {spec.learner!r} must return {spec.width} rows, got {len(rows)}"
            )
        yield spec, rows, time.perf_counter() - start


def block_key(spec: Spec) -> str:
    """Names a block together with the device and versions that computed it."""
    facts = "|".join([spec.hash, device(), *(f"{k}={v}" for k, v in sorted(versions().items()))])
    return hashlib.sha256(facts.encode()).hexdigest()


def run_sweep(
    specs: Iterable[Spec],
    store: Store,
    *,
    engine: Engine = serial,
    until: float | None = None,
    on_block: Callable[[Spec, bool], None] = lambda spec, computed: None,
) -> int:
    """Run what is not stored yet; returns how many blocks were computed.

    Finished blocks are saved one transaction each and never computed again. until: leave a cell
    alone once the 95 % interval of its success rate lies on one side of this rate. (Looking after
    every block makes the interval cover a little less often than a single look would.)
    """
    specs = list(specs)
    for spec in specs:
        learner_of(spec)
    counts = _counts(store) if until is not None else defaultdict(lambda: [0, 0])
    finished = store.finished_blocks()

    def waiting() -> Iterator[Spec]:
        for spec in specs:
            if block_key(spec) in finished or (
                until is not None and _decided(counts[_cell_key(spec)], until)
            ):
                on_block(spec, False)
            else:
                yield spec

    computed = 0
    for spec, rows, seconds in engine(waiting()):
        facts = {
            "status": "done",
            "seconds": round(seconds, 6),
            "device": device(),
            "versions": versions(),
        }
        computed += store.save_block(block_key(spec), spec, rows, facts)
        count = counts[_cell_key(spec)]
        count[0] += sum(bool(row["success"]) for row in rows)
        count[1] += len(rows)
        on_block(spec, True)
    return computed


def rates(store: Store) -> list[tuple[str, Rate]]:
    """Success rate of every cell in the store."""
    return [(cell, Rate(*count)) for (cell, _, _), count in sorted(_counts(store).items())]


def _counts(store: Store) -> dict[Any, list[int]]:
    counts: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
    for block in store.blocks():
        key = (block["cell"], block["spec"]["seed"], block["spec"]["width"])
        counts[key][0] += sum(bool(row.get("success")) for row in block["rows"])
        counts[key][1] += len(block["rows"])
    return counts


def _cell_key(spec: Spec) -> tuple[str, int, int]:
    return spec.cell, spec.seed, spec.width


def _decided(count: list[int], rate: float) -> bool:
    return count[1] > 0 and Rate(*count).decides(rate)

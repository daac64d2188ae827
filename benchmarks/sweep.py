"""What a sweep costs without its blocks: speed-up of two workers, overhead, memory.

Run: python benchmarks/sweep.py. The blocks sleep or do nothing, so that only the
machinery is measured; rows are those of the fault suite's learner, which needs no jax.
"""

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

from tests.faults import drivers

from paritylab.execution import Store, engines
from paritylab.sweep import Grid, runner

ENGINES = {
    "serial": engines.serial,
    "processes": lambda: engines.processes(2),
    "dask": lambda: engines.cluster("local", 2),
}


#: Seconds that a block sleeps.
PAUSE = 0.2


def run(engine: str, blocks: int, pause: float) -> list[tuple[int, float, float]]:
    """One sweep; notes (blocks, seconds, MB) at the first block and at every tenth part."""
    marks: list[tuple[int, float, float]] = []
    grid = Grid("own", {"n": 1}, {"pause": pause}, runs=2 * blocks, block=2)
    specs, done = list(grid.specs()), 0

    def note(spec: object, computed: bool) -> None:
        nonlocal done
        done += 1
        if done % max(1, blocks // 10) == 0 or done in (1, 2):
            marks.append((done, time.perf_counter(), _memory()))

    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "s.db") as store:
        runner.run_sweep(specs, store, engine=ENGINES[engine](), on_block=note)
        assert len(list(store.blocks())) == blocks
    return marks


def _memory() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def main() -> None:
    """Sleeping blocks from the second on, since starting workers is paid once; then idle ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=20_000, help="that do nothing")
    blocks = parser.parse_args().blocks
    with drivers.stand_ins():
        for engine in ENGINES:
            marks = run(engine, 60, PAUSE)
            (first, begin, _), (last, end, _) = marks[1], marks[-1]
            gain = (last - first) * PAUSE / (end - begin)
            print(f"{engine:>9}: blocks of {PAUSE} s, {gain:.2f} times as fast as one by one")
            before = os.times()
            marks = run(engine, blocks, 0.0)
            after = os.times()
            used = after.user + after.system - before.user - before.system
            (first, begin, _), (last, end, memory) = marks[1], marks[-1]
            early = next(size for done, _, size in marks if done >= blocks // 10)
            print(
                f"{engine:>9}: {blocks} blocks, {1e3 * (end - begin) / (last - first):.2f} ms "
                f"each, {1e3 * used / blocks:.2f} ms of the driver's processor; its memory "
                f"{early:.0f} MB after a tenth, {memory:.0f} MB at the end"
            )


if __name__ == "__main__":
    main()

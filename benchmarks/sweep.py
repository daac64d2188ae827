"""What a sweep costs beside its blocks: speed-up of two workers, overhead and memory of the driver.

Run: python benchmarks/sweep.py [speed|overhead]. The blocks sleep or do nothing, so that only the
machinery is measured; rows are those of the fault suite's learner, which needs no jax.
"""

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

from tests.faults import drivers

from paritylab.sweep import Grid, Store, engines, runner

ENGINES = {
    "serial": engines.serial,
    "processes": lambda: engines.processes(2),
    "dask": lambda: engines.cluster("local", 2),
}


def run(engine: str, blocks: int, pause: float, marks: list[tuple[int, float, float]]) -> None:
    """One sweep; notes (blocks, seconds, MB) at the first block and at every tenth part."""
    grid = Grid("own", {"n": 1}, {"pause": pause}, runs=2 * blocks, block=2)
    specs, done = list(grid.specs()), 0

    def note(spec: object, computed: bool) -> None:
        nonlocal done
        done += 1
        if done % max(1, blocks // 10) == 0 or done in (1, 2):
            marks.append((done, time.perf_counter(), _memory()))

    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "s.db") as store:
        runner.run_sweep(specs, store, engine=ENGINES[engine](), on_block=note)
        assert len(store.finished_blocks()) == blocks


def _memory() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def speed(blocks: int = 60, pause: float = 0.2) -> None:
    """From the second block on, since starting workers is paid once."""
    for engine in ENGINES:
        marks: list[tuple[int, float, float]] = []
        run(engine, blocks, pause, marks)
        (first, begin, _), (last, end, _) = marks[1], marks[-1]
        gain = (last - first) * pause / (end - begin)
        print(f"{engine:>9}: blocks of {pause} s, {gain:.2f} times as fast as one by one")


def overhead(blocks: int = 20_000) -> None:
    for engine in ENGINES:
        marks: list[tuple[int, float, float]] = []
        before = os.times()
        run(engine, blocks, 0.0, marks)
        after = os.times()
        used = after.user + after.system - before.user - before.system
        (first, begin, _), (last, end, memory) = marks[1], marks[-1]
        early = next(size for done, _, size in marks if done >= blocks // 10)
        print(
            f"{engine:>9}: {blocks} blocks, {1e3 * (end - begin) / (last - first):.2f} ms each, "
            f"{1e3 * used / blocks:.2f} ms of the driver's processor; its memory {early:.0f} MB "
            f"after a tenth, {memory:.0f} MB at the end"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=["speed", "overhead"])
    parser.add_argument("--blocks", type=int, default=20_000)
    chosen = parser.parse_args()
    with drivers.stand_ins():
        if chosen.what != "overhead":
            speed()
        if chosen.what != "speed":
            overhead(chosen.blocks)


if __name__ == "__main__":
    main()

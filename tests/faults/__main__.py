"""What is lost, doubled, wrong or ugly when things break; run: make faults.

Every part counts its attempts and the harm done; the criterion is 0 harm. Prints a table and ends
with exit code 1 if there was harm. --share: do so much of the whole.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.faults import disk, fuzz, kills
from tests.faults.drivers import Tally, stand_ins

#: Engine, kills of its driver, kills of its workers.
KILLS = (("serial", 120, 0), ("processes", 30, 40), ("dask", 10, 20))


def parts(share: float, folder: Path) -> Iterator[Tally]:
    """One part after another. Those that fork come first: a process with jax loaded must not."""

    def n(whole: int) -> int:
        return max(1, round(whole * share))

    with stand_ins():
        for engine, drivers, workers in KILLS:
            yield kills.drivers(engine, n(drivers), folder)
            if workers:
                yield kills.workers(engine, n(workers), folder)
        yield disk.full(n(20), folder)
    yield fuzz.files(n(1000), folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0)
    share, attempts, harm = parser.parse_args().share, 0, 0
    print("what | attempts | harm | notes")
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        for tally in parts(share, Path(folder)):
            attempts, harm = attempts + tally.attempts, harm + tally.harm.total()
            print(tally, flush=True)
    print(f"{attempts} attempts, {harm} times harm")
    return int(harm > 0)


if __name__ == "__main__":
    sys.exit(main())

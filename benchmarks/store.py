"""How fast finished blocks go into the store: 10,000 trivial cells, one transaction each.

Run: python benchmarks/store.py. The rates with write-ahead logging and with the rollback journal
come from one run on the same disk.
"""

import tempfile
import time
from pathlib import Path

from paritylab.sweep import Grid, Store, run_sweep

CELLS = 10_000


def main() -> None:
    grid = Grid("coin", {"n": list(range(CELLS))}, {"rate": 0.5}, runs=1, width=1)
    specs = list(grid.specs())
    for wal, count in ((True, CELLS), (False, 500)):
        with (
            tempfile.TemporaryDirectory() as folder,
            Store(Path(folder) / "s.db", wal=wal) as store,
        ):
            start = time.perf_counter()
            computed = run_sweep(specs[:count], store)
            fresh = time.perf_counter() - start
            start = time.perf_counter()
            again = run_sweep(specs[:count], store)
            reused = time.perf_counter() - start
            print(
                f"{store.journal:>6}: {computed} cells at {count / fresh:,.0f} cells/s, "
                f"{again} again at {count / reused:,.0f} cells/s"
            )


if __name__ == "__main__":
    main()

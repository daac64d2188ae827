"""Every named sweep once, with its phase diagram: one table at the end.

python benchmarks/sweeps.py [--effort full] [--jobs 16] [--figures FOLDER] [NAME …]

Small arrays gain nothing from an accelerator: set JAX_PLATFORMS=cpu and give as many jobs as there
are cores. Full effort is sized for less than eight minutes on sixteen of them. Finished blocks are
kept: a second call goes on where the first stopped. The sweeps `presets` and `anneal` run if named.
"""

import argparse
import os
import time
from pathlib import Path

from paritylab.cli.compiled import keep_compiled

#: Hours at full effort; they run only if named.
LONG = ("presets", "anneal")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--effort", choices=("quick", "default", "full"), default="full")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--store", type=Path, default=Path("sweeps.db"))
    parser.add_argument("--figures", type=Path, default=Path("."))
    given = parser.parse_args()
    keep_compiled()
    from paritylab.cli.phases import chosen_cells
    from paritylab.report.figures import save_figure
    from paritylab.report.phases import phase_figure
    from paritylab.sweep import open_store, run_sweep
    from paritylab.sweep.engines import processes
    from paritylab.sweep.named import NAMED, named_sweep

    lines = []
    usual = [name for name in NAMED if name not in LONG]
    for name in given.names or usual:
        specs = [spec for grid in named_sweep(name).grids(given.effort) for spec in grid.specs()]
        start = time.perf_counter()
        with open_store(given.store) as store:
            computed = run_sweep(specs, store, engine=processes(given.jobs))
        seconds = time.perf_counter() - start
        chosen = chosen_cells(name, given.effort, given.store)
        series = phase_figure(chosen.cells, chosen.layout, chosen.caption)
        save_figure(series, given.figures / f"{name}.svg")
        runs = sum(cell.rate.runs for cell in chosen.cells)
        lines.append(
            f"{name:14} {len(chosen.cells):6} {runs:8} {computed:8} {len(specs) - computed:7} "
            f"{seconds:8.1f}"
        )
        print(lines[-1], flush=True)
    print(f"\n{'sweep':14} {'cells':>6} {'runs':>8} {'computed':>8} {'reused':>7} {'seconds':>8}")
    print("\n".join(lines))


if __name__ == "__main__":
    main()

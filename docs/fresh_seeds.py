"""Run every claim at seeds that were written down before: which verdicts differ? `make seeds`.

The seeds are in docs/runs/seeds.json. One seed runs at a time, each as a `paritylab check` with a
store of its own, so that a stopped script goes on where it was. A finished seed adds a line to
docs/runs/seeds.json, and all lines are printed in words.

    python docs/fresh_seeds.py --most 4 --effort quick
"""

import argparse
import datetime
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DATA = HERE / "runs" / "seeds.json"


def run_seed(seed: int, effort: str, work: Path) -> dict[str, Any]:
    """What a check at that seed found, as a line of the data."""
    rows = work / f"{effort}-{seed}.json"
    command = [sys.executable, "-m", "paritylab", "check", "--seed", str(seed), "--jobs", "1"]
    command += ["--effort", effort, "--json", str(rows), "--store", str(work / "store.db")]
    code = subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode
    if code not in (0, 1, 4):
        raise SystemExit(f"the check at seed {seed} stopped with exit code {code}")
    return line_of(seed, effort, json.loads(rows.read_text(encoding="utf-8")))


def line_of(seed: int, effort: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A seed's rows in short: how many, and those with another verdict than the recorded one."""
    differ = {row["id"]: row["status"] for row in rows if row["status"] != row["expected"]}
    recorded = {row["id"]: row["expected"] for row in rows}
    return {
        "seed": seed,
        "effort": effort,
        "date": datetime.date.today().isoformat(),
        "rows": len(rows),
        "differ": {id: f"{recorded[id]} -> {status}" for id, status in differ.items()},
    }


def sentence(lines: list[dict[str, Any]]) -> str:
    """The lines of one effort in words.

    >>> sentence([line_of(7, "quick", [{"id": "a", "status": "holds", "expected": "holds"}])])
    'at quick effort 0 of 1 rows of 1 seed differ from the recorded verdict.'
    """
    total, seeds = sum(line["rows"] for line in lines), len(lines)
    differ = [
        f"{id} at seed {line['seed']} ({change})"
        for line in lines
        for id, change in line["differ"].items()
    ]
    named = f": {', '.join(differ)}" if differ else ""
    return (
        f"at {lines[0]['effort']} effort {len(differ)} of {total:,} rows of {seeds} "
        f"seed{'s' if seeds > 1 else ''} differ from the recorded verdict{named}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--effort", default="quick", choices=("quick", "default", "full"))
    parser.add_argument("--most", type=int, default=12, help="how many of the seeds")
    parser.add_argument("--work", type=Path, default=HERE.parent / "build" / "seeds")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    data = json.loads(DATA.read_text(encoding="utf-8"))
    for seed in data["seeds"][: given.most]:
        done = {(line["seed"], line["effort"]) for line in data["lines"]}
        if (seed, given.effort) not in done:
            data["lines"].append(run_seed(seed, given.effort, given.work))
            DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    efforts = sorted({line["effort"] for line in data["lines"]})
    parts = [sentence([x for x in data["lines"] if x["effort"] == effort]) for effort in efforts]
    print("\n".join(parts))


if __name__ == "__main__":
    main()

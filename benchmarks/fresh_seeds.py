"""Verdicts at seeds that were never used before: does any flip, how many are undecided?

    python benchmarks/fresh_seeds.py --jobs 14 --seconds 540 --out part.json [--seeds first]

The seeds stand in fresh_seeds.json, which was committed before the first of them was run. Sampled
claims run at every seed, the others at one. Results are added to --out as they come, so that the
study can be done in parts; --table prints them. `second` is for whatever was changed afterwards.
"""

import argparse
import json
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def todo(which: str, done: dict[str, dict[str, str]], ids: list[str]) -> list[tuple[str, int]]:
    """Claims and seeds that are still to be run, seed by seed."""
    from paritylab.claims import Effort, registry

    rows = {row["id"]: row for row in json.loads((HERE.parent / "docs/rows.json").read_text())}
    seeds = json.loads((HERE / "fresh_seeds.json").read_text())[which]
    claims = [c for c in registry().values() if not ids or c.id in ids]
    claims.sort(key=lambda claim: -claim.budget(Effort.DEFAULT))
    pairs = []
    for number, seed in enumerate(seeds):
        for claim in claims:
            sampled = rows.get(claim.id, {}).get("evidence") in (None, "sampled", "extrapolated")
            if (sampled or number == 0) and str(seed) not in done.get(claim.id, {}):
                pairs.append((claim.id, seed))
    return pairs


def run_one(pair: tuple[str, int], until: float) -> str:
    """The status of one claim at one seed; "" if there is no time left to start it."""
    if time.time() > until:
        return ""
    from paritylab.claims import Effort, Trial, registry
    from paritylab.claims.engine.running import run_claim

    id, seed = pair
    return str(run_claim(registry()[id], Trial(Effort.DEFAULT, seed))["status"])


def table(done: dict[str, dict[str, str]]) -> str:
    """Per claim the statuses that differ from the recorded one, then the totals."""
    from paritylab.claims import Effort, registry

    lines, total, flips, undecided = [], 0, 0, 0
    for id, claim in registry().items():
        found, expected = done.get(id, {}), claim.expected_at(Effort.DEFAULT)
        odd = {seed: status for seed, status in found.items() if status != expected}
        total += len(found)
        undecided += sum(status == "undecided" for status in odd.values())
        flips += sum(status != "undecided" for status in odd.values())
        if odd:
            told = ", ".join(f"{status} at {seed}" for seed, status in odd.items())
            lines.append(f"| {id} | {expected} | {len(found)} | {told} |")
    head = ["| claim | recorded | seeds | differing |", "|---|---|---|---|"]
    share = f"{undecided} of {total} undecided, {flips} other verdicts"
    return "\n".join([*head, *lines, "", share])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", choices=("first", "second"), default="first")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("ids", nargs="*")
    given = parser.parse_args()
    done: dict[str, dict[str, Any]] = (
        json.loads(given.out.read_text()) if given.out.is_file() else {}
    )
    if not given.table:
        from paritylab.sweep.engines import processes

        pairs = todo(given.seeds, done, given.ids)
        until = time.time() + given.seconds
        for pair, value, _ in processes(given.jobs)(partial(run_one, until=until), pairs):
            if value:
                id, seed = pair
                done.setdefault(id, {})[str(seed)] = str(value)
                given.out.write_text(json.dumps(done, indent=1))
    print(table(done))


if __name__ == "__main__":
    main()

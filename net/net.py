"""The safety net of the redesign: what was recorded before it, compared with what comes out now.

    python net/net.py [--only hg1] [--effort quick|default] [--rows FILE]

It compares, claim by claim: the verdict with the one recorded before; every number that was
measured before with the numbers of the new row (at the same settings they must be there again, to
1e-9; as labels changed, a number is looked for anywhere in the row's comparisons and figure); the
planted cases; the certificates; the public names. What differs and why stands in explained.toml
beside it; a difference that is not explained there ends in exit code 1. Tables have their own net:
tables.py.
"""

import argparse
import json
import math
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def load(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def numbers(value: Any) -> Iterator[float]:
    """Every number in a JSON value; of a rate its counts, since its interval follows from them."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float) or value in ("inf", "-inf", "nan"):
        yield float(value)
    elif isinstance(value, dict):
        rate = "successes" in value
        parts = [value["successes"], value["runs"]] if rate else list(value.values())
        for part in parts:
            yield from numbers(part)
    elif isinstance(value, list):
        for part in value:
            yield from numbers(part)


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-15)


def lost(before: dict[str, Any], row: dict[str, Any]) -> dict[str, list[float]]:
    """Numbers measured before that the row does not hold any more, by their old label."""
    now = list(numbers([row["comparisons"], row["series"]]))
    gone = {
        label: [x for x in numbers(value) if not any(same(x, y) for y in now)]
        for label, value in before["measured"].items()
    }
    return {label: missing for label, missing in gone.items() if missing}


def compare_verdicts(before: dict[str, Any], rows: dict[str, Any]) -> dict[str, str]:
    """Verdicts that differ, by claim; a reason for missing numbers does not excuse these."""
    return {
        id: f"was {old['status']}, is {rows[id]['status']}: {rows[id]['finding']}"
        for id, old in before.items()
        if id in rows and rows[id]["status"] != old["status"]
    }


def compare_rows(before: dict[str, Any], rows: dict[str, Any]) -> dict[str, str]:
    """Claims that are gone and numbers that were not found again."""
    found = {}
    for id, old in before.items():
        if id not in rows:
            found[id] = "is gone"
        elif missing := lost(old, rows[id]):
            shown = {label: values[:4] for label, values in missing.items()}
            found[id] = f"numbers not found again: {shown}"
    return found


def compare_planted(claims: dict[str, Any]) -> dict[str, str]:
    """Claims that have fewer planted cases than before, or whose case does not turn the verdict."""
    from paritylab.claims import Effort, Trial

    found = {}
    for id, cases in load("planted.json").items():
        if id not in claims:
            continue
        claim = claims[id]
        if len(claim.planted) < len(cases):
            found[id] = f"had {len(cases)} planted cases, has {len(claim.planted)}"
        for case in claim.planted:
            status = claim.run_planted(case, Trial(Effort.QUICK)).status
            if status != case.turns:
                found[id] = f"planted {case.what!r} gives {status}, must give {case.turns}"
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="claims whose id starts so")
    parser.add_argument("--effort", default="quick", choices=("quick", "default"))
    parser.add_argument("--rows", help="a file that check --json wrote, instead of running")
    options = parser.parse_args()
    from paritylab import proofs
    from paritylab.claims import check, registry

    claims = {id: each for id, each in registry().items() if id.startswith(options.only)}
    before = load(f"{options.effort}-0.json")
    before = {id: row for id, row in before.items() if id.startswith(options.only)}
    if options.rows:
        made = json.loads(Path(options.rows).read_text(encoding="utf-8"))
    else:
        made = [verdict.row for verdict in check(claims.values(), effort=options.effort)]
    rows = {row["id"]: row for row in made}
    differences = {"verdicts": compare_verdicts(before, rows), "rows": compare_rows(before, rows)}
    if not options.rows:
        differences["planted"] = compare_planted(claims)
    if not options.only:
        import paritylab

        names = set(dir(paritylab))
        differences["names"] = {n: "is gone" for n in load("names.json") if n not in names}
        differences["certificates"] = {
            id: "is gone or is not verified"
            for id in load("certificates.json")
            if not proofs.verified(id)
        }
    explained = tomllib.loads((FOLDER / "explained.toml").read_text(encoding="utf-8"))
    open_ones = 0
    for part, found in differences.items():
        reasons = explained.get(part, {})
        for id, what in found.items():
            open_ones += id not in reasons
            print(f"{part}: {id}: {what}")
            print(f"    {reasons.get(id, 'NOT EXPLAINED')}")
    print(f"{sum(map(len, differences.values()))} differences, {open_ones} not explained")
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main())

"""`xorfind table`: targets of a table, each in words, as JSON and as a rule file."""

import argparse
import sys
import time
from typing import Any

from xorfind.cli import console
from xorfind.rule import Rule
from xorfind.search import discover_all
from xorfind.table.prepare import Notes


def run(asked: argparse.Namespace) -> int:
    """Search, then write and print."""
    console.check_outputs(asked, "rule")
    start, progress = time.perf_counter(), console.Progress(asked.budget or 30.0)
    options = ("k", "alpha", "budget", "bits", "threshold", "missing", "rows", "group")
    given = {name: getattr(asked, name) for name in options}
    try:
        rules, notes = discover_all(asked.file, asked.target, **given, progress=progress)
    finally:
        progress.end()
    console.write_json(asked, 3, _as_json(rules, notes))
    if asked.save and rules[0].found:
        rules[0].save(asked.save)
        console.say(f"rule: {asked.save}")
    elif asked.save:
        console.say(f"nothing found, so {asked.save} was not written")
    if asked.json != "-":
        for rule in rules:
            print("\n".join([*rule.lines(), *rule.picture(console.bar_of(sys.stdout))]))
        for line in notes.lines():
            print(f"note: {line}")
    console.say(f"{time.perf_counter() - start:.1f} s in all")
    return 0 if all(rule.found for rule in rules) else 3


def _as_json(rules: list[Rule], notes: Notes) -> dict[str, Any]:
    return {
        "rows": notes.rows,
        "rows_dropped": notes.dropped,
        "columns": {
            "constant": notes.constant,
            "twins": {
                name: [{"column": other, "complementary": flip} for other, flip in twins]
                for name, twins in notes.twins.items()
            },
            "ignored": notes.ignored,
            "thresholds": notes.thresholds,
        },
        "rules": [rule.to_json() for rule in rules],
    }

"""`xorfind table`: targets of a table, each in words, as JSON and as a rule file."""

import argparse
import sys
import time

from xorfind.cli import console
from xorfind.codec import to_json
from xorfind.search import discover_all


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
    found = [rule.to_json() for rule in rules]
    console.write_json(asked, 4, {**to_json(notes), "rules": found})
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

"""`xorfind table`: targets of a table, each in words, as JSON and as a rule file."""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from xorfind.cli import console
from xorfind.files import check_target, write_atomically
from xorfind.rule import Rule
from xorfind.search import discover_all
from xorfind.table.prepare import Notes


def run(asked: argparse.Namespace) -> int:
    """Search, then write and print."""
    if asked.json and asked.json != "-":
        check_target(Path(asked.json), "--json")
    if asked.save:
        check_target(Path(asked.save), "--save")
        if len(asked.target) > 1:
            raise ValueError("--save writes one rule; with several targets use --json")
    start, progress = time.perf_counter(), console.Progress(asked.budget or 30.0)
    try:
        rules, notes = discover_all(
            asked.file,
            asked.target,
            k=asked.k,
            alpha=asked.alpha,
            budget=asked.budget,
            bits=asked.bits or (),
            threshold=asked.threshold,
            missing=asked.missing,
            rows=asked.rows,
            group=asked.group,
            progress=progress,
        )
    finally:
        progress.end()
    _write(asked, rules, notes)
    if asked.json != "-":
        bar = "█" if (sys.stdout.encoding or "utf-8").lower().startswith("utf") else "#"
        for rule in rules:
            print("\n".join([*rule.lines(), *rule.picture(bar)]))
        for line in notes.lines():
            print(f"note: {line}")
    console.say(f"{time.perf_counter() - start:.1f} s in all")
    return 0 if all(rule.found for rule in rules) else 3


def _write(asked: argparse.Namespace, rules: list[Rule], notes: Notes) -> None:
    if asked.json:
        text = json.dumps(_as_json(asked.file, rules, notes), indent=1, allow_nan=False) + "\n"
        if asked.json == "-":
            sys.stdout.write(text)
        else:
            write_atomically(Path(asked.json), text)
    if asked.save:
        if rules[0].found:
            rules[0].save(asked.save)
            console.say(f"rule: {asked.save}")
        else:
            console.say(f"nothing found, so {asked.save} was not written")


def _as_json(file: str, rules: list[Rule], notes: Notes) -> dict[str, Any]:
    return {
        "xorfind": "table",
        "version": 3,
        "file": file,
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

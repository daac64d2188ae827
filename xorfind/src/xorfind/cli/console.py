"""Remarks and progress for the terminal, and where results are written."""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any, TextIO

from xorfind.files import check_target, write_atomically

#: Set by --quiet: results and errors only.
quiet = False
#: Seconds between two drawings of the line of progress.
_OFTEN = 0.1


def say(message: str) -> None:
    """A remark, unless --quiet."""
    if not quiet:
        print(message, file=sys.stderr, flush=True)


def complain(message: str) -> None:
    """What went wrong, also with --quiet."""
    print(f"xorfind: {message}", file=sys.stderr, flush=True)


def bar_of(stream: TextIO) -> str:
    """The letter of which bars are made on this stream."""
    return "█" if str(stream.encoding or "utf-8").lower().startswith("utf") else "#"


def check_outputs(asked: argparse.Namespace, saved: str) -> None:
    """Refuse --json and --save that could not be written. saved: what --save writes."""
    for option in ("json", "save"):
        name = getattr(asked, option)
        if name and name != "-":
            check_target(Path(name), f"--{option}")
    if asked.save and len(asked.target) > 1:
        raise ValueError(f"--save writes one {saved}; with several targets use --json")


def write_json(asked: argparse.Namespace, version: int, data: dict[str, Any]) -> None:
    """Write the results of a command where --json says, if anywhere."""
    head = {"xorfind": asked.command, "version": version, "file": asked.file}
    if asked.json:
        text = json.dumps({**head, **data}, indent=1, allow_nan=False) + "\n"
        if asked.json == "-":
            sys.stdout.write(text)
        else:
            write_atomically(Path(asked.json), text)


class Progress:
    """How far a search is, with the time left: one line that is redrawn, on terminals only.

    Called with the share that is done and a text. budget: seconds the search may take.
    """

    def __init__(self, budget: float) -> None:
        self._budget, self._begin, self._drawn = budget, time.monotonic(), 0.0
        self._shown = sys.stderr.isatty() and not quiet

    def __call__(self, share: float, text: str) -> None:
        now = time.monotonic()
        if not self._shown or now - self._drawn < _OFTEN:
            return
        self._drawn, passed = now, now - self._begin
        left = max(self._budget - passed, 0.0)
        if share > 0:
            left = min(left, passed * (1 / share - 1))
        line = f"{text}: {100 * share:.0f} %"
        line += f", at most {left:.0f} s left" if left >= 1 else ""
        print(f"\r\033[K{line[:78]}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Clear the line."""
        if self._drawn:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

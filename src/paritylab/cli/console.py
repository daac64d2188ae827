"""What the terminal shows: colour and movement on a terminal, plain lines elsewhere."""

import json
import sys
import textwrap
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from paritylab.cli.spelling import spelled
from paritylab.files import write_atomically
from paritylab.untrusted import printable

if TYPE_CHECKING:
    from rich.console import Console

#: Set by --quiet: results and errors only.
quiet = False
#: Seconds after which work that shows no progress says that it goes on, and between such lines.
FIRST_WORD, PAUSE = 1.0, 10.0
_COLOURS = {
    "holds": "green",
    "corrected": "yellow",
    "refuted": "red",
    "undecided": "dim",
    "failed": "bold red",
    "yes": "green",
    "no": "red",
}


def terminal(stream: Any) -> "Console":
    """rich's view of a stream: it knows terminals, their width, NO_COLOR and plain pipes."""
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False)


def say(message: str) -> None:
    """A remark on standard error, unless --quiet."""
    if not quiet:
        print(message, file=sys.stderr, flush=True)


def complain(message: str) -> None:
    """What went wrong, on standard error even with --quiet."""
    print(f"paritylab: {message}", file=sys.stderr, flush=True)


def _plain(text: str) -> str:
    """Text that standard output shows and does not obey, in letters that it has."""
    shown = printable(text.replace("\u00a0", " "))
    return spelled(shown, getattr(sys.stdout, "encoding", None))


def page_width() -> int:
    """Letters in a line of prose: as the terminal has, 80 where there is none, at most 100."""
    return min(terminal(sys.stdout).width, 100)


def paragraph(text: str, indent: str = "") -> None:
    """Text in lines that fit the terminal; words with hyphens stay whole."""
    edge: Any = {"initial_indent": indent, "subsequent_indent": indent}
    print(textwrap.fill(_plain(text), page_width(), break_on_hyphens=False, **edge))


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], fits: bool = False, whole: int = 1
) -> None:
    """A table of aligned text, coloured on a terminal.

    fits: as wide as a page of text; cells have several lines. Otherwise a row of a pipe is a line.
    whole: so many columns from the left are not broken, unless it fits.
    """
    from rich.table import Table
    from rich.text import Text

    console = terminal(sys.stdout)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index, name in enumerate(columns):
        table.add_column(name, no_wrap=not fits and index < whole, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_plain(cell), style=_COLOURS.get(cell, "")) for cell in row))
    console.width = page_width() if fits else console.width if console.is_terminal else 10_000
    with console.capture() as lines:
        console.print(table)
    print("\n".join(line.rstrip() for line in lines.get().splitlines()))


def write_json(target: str | None, data: Any) -> bool:
    """Write data where --json asked for it; returns whether stdout is left for people."""
    if target:
        text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        if target == "-":
            sys.stdout.write(text)
        else:
            write_atomically(Path(target), text)
    return target != "-"


def table_or_json(
    target: str | None, data: Any, columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> bool:
    """Write data as JSON where it was asked for, and the table unless JSON went to stdout."""
    for_people = write_json(target, data)
    if for_people:
        print_table(columns, rows)
    return for_people


class Progress:
    """How far work is: a bar with the time left on a terminal; elsewhere a line after a moment,
    then now and then. total: of what `advance` adds up. name: what is counted."""

    def __init__(self, total: float, name: str = "") -> None:
        from rich import progress

        self._total, self._name, self._done = total, name, 0.0
        self._ended = threading.Event()
        console = terminal(sys.stderr)
        self._moves = console.is_terminal and not console.no_color and not quiet
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not self._moves,
        )
        self._task = self._bar.add_task(self._counted(), total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        if not self._moves:
            threading.Thread(target=self._speak, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._bar.stop()

    def follow(self, text: str, weight: float = 0.0, share: float = 0.0) -> None:
        """Name what is being done, and how large a share of its weight is done."""
        self._bar.update(self._task, description=text, completed=self._done + share * weight)

    def advance(self, amount: float = 1.0, line: str = "") -> None:
        """So much more is done. line: a remark on it."""
        self._done += amount
        self.follow(self._counted())
        if line:
            (self._bar.console.print if self._moves else say)(line)

    def _counted(self) -> str:
        return f"{self._done:g} of {self._total:g} {self._name}" if self._name else ""

    def _speak(self) -> None:
        """Say now and then that work goes on, and how long it may take."""
        begin, pause = time.monotonic(), FIRST_WORD
        while not self._ended.wait(pause):
            worked, pause = time.monotonic() - begin, PAUSE
            done = f"{self._counted()} done, " if self._name else ""
            left = (self._total / self._done - 1) * worked if self._done else 0.0
            say(f"{done}at work for {worked:.0f} s" + (f", {left:.0f} s left" if left else ""))

"""What the terminal shows: colour and movement on a terminal, plain lines elsewhere."""

import json
import os
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from paritylab.files import check_target, write_atomically
from paritylab.untrusted import printable

#: Set by --quiet: results and errors only.
quiet = False
#: Seconds after which work that shows no progress says that it goes on, and between such lines.
FIRST_WORD, PAUSE = 1.0, 10.0
#: An empty Braille letter: a space at which no line is broken, until it is printed.
TIE = "\u2800"
EQUATION = f"{TIE}={TIE}"
#: Letters that the last column of a table is given at least.
ROOM = 18

_COLOURS = {
    "holds": "green",
    "corrected": "yellow",
    "refuted": "red",
    "undecided": "dim",
    "failed": "bold red",
    "yes": "green",
    "no": "red",
}


def write_everywhere() -> None:
    """Let output that cannot hold a letter show a question mark instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def is_lively(stream: Any = None) -> bool:
    """Whether a stream (standard error, if none is given) is a terminal that wants colour."""
    return (stream or sys.stderr).isatty() and "NO_COLOR" not in os.environ


def say(message: str) -> None:
    """A remark on standard error, unless --quiet."""
    if not quiet:
        print(message, file=sys.stderr, flush=True)


def complain(message: str) -> None:
    """What went wrong, on standard error even with --quiet."""
    print(f"paritylab: {message}", file=sys.stderr, flush=True)


def _plain(text: str) -> str:
    """Text that a terminal shows and does not obey."""
    return printable(text.replace("\u00a0", " "))


def page_width() -> int:
    """Letters in a line of prose: as the terminal has, 80 where there is none."""
    return min(shutil.get_terminal_size((80, 24)).columns, 100)


def paragraph(text: str, indent: str = "") -> None:
    """Text in lines that fit the terminal; words with hyphens and equations stay whole."""
    whole = _plain(text).replace(" = ", EQUATION)
    edge: Any = {"initial_indent": indent, "subsequent_indent": indent}
    lines = textwrap.fill(whole, page_width(), break_on_hyphens=False, **edge)
    print(lines.replace(TIE, " "))


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    spare: Iterable[str] = (),
    fits: bool = False,
) -> None:
    """A table: ruled and coloured on a terminal, aligned plain text elsewhere.

    spare: columns to leave out, one after the other, where a terminal is too narrow. fits: as wide
    as a page of text; cells have several lines. Otherwise a row is a line, which pipes want.
    """
    from rich.console import Console

    lively = is_lively(sys.stdout)
    width = page_width() if fits else None if lively else 10_000
    console = Console(file=sys.stdout, width=width, highlight=False)
    if fits:
        rows = [[cell.replace(" = ", EQUATION) for cell in row] for row in rows]
    table = make_table(columns, rows, console.width, spare, ruled=lively, whole=not fits)
    with console.capture() as lines:
        console.print(table)
    print("\n".join(line.rstrip() for line in lines.get().replace(TIE, " ").splitlines()))


def make_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    width: int,
    spare: Iterable[str] = (),
    ruled: bool = True,
    whole: bool = True,
) -> Any:
    """A rich table in which status words carry their colour. whole: the first column, too."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    body = [[_plain(cell) for cell in row] for row in rows]
    longest = [max(map(len, column)) for column in zip(columns, *body, strict=True)]
    longest[-1] = min(longest[-1], ROOM)
    kept = list(range(len(columns)))
    for name in spare:
        if 1 + sum(longest[index] + 3 for index in kept) > width:
            kept.remove(list(columns).index(name))
    look: Any = {"box": box.HEAVY_HEAD} if ruled else {"box": None, "padding": (0, 2, 0, 0)}
    table = Table(header_style="bold", pad_edge=ruled, **look)
    for index in kept:
        table.add_column(columns[index], no_wrap=whole and index == 0, overflow="fold")
    for cells in body:
        shown = (cells[index] for index in kept)
        table.add_row(*(Text(cell, style=_COLOURS.get(cell, "")) for cell in shown))
    return table


def check_json(target: str | None) -> None:
    """Refuse a --json that could not be written before work starts."""
    if target and target != "-":
        check_target(Path(target), "--json")


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


@contextmanager
def patience(what: str) -> Iterator[None]:
    """Say what goes on if the block takes longer than a moment."""
    timer = threading.Timer(FIRST_WORD, say, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Progress:
    """How far work is: a bar with the time left on a terminal; elsewhere a line after a moment,
    then now and then. total: of what `advance` adds up. name: what is counted."""

    def __init__(self, total: float, name: str = "") -> None:
        from rich import progress
        from rich.console import Console

        self._total, self._name, self._done = total, name, 0.0
        self._begin = self._spoken = time.monotonic()
        self._moves = is_lively() and not quiet
        self._ended = threading.Event()
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
            console=Console(file=sys.stderr),
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
        """So much more is done. line: a remark on it, instead of one on the time."""
        self._done += amount
        self.follow(self._counted())
        now = time.monotonic()
        if line:
            self._spoken = now
            self._bar.console.print(line, highlight=False, markup=False) if self._moves else say(
                line
            )
        elif not self._moves and now - self._spoken > PAUSE:
            self._spoken = now
            left = (self._total / self._done - 1) * (now - self._begin)
            say(f"{self._counted()} done, {left:.0f} s left")

    def _counted(self) -> str:
        return f"{self._done:g} of {self._total:g} {self._name}" if self._name else ""

    def _speak(self) -> None:
        """Say that work goes on where nothing else was said for a while."""
        pause = FIRST_WORD
        while not self._ended.wait(pause):
            now = time.monotonic()
            if now - self._spoken >= pause:
                self._spoken = now
                done = f"{self._counted()} done, " if self._name else ""
                say(f"{done}at work for {now - self._begin:.0f} s")
            pause = PAUSE

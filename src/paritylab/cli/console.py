"""What the terminal shows: colour and movement on a terminal, plain lines elsewhere."""

import json
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from paritylab._support.output_files import write_atomically
from paritylab._support.safe_io import printable
from paritylab.cli.spelling import spelled

if TYPE_CHECKING:
    import rich.progress
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
    cells = [[Text(_plain(cell), style=_COLOURS.get(cell, "")) for cell in row] for row in rows]
    for index, name in enumerate(columns):
        # Labels on the left break first; a number with its interval fits three tenths of a page.
        width = None
        if fits and index:
            longest = max((row[index].cell_len for row in cells), default=0)
            width = min(max(longest, len(name)), page_width() * 3 // 10)
        no_wrap = not fits and index < whole
        table.add_column(name, width=width, no_wrap=no_wrap, overflow="fold")
    for row in cells:
        table.add_row(*row)
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


class TimeLeft:
    """Seconds of work that are left, from its size and from how long its finished parts took.

    total: what all parts add up to: seconds on record, or a number of parts. jobs: parts that run
    side by side. Nothing is said before `SHARE` of the total is done: the first parts are the
    shortest, and their time is mostly that of starting.
    """

    SHARE = 0.1

    def __init__(self, total: float, jobs: int = 1) -> None:
        self.total, self.jobs = total, jobs
        self.finished = self.took = 0.0

    def finish(self, amount: float, seconds: float) -> None:
        """A part of this size took so long; one that took no time was not run, and says nothing."""
        if seconds > 0:
            self.finished, self.took = self.finished + amount, self.took + seconds
        else:
            self.total -= amount

    def after(self, elapsed: float) -> float | None:
        """Seconds left when so many have passed; None while nothing can be said.

        What is not finished is expected to differ from its size as the finished parts did.
        """
        if self.total <= 0 or self.finished < self.SHARE * self.total:
            return None
        left = self.total * self.took / self.finished / self.jobs - elapsed
        return left if left > 0 else None


def _bar(console: "Console", left: Callable[[], str]) -> "rich.progress.Progress":
    """A bar with what is done, the time that has passed and, in words, the time left."""
    from rich import progress
    from rich.text import Text

    class LeftColumn(progress.ProgressColumn):
        def render(self, task: progress.Task) -> Text:
            return Text(left())

    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.TimeElapsedColumn(),
        LeftColumn(),
        console=console,
        transient=True,
    )


class Progress:
    """How far work is: a bar with the time left on a terminal; elsewhere a line after a moment,
    then now and then. total: of what `advance` adds up. name: what is counted. jobs: how many parts
    run side by side. clock: seconds that pass."""

    def __init__(
        self,
        total: float,
        name: str = "",
        jobs: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._name, self._done, self._clock = total, name, 0.0, clock
        self._begun, self._time_left = clock(), TimeLeft(total, jobs)
        self._ended = threading.Event()
        console = terminal(sys.stderr)
        moves = console.is_terminal and not console.no_color and not quiet
        self._bar = _bar(console, self._left) if moves else None
        if self._bar is not None:
            self._bar.add_task(self._counted(), total=total)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        else:
            threading.Thread(target=self._speak, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        if self._bar is not None:
            self._bar.stop()

    def follow(self, text: str, weight: float = 0.0, share: float = 0.0) -> None:
        """Name what is being done, and how large a share of its weight is done."""
        if self._bar is not None:
            (task,) = self._bar.task_ids
            self._bar.update(task, description=text, completed=self._done + share * weight)

    def advance(self, amount: float = 1.0, line: str = "", seconds: float | None = None) -> None:
        """So much more is done. line: a remark on it. seconds: how long it took, 0 if it was found
        done; the time that has passed since the last part if absent."""
        if seconds is None:
            jobs, passed = self._time_left.jobs, self._clock() - self._begun
            seconds = max(jobs * passed - self._time_left.took, 0.0)
        self._done += amount
        self._time_left.finish(amount, seconds)
        self.follow(self._counted())
        if line and self._bar is not None:
            self._bar.console.print(line)
        elif line:
            say(line)

    def _counted(self) -> str:
        return f"{self._done:g} of {self._total:g} {self._name}" if self._name else ""

    def _left(self) -> str:
        left = self._time_left.after(self._clock() - self._begun)
        return "" if left is None else f"{left:.0f} s left"

    def status(self) -> str:
        """How much is done, for how long, and how much time is left."""
        done = f"{self._counted()} done, " if self._name else ""
        left = f", {self._left()}" if self._left() else ""
        return f"{done}at work for {self._clock() - self._begun:.0f} s{left}"

    def _speak(self) -> None:
        """Say now and then that work goes on, and how long it may take."""
        pause = FIRST_WORD
        while not self._ended.wait(pause):
            pause = PAUSE
            say(self.status())

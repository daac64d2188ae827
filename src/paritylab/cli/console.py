"""What the terminal shows: colour and movement on a terminal, plain lines elsewhere."""

import codecs
import os
import sys
import threading
import time
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from paritylab.untrusted import printable

#: Set by --quiet: results and errors only.
quiet = False

#: Seconds after which work that shows no progress says that it goes on.
FIRST_WORD = 1.0

#: Letters that the last column of a table is given at least.
ROOM = 18

_COLOURS = {
    "holds": "green",
    "corrected": "yellow",
    "refuted": "red",
    "undecided": "dim",
    "failed": "bold red",
}


#: What stands for letters that an old terminal lacks; others lose their accents or become "?".
_LETTERS = (
    "–:- —:- −:- ⁻:- …:... ·:* ×:x ±:+- →:-> ←:<- ≥:>= ≤:<= ≠:!= ≈:~ √:sqrt Σ:sum Π:prod ∞:inf "
    "‖:|| ∈:in ∉:notin ∂:d ∇:grad ½:1/2 °:deg ⌈:ceil( ⌉:) ⌊:floor( ⌋:) Ł:L ł:l “:' ”:' ’:' "
    "≡:== ∘:o "
    "α:alpha β:beta γ:gamma δ:delta ε:eps η:eta θ:theta κ:kappa λ:lambda μ:mu ν:nu ξ:xi π:pi "
    "ρ:rho σ:sigma τ:tau φ:phi χ:chi ω:omega Δ:Delta Θ:Theta Φ:Phi Ω:Omega"
)
_PLAIN = dict(pair.split(":") for pair in _LETTERS.split())


def write_everywhere() -> None:
    """Let output that cannot hold a letter get the nearest plain one instead of an error."""
    codecs.register_error("paritylab-plain", _plainly)
    for stream in (sys.stdout, sys.stderr):
        encoding = getattr(stream, "encoding", None) or "utf-8"
        if not encoding.lower().startswith("utf"):
            stream.reconfigure(errors="paritylab-plain")  # type: ignore[union-attr]


def _plainly(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(plain_letter, error.object[error.start : error.end])), error.end


def plain_letter(letter: str) -> str:
    """ASCII for a letter.

    >>> "".join(map(plain_letter, "ŷ ≥ a₁²"))
    'y >= a12'
    """
    if letter in _PLAIN:
        return _PLAIN[letter]
    bare = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return bare or ("" if unicodedata.combining(letter) else "?")


def is_lively() -> bool:
    """Whether progress may move: standard error is a terminal and colour is not refused."""
    return sys.stderr.isatty() and "NO_COLOR" not in os.environ and not quiet


def say(message: str) -> None:
    """A remark on standard error, unless --quiet."""
    if not quiet:
        print(message, file=sys.stderr, flush=True)


def complain(message: str) -> None:
    """What went wrong, on standard error even with --quiet."""
    print(f"paritylab: {message}", file=sys.stderr, flush=True)


def say_plainly(message: str) -> None:
    """A remark for logs and pipes, where no progress display moves."""
    if not is_lively():
        say(message)


def print_table(
    columns: Iterable[str], rows: Iterable[Iterable[str]], spare: Iterable[str] = ()
) -> None:
    """A table: ruled and coloured on a terminal, aligned plain text elsewhere.

    spare: columns to leave out, one after the other, where a terminal is too narrow.
    """
    header, body = list(columns), [[printable(cell) for cell in row] for row in rows]
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        from rich.console import Console

        console = Console(file=sys.stdout)
        console.print(make_table(header, body, console.width, spare))
        return
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]
    for cells in [header, *body]:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        print("  ".join(padded).rstrip())


def make_table(
    columns: list[str], rows: list[list[str]], width: int, spare: Iterable[str] = ()
) -> Any:
    """A rich table in which status words carry their colour and the first column stays whole."""
    from rich.table import Table
    from rich.text import Text

    kept = _fitting(columns, rows, width, spare)
    table = Table(header_style="bold", expand=False)
    for index in kept:
        table.add_column(columns[index], no_wrap=index == 0, overflow="fold")
    for cells in rows:
        chosen = [cells[index] for index in kept]
        table.add_row(*(Text(cell, style=_COLOURS.get(cell, "")) for cell in chosen))
    return table


def _fitting(
    columns: list[str], rows: list[list[str]], width: int, spare: Iterable[str]
) -> list[int]:
    """The columns that fit, each three wider than its longest cell, the last one at least ROOM."""
    longest = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    longest[-1] = min(longest[-1], ROOM)
    kept = list(range(len(columns)))
    for name in spare:
        if 1 + sum(longest[index] + 3 for index in kept) > width:
            kept.remove(columns.index(name))
    return kept


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


class _Display:
    """A progress bar redrawn in place; nothing at all where progress may not move."""

    def __init__(self, total: float) -> None:
        self.moves = is_lively()
        if not self.moves:
            return
        from rich import progress
        from rich.console import Console
        from rich.live import Live

        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
        )
        self._bar.add_task("", total=total)
        console = Console(file=sys.stderr)
        self.width = console.width
        self._live = Live(console=console, refresh_per_second=8)

    def __enter__(self) -> Self:
        if self.moves:
            self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.moves:
            self._live.update("", refresh=True)
            self._live.stop()

    def show(self, completed: float, above: list[Any], **changes: Any) -> None:
        """Redraw the bar at `completed`, below whatever stands above it."""
        if self.moves:
            from rich.console import Group

            self._bar.update(self._bar.task_ids[0], completed=completed, **changes)
            self._live.update(Group(*above, self._bar))


class Progress(_Display):
    """Progress of a list of weighted tasks with the time left, and the rows finished so far."""

    def __init__(self, total: float, columns: list[str], spare: Iterable[str] = ()) -> None:
        _Display.__init__(self, total)
        self._columns, self._spare, self._done, self._weight = columns, spare, 0.0, 0.0
        self._rows: list[list[str]] = []

    def start(self, name: str, weight: float) -> None:
        """A task begins that is expected to take `weight` of the total."""
        self._weight = weight
        self._draw(0.0, description=name)

    def advance(self, fraction: float) -> None:
        """The current task is this far."""
        self._draw(fraction * self._weight)

    def finish(self, row: list[str], weight: float) -> None:
        """A task is done; `row` is what to show for it."""
        self._done += weight
        self._rows.append(row)
        self._draw(0.0)

    def _draw(self, extra: float, **changes: Any) -> None:
        if self.moves:
            above = []
            if self._rows:
                above.append(make_table(self._columns, self._rows, self.width, self._spare))
            self.show(self._done + extra, above, **changes)


class Counter(_Display):
    """Things done out of a total, with rate and time left; off a terminal, a line now and then."""

    def __init__(self, name: str, total: int) -> None:
        _Display.__init__(self, total)
        self._name, self._total, self._count = name, total, 0
        self._begin = self._spoken = time.monotonic()
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        _Display.__enter__(self)
        self.show(0, [], description=f"0 of {self._total} {self._name}")
        if not self.moves:
            threading.Thread(target=self._speak, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        _Display.__exit__(self, *exception)

    def _speak(self) -> None:
        """Say that work goes on: after a moment, then every ten seconds without another word."""
        pause = FIRST_WORD
        while not self._ended.wait(pause):
            now = time.monotonic()
            if now - self._spoken >= pause:
                self._spoken = now
                done = f"{self._count} of {self._total} {self._name}"
                say(f"{done} done, at work for {now - self._begin:.0f} s")
            pause = 10.0

    def advance(self) -> None:
        """One more is done."""
        self._count += 1
        now = time.monotonic()
        speed = self._count / max(now - self._begin, 1e-9)
        text = f"{self._count} of {self._total} {self._name}, {speed:.1f}/s"
        self.show(self._count, [], description=text)
        if not self.moves and now - self._spoken > 10:
            self._spoken = now
            say(f"{text}, {(self._total - self._count) / speed:.0f} s left")

"""What the terminal shows besides results: remarks and progress, on standard error."""

import sys
import time

#: Set by --quiet: results and errors only.
quiet = False
#: Seconds between remarks where no line can be redrawn, and between redrawn ones.
_SELDOM, _OFTEN = 10.0, 0.1


def write_everywhere() -> None:
    """Let output that cannot hold a letter show a question mark instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def say(message: str) -> None:
    """A remark, unless --quiet."""
    if not quiet:
        print(message, file=sys.stderr, flush=True)


def complain(message: str) -> None:
    """What went wrong, also with --quiet."""
    print(f"xorfind: {message}", file=sys.stderr, flush=True)


class Progress:
    """How far a search is, with the time left: one line redrawn on a terminal, else one now and
    then. Called with the share that is done and a text. budget: seconds it may take."""

    def __init__(self, budget: float) -> None:
        self._budget, self._begin = budget, time.monotonic()
        self._moves = sys.stderr.isatty() and not quiet
        self._spoken, self._drawn = self._begin, False

    def __call__(self, share: float, text: str) -> None:
        now = time.monotonic()
        if now - self._spoken < (_OFTEN if self._moves else _SELDOM):
            return
        self._spoken, passed = now, now - self._begin
        left = max(self._budget - passed, 0.0)
        if share > 0:
            left = min(left, passed * (1 / share - 1))
        line = f"{text}: {100 * share:.0f} %"
        line += f", at most {left:.0f} s left" if left >= 1 else ""
        if self._moves:
            print(f"\r\033[K{line[:78]}", end="", file=sys.stderr, flush=True)
            self._drawn = True
        else:
            say(line)

    def end(self) -> None:
        """Clear the line."""
        if self._drawn:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

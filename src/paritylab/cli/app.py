"""The command line's frame: global flags, one-line errors, exit codes."""

import atexit
import os
import re
import signal
import sys
import traceback
from contextlib import suppress
from typing import NoReturn

import typer

from paritylab import __version__
from paritylab._support.safe_io import printable
from paritylab.cli import check, claims, console, info, live, prove, spelling, sweep, train

#: Exit codes: 1 a verdict differs from the recorded one, 2 bad usage or bad input, 4 an internal
#: error or a failed claim, 130 interrupted with finished work saved.
BAD_INPUT, INTERNAL, INTERRUPTED = 2, 4, 130
#: Letters of a word from which on a message shows its beginning only; paths are shorter.
LONGEST_WORD = 180

app = typer.Typer(
    name="paritylab",
    help="A laboratory that runs the theory of how attention learns parity.",
    epilog="Example: paritylab check --effort quick --report report. "
    "--quiet and --debug work with every command.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"paritylab {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", help="Show the version and exit.", callback=_show_version, is_eager=True
    ),
    quiet: bool = typer.Option(False, "--quiet", help="Print results and errors only."),
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
) -> None:
    """A laboratory that runs the theory of how attention learns parity."""


for module in (claims, check, prove, live, sweep, train, info):
    module.add_to(app)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with a code of the contract: 0, 1, 2, 4 or 130."""
    if "_PARITYLAB_COMPLETE" in os.environ:
        typer.completion.completion_init()  # type: ignore[attr-defined]
    is_process = arguments is None
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    console.quiet = _take_flag(arguments, "--quiet")
    debug = _take_flag(arguments, "--debug")
    for stream in (sys.stdout, sys.stderr):
        spelling.use_for(stream)
    try:
        code = app(args=arguments, prog_name="paritylab", standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except (BrokenPipeError, SystemExit) as ending:
        # typer turns a closed pipe into a SystemExit of its own; any other is somebody's code.
        if "_PARITYLAB_COMPLETE" in os.environ:
            raise
        if isinstance(ending, SystemExit) and not isinstance(ending.__context__, OSError):
            _fail(f"code that was run ended with SystemExit({ending.code!r})", INTERNAL)
        # Whoever read our output has seen enough; Python's flush at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 0
    except Exception as error:
        if debug:
            traceback.print_exc()
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error, file=sys.stderr)
            sys.exit(BAD_INPUT)
        _fail(_one_line(error, arguments), BAD_INPUT if _is_bad_input(error) else INTERNAL)
    if code == INTERRUPTED:
        if is_process:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # an impatient user
            atexit.register(_leave, code)
        _fail("interrupted; finished work is saved, run the same command again to go on", code)
    sys.exit(code if isinstance(code, int) else 0)


def _leave(code: int) -> None:
    """At once: jax would wait at exit for what it still computes, or break on it."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _take_flag(arguments: list[str], flag: str) -> bool:
    """Remove a global flag from wherever it stands before a bare `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if flag not in arguments[:end]:
        return False
    arguments.remove(flag)
    return True


def _is_bad_input(error: Exception) -> bool:
    return isinstance(error, ValueError | OSError) or hasattr(error, "format_message")


def _one_line(error: Exception, arguments: list[str]) -> str:
    if hasattr(error, "format_message"):
        typed = " ".join(["paritylab", *arguments])
        reason = " ".join(error.format_message().split())
        return printable(f"{reason} Got: {typed} (--help explains)")
    text = " ".join(printable(str(error)).split()) or type(error).__name__
    if _is_bad_input(error):
        return text
    return f"unexpected {type(error).__name__}: {text} (use --debug for the traceback)"


def _fail(message: str, code: int) -> NoReturn:
    """One line; of a word too long to read, such as an argument of 400 digits, the beginning."""
    short = re.sub(rf"\S{{{LONGEST_WORD},}}", lambda word: f"{word[0][:60]}…", message)
    print(f"paritylab: {short}", file=sys.stderr)
    sys.exit(code)

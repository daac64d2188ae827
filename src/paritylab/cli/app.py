"""The command line's frame: global flags, one-line errors, exit codes."""

import sys
import traceback

import typer

from paritylab import __version__
from paritylab.cli import check, console, sweep, train

#: Exit codes: 1 a verdict differs from the expected one, 2 bad usage or bad input,
#: 130 interrupted with finished work saved.
BAD_INPUT, INTERRUPTED = 2, 130

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


check.add_to(app)
sweep.add_to(app)
train.add_to(app)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with the code of contract: 0, 1, 2, 3 or 130."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    console.quiet = _take_flag(arguments, "--quiet")
    debug = _take_flag(arguments, "--debug")
    try:
        code = app(args=arguments, prog_name="paritylab", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        if debug:
            traceback.print_exc()
        _fail(_one_line(error, arguments), BAD_INPUT if _is_bad_input(error) else 1)
    if code == INTERRUPTED:
        _fail("interrupted; finished work is saved, run the same command again to go on", code)
    sys.exit(code if isinstance(code, int) else 0)


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
        return f"{' '.join(error.format_message().split())} Got: {typed} (--help explains)"
    text = " ".join(str(error).split()) or type(error).__name__
    if _is_bad_input(error):
        return text
    return f"unexpected {type(error).__name__}: {text} (use --debug for the traceback)"


def _fail(message: str, code: int) -> None:
    print(f"paritylab: {message}", file=sys.stderr)
    sys.exit(code)

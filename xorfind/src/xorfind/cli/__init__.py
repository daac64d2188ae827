"""The command line's frame: words and options, one-line errors, exit codes.

Exit codes: 0 found, 2 bad usage or bad input, 3 no parity explains a target (or not every bit of a
field), 4 an error of the program itself, 130 interrupted. Nothing heavy is imported before a
command runs, so that `--help` answers at once.
"""

import argparse
import os
import sys
import traceback
from typing import Any, NoReturn

from xorfind import __version__
from xorfind.cli import console

FOUND, BAD_INPUT, NOTHING_FOUND, INTERNAL, INTERRUPTED = 0, 2, 3, 4, 130


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, as all others are."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message} ({self.prog} --help explains)")


def _parser() -> _Parser:
    parser = _Parser(
        prog="xorfind",
        description="A hidden XOR in a table, in frames or in addresses; or an honest no.",
        epilog="--quiet (only results and errors) and --debug (tracebacks) work everywhere.",
    )
    parser.add_argument("--version", action="version", version=f"xorfind {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_table(commands)
    _add_bits(commands)
    _add_apply(commands)
    return parser


def _add_table(commands: "argparse._SubParsersAction[_Parser]") -> None:
    made = commands.add_parser(
        "table",
        help="a small set of columns whose parity gives a target",
        description="Find a small set of columns whose parity gives a target, or say that none is "
        "supported. Exit code 0: a parity explains every target; 3: one has none at this "
        "confidence, or a parity is only part of the story, or the budget ended first.",
        epilog="Example: xorfind table people.csv --target renews --threshold age=54",
    )
    add = made.add_argument
    add("file", metavar="FILE", help="CSV or TSV (also gzipped), Parquet, Excel; - reads stdin")
    add("--target", metavar="COLUMN", action="append", required=True, help="what to explain")
    add("--k", type=int, help="number of columns in the parity")
    add("--alpha", type=float, default=0.01, help="chance of naming a parity where none is (0.01)")
    add("--budget", metavar="SECONDS", type=float, help="time for the search (30)")
    add(
        "--bits",
        metavar="COLUMN[:HI-LO]",
        action="append",
        default=[],
        help="whole numbers, bit by bit",
    )
    add(
        "--threshold",
        metavar="[COLUMN=]V",
        action="append",
        help="numbers above V are true; their median if absent",
    )
    add("--missing", choices=("refuse", "drop"), default="refuse", help="rows with missing cells")
    add("--group", metavar="COLUMN", help="rows with one value here depend on each other")
    add(
        "--rows",
        choices=("check", "independent"),
        default="check",
        help="look whether rows depend on each other, or take all of them",
    )
    add("--json", metavar="FILE|-", help="write everything as JSON; - for standard output")
    add("--save", metavar="RULE", help="write the rule for xorfind apply")


def _add_bits(commands: "argparse._SubParsersAction[_Parser]") -> None:
    made = commands.add_parser(
        "bits",
        help="every bit of a field as an XOR of others",
        description="Explain every bit of a field as an XOR of others, name it, and say what to "
        "measure next. Exit code 0: all of it is explained; 3: not all.",
        epilog="Example: xorfind bits frames.txt --target 'frame[-1]' --emit c",
    )
    add = made.add_argument
    add("file", metavar="FILE", help="hex frames, one per line, or a table; - for standard input")
    add_one = made.add_mutually_exclusive_group(required=True).add_argument
    add_one("--target", metavar="SLICE", action="append", default=[], help="field to explain")
    add_one("--same", metavar="COLUMN", help="or: rows with one value here share a bank")
    add_one("--slow", metavar="COLUMN", help="or: timings of pairs; slow pairs share a bank")
    several: dict[str, Any] = {"action": "append", "default": []}
    add("--bits", metavar="SLICE", help="what may explain it; all if absent", **several)
    add("--ignore", metavar="SLICE", help="what may not explain it", **several)
    add("--hex", metavar="COLUMN", help="digits are hexadecimal", **several)
    add("--threshold", type=float, help="slower is slow; from the histogram if absent")
    add("--budget", metavar="SECONDS", type=float, default=30.0, help="time under noise (30)")
    add("--emit", choices=("c", "python"), help="print code that computes it")
    add("--save", metavar="MATRIX", help="write the matrix for xorfind apply")
    add("--json", metavar="FILE|-", help="write everything as JSON; - for standard output")


def _add_apply(commands: "argparse._SubParsersAction[_Parser]") -> None:
    made = commands.add_parser(
        "apply",
        help="a saved rule or matrix on new rows",
        description="Write the rows with a column `predicted`, and say how often it is right if "
        "that is known.",
        epilog="Example: xorfind apply rule.json new.csv --out predicted.csv",
    )
    made.add_argument("rule", metavar="RULE", help="from --save of table or bits")
    made.add_argument("file", metavar="FILE", help="new rows; - for standard input")
    made.add_argument(
        "--out", metavar="FILE", help="CSV or TSV to write; standard output if absent"
    )


def _run(arguments: list[str]) -> int:
    asked = _parser().parse_args(arguments)
    if asked.command == "table":
        from xorfind.cli.table import run
    elif asked.command == "bits":
        from xorfind.cli.bits import run
    else:
        from xorfind.cli.apply import run
    return run(asked)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    console.quiet = _take_flag(arguments, "--quiet")
    debug = _take_flag(arguments, "--debug")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a letter that it cannot hold becomes a question mark
            stream.reconfigure(errors="replace")
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        console.complain("interrupted; nothing was written")
        code = INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python's flush at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = FOUND
    except Exception as error:
        if debug:
            traceback.print_exc()
        bad_input = isinstance(error, ValueError | OSError)
        console.complain(_one_line(error, bad_input))
        code = BAD_INPUT if bad_input else INTERNAL
    sys.exit(code)


def _one_line(error: Exception, bad_input: bool) -> str:
    from xorfind.untrusted import printable

    text = " ".join(printable(str(error)).split()) or type(error).__name__
    if bad_input:
        return text
    return f"unexpected {type(error).__name__}: {text} (use --debug for the traceback)"


def _take_flag(arguments: list[str], flag: str) -> bool:
    """Remove a flag that works with every command from wherever it stands."""
    if flag not in arguments:
        return False
    arguments.remove(flag)
    return True

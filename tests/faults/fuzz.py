"""Random and nearly right input: one line and an exit code for each, no traceback.

Input that is known to be wrong is in the tables of tests/cli/test_bad_input.py.
"""

import contextlib
import io
import json
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import typer
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from tests.faults.drivers import Tally, new_folder

from paritylab.cli.app import app, main
from paritylab.cli.train import learner_commands

CODES = {0, 1, 2, 130}
SECONDS = 20
VALUES = [
    *("0", "-1", "1", "2", "12", "1e400", "nan", "inf", "0.5", "1/n", "n/0", "x", "", "-", "."),
    *("no.db", "rows.json", "grid.toml", "local", "dask", "quick", "hg1", "tcp://", "é\u2028"),
]
#: Options that open a browser or write into the package.
LEFT_OUT = {"--open", "--record"}
GRID = 'learner = "xor"\nruns = 4\nblock = 2\n[problem]\nn = [16]\n[settings]\nwidth = [20]\n'
ROWS = Path(__file__).resolve().parents[2] / "docs" / "rows.json"


class Accepted(BaseException):
    """Raised in place of long work: the input was taken."""


def _commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command by its words, with its options: name and whether it takes a value."""
    for name, each in getattr(command, "commands", {}).items():
        yield from _commands(each, (*words, name))
    if not hasattr(command, "commands"):
        options = {each.opts[0]: not getattr(each, "is_flag", False) for each in command.params}
        kept = options.keys() - LEFT_OUT
        yield words, {name: options[name] for name in sorted(kept) if name.startswith("--")}


@st.composite
def _lines(draw: st.DrawFn, commands: dict[tuple[str, ...], dict[str, bool]]) -> list[str]:
    words = draw(st.sampled_from(sorted(commands)))
    line, options = [*words], commands[words]
    value = st.one_of(st.sampled_from(VALUES), st.text(max_size=8).filter(lambda t: "\0" not in t))
    if options:
        for option in draw(st.lists(st.sampled_from([*options]), max_size=3, unique=True)):
            line += [option, draw(value)] if options[option] else [option]
    line += draw(st.lists(value, max_size=2))
    line += ["--dry-run"] if words == ("sweep", "run") else []
    return line + draw(st.lists(st.sampled_from(["--quiet", "--debug"]), max_size=1))


@st.composite
def _scrambled(draw: st.DrawFn, text: str) -> str:
    """A few letters cut, doubled or replaced."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 6)))
        middle = draw(st.one_of(st.just(""), st.just(text[start:end] * 2), st.text(max_size=3)))
        text = text[:start] + middle + text[end:]
    return text


@st.composite
def _rows(draw: st.DrawFn, whole: str) -> str:
    """A row with junk in place of one of its values."""
    (row,) = json.loads(whole)
    junk = st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=5), st.just([]))
    row[draw(st.sampled_from(sorted(row)))] = draw(st.one_of(junk, st.just({"x": [1, "y"]})))
    return json.dumps([row])


def command_lines(count: int, parent: Path) -> Tally:
    """Whole command lines in this process; long work is taken for done."""
    tally = Tally("fuzzed command lines")
    commands = dict(_commands(typer.main.get_command(app)))
    for name, command in learner_commands().items():
        commands |= _commands(command, ("train", name))
    with _place(parent), _no_long_work():
        _each(count, _lines(commands), lambda line: _judge(line, tally))
    return tally


def files(count: int, parent: Path) -> Tally:
    """Files of sweeps, looked at, and of verdict rows, made into a page."""
    tally = Tally("fuzzed files")
    lines = {
        "grid.toml": ["sweep", "run", "grid.toml", "--dry-run"],
        "rows.json": ["report", "--from", "rows.json", "--out", "page"],
    }

    def one(case: tuple[str, str]) -> None:
        name, text = case
        Path(name).write_bytes(text.encode("utf-8", "surrogatepass"))
        _judge(lines[name], tally, text)

    with _place(parent):
        row = Path("rows.json").read_text()
        sweeps, rows = _scrambled(GRID), st.one_of(_scrambled(row), _rows(row))
        files = (st.tuples(st.just("grid.toml"), sweeps), st.tuples(st.just("rows.json"), rows))
        _each(count, st.one_of(*files), one)
    return tally


def _each(count: int, cases: st.SearchStrategy[Any], one: Callable[[Any], None]) -> None:
    usual: dict[str, Any] = {"deadline": None, "database": None, "derandomize": True}
    usual |= {"phases": [Phase.generate], "suppress_health_check": list(HealthCheck)}
    settings(max_examples=count, **usual)(given(cases)(one))()


def _judge(line: list[str], tally: Tally, text: str = "") -> None:
    """Run a command line here; count it if it is ugly, hangs, or ends with an unknown code."""
    tally.attempts += 1
    code, err = _run(line)
    if code not in CODES or ("Traceback" in err and "--debug" not in line):
        tally.harm["hangs" if code == "TimeoutError" else "tracebacks and codes"] += 1
        if tally.harm.total() <= 6:
            last = " ".join(err.strip().splitlines()[-1:])
            tally.notes[f"{line} {text!r}"[:160] + f" → {code}: {last[:160]}"] += 1


def _run(arguments: list[str]) -> tuple[int | str, str]:
    """The exit code, or the name of what was raised instead, and the errors said."""
    err = io.StringIO()
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
            main(arguments)
    except SystemExit as stopped:
        return (stopped.code if isinstance(stopped.code, int) else 0), err.getvalue()
    except Accepted:
        pass
    except BaseException as error:
        return type(error).__name__, f"{err.getvalue()}\n{error}"
    finally:
        signal.alarm(0)
    return 0, err.getvalue()


def _late(number: int, frame: object) -> None:
    raise TimeoutError(f"no end after {SECONDS} s")


@contextlib.contextmanager
def _place(parent: Path) -> Iterator[None]:
    """A working folder of its own with a few files that command lines may name."""
    folder = new_folder(parent)
    smallest = min(json.loads(ROWS.read_text()), key=lambda row: len(json.dumps(row)))
    (folder / "rows.json").write_text(json.dumps([smallest]))
    (folder / "grid.toml").write_text(GRID)
    with contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _no_long_work() -> Iterator[None]:
    """Training, checking, proving and drawing count as done once they would begin."""
    places = ("sweep.runner.kept_runs", "sweep.runner.run_sweep", "claims.check")
    places += ("report.write_report", "proofs.verify")
    with contextlib.ExitStack() as stack:
        for place in places:
            stack.enter_context(mock.patch(f"paritylab.{place}", side_effect=Accepted))
        yield

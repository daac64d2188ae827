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

from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from tests.faults.drivers import Tally, new_folder

CODES = {0, 1, 2, 3, 130}
SECONDS = 20
ROOT = Path(__file__).resolve().parents[2]


class Accepted(BaseException):
    """Raised in place of long work: the input was taken."""


_COMMANDS = {
    "train heads": ["--n", "--k", "--noise", "--samples", "--steps", "--eta", "--tau", "--heads"],
    "train xor": ["--n", "--width", "--eta", "--samples", "--gain", "--positions"],
    "train chain": ["--n", "--k", "--samples", "--mode"],
    "train layers": ["--n", "--k", "--samples", "--gates", "--schedule"],
    "sweep run": ["--store", "--effort", "--engine", "--cluster", "--file"],
    "sweep status": ["--store"],
    "sweep export": ["--store", "--csv", "--parquet"],
    "sweep plot": ["--store", "--out", "--effort"],
    "check": ["--paper", "--effort", "--seed", "--jobs", "--store", "--json", "--file"],
    "report": ["--from", "--out"],
    "claims": ["--json"],
    "claims new": ["--json"],
    "prove": ["--file", "--json"],
    "live": ["--from", "--out", "--run"],
    "info": ["--json"],
}
VALUES = [
    *("0", "-1", "1", "2", "12", "1e400", "nan", "inf", "0.5", "1/n", "n/0", "x", "", "-", "."),
    *("no.db", "rows.json", "grid.toml", "local", "dask", "quick", "hg1", "tcp://", "é\u2028"),
]


@st.composite
def _lines(draw: st.DrawFn) -> list[str]:
    command = draw(st.sampled_from(sorted(_COMMANDS)))
    words = command.split()
    value = st.one_of(st.sampled_from(VALUES), st.text(max_size=8).filter(lambda t: "\0" not in t))
    for option in draw(st.lists(st.sampled_from(_COMMANDS[command]), max_size=3, unique=True)):
        words += [option, draw(value)]
    words += draw(st.lists(value, max_size=2))
    if command == "sweep run":
        words.append("--dry-run")
    return words + draw(st.lists(st.sampled_from(["--quiet", "--debug"]), max_size=1))


GRID = """learner = "xor"
runs = 4
block = 2
[problem]
n = [16]
[settings]
width = [20]
"""


@st.composite
def _scrambled(draw: st.DrawFn, text: str) -> str:
    """A few letters cut, doubled or replaced."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 6)))
        middle = draw(st.one_of(st.just(""), st.just(text[start:end] * 2), st.text(max_size=3)))
        text = text[:start] + middle + text[end:]
    return text


def command_lines(count: int, parent: Path) -> Tally:
    """Whole command lines in this process; long work is taken for done."""
    tally = Tally("fuzzed command lines")
    with place(parent), _no_long_work():
        _each(count, _lines(), lambda line: judge(line, tally))
    return tally


def files(count: int, parent: Path) -> Tally:
    """Files of sweeps and of verdict rows with a few letters changed."""
    tally, lines = (
        Tally("fuzzed files"),
        {
            "grid.toml": ["sweep", "run", "grid.toml", "--dry-run"],
            "rows.json": ["report", "--from", "rows.json", "--out", "page"],
        },
    )

    def one(case: tuple[str, str]) -> None:
        name, text = case
        Path(name).write_bytes(text.encode("utf-8", "surrogatepass"))
        judge(lines[name], tally, text)

    with place(parent), _no_long_work():
        scrambled = {"grid.toml": _scrambled(GRID), "rows.json": _scrambled(_one_row())}
        cases = [st.tuples(st.just(name), text) for name, text in scrambled.items()]
        _each(count, st.one_of(cases), one)
    return tally


def _each(count: int, cases: st.SearchStrategy[Any], one: Callable[[Any], None]) -> None:
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def run(case: Any) -> None:
        one(case)

    run()


def judge(line: list[str], tally: Tally, text: str = "") -> None:
    """Run a command line here; count it if it is ugly, hangs, or ends with an unknown code."""
    tally.attempts += 1
    code, err = _run(line)
    ugly = "Traceback" in err and "--debug" not in line
    if ugly or code not in CODES:
        harm = "hangs" if str(code).startswith("TimeoutError") else "tracebacks or codes"
        tally.harm[harm] += 1
        if tally.harm.total() <= 6:
            said = " ".join(err.strip().splitlines()[-1:])
            tally.notes[f"{' '.join(line)!r} {text!r}"[:160] + f" → {code}: {said[:160]}"] += 1


def _run(arguments: list[str]) -> tuple[int | str, str]:
    from paritylab.cli import main

    out, err = io.StringIO(), io.StringIO()
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(arguments)
    except SystemExit as stopped:
        return (stopped.code if isinstance(stopped.code, int) else 0), err.getvalue()
    except Accepted:
        return 0, err.getvalue()
    except BaseException as error:
        return f"{type(error).__name__}: {error}", err.getvalue()
    finally:
        signal.alarm(0)
    return 0, err.getvalue()


def _late(number: int, frame: object) -> None:
    raise TimeoutError(f"no end after {SECONDS} s")


@contextlib.contextmanager
def place(parent: Path) -> Iterator[Path]:
    """A working folder of its own with a few files that command lines may name."""
    folder = new_folder(parent)
    (folder / "rows.json").write_text(_one_row())
    (folder / "grid.toml").write_text(GRID)
    with contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield folder


def _one_row() -> str:
    rows = json.loads((ROOT / "docs" / "rows.json").read_text())
    return json.dumps([min(rows, key=lambda row: len(json.dumps(row)))])


@contextlib.contextmanager
def _no_long_work() -> Iterator[None]:
    """Training, checking, searching and drawing count as done once they would begin."""
    places = [
        "paritylab.sweep.runner.kept_runs",
        "paritylab.sweep.runner.run_sweep",
        "paritylab.claims.check",
        "paritylab.report.write_report",
        "paritylab.proofs.verify",
    ]
    with contextlib.ExitStack() as stack:
        for place in places:
            stack.enter_context(mock.patch(place, side_effect=Accepted))
        yield

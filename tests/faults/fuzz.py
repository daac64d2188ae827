"""Damaged and hostile files: one line and an exit code for each, no traceback.

Files and options that are known to be wrong are in the tables of tests/cli/test_bad_input.py.
"""

import contextlib
import io
import json
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from tests.faults.drivers import Tally, new_folder

from paritylab.cli.app import main

CODES = {0, 1, 2}
SECONDS = 20
GRID = 'learner = "xor"\nruns = 4\nblock = 2\n[problem]\nn = [16]\n[settings]\nwidth = [20]\n'
ROWS = Path(__file__).resolve().parents[2] / "docs" / "rows.json"


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
    if code not in CODES or "Traceback" in err:
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
    except BaseException as error:
        return type(error).__name__, f"{err.getvalue()}\n{error}"
    finally:
        signal.alarm(0)
    return 0, err.getvalue()


def _late(number: int, frame: object) -> None:
    raise TimeoutError(f"no end after {SECONDS} s")


@contextlib.contextmanager
def _place(parent: Path) -> Iterator[None]:
    """A working folder of its own with a row and a sweep file."""
    folder = new_folder(parent)
    smallest = min(json.loads(ROWS.read_text()), key=lambda row: len(json.dumps(row)))
    (folder / "rows.json").write_text(json.dumps([smallest]))
    (folder / "grid.toml").write_text(GRID)
    with contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield

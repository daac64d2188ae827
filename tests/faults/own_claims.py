"""Claims files of one's own that raise, return junk or do not parse: a row or one line for each.

os._exit, endless loops and other ways to take the process along are out of scope: a claims file is
code and is run.
"""

import random
from pathlib import Path
from typing import NamedTuple

from tests.faults.drivers import Tally
from tests.faults.fuzz import Try, judge, place

WHOLE = """\
{first}
import paritylab as pl

@pl.claim("{id}", title={title}, statement={statement}{more})
def fuzzed(trial):
    {measure}

@fuzzed.judge
def judged(record):
    {judge}
{last}
"""
_RIGHT = {
    "first": "",
    "id": "fuzzed",
    "title": "'t'",
    "statement": "'s'",
    "more": "",
    "measure": "return {'value': 1.0}",
    "judge": "return pl.holds('value 1', evidence='exact')",
    "last": "",
}
_RAISED = [
    *("SystemExit(7)", "SystemExit(0)", "SystemExit('x')", "SystemExit", "GeneratorExit"),
    *("BaseException('x')", "BaseExceptionGroup('x', [SystemExit(1)])", "ValueError('a\\nb')"),
    *("ValueError('\\x1b[31m\\x00')", "RecursionError", "MemoryError", "StopIteration", "KeyError"),
    *("type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})()", "OSError(2, 'x')"),
    *("UnicodeDecodeError('u', b'', 0, 1, 'x')", "AssertionError", "NotImplementedError"),
    "type('Late', (BaseException,), {})('x')",
]
_JUNK = [
    *("None", "0", "float('nan')", "object()", "'text'", "b'\\xff'", "[]", "()", "{}", "lambda: 0"),
    *("{1: 2}", "{'a': object()}", "{'a': float('nan')}", "{'a\\x1b': 1}", "{'a': 10**400}"),
    *("{'a': [[]]}", "{'a': {'b': {'c': 1j}}}", "iter([1])", "range(3)", "...", "NotImplemented"),
    *("int", "trial", "pl", "{'value': '\\ud800'}", "{'runs': -1}", "pl.Rate(1, 2)"),
]
_JUDGED = [
    *("pl.holds('')", "pl.holds('x')", "pl.holds(3, evidence='exact')", "pl.refuted('x')"),
    *("pl.holds('x', evidence='certain')", "pl.holds('x', margin='y', evidence='exact')"),
    *("pl.holds('x', evidence='exact', interval=(2, 1))", "pl.Status.HOLDS", "'holds'", "True"),
    *("pl.refuted('x', instead='y', evidence='exact', counterexample='1 +')", "pl.holds"),
    *("pl.holds('\\x1b[31m\\x00', evidence='exact')", "pl.holds('\\ud800', evidence='exact')"),
    *("pl.holds('x', evidence='exact', runs=-1)", "pl.holds('x', evidence='exact', odd=1)"),
]
_LINES = [
    *("def", "x = (", "'", "\x00", "return 1", "import no_such_module", "from paritylab import no"),
    *("1 / 0", "\tx = 1", "raise", "await x", "# coding: nothing", "x = 1e", "print('\\ud800')"),
]
_WORDS = ["''", "3", "None", "'\\x1b[31m'", "'a\\nb'", "'\\ud800'", "[]", "'x' * 100000"]
_MORE = [
    *("seconds=3", "seconds='x'", "quick={'n': 1}", "quick=3", "source='HG1'", "reads=3"),
    *("counted='no'", "certificate=3", "settings=[]", "odd=1", "source=pl.HG1('')"),
]


class Case(NamedTuple):
    """A claims file, and the exit codes that are right for it."""

    text: str
    codes: set[int]


def drawn(number: int) -> Case:
    """The same file for the same number."""
    draw, parts = random.Random(number), dict(_RIGHT)
    kind = number % 8
    if kind == 0:
        parts[draw.choice(["first", "last"])] = f"raise {draw.choice(_RAISED)}"
        return Case(WHOLE.format(**parts), {2})
    if kind == 1:
        parts[draw.choice(["measure", "judge"])] = f"raise {draw.choice(_RAISED)}"
        return Case(WHOLE.format(**parts), {4})
    if kind == 2:
        parts["measure"] = f"return {draw.choice(_JUNK)}"
    elif kind == 3:
        parts["judge"] = f"return {draw.choice(_JUNK + _JUDGED)}"
    elif kind == 4:
        parts[draw.choice(["first", "last"])] = draw.choice(_LINES)
    elif kind == 5:
        parts[draw.choice(["title", "statement"])] = draw.choice(_WORDS)
    elif kind == 6:
        parts["more"] = f", {draw.choice(_MORE)}"
        parts["id"] = draw.choice(["fuzzed", "a b", "", "hg1-thm5", "\x1b", "x" * 300, "é"])
    else:
        return Case(_scrambled(draw, WHOLE.format(**parts)), {0, 1, 2, 4})
    return Case(WHOLE.format(**parts), {0, 1, 2, 4})


def _scrambled(draw: random.Random, text: str) -> str:
    """A few letters cut, doubled or replaced."""
    for _ in range(draw.randint(1, 3)):
        start = draw.randint(0, len(text))
        end = min(len(text), start + draw.randint(0, 6))
        middle = draw.choice(["", text[start:end] * 2, "\x00", "é", "\n", "(", "\ud800"])
        text = text[:start] + middle + text[end:]
    return text


def claims_files(count: int, parent: Path, first: int = 0) -> Tally:
    """Each checked as the command does, in this process."""
    tally = Tally("fuzzed claims files")
    line = ["check", "--file", "mine.py", "--effort", "quick", "--fresh", "--jobs", "1"]
    with place(parent):
        for number in range(first, first + count):
            case = drawn(number)
            Path("mine.py").write_bytes(case.text.encode("utf-8", "surrogatepass"))
            store = ["--store", "s.db"] if number % 2 else []
            judge(Try([*line, *store], False), tally, case.text, case.codes)
    return tally

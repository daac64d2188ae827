"""Every public name called with bad arguments, in processes of their own that may be lost.

A right call is spoilt: one argument or two become junk. A one-line ValueError or TypeError is
right, and so is a value; anything else is harm. A value that is not a number where an argument was
none counts as wrong. Run by itself: python -m tests.faults.names FIRST COUNT.
"""

import contextlib
import importlib
import inspect
import io
import json
import math
import os
import random
import resource
import select
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.faults.drivers import Tally, new_folder

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20
#: Bytes beyond those in use that a call may take.
_MEMORY = 4 << 30
_NAN = float("nan")

#: Arguments that say how much work to do; a huge number is right there and takes long.
_WORK = {
    *((name, "samples") for name in ("sampled_risk", "sampled_gradient")),
    *((name, "samples") for name in ("teacher_gradient", "wide_step")),
    *(("streamed_step", name) for name in ("n", "width", "pairs")),
}

#: Made anew for every call.
_JUNK: list[Callable[[], Any]] = [
    lambda: _NAN,
    lambda: math.inf,
    lambda: -math.inf,
    lambda: -1,
    lambda: 0,
    lambda: 0.5,
    lambda: 1e308,
    lambda: True,
    lambda: None,
    lambda: "x",
    lambda: "",
    lambda: "\x1b[31m\u2028\n",
    lambda: b"\xff",
    lambda: 2**31,
    lambda: 2**63,
    lambda: -(10**30),
    lambda: 1j,
    list,
    lambda: [[]],
    lambda: [None],
    lambda: ["a", 1],
    lambda: (1, 2, 3),
    dict,
    lambda: {"a": _NAN},
    set,
    lambda: range(3),
    lambda: np.zeros(0),
    lambda: np.zeros((2, 3, 4)),
    lambda: np.full(3, _NAN),
    lambda: np.full((2, 6), _NAN),
    lambda: np.full((2, 6), np.inf),
    lambda: np.array("x"),
    lambda: np.float32(_NAN),
    lambda: np.array([[1, None]], dtype=object),
    object,
    lambda: len,
    lambda: int,
]


@cache
def public_names() -> dict[str, Any]:
    """Whatever can be called of what the package and its rooms list; a room's own as room.name."""
    import paritylab

    found = {name: getattr(paritylab, name) for name in dir(paritylab)}
    for room in _ROOMS:
        module = importlib.import_module(f"paritylab.{room}")
        found |= {f"{room}.{each}": getattr(module, each) for each in module.__all__}
    known, different = set[int](), dict[str, Any]()
    for name, value in found.items():
        if callable(value) and id(value) not in known and name not in _LEFT_OUT:
            different[name] = value
            known.add(id(value))
    return different


_ROOMS = ["claims", "learning", "models", "problem", "proofs", "report", "risk", "solvers", "sweep"]
#: The first writes into the package, the second is an error itself, the third stands in a file
#: whose hash the recorded proofs carry; the others are functions of arrays and models for the
#: inside of compiled code, which see no values.
_LEFT_OUT = (
    *("proofs.record", "sweep.StoreError", "proofs.files_of"),
    *("models.attend", "models.hard_attention", "models.softmax_attention"),
    *("models.tied_positions", "models.smooth_relu", "models.weights_of"),
    *("models.parameters_of", "models.with_parameters"),
)


def spoilt(number: int) -> tuple[str, dict[str, Any], Callable[[Any], Any]]:
    """The name of a case, its arguments and the use of its value; the same for the same number."""
    from tests.faults.right_calls import Call, right_calls

    names = sorted(public_names())
    name, draw = names[number % len(names)], random.Random(number)
    call = right_calls().get(name, Call({}))
    parameters = _parameters(public_names()[name])
    arguments = dict(call.arguments)
    required = [key for key, needed in parameters.items() if needed and key not in arguments]
    for key in required:
        arguments[key] = draw.choice(_JUNK)()
    spoil = sorted({*parameters, *call.arguments})
    for key in draw.sample(spoil, min(len(spoil), draw.choice([1, 1, 1, 2]))):
        bent = _bent(arguments[key], draw) if key in arguments and draw.random() < 0.4 else None
        arguments[key] = draw.choice(_JUNK)() if bent is None else bent
        if (name, key) in _WORK and isinstance(arguments[key], int) and arguments[key] > 1000:
            arguments[key] = -1
    return name, arguments, call.use


def _bent(value: Any, draw: random.Random) -> Any:
    """A right argument made nearly right; None if there is no way."""
    if isinstance(value, (bool, str)) or value is None:
        return None
    if isinstance(value, (int, float)):
        return draw.choice([-value, value + 0.5, 1000 * value + 7, 0 * value, value / 3, _NAN])
    if isinstance(value, (list, tuple)):
        ways = [value[:-1], value * 2, value[::-1], [value], [*value[:-1], None]]
        return draw.choice([*ways, [*value[:-1], _NAN], [*value[:-1], -1]])
    if isinstance(value, np.ndarray) and value.ndim and value.size and value.dtype.kind in "iuf":
        one = value.astype(float)
        one.flat[draw.randrange(one.size)] = draw.choice([_NAN, math.inf, -1.0, 1e300, 0.5])
        ways = [one, value[:-1], value.T, value[None], value.astype(str), value.astype(complex)]
        return draw.choice([*ways, value.astype(object), 0 * value, -value, value[:0]])
    return None


def _parameters(value: Any) -> dict[str, bool]:
    """Names of parameters, and whether each is required."""
    if isinstance(value, type) and hasattr(value, "__members__"):
        return {"value": True}
    found = inspect.signature(value).parameters.values()
    usual = [each for each in found if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    return {each.name: each.default is each.empty for each in usual}


def judged(number: int) -> tuple[str, str]:
    """The column of harm, or "", and what came out."""
    name, arguments, use = spoilt(number)
    start = time.monotonic()
    try:
        value = use(public_names()[name](**arguments))
        bad = _has_nan(_suspects(name, arguments)) and _has_nan(value)
        column, told = ("wrong", "a NaN went through") if bad else ("", "taken")
    except (ValueError, TypeError) as error:
        lines = len(str(error).strip().splitlines())
        column = "" if lines == 1 else "tracebacks"
        told = f"{type(error).__name__} of {lines} lines: {error}"
    except BaseException as error:
        column, told = "tracebacks", f"{type(error).__name__}: {error}"
    if time.monotonic() - start > SECONDS:
        column, told = "hangs", f"{time.monotonic() - start:.0f} s, then {told}"
    return column, told


def shown(number: int) -> str:
    name, arguments, _ = spoilt(number)
    from tests.faults.right_calls import Call, right_calls

    right = right_calls().get(name, Call({})).arguments
    changed = {key: value for key, value in arguments.items() if value is not right.get(key, right)}
    told = ", ".join(f"{key}={value!r}" for key, value in changed.items())
    return " ".join(f"{name}({told})".split())


#: Names whose values only hold what they were given, numbers that are none included: figures have
#: gaps, and a run that diverged has no risk. Of models only the learnt numbers may be such.
_HOLDERS: dict[str, tuple[str, ...] | None] = {
    **dict.fromkeys(["Bars", "Heatmap", "Histogram", "Line", "Lines", "Mark", "SideBySide"]),
    **dict.fromkeys(["Answer", "Judged", "Risk", "Rule", "Runs", "Trained", "Verdict"]),
    **dict.fromkeys(["learning.StreamedStep", "learning.WideChain", "proofs.Result"]),
    **dict.fromkeys(["risk.RiskGradient", "risk.Risks", "solvers.Search", "solvers.Size"]),
    **dict.fromkeys(["solvers.Solutions", "solvers.Step"]),
    "models.LayeredChain": ("scores", "gates"),
    "models.WeightedReadout": ("weights",),
    "ChainModel": ("scores",),
    "FeedForward": ("hidden", "thresholds", "output", "offset"),
    "FullFormAttention": ("matrices",),
    "HeadAttention": ("directions",),
    "TwoHeads": ("directions",),
}


def _suspects(name: str, arguments: dict[str, Any]) -> list[Any]:
    """Arguments that may not be NaN in silence."""
    held = _HOLDERS.get(name, ())
    return [] if held is None else [arguments[key] for key in arguments if key not in held]


def _has_nan(value: Any, depth: int = 0) -> bool:
    """Whether a NaN is in a number, an array, or the parts of a record or container."""
    if depth > 6 or value is None or isinstance(value, (str, bytes, type)):
        return False
    if isinstance(value, dict):
        return any(_has_nan(each, depth + 1) for each in value.values())
    if isinstance(value, (list, tuple, set)):
        return any(_has_nan(each, depth + 1) for each in value)
    if is_dataclass(value):
        return any(_has_nan(getattr(value, each.name, None), depth + 1) for each in fields(value))
    try:
        return bool(np.isnan(np.asarray(value)).any())
    except (TypeError, ValueError):
        return False


def calls(count: int, parent: Path, first: int = 0) -> Tally:
    """So many calls from a number on; a process that dies or hangs is replaced."""
    tally, at, end = Tally("public names with bad arguments"), first, first + count
    folder = new_folder(parent, "names")
    (folder / "mine.py").write_text("")
    while at < end:
        for number, column, told in _from_worker(at, end, folder):
            tally.attempts += 1
            at = number + 1
            if column:
                setattr(tally, column, getattr(tally, column) + 1)
                tally.notes[f"case {number}: {told[:300]}"] += 1
    return tally


def _from_worker(at: int, end: int, folder: Path) -> Iterator[tuple[int, str, str]]:
    """Number, column and words of each case, up to the first that takes its process along."""
    command = [sys.executable, "-m", "tests.faults.names", str(at), str(end)]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"}
    with subprocess.Popen(
        command, 0, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        patience, number = 300, at  # the start loads everything
        while number < end:
            if not select.select([process.stdout], [], [], patience)[0]:
                process.kill()
                yield number, "hangs", f"no end: {shown(number)}"
                return
            line = process.stdout.readline()
            if not line:
                yield number, "tracebacks", f"its process died: {shown(number)}"
                return
            patience = SECONDS + 5
            found = json.loads(line)
            if found is not None:
                yield number, found[0], found[1]
                number += 1


def _worker(first: int, end: int) -> None:
    public_names()
    from tests.faults.right_calls import right_calls

    right_calls()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with open("/proc/self/statm") as sizes:
        used = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, used + _MEMORY))
    warnings.simplefilter("ignore")
    print("null", file=answers)
    for number in range(first, end):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            column, told = judged(number)
        told = f"{shown(number)} → {told}" if column else ""
        print(json.dumps([column, " ".join(told.split())]), file=answers)


if __name__ == "__main__":
    _worker(int(sys.argv[1]), int(sys.argv[2]))

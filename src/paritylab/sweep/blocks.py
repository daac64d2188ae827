"""From a spec to its runs: the learner it names, the data it asks for, one row per run."""

import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from paritylab._support.user_modules import module_from_file
from paritylab.learning import LEARNERS, Fresh, Population, Runs, Sample, learn
from paritylab.learning.contract import Learner, fact
from paritylab.learning.data import Target
from paritylab.options import (
    PART_MARK,
    PROBLEM,
    check_known,
    check_value,
    nearest,
    options_of,
)
from paritylab.problem import Junta, Parity, random_parities, random_trees
from paritylab.problem.losses import LOSSES
from paritylab.sweep.grid import Spec

Row = dict[str, object]

#: What the problem needs, and what else it may say, by what is hidden.
_NEEDED = {"parity": {"n", "k"}, "junta": {"n", "k"}, "pair": {"n"}, "tree": {"n", "k"}}
_EXTRAS = {
    "parity": {"subset", "noise", "bias", "neighbours"},
    "junta": {"subset", "target", "noise", "bias", "neighbours"},
    "pair": {"noise"},
    "tree": set(),
}
_JUNTAS = [name for name in PROBLEM["target"].choices if name != "parity"]
#: Rows of a batch, at most, of learners that stream.
_BATCH = 4096


def learner_of(spec: Spec) -> Learner[Any, Any]:
    """The learner a spec names, built from its settings and so checked.

    A setting that may be a part of one's own may name it in a file: "mine.py:my_loss".
    """
    check_known("learner", [spec.learner], LEARNERS)
    made, settings = LEARNERS[spec.learner], dict(spec.settings)
    presets: Mapping[str, Any] = fact(made, "presets")
    names = set(setting_names(made)) | ({"preset"} if presets else set())
    check_known(f"setting of {spec.learner}", settings, names)
    preset = settings.pop("preset", None)
    if preset is not None:
        check_known(f"preset of {spec.learner}", [preset], presets)
        made = presets[preset]
    named = _named_parts(spec.learner, settings)
    settings |= {name: part_from_file(text) for name, text in named.items()}
    options = options_of(LEARNERS[spec.learner])
    if preset is None:
        settings = dict.fromkeys(sorted(needed_settings(LEARNERS[spec.learner]))) | settings
    for name in settings.keys() & options.keys():
        check_value(name, settings[name], options[name])
    try:
        learner: Learner[Any, Any] = made(**settings)
    except TypeError as error:
        raise ValueError(f"{spec.learner} cannot be built: {error}") from None
    return learner


def setting_names(learner: type) -> list[str]:
    """Names of a learner's settings."""
    return [each.name for each in fields(learner)] if is_dataclass(learner) else []


def needed_settings(learner: type) -> set[str]:
    """Names of the annotated settings that have no default."""
    each_field = fields(learner) if is_dataclass(learner) else ()
    needed = {f.name for f in each_field if f.default is MISSING and f.default_factory is MISSING}
    return needed & set(options_of(learner))


def _named_parts(learner: str, settings: Mapping[str, object]) -> dict[str, str]:
    """Settings that name a part in a user's file, such as "mine.py:my_loss"."""
    options = options_of(LEARNERS[learner]) if learner in LEARNERS else {}
    own = {name for name, option in options.items() if option.own}
    return {
        name: value
        for name, value in settings.items()
        if name in own and isinstance(value, str) and PART_MARK in value
    }


def part_from_file(text: str) -> Any:
    """The object that "FILE.py:NAME" names. The file is run as Python code."""
    file, _, name = text.rpartition(":")
    path = Path(file).resolve()
    module = _module_of_parts(path, path.stat().st_mtime_ns if path.is_file() else 0)
    try:
        return getattr(module, name)
    except AttributeError:
        raise ValueError(f"{path.name} has no {name!r}{nearest(name, vars(module))}") from None


@cache
def _module_of_parts(path: Path, changed: int) -> ModuleType:
    return module_from_file(path, "parts")


def files_of_parts(learner: str, settings: Mapping[str, object]) -> list[Path]:
    """The user's files behind settings: parts that they name, and losses registered by name."""
    named = _named_parts(learner, settings).values()
    files = {Path(text.rpartition(":")[0]).resolve() for text in named}
    for value in settings.values():
        loss = LOSSES.get(value) if isinstance(value, str) else None
        module = sys.modules.get(loss.pointwise.__module__) if loss else None
        file = getattr(module, "__file__", None)
        if module is not None and file and not module.__name__.startswith("paritylab."):
            files.add(Path(file).resolve())
    return sorted(files)


def data_of(spec: Spec, learner: Learner[Any, Any]) -> Population | Sample | Fresh:
    """The data a spec's problem asks for: fresh random targets from the block's own keys."""
    problem, targets = dict(spec.problem), fact(learner, "targets")
    check_known(f"problem entry for {spec.learner}", problem, problem_entries(targets))
    for name, value in problem.items():
        if name != "subset" and not (name == "bias" and isinstance(value, tuple)):
            check_value(name, value, PROBLEM[name])
    check_consistent(spec)
    check_memory(spec, learner)
    samples, fresh = problem.pop("samples", None), problem.pop("fresh", False)
    if fresh and samples is None:
        raise ValueError("fresh rows need a number: give samples as well")
    drawn = _targets(spec, problem, targets)
    if samples is not None:
        return (Fresh if fresh else Sample)(drawn, samples)
    if Population not in learner.takes:
        raise ValueError(f"{spec.learner} learns from rows: give the number of samples")
    return Population(drawn)


def problem_entries(targets: Sequence[str]) -> set[str]:
    """What the problem of a learner of these targets may say; the first of them is drawn."""
    kinds = [each for each in targets if targets[0] == "parity" or each == targets[0]]
    entries = set().union(*(_NEEDED[each] | _EXTRAS[each] for each in kinds if each != "tree"))
    return entries | _NEEDED[targets[0]] | {"samples", "fresh"}


def check_consistent(spec: Spec) -> None:
    """Refuse a problem that says the same thing twice and differently."""
    problem, settings = dict(spec.problem), dict(spec.settings)
    subset, n, k = problem.get("subset"), problem.get("n"), problem.get("k")
    if subset is not None:
        if not isinstance(subset, list | tuple):
            raise ValueError(f"subset must be a list of positions, got {subset!r}")
        if k is not None and len(subset) != k:
            raise ValueError(f"subset has {len(subset)} positions, but k={k}")
        if isinstance(n, int) and any(isinstance(j, int) and not 0 <= j < n for j in subset):
            raise ValueError(
                f"subset must hold positions from 0 to {n - 1}, as n={n}, got {subset}"
            )
        if "neighbours" in problem:
            raise ValueError("neighbours is for random sets; leave it out where subset is given")
        k = len(subset)
    own = settings.get("k")
    if own is not None and k is not None and own != k:
        raise ValueError(f"the learner's k={own} contradicts the problem's k={k}")


def check_memory(spec: Spec, learner: Learner[Any, Any]) -> None:
    """Refuse a block whose rows and weights alone exceed this machine's memory.

    Counted are the float64 numbers that a learner holds at once: its rows, for every run of the
    block, and one weight per position and unit (head, neuron or step of a chain).
    """
    sizes = {**dict(spec.problem), **dict(spec.settings)}
    n, rows = sizes.get("n", 1), sizes.get("samples") or 0
    units = [getattr(learner, name, None) for name in ("width", "heads")]
    widest = max([each for each in units if isinstance(each, int)] or [sizes.get("k") or 1])
    if fact(learner, "one_by_one"):
        needed = float(rows * n)
    else:
        held = min(rows, _BATCH) if fact(learner, "streams") else rows * spec.block
        needed = 8.0 * n * (held + spec.block * widest)
    there = machine_memory()
    if needed > there:
        raise ValueError(
            f"a block of {spec.block} runs needs about {needed / 2**30:,.0f} GB of memory, this "
            f"machine has {there / 2**30:,.0f} GB: give smaller sizes or fewer runs a block"
        )


def machine_memory() -> float:
    """Bytes of main memory; no limit where the system does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return float("inf")


def _targets(spec: Spec, problem: dict[str, Any], targets: Sequence[str]) -> tuple[Target, ...]:
    drawn = targets[0]
    subset, name = problem.pop("subset", None), problem.pop("target", "parity")
    if subset is not None:
        problem["k"] = len(subset)
    missing = _NEEDED[drawn] - set(problem)
    if missing:
        raise ValueError(f"the problem lacks {min(missing)}: {PROBLEM[min(missing)].help}")
    n, k = problem.pop("n"), problem.pop("k", 2)
    if drawn == "junta" and name == "parity":
        raise ValueError(f"{spec.learner} learns juntas: say which, target = {', '.join(_JUNTAS)}")
    if subset is not None:
        return (_as_target(Parity(n, subset, **problem), name),) * spec.block
    if drawn == "tree":
        return random_trees(n, k, spec.block, key=spec.seed, first=spec.first)
    sign = -1 if drawn == "pair" else 1
    parities = random_parities(
        n, k, spec.block, key=spec.seed, first=spec.first, sign=sign, **problem
    )
    return tuple(_as_target(each, name) for each in parities)


def _as_target(parity: Parity, name: str) -> Parity | Junta:
    """The function of this name on the parity's set, with its noise and bias."""
    if name == "parity":
        return parity
    made = getattr(Junta, name.replace("-", "_"))
    junta: Junta = made(parity.n, parity.subset, noise=parity.noise, bias=parity.bias)
    return junta


def run_spec(spec: Spec, trace: int | None = None) -> Runs[Any]:
    """The runs of one block."""
    learner = learner_of(spec)
    return learn(learner, data_of(spec, learner), key=spec.seed, first_run=spec.first, trace=trace)


def plain_rows(runs: Runs[Any]) -> list[Row]:
    """The table of the runs, with their success, as plain JSON."""
    success = runs.recovered if runs.names_a_set else runs.solved
    assert success is not None
    return [
        {"success": bool(found), **{name: finite(value) for name, value in row.items()}}
        for found, row in zip(success, runs.table(), strict=True)
    ]


def finite(value: object) -> object:
    """A number, flag or list as plain JSON; None where it is not finite."""
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def learners_from_file(path: str | Path) -> set[str]:
    """Run a user's Python file that registers learners or losses; returns what it registered.

    The file is run as Python code, so give only files you trust.
    """
    path = Path(path).resolve()
    module = module_from_file(path, "learners")
    registered = {**LEARNERS, **{name: loss.pointwise for name, loss in LOSSES.items()}}
    added = {name for name, each in registered.items() if each.__module__ == module.__name__}
    if not added:
        raise ValueError(
            f"{path.name} registers nothing; decorate a class with @register_learner(name) or a "
            "function with @register_loss(name)"
        )
    return added

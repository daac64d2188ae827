"""From a spec to its runs: the learner it names, the data it asks for, one row per run."""

import math
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from paritylab.files import module_from_file
from paritylab.learning import LEARNERS, Fresh, Population, Runs, Sample, learn
from paritylab.learning.contract import Learner
from paritylab.learning.data import Target
from paritylab.options import PROBLEM, check_known, check_value
from paritylab.problem import Junta, Parity, random_parities, random_trees
from paritylab.sweep.grid import Spec

Row = dict[str, object]

#: What a learner is given as a target, by its class attribute `of`.
_SIZES = {"parity": {"n", "k"}, "pair": {"n"}, "tree": {"n", "k"}}
_EXTRAS = {
    "parity": {"subset", "target", "noise", "bias", "neighbours"},
    "pair": {"noise"},
    "tree": set(),
}
#: Learners that draw their rows in batches of this many at most, and those that take one run at a
#: time and hold its bits as bytes.
_BATCH = 4096
_STREAMING = {"teacher", "levels", "layers", "full-batch", "hiding-oracle"}
_ONE_BY_ONE = {"auto", "elimination", "correlation"}


def learner_of(spec: Spec) -> Learner[Any, Any]:
    """The learner a spec names, built from its settings and so checked."""
    check_known("learner", [spec.learner], LEARNERS)
    made, settings = LEARNERS[spec.learner], dict(spec.settings)
    presets: Mapping[str, Any] = getattr(made, "presets", {})
    own = fields(made)  # type: ignore[arg-type]  # learners are dataclasses
    names = {each.name for each in own} | ({"preset"} if presets else set())
    check_known(f"setting of {spec.learner}", settings, names)
    preset = settings.pop("preset", None)
    if preset is not None:
        check_known(f"preset of {spec.learner}", [preset], presets)
        made = presets[preset]
    try:
        learner: Learner[Any, Any] = made(**settings)
    except TypeError as error:
        raise ValueError(f"{spec.learner} cannot be built: {error}") from None
    return learner


def data_of(spec: Spec, learner: Learner[Any, Any]) -> Population | Sample | Fresh:
    """The data a spec's problem asks for: fresh random targets from the block's own keys."""
    problem, of = dict(spec.problem), getattr(learner, "of", "parity")
    known = _SIZES[of] | _EXTRAS[of] | {"samples", "fresh"}
    check_known(f"problem entry for {spec.learner}", problem, known)
    for name, value in problem.items():
        if name != "subset" and not (name == "bias" and isinstance(value, tuple)):
            check_value(name, value, PROBLEM[name])
    check_memory(spec, learner)
    samples, fresh = problem.pop("samples", None), problem.pop("fresh", False)
    if fresh and samples is None:
        raise ValueError("fresh rows need a number: give samples as well")
    targets = _targets(spec, problem, of)
    if samples is not None:
        return (Fresh if fresh else Sample)(targets, samples)
    if Population not in learner.takes:
        raise ValueError(f"{spec.learner} learns from rows: give the number of samples")
    return Population(targets)


def check_memory(spec: Spec, learner: Learner[Any, Any]) -> None:
    """Refuse a block whose rows and weights alone exceed this machine's memory.

    Counted are the float64 numbers that a learner holds at once: its rows, for every run of the
    block, and one weight per position and unit (head, neuron or step of a chain).
    """
    sizes = {**dict(spec.problem), **dict(spec.settings)}
    n, rows = sizes.get("n", 1), sizes.get("samples") or 0
    units = [getattr(learner, name, None) for name in ("width", "heads")]
    widest = max([each for each in units if isinstance(each, int)] or [sizes.get("k") or 1])
    if spec.learner in _ONE_BY_ONE:
        needed = float(rows * n)
    else:
        held = min(rows, _BATCH) if spec.learner in _STREAMING else rows * spec.block
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


def _targets(spec: Spec, problem: dict[str, Any], of: str) -> tuple[Target, ...]:
    subset, name = problem.pop("subset", None), problem.pop("target", "parity")
    if subset is not None:
        if not isinstance(subset, list | tuple):
            raise ValueError(f"subset must be a list of positions, got {subset!r}")
        if problem.setdefault("k", len(subset)) != len(subset):
            raise ValueError(f"subset has {len(subset)} positions, but k={problem['k']}")
        if problem.pop("neighbours", None) is not None:
            raise ValueError("neighbours is for random sets; leave it out beside subset")
    missing = _SIZES[of] - set(problem)
    if missing:
        raise ValueError(f"the problem lacks {min(missing)}: {PROBLEM[min(missing)].help}")
    n, k = problem.pop("n"), problem.pop("k", 2)
    if subset is not None:
        return (_as_target(Parity(n, subset, **problem), name),) * spec.block
    if of == "tree":
        return random_trees(n, k, spec.block, key=spec.seed, first=spec.first)
    sign = -1 if of == "pair" else 1
    drawn = random_parities(n, k, spec.block, key=spec.seed, first=spec.first, sign=sign, **problem)
    return tuple(_as_target(each, name) for each in drawn)


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
    """Run a user's Python file that registers learners; returns their names.

    The file is run as Python code, so give only files you trust.
    """
    path = Path(path).resolve()
    module = module_from_file(path, "learners")
    added = {name for name, learner in LEARNERS.items() if learner.__module__ == module.__name__}
    if not added:
        raise ValueError(
            f"{path.name} registers no learner; decorate a class with @register_learner(name)"
        )
    return added

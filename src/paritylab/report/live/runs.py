"""Runs for the live page: from saved runs of any learner with a trace, or from a JSON file."""

import json
import math
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from paritylab._support.checks import shortened, whole
from paritylab._support.output_files import write_atomically
from paritylab._support.precision import float64
from paritylab._support.safe_io import read_json
from paritylab.learning.contract import fact
from paritylab.learning.runs import Runs, run_keys

FORMAT = "paritylab-run/1"
#: Bytes of a file, at most.
LARGEST_FILE = 5_000_000
#: Lists of numbers in a run, and the most entries of each: moments, then numbers of the heads, or
#: steps of the chain and tokens that a step sees.
SIZES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("step", "risk", "tau"), (5000,)),
    "directions": (5000, 200),
    "scores": (5000, 600, 600),
}


def page_positions(kind: str, seed: int, n: int, width: int) -> Float[np.ndarray, "n width"]:
    """The positions that the page's XOR demo draws for a seed; kind: signs or balanced.

    >>> page_positions("balanced", 0, 4, 2).sum(axis=0).tolist()
    [0.0, 0.0]
    """
    key = jax.random.fold_in(run_keys(seed, 0, 1)[0], 0)
    size = 1 / math.sqrt(width)
    if kind == "balanced":
        words = [jax.random.bits(jax.random.fold_in(key, column), (n,)) for column in range(width)]
        ranks = np.argsort(np.argsort(np.asarray(words), axis=1, kind="stable"), axis=1)
        return np.where(n // 2 > ranks.T, -size, size)
    with float64():
        table = np.where(np.asarray(jax.random.bernoulli(key, 0.5, (n, width))), -size, size)
    return np.asarray(table - table.mean(axis=0))


def run_facts(runs: Runs[Any], run: int = 0) -> dict[str, Any]:
    """Run number `run` as plain facts that the live page replays; the runs need a trace.

    >>> from paritylab import Heads, Parity, Population, learn
    >>> runs = learn(Heads.annealed(), Population(Parity(12, (2, 7))), runs=1, trace=100)
    >>> facts = run_facts(runs)
    >>> facts["learner"], facts["hidden"], len(facts["directions"])
    ('heads', [2, 7], 15)
    """
    if not 0 <= run < len(runs):
        raise ValueError(f"there are {len(runs)} runs, numbered from 0, got run {run}")
    trace = runs.trace
    target = None if runs.targets is None else runs.targets[run]
    facts: dict[str, Any] = {
        "format": FORMAT,
        "learner": runs.name,
        "n": int(runs.data.n),
        "run": runs.first_run + run,
        "step": np.asarray(trace["step"]).tolist(),
        "end": runs.result[run].value,
    }
    if target is not None:
        facts["hidden"] = [int(j) for j in getattr(target, "leaves", getattr(target, "subset", ()))]
    if "risk" in trace:
        facts["risk"] = np.asarray(trace["risk"][run], dtype=float).tolist()
    moments = {name: np.asarray(trace[name])[run] for name in trace if name != "step"}
    moments["step"] = np.asarray(trace["step"])
    facts.update(fact(runs.learner, "frames")(moments, runs.data.n))
    return checked_run(facts)


def write_run(runs: Runs[Any], path: str | Path, run: int = 0) -> Path:
    """Write one run as JSON that `paritylab live --from` and the page itself open."""
    return write_atomically(Path(path), json.dumps(run_facts(runs, run), allow_nan=False) + "\n")


def read_run(path: str | Path, run: int = 0) -> dict[str, Any]:
    """A run to replay from a JSON file, or run number `run` of saved runs (.npz)."""
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"--from needs a JSON file of a run or saved runs (.npz), got {path}")
    if path.suffix == ".npz":
        return run_facts(Runs.load(path), run)
    try:
        return checked_run(read_json(path, largest=LARGEST_FILE))
    except ValueError as error:
        raise ValueError(f"{path} cannot be replayed: {error}") from None


def checked_run(facts: Any) -> dict[str, Any]:
    """The facts the page shows, nothing else; a ValueError names the first that does not fit."""
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ValueError(f'a run is an object with "format": "{FORMAT}"')
    n, hidden = whole("n", facts.get("n"), 1, 100_000), facts.get("hidden", [])
    if not isinstance(hidden, list) or not all(type(j) is int and 0 <= j < n for j in hidden):
        raise ValueError(f"hidden must be positions below n={n}, got {shortened(hidden)}")
    kept: dict[str, Any] = {"format": FORMAT, "n": n, "hidden": hidden}
    kept |= {name: str(facts[name])[:200] for name in ("learner", "end", "made") if name in facts}
    kept |= {name: facts[name] for name in ("run", "seed") if type(facts.get(name)) is int}
    asked = {name: sizes for name, sizes in SIZES.items() if name in facts or name == "step"}
    kept |= {name: _numbers(name, facts.get(name), sizes) for name, sizes in asked.items()}
    for name, sizes in asked.items():
        if len(kept[name]) != len(kept["step"]):
            raise ValueError(f"{name} must have an entry for each of {len(kept['step'])} steps")
        if len(sizes) > 1 and len({len(moment) for moment in kept[name]}) > 1:
            raise ValueError(f"{name} must be as many at every step")
    if any(len(moment) % 2 for moment in kept.get("directions", ())):
        raise ValueError("directions must be two numbers for each head")
    return kept


def _numbers(name: str, value: Any, most: tuple[int, ...]) -> list[Any]:
    """Finite numbers in lists of lists, of which none is empty or longer than `most` says."""
    if not isinstance(value, list) or not 1 <= len(value) <= most[0]:
        raise ValueError(f"{name} must hold 1 to {most[0]} entries, got {shortened(value)}")
    if most[1:]:
        return [_numbers(name, each, most[1:]) for each in value]
    if not all(type(each) in (int, float) and abs(each) < math.inf for each in value):
        raise ValueError(f"{name} must hold finite numbers, got {shortened(value)}")
    return value

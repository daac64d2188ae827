"""What every learner returns, and how it is kept without pickle."""

import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from paritylab.files import write_atomically


@dataclass(frozen=True)
class Run:
    """A finished run.

    parameters: arrays by name. trace: arrays by name, one entry per recorded step. stop: why it
    ended, such as "solved", "steps" or "diverged". cost: gradient evaluations and samples drawn.
    """

    parameters: dict[str, np.ndarray]
    trace: dict[str, np.ndarray] = field(default_factory=dict)
    stop: str = "steps"
    gradient_evaluations: int = 0
    samples: int = 0


def save_run(run: Run, path: str | Path) -> Path:
    """Write a run to one .npz file, in full or not at all."""
    path = Path(path)
    facts = {
        "stop": run.stop,
        "gradient_evaluations": run.gradient_evaluations,
        "samples": run.samples,
        "format": 1,
    }
    arrays: dict[str, Any] = {"facts": np.array(json.dumps(facts))}
    for group in ("parameters", "trace"):
        for name, values in getattr(run, group).items():
            array = np.asarray(values)
            if array.dtype == object:
                raise ValueError(f"{group} {name!r} must be an array of numbers or text")
            arrays[f"{group}/{name}"] = array
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return write_atomically(path, buffer.getvalue())


def load_run(path: str | Path) -> Run:
    """Read a run written by `save_run`; nothing in the file is executed."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        facts = json.loads(str(arrays.pop("facts")))
    except FileNotFoundError:
        raise ValueError(f"no file {path}") from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a saved run: {error}") from None
    named = {group: _under(arrays, group) for group in ("parameters", "trace")}
    cost = {name: int(facts[name]) for name in ("gradient_evaluations", "samples")}
    return Run(named["parameters"], named["trace"], str(facts["stop"]), **cost)


def _under(arrays: dict[str, np.ndarray], group: str) -> dict[str, np.ndarray]:
    prefix = f"{group}/"
    return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}

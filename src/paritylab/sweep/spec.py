"""A spec names one block of runs completely; equal specs give equal numbers."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Spec:
    """One block of runs: what learns, on what, how, and with which seeds.

    learner: a name in `LEARNERS`. problem and settings: sorted (name, value) pairs of plain
    values. seed: run i of the sweep uses fold_in(seed, i). width: runs per block; part of the
    identity, since another width may round differently. block: runs block·width … of the cell.
    """

    learner: str
    problem: tuple[tuple[str, Any], ...]
    settings: tuple[tuple[str, Any], ...] = ()
    seed: int = 0
    width: int = 100
    block: int = 0

    @classmethod
    def make(cls, learner: str, problem: Mapping, settings: Mapping, **rest) -> "Spec":
        """A spec from plain dicts.

        >>> Spec.make("coin", {"n": 1, "k": 1}, {"rate": 0.9}).cell
        'coin k=1 n=1 rate=0.9'
        """
        return cls(learner, _pairs(problem), _pairs(settings), **rest)

    def __post_init__(self) -> None:
        for name, least in (("seed", 0), ("width", 1), ("block", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} must be a whole number ≥ {least}, got {value!r}")

    @cached_property
    def hash(self) -> str:
        """Names the block and everything its numbers depend on but code and device."""
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def cell(self) -> str:
        """The block's cell for people: everything but the seeds."""
        pairs = [*self.problem, *self.settings]
        return " ".join([self.learner, *(f"{name}={value}" for name, value in pairs)])

    @property
    def runs(self) -> range:
        """Numbers of the runs in this block."""
        return range(self.block * self.width, (self.block + 1) * self.width)


def _pairs(values: Mapping) -> tuple[tuple[str, Any], ...]:
    pairs = []
    for name, value in sorted(values.items()):
        if not isinstance(value, str | int | float | bool | list | tuple | None):
            raise ValueError(f"{name} must be a plain value, got {type(value).__name__}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name} must be a finite number, got {value}")
        pairs.append((str(name), tuple(value) if isinstance(value, list) else value))
    return tuple(pairs)

"""A spec names one block of runs completely; equal specs give equal numbers."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, TypedDict

from paritylab.checks import check_kind, shortened

#: Seeds that jax tells apart.
MOST_SEEDS = 2**32

Pairs = tuple[tuple[str, Any], ...]


class PlainSpec(TypedDict):
    """A spec as plain JSON values."""

    learner: str
    problem: dict[str, object]
    settings: dict[str, object]
    seed: int
    block: int
    first: int


@dataclass(frozen=True)
class Spec:
    """One block of runs: what learns, on what, how, and with which seeds.

    learner: a name in `LEARNERS`. problem and settings: sorted (name, value) pairs of plain
    values. seed: run i of the sweep uses fold_in(seed, i). block: runs per compiled call; part of
    the identity, since another size may round differently. first: number of the block's first run.
    """

    learner: str
    problem: Pairs
    settings: Pairs = ()
    seed: int = 0
    block: int = 100
    first: int = 0

    @classmethod
    def make(
        cls,
        learner: str,
        problem: Mapping[str, object],
        settings: Mapping[str, object],
        **rest: int,
    ) -> "Spec":
        """A spec from plain dicts.

        >>> Spec.make("heads", {"n": 12, "k": 2}, {"preset": "code"}).cell
        'heads k=2 n=12 preset=code'
        """
        return cls(learner, _pairs(problem), _pairs(settings), **rest)

    def __post_init__(self) -> None:
        check_kind("learner", self.learner, str, "a name")
        for name, least in (("seed", 0), ("block", 1), ("first", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} must be a whole number ≥ {least}, got {shortened(value)}")
        if self.seed >= MOST_SEEDS:
            raise ValueError(f"seed must be below 2³², beyond which seeds repeat, got {self.seed}")
        if self.first + self.block > MOST_SEEDS:
            raise ValueError(f"runs are numbered below 2³², got {self.block} from {self.first} on")

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

    def plain(self) -> PlainSpec:
        """The spec as plain JSON values."""
        return {
            "learner": self.learner,
            "problem": dict(self.problem),
            "settings": dict(self.settings),
            "seed": self.seed,
            "block": self.block,
            "first": self.first,
        }


def _pairs(values: Mapping[str, object]) -> Pairs:
    pairs = []
    for name, value in sorted(values.items()):
        if not isinstance(value, str | int | float | bool | list | tuple | None):
            raise ValueError(f"{name} must be a plain value, got {type(value).__name__}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name} must be a finite number, got {value}")
        pairs.append((str(name), tuple(value) if isinstance(value, list) else value))
    return tuple(pairs)

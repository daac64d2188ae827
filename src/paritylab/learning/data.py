"""Data a learner meets: the population, all inputs, samples, fresh batches, one's own rows."""

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple

import jax
import numpy as np

from paritylab.problem import Junta, Parity, ParityTree
from paritylab.problem.bits import as_bits

Target = Parity | Junta | ParityTree
#: Rows are counted by 32-bit numbers inside compiled loops.
MOST_ROWS = 2**31 - 1


class Unknown(NamedTuple):
    """The target of rows that come without one: only the number of bits is known."""

    n: int
    k: None = None


@dataclass(frozen=True)
class _OfTargets:
    targets: Any

    def __post_init__(self) -> None:
        single = isinstance(self.targets, Target)
        given = (self.targets,) if single else tuple(self.targets)
        wrong = next((each for each in given if not isinstance(each, Target)), None)
        if wrong is not None or not given:
            raise ValueError(
                f"targets must be parities, juntas or trees of parities, got {wrong!r}"
            )
        sizes = {(type(each).__name__, each.n, each.k) for each in given}
        if len(sizes) > 1:
            raise ValueError(f"the targets of one call need equal n and k, got {sorted(sizes)}")
        object.__setattr__(self, "targets", given)
        self._check()

    def _check(self) -> None:
        """What a kind of data asks beyond its targets."""

    @property
    def n(self) -> int:
        return self.targets[0].n

    @property
    def runs(self) -> int:
        return len(self.targets)

    @property
    def k(self) -> int | None:
        return self.targets[0].k

    def for_runs(self, runs: int | None) -> "_OfTargets":
        """The same data with one target per run; a single target serves any number of runs."""
        if runs is None or runs == len(self.targets):
            return self
        if runs < 1:
            raise ValueError(f"runs must be at least 1, got {runs}")
        if len(self.targets) > 1:
            raise ValueError(f"got {len(self.targets)} targets for runs={runs}")
        return replace(self, targets=self.targets * runs)


@dataclass(frozen=True)
class Population(_OfTargets):
    """Exact expectations over all inputs. targets: one, or one per run, of equal n and k."""


@dataclass(frozen=True)
class AllInputs(_OfTargets):
    """All 2^n rows with their probabilities, visited one by one; n ≤ 20."""

    def _check(self) -> None:
        if self.n > 20:
            raise ValueError(f"AllInputs visits 2^n rows and takes n ≤ 20, got n={self.n}")


@dataclass(frozen=True)
class _Drawn(_OfTargets):
    samples: int = 0

    def _check(self) -> None:
        if isinstance(self.samples, bool) or not isinstance(self.samples, int) or self.samples < 1:
            raise ValueError(f"samples must be a whole number ≥ 1, got {self.samples!r}")
        if self.samples > MOST_ROWS:
            raise ValueError(f"samples must be at most {MOST_ROWS:,}, got {self.samples:,}")


@dataclass(frozen=True)
class Sample(_Drawn):
    """`samples` labelled rows, drawn once per run."""


@dataclass(frozen=True)
class Fresh(_Drawn):
    """`samples` new labelled rows at every step."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Labelled rows of one's own: bits (N, n), labels ±1 (N,). The hidden set is not known.

    held_out: share of the rows kept for judging, drawn by each run's key.
    """

    bits: Any
    labels: Any
    held_out: float = 0.25

    def __post_init__(self) -> None:
        bits, labels = np.asarray(as_bits(self.bits)), np.asarray(self.labels)
        if bits.ndim != 2 or labels.shape != bits.shape[:1] or len(bits) < 2:
            raise ValueError(
                f"rows need bits of shape (N ≥ 2, n) and one label each, got {bits.shape} and "
                f"{labels.shape}"
            )
        if not np.isin(labels, (-1, 1)).all():
            raise ValueError("labels must be +1 or -1; signs_from_bits turns bits into labels")
        if not 0 < self.held_out < 1:
            raise ValueError(f"held_out must be between 0 and 1, got {self.held_out}")
        object.__setattr__(self, "bits", bits.astype(np.uint8))
        object.__setattr__(self, "labels", labels.astype(np.int8))
        object.__setattr__(self, "_runs", 1)

    targets: ClassVar[None] = None
    k: ClassVar[None] = None

    @property
    def n(self) -> int:
        return self.bits.shape[1]

    @property
    def runs(self) -> int:
        return self._runs  # type: ignore[attr-defined]

    def split(self, key: jax.Array) -> tuple[np.ndarray, np.ndarray]:
        """Row numbers to train on and to judge by, from a run's key."""
        words = np.asarray(jax.random.key_data(jax.random.fold_in(key, 5)))
        order = np.random.default_rng(words).permutation(len(self.labels))
        held = min(max(1, round(self.held_out * len(order))), len(order) - 1)
        return order[held:], order[:held]

    def for_runs(self, runs: int | None) -> "Rows":
        """The same rows for a number of runs."""
        if runs is not None and runs < 1:
            raise ValueError(f"runs must be at least 1, got {runs}")
        many = replace(self)
        object.__setattr__(many, "_runs", 1 if runs is None else runs)
        return many


Data = Population | AllInputs | Sample | Fresh | Rows


def hidden_set(target: Target) -> tuple[int, ...]:
    """The hidden positions of a target, sorted."""
    return tuple(sorted(target.leaves)) if isinstance(target, ParityTree) else target.subset


def data_facts(data: Any) -> dict[str, Any]:
    """Data as plain JSON values; the rows themselves are kept as arrays."""
    kind = type(data).__name__
    if isinstance(data, Rows):
        return {"kind": kind, "held_out": data.held_out, "runs": data.runs}
    targets = [{f.name: getattr(each, f.name) for f in fields(each)} for each in data.targets]
    samples = {"samples": data.samples} if isinstance(data, _Drawn) else {}
    return {"kind": kind, "of": type(data.targets[0]).__name__, "targets": targets, **samples}


def data_from(facts: dict[str, Any], rows: dict[str, np.ndarray] | None) -> Any:
    """Data from what `data_facts` gave."""
    if rows is not None:
        return Rows(rows["bits"], rows["labels"], facts["held_out"]).for_runs(facts["runs"])
    kind = {each.__name__: each for each in Data.__args__}[facts["kind"]]
    target = {each.__name__: each for each in Target.__args__}[facts["of"]]
    targets = tuple(target(**with_tuples(each)) for each in facts["targets"])
    return kind(targets, **{name: facts[name] for name in ("samples",) if name in facts})


def with_tuples(values: dict[str, Any]) -> dict[str, Any]:
    """Lists, as JSON gives them back, as the tuples they were."""
    return {n: tuple(v) if isinstance(v, list) else v for n, v in values.items()}

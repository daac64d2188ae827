"""Data a learner meets: the population, samples, fresh batches, one's own rows."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self, TypeAlias, cast

import jax
import numpy as np
from jaxtyping import Int
from numpy.typing import ArrayLike

from paritylab._support.checks import check_kind, shortened, whole
from paritylab.problem import Corruption, Junta, Parity, ParityTree
from paritylab.problem.hidden_set import as_bits

#: What may be hidden in the data.
Target: TypeAlias = Parity | Junta | ParityTree
#: Rows without errors beyond their target's own noise.
CLEAN = Corruption()
#: Rows are counted by 32-bit numbers inside compiled loops.
MOST_ROWS = 2**31 - 1


class Unknown(NamedTuple):
    """The target of rows that come without one: only the number of bits is known."""

    n: int
    k: None = None


@dataclass(frozen=True, init=False)
class _OfTargets:
    """targets: one per run, of one kind and of equal n and k; a single one may be given as such."""

    targets: tuple[Target, ...]

    def __init__(self, targets: Target | Iterable[Target]) -> None:
        given = (targets,) if isinstance(targets, Target) else tuple(targets)
        if not given:
            raise ValueError("targets must be parities, juntas or trees of parities, got none")
        for each in given:
            check_kind("targets", each, Target, "parities, juntas or trees of parities")
        sizes = {(type(each).__name__, each.n, each.k) for each in given}
        if len(sizes) > 1:
            raise ValueError(f"the targets of one call need equal n and k, got {sorted(sizes)}")
        object.__setattr__(self, "targets", given)

    @property
    def n(self) -> int:
        """Number of bits."""
        return self.targets[0].n

    @property
    def k(self) -> int:
        """Size of the hidden set."""
        return self.targets[0].k

    @property
    def runs(self) -> int:
        """How many runs these data are for."""
        return len(self.targets)

    def for_runs(self, runs: int | None) -> Self:
        """The same data with one target per run; a single target serves any number of runs."""
        if runs is None or runs == len(self.targets):
            return self
        if runs < 1:
            raise ValueError(f"runs must be at least 1, got {runs}")
        if len(self.targets) > 1:
            raise ValueError(f"got {len(self.targets)} targets for runs={runs}")
        return replace(self, targets=self.targets * runs)


#: How a population is visited: in closed form where there is one, or always input by input.
ROUTES = ("auto", "enumeration")


@dataclass(frozen=True, init=False)
class Population(_OfTargets):
    """Exact expectations over all inputs. targets: one, or one per run, of equal n and k.

    Where a learner knows its risk in closed form any n will do; else all 2^n inputs are visited, up
    to n = 20. route: "enumeration" visits them in any case, for comparisons.
    """

    route: str

    def __init__(self, targets: Target | Iterable[Target], route: str = "auto") -> None:
        super().__init__(targets)
        if route not in ROUTES:
            raise ValueError(f"route must be one of {', '.join(ROUTES)}, got {shortened(route)}")
        object.__setattr__(self, "route", route)


@dataclass(frozen=True, init=False)
class _Drawn(_OfTargets):
    """samples: N, rows per run (`Sample`) or per step (`Fresh`). corruption: of these rows; what
    was trained is judged without it."""

    samples: int
    corruption: Corruption

    def __init__(
        self,
        targets: Target | Iterable[Target],
        samples: int = 0,
        corruption: Corruption = CLEAN,
    ) -> None:
        super().__init__(targets)
        if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
            raise ValueError(f"samples must be a whole number ≥ 1, got {shortened(samples)}")
        if samples > MOST_ROWS:
            raise ValueError(f"samples must be at most {MOST_ROWS:,}, got {samples:,}")
        check_kind("corruption", corruption, Corruption, "a Corruption")
        object.__setattr__(self, "samples", samples)
        object.__setattr__(self, "corruption", corruption)

    @property
    def sources(self) -> tuple[Target, ...]:
        """The targets with the label noise that their rows have."""
        if not self.corruption.flips:
            return self.targets
        return tuple(
            replace(each, noise=self.corruption.noise(each.noise)) for each in self.targets
        )


@dataclass(frozen=True, init=False)
class Sample(_Drawn):
    """`samples` labelled rows, drawn once per run."""


@dataclass(frozen=True, init=False)
class Fresh(_Drawn):
    """`samples` new labelled rows at every step."""


@dataclass(frozen=True, eq=False, init=False)
class Rows:
    """Labelled rows of one's own: bits (N, n), labels ±1 (N,). The hidden set is not known.

    held_out: share of the rows kept for judging, drawn by each run's key. runs: how many runs meet
    these rows.
    """

    bits: Int[np.ndarray, "N n"]
    labels: Int[np.ndarray, " N"]
    held_out: float
    runs: int

    targets: ClassVar[None] = None
    k: ClassVar[None] = None

    def __init__(
        self, bits: ArrayLike, labels: ArrayLike, held_out: float = 0.25, runs: int = 1
    ) -> None:
        table, signs = np.asarray(as_bits(bits)), np.asarray(labels)
        if table.ndim != 2 or signs.shape != table.shape[:1] or len(table) < 2:
            raise ValueError(
                f"rows need bits of shape (N ≥ 2, n) and one label each, got {table.shape} and "
                f"{signs.shape}"
            )
        if not np.isin(signs, (-1, 1)).all():
            raise ValueError("labels must be +1 or -1; signs_from_bits turns bits into labels")
        if not 0 < held_out < 1:
            raise ValueError(f"held_out must be between 0 and 1, got {held_out}")
        runs = whole("runs", runs, 1)
        object.__setattr__(self, "bits", table.astype(np.uint8))
        object.__setattr__(self, "labels", signs.astype(np.int8))
        object.__setattr__(self, "held_out", held_out)
        object.__setattr__(self, "runs", runs)

    @property
    def n(self) -> int:
        """Number of bits."""
        return int(self.bits.shape[1])

    def split(self, key: jax.Array) -> tuple[np.ndarray, np.ndarray]:
        """Row numbers to train on and to judge by, from a run's key."""
        words = np.asarray(jax.random.key_data(jax.random.fold_in(key, 5)))
        order = np.random.default_rng(words).permutation(len(self.labels))
        held = min(max(1, round(self.held_out * len(order))), len(order) - 1)
        return order[held:], order[:held]

    def for_runs(self, runs: int | None) -> "Rows":
        """The same rows for a number of runs."""
        return self if runs is None else replace(self, runs=runs)


#: Every kind of data, and those that know what is hidden.
Data: TypeAlias = Population | Sample | Fresh | Rows
KnownData: TypeAlias = Population | Sample | Fresh


def hidden_set(target: Target) -> tuple[int, ...]:
    """The hidden positions of a target, sorted."""
    return tuple(sorted(target.leaves)) if isinstance(target, ParityTree) else target.subset


def sources_of(data: KnownData, who: str) -> tuple[Parity | Junta, ...]:
    """`functions_of` the data, with the label noise that their rows have; no chains are shown."""
    if isinstance(data, Population):
        return functions_of(data, who)
    if data.corruption.tokens:
        raise ValueError(f"{who} is shown no chain of thought whose tokens could be corrupted")
    return functions_of(replace(data, targets=data.sources), who)


def functions_of(data: KnownData, who: str) -> tuple[Parity | Junta, ...]:
    """The targets of a learner that takes no trees; who: the subject of the error."""
    if isinstance(data.targets[0], ParityTree):
        raise ValueError(f"{who} learns a Parity or Junta, got a ParityTree")
    return cast(tuple[Parity | Junta, ...], data.targets)  # all are of one kind


def parities_of(data: KnownData, who: str) -> tuple[Parity, ...]:
    """The targets of a learner of parities alone; who: the subject of the error."""
    if not isinstance(data.targets[0], Parity):
        raise ValueError(f"{who} learns a Parity, got a {type(data.targets[0]).__name__}")
    return cast(tuple[Parity, ...], data.targets)  # all are of one kind


def targets_or_unknown(data: Data) -> tuple[Target | Unknown, ...]:
    """One entry per run; `Unknown` for rows of one's own."""
    return (Unknown(data.n),) * data.runs if isinstance(data, Rows) else data.targets


def are_uniform(data: Data) -> bool:
    """Whether all bits are fair, as far as the data say."""
    given = data.targets or ()
    if given and isinstance(given[0], ParityTree):
        return True
    return {each.bias for each in cast(tuple[Parity | Junta, ...], given)} <= {0.5}

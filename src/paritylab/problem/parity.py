"""The target: a parity of a hidden set of bits, with label noise and biased inputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypedDict, Unpack

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from paritylab._support.checks import shortened, whole
from paritylab._support.padding import padded_size
from paritylab.problem.hidden_set import (
    AbstractHiddenSet,
    checked_bias,
    checked_noise,
    checked_subset,
)
from paritylab.problem.keys import Key as Key, as_key, checked_seed, run_numbers  # noqa: PLC0414

#: Positions are numbered by 32-bit numbers.
MOST_BITS = 2**31 - 1


@dataclass(frozen=True)
class Parity(AbstractHiddenSet):
    """The learning problem y = sign·(-1)^(Σ_{j∈B} x_j), flipped with probability ν.

    n: number of bits. subset: the set B, 0-based, stored sorted. sign: +1 or -1 (HG2's
    y = -x_i x_j has sign=-1). noise: ν in [0, 0.5). bias: P(x_j = 1), one number for all
    bits or one per bit; 0.5 is the uniform distribution of the papers.

    >>> problem = Parity(5, (1, 3))
    >>> int(problem.label(np.array([0, 1, 0, 0, 0])))
    -1
    """

    n: int
    subset: tuple[int, ...]
    sign: int = 1
    noise: float = 0.0
    bias: float | tuple[float, ...] = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", whole("n", self.n, 1, MOST_BITS))
        object.__setattr__(self, "subset", checked_subset(self.subset, self.n))
        if self.sign not in (1, -1):
            raise ValueError(f"sign must be +1 or -1, got {shortened(self.sign)}")
        object.__setattr__(self, "noise", checked_noise(self.noise))
        object.__setattr__(self, "bias", checked_bias(self.bias, self.n))

    def labels_unchecked(self, bits: Array) -> Int[Array, "..."]:
        """`label` for arrays (..., n) known to hold bits; +1 or -1."""
        members = np.asarray(self.subset, dtype=np.int32)
        found: Array = _labels(bits, members, np.int32(self.sign))
        return found


@jax.jit
def _labels(bits: Array, subset: Array, sign: Array) -> Int[Array, "..."]:
    odd = jnp.sum(bits[..., subset].astype(jnp.int32), axis=-1) % 2
    return jnp.asarray(sign * (1 - 2 * odd)).astype(jnp.int8)


def random_parity(
    key: Key | np.ndarray,
    n: int,
    k: int,
    *,
    neighbours: bool = True,
    sign: int = 1,
    noise: float = 0.0,
    bias: float | Sequence[float] = 0.5,
) -> Parity:
    """A uniformly random k-set B of n positions.

    key: a jax key or an integer seed. neighbours=False draws uniformly from the sets without
    two positions adjacent on the circle (positions 0 and n-1 are adjacent); that needs n ≥ 2k.

    >>> problem = random_parity(0, 20, 3, neighbours=False)
    >>> problem.k
    3
    """
    n, k = whole("n", n, 1, MOST_BITS), whole("k", k)
    if not 0 <= k <= n:
        raise ValueError(f"k must be between 0 and n={n}, got {k}")
    if not neighbours and k > 1 and n < 2 * k:
        raise ValueError(f"{k} positions without neighbours need n ≥ {2 * k}, got n={n}")
    generator = np.random.default_rng(_entropy(key))
    if neighbours or k < 2:
        subset = generator.choice(n, size=k, replace=False)
    else:
        # Fix one member uniformly; the other k-1 form a gap-free choice from the n-k-1
        # places left once each carries its own gap. Every set arises equally often.
        places = np.sort(generator.choice(n - k - 1, size=k - 1, replace=False))
        others = places + np.arange(k - 1) + 2
        subset = (int(generator.integers(n)) + np.append(0, others)) % n
    return Parity(n, tuple(int(j) for j in subset), sign, noise, checked_bias(bias, n))


#: Runs are numbered by 32-bit numbers.
MOST_RUNS = 2**31 - 1


class ParityOptions(TypedDict, total=False):
    """Options of `random_parity` besides n and k."""

    neighbours: bool
    sign: int
    noise: float
    bias: float | Sequence[float]


def random_parities(
    n: int, k: int, runs: int, *, key: Key = 0, first: int = 0, **options: Unpack[ParityOptions]
) -> tuple[Parity, ...]:
    """One random parity per run; run i uses fold_in(key, first + i), options as in
    `random_parity`.

    >>> [problem.k for problem in random_parities(20, 3, runs=2)]
    [3, 3]
    """
    runs = whole("runs", runs, 1, MOST_RUNS)
    numbers = np.resize(run_numbers(first, runs), padded_size(runs))
    words = np.asarray(_target_words(as_key(key), numbers))[:runs]
    return tuple(random_parity(each, n, k, **options) for each in words)


@jax.jit
def _target_words(key: Array, runs: Array) -> Array:
    """Key data of every run's target; the other half of the split is the run's start."""

    def one(run: Array) -> Array:
        return jax.random.key_data(jax.random.split(jax.random.fold_in(key, run))[0])

    return jax.vmap(one)(runs)


def sets_up_to_symmetry(n: int, k: int) -> list[Parity]:
    """One set per orbit of the circle's rotations and reflections.

    >>> [problem.subset for problem in sets_up_to_symmetry(5, 2)]
    [(0, 1), (0, 2)]
    """
    n, k = whole("n", n, 1, 64), whole("k", k, 0, n)
    seen: set[tuple[int, ...]] = set()
    representatives = []
    for subset in combinations(range(n), k):
        if subset not in seen:
            representatives.append(Parity(n, subset))
            for mirror in (1, -1):
                for turn in range(n):
                    seen.add(tuple(sorted((mirror * j + turn) % n for j in subset)))
    return representatives


def _entropy(key: Key | np.ndarray) -> list[int]:
    """Words of a key, or of key data, that seed numpy's generator."""
    if isinstance(key, int | np.integer):
        return [checked_seed(key)]
    words = key if isinstance(key, np.ndarray) else jax.random.key_data(key)
    if np.asarray(words).dtype.kind != "u":
        raise ValueError(f"a key is a whole number or a jax key, got {shortened(key)}")
    return [int(word) for word in np.asarray(words).ravel()]

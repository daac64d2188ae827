"""Gradients over every target at once: what queries to an oracle reveal and what they cannot."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import ceil, log2
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from paritylab.baselines import affine_solutions
from paritylab.models import LINKS
from paritylab.models.chain import ChainModel
from paritylab.problem import all_bits, signs_from_bits
from paritylab.problem.junta import walsh_transform
from paritylab.theory.ks_hardness import hidden_share_bound, mean_label


class Spread(NamedTuple):
    """Gradients of ½mean(p(x) - f(x))² over many targets p.

    variance: E_p‖∇_p - E_p∇_p‖². largest_gradient, mean_gradient: sup and mean of ‖∇f(x)‖².
    distances: ‖∇_p - E_p∇_p‖ of every target. targets: how many there were.
    """

    variance: float
    largest_gradient: float
    mean_gradient: float
    distances: np.ndarray
    targets: int


Subsets = Sequence[tuple[int, ...]]


def direct_model(n: int, k: int, scale: float, seed: int) -> ChainModel:
    """The chain model at random scores, asked for its last token only."""
    scores = scale * np.random.default_rng([seed, n]).normal(size=(n + k - 1, k - 1))
    return ChainModel(scores.astype(np.float32), n, LINKS["quadratic"], "level")


def gradient_spread(model: ChainModel, signs: Any, subsets: Subsets) -> Spread:
    """Variance of the direct model's gradient over targets, from one Jacobian of its answer."""
    pulls = jacobian(model, signs)
    values = target_values(signs, subsets)
    gradients = np.asarray(values, np.float32) @ pulls / len(pulls)
    centred = gradients - gradients.mean(axis=0)
    norms = np.sum(pulls**2, axis=1)
    distances = np.linalg.norm(centred, axis=1)
    return Spread(
        float(np.mean(distances**2)),
        float(norms.max()),
        float(norms.mean()),
        distances,
        len(subsets),
    )


@jax.jit
def _rows_of_jacobian(model: ChainModel, signs: Any) -> Any:
    def answer(scores: Any, row: Any) -> Any:
        return model.with_parameters(scores).generate(row)[-1]

    return jax.vmap(jax.grad(answer), in_axes=(None, 0))(model.scores, signs)


def jacobian(model: ChainModel, signs: Any, block: int = 1024) -> np.ndarray:
    """∇f at every row, in blocks of one size so that nothing compiles twice."""
    signs = jnp.asarray(signs, jnp.float32)
    model = model.with_parameters(np.asarray(model.scores, np.float32))
    rows = len(signs)
    padded = jnp.pad(signs, ((0, -rows % block), (0, 0)), constant_values=1.0)
    parts = [
        np.asarray(_rows_of_jacobian(model, padded[at : at + block])).reshape(block, -1)
        for at in range(0, len(padded), block)
    ]
    return np.concatenate(parts)[:rows]


def target_values(signs: Any, subsets: Subsets) -> np.ndarray:
    """p(x) for every target and row."""
    minus, inside = np.asarray(signs) < 0, np.zeros((len(subsets), np.shape(signs)[1]), np.float32)
    for row, subset in zip(inside, subsets, strict=True):
        row[list(subset)] = 1
    return 1 - 2 * ((inside @ minus.T.astype(np.float32)) % 2)


def linear_variance(features: np.ndarray, targets: np.ndarray) -> tuple[float, float]:
    """Variance over targets of the gradient of E(h - f)² for f = Σ_i θ_i·feature_i at θ = 0, and
    E‖∇f‖²/|H|; one row of values over all inputs per feature and per target."""
    gradients = -2 * targets @ features.T / features.shape[1]
    variance = np.mean(np.sum((gradients - gradients.mean(axis=0)) ** 2, axis=1))
    return float(variance), float(np.mean(np.sum(features**2, axis=0)) / len(targets))


def all_signs(n: int) -> np.ndarray:
    """Every input as signs, float32, in the order of `all_bits`."""
    bits = np.concatenate([np.asarray(chunk) for chunk in all_bits(n)])
    return np.asarray(signs_from_bits(bits), np.float32)


def every_subset(n: int, k: int) -> list[tuple[int, ...]]:
    """All C(n,k) targets."""
    return list(combinations(range(n), k))


def random_signs(generator: np.random.Generator, rows: int, n: int) -> np.ndarray:
    """Rows of n fair signs."""
    return generator.choice([-1.0, 1.0], (rows, n)).astype(np.float32)


#: Values of a decoding feature are cut off here, so that gradients stay bounded.
CUT = 3.0
#: Targets that a decoding query tells apart, times ε²; up to 4 in the limit of a rare cut.
DECODED = 3.0


class Asked(NamedTuple):
    """What some queries say about every target.

    distances: largest ‖∇_p - E_p∇_p‖ over the queries, per target. gradient: largest E‖∇f‖².
    queries: how many.
    """

    distances: Float[np.ndarray, " targets"]
    gradient: float
    queries: int

    def use_of_bound(self) -> float:
        """Largest ratio, over all errors, of the share revealed to `hidden_share_bound`."""
        shares = np.arange(1, len(self.distances) + 1) / len(self.distances)
        falling = np.maximum(np.sort(self.distances)[::-1], 1e-30)
        bounds = [
            hidden_share_bound(
                float(error), targets=len(shares), gradient=self.gradient, queries=self.queries
            )
            for error in falling
        ]
        return float(np.max(shares / bounds))


def ask(models: Iterable[ChainModel], signs: Any, subsets: Subsets) -> Asked:
    """One query at each model, for every target of `subsets` and all rows of signs."""
    distances, gradient, queries = np.zeros(len(subsets)), 0.0, 0
    for model in models:
        spread = gradient_spread(model, signs, subsets)
        distances = np.maximum(distances, 2 * spread.distances)
        gradient, queries = max(gradient, spread.mean_gradient), queries + 1
    return Asked(distances, gradient, queries)


class Decoded(NamedTuple):
    """Targets that one query tells apart against every oracle of an error.

    share: of all targets. features: parameters of the model. gradient: sup‖∇f‖².
    """

    share: float
    features: int
    gradient: float


def decode_in_one_query(n: int, k: int, error: float, seed: int = 0) -> Decoded:
    """Targets of size k that one query at θ = 0 to an oracle of `error` tells apart exactly.

    The model is f = Σ_j θ_j·g_j. g_j is m^(-1/2)·Σ_{p∈M} ±p over m = 3/ε² targets, the signs being
    the j-th digits of their numbers, cut off at ±3. So ∂L/∂θ_j = -2·E[p·g_j] is about ±2/√m, and
    its sign stands any error below that. A target counts if all its digits do, by exact transforms.
    With further parameters that can express parities the answer is then that target; ±g_j alone
    agrees with it more often than chance by about m^(-1/2).

    >>> decode_in_one_query(10, 5, 0.2).share > 0.1
    True
    """
    targets = _masks(n, k)
    count = min(len(targets), max(2, int(DECODED / error**2)))
    chosen = np.random.default_rng([seed, n]).choice(targets, count, replace=False)
    safe, features = np.ones(count, dtype=bool), ceil(log2(count))
    squares = np.zeros(1 << n)
    for digit in range(features):
        spectrum = np.zeros(1 << n)
        spectrum[chosen] = 1.0 - 2 * ((np.arange(count) >> digit) & 1)
        values = np.clip(walsh_transform(spectrum) / np.sqrt(count), -CUT, CUT)
        answers = 2 * walsh_transform(values)[chosen] / (1 << n)
        safe &= answers * spectrum[chosen] > error
        squares += values**2
    return Decoded(float(safe.sum() / len(targets)), features, float(squares.max()))


def _masks(n: int, k: int) -> Int[np.ndarray, " targets"]:
    """All k-sets as bit masks."""
    every = np.arange(1 << n)
    return np.asarray(every[np.bitwise_count(every) == k])


class Identified(NamedTuple):
    """Share of targets that one query identifies, by what the oracle of one error does.

    exact: it makes no error. random: a random direction of that length. rounded: a grid of that
    diagonal. hiding: the mean over targets where it is within the error.
    """

    exact: float
    random: float
    rounded: float
    hiding: float


def identify_in_one_query(n: int, k: int, error: float, features: int, seed: int = 0) -> Identified:
    """One query at θ = 0 of f = Σ_j θ_j·g_j/√D with D random functions g_j = ±1 of all n bits.

    ∂E(p - f)²/∂θ_j = -2·E[p·g_j]/√D, so the gradients of all targets are known beforehand, about
    2^(1-n/2) long, and the nearest one to the answer is named. ‖∇f‖ = 1 at every input.

    >>> identify_in_one_query(8, 4, 0.3, 256).exact
    1.0
    """
    targets, generator = _masks(n, k), np.random.default_rng([seed, n, 2])
    columns = [
        walsh_transform(generator.choice([-1.0, 1.0], 1 << n))[targets] for _ in range(features)
    ]
    true = -2 * np.stack(columns, axis=1) / (1 << n) / np.sqrt(features)
    mean, away = true.mean(axis=0), generator.normal(size=true.shape)
    away *= error / np.linalg.norm(away, axis=1, keepdims=True)
    step = 2 * error / np.sqrt(features)
    hidden = np.linalg.norm(true - mean, axis=1, keepdims=True) <= error
    answers = (true, true + away, step * np.round(true / step), np.where(hidden, mean, true))
    squares = np.sum(true**2, axis=1) / 2
    named = [np.argmax(answer @ true.T - squares, axis=1) for answer in answers]
    return Identified(*(float(np.mean(found == np.arange(len(targets)))) for found in named))


def _bucket_sums(
    signs: np.ndarray, labels: np.ndarray, number: np.ndarray, buckets: int
) -> Float[np.ndarray, "buckets n+1"]:
    """Sum of y·(1, x) over the rows of every bucket. number: the bucket of a row."""
    sums = np.zeros((buckets, signs.shape[1] + 1))
    ones = np.ones((len(signs), 1))
    np.add.at(sums, number, labels[:, None] * np.concatenate([ones, signs], axis=1))
    return sums


def _names(answer: np.ndarray, rows: int, target: np.ndarray) -> bool:
    """Whether the rows that can be read off an answer have the target as their only parity."""
    read = np.round(answer * rows)
    single = read[np.all(np.abs(read) == 1, axis=1)]
    bits, sides = single[:, 1:] * single[:, :1] < 0, single[:, :1] < 0
    if len(single) < bits.shape[1]:
        return False
    found = affine_solutions(bits.astype(np.uint8), sides.astype(np.uint8))
    unique = len(found.basis) == 0 and bool(found.consistent[0])
    return unique and np.array_equal(np.flatnonzero(found.solutions[0]), target)


class Reading(NamedTuple):
    """What queries that read rows lead to.

    hidden: every answer was the mean over all targets. named: some answer named the target. exact:
    some answer of an exact oracle would have named it.
    """

    hidden: bool
    named: bool
    exact: bool


def read_through_oracle(
    n: int, k: int, rows: int, *, error: float, queries: int, seed: int = 0
) -> Reading:
    """Read rows off averaged gradients, through an oracle that hides where its error allows.

    The model f = Σ_j θ_j·(1, x)·1{x is in bucket j} sees each row by itself; the loss is
    ½ mean (y - f)². A bucket is a value of the first bits of x, of which there are about 16 per
    row. At θ = 0 one with a single row has the gradient -(y, yx)/N: row and label are read off it,
    and elimination names the set. Each query takes other buckets, and only so many that about 1.5n
    of the rows are in them, because each row that is read adds (n + 1)/N² to the squared distance.

    >>> [read_through_oracle(24, 8, 2**12, error=e, queries=2).named for e in (0.0, 0.1)]
    [True, False]
    """
    generator = np.random.default_rng([seed, n, rows, 1])
    signs = 1 - 2 * generator.integers(0, 2, (rows, n), np.int8)
    target = np.sort(generator.choice(n, k, replace=False))
    digits = min(n, ceil(log2(16 * rows)))
    first = (signs[:, :digits] < 0) @ (1 << np.arange(digits))
    buckets = ceil(1.5 * n * (1 << digits) / rows)
    means, hidden, named, exact = mean_label(n, k), [], [], []
    for _ in range(queries):
        number = first * (int(generator.integers(1 << digits)) | 1) % (1 << digits)
        kept = number < buckets
        own, at = signs[kept].astype(np.float64), number[kept]
        true = _bucket_sums(own, own[:, target].prod(axis=1), at, buckets) / rows
        minus = np.round((n - own.sum(axis=1)) / 2).astype(int)
        mean = _bucket_sums(own, means[minus], at, buckets) / rows
        hidden.append(float(np.linalg.norm(true - mean)) <= error)
        exact.append(_names(true, rows, target))
        named.append(_names(mean if hidden[-1] else true, rows, target))
    return Reading(all(hidden), any(named), any(exact))

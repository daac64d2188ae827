"""Closed form for the readout cos(πs): one frequency, any n, any loss of the lab.

|cos| ≤ 1 makes every hinge a polynomial: 1 - y·ŷ is never negative for labels ±1. So with
c = E[y cos πs] and q = E[cos 2πs] the six losses are

    hinge 1 - c,   squared hinge 1 - 2c + (1+q)/2,   squared half of that,
    (mean hinge)² (1-c)²,   correlation -c,   log correlation -log|c|,

and c and q are products over the positions. A product of a million factors below one is no double
any more, so c is kept as exp(modulus)·factor with the modulus as a logarithm. For a junta the
hidden bits are enumerated, and the product runs over the others.
"""

from collections.abc import Callable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab._support.precision import AnyArray, float64
from paritylab.problem import Junta, Parity
from paritylab.risk.routes.half_sums import plain_sums
from paritylab.risk.routes.pieces import SIGNS, Labels
from paritylab.risk.routes.statistic import (
    EPS,
    Case,
    JuntaTarget,
    Labelled,
    RouteRisk,
    Statistic,
    Target,
    WeightRisk,
    labelled,
    stacked_targets,
)

#: Floats that one compiled call may hold at a time.
_BUDGET = 1 << 25


def risk(case: Case) -> RouteRisk:
    """Value and slopes to rounding."""
    statistic = case.statistic
    arguments = (case.weights, case.target, statistic.labels, statistic.loss.name)
    (value, swing), slopes = _value_and_slopes(*arguments)
    error = _rounding(case.problem.n, np.asarray(value), np.asarray(swing), statistic)
    return RouteRisk(float(value), float(error), True, slopes if case.slopes else None)


def many(
    statistic: Statistic, weights: Float[np.ndarray, "runs n"], problems: Sequence[Parity | Junta]
) -> tuple[np.ndarray, np.ndarray]:
    """Values and errors (runs,) of weights (runs, n), each with its problem, all of one kind.

    Blocks have equal sizes, so that one compilation serves all; the last is filled up with
    repetitions.
    """
    runs, n = weights.shape
    targets = stacked_targets(problems)
    size = max(1, min(1 << (runs - 1).bit_length(), _BUDGET // (64 * n)))
    blocks = []
    for start in range(0, runs, size):
        rows = np.resize(np.arange(start, min(start + size, runs)), size)
        with float64():
            some = jax.tree.map(lambda array, rows=rows: array[rows], targets)
            found = _values(weights[rows], some, statistic.labels, statistic.loss.name)
            blocks.append(np.stack(found))
    values, swings = np.concatenate(blocks, axis=1)[:, :runs]
    return values, _rounding(n, values, swings, statistic)


def in_loop(statistic: Statistic, n: int) -> WeightRisk:
    """The risk for compiled loops; as exact as `risk`."""
    name, labels = statistic.loss.name, statistic.labels

    def function(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
        return cosine_risk(weights, labelled(target, labels), labels, name)[0]

    return WeightRisk(function, EPS * (64 * n**0.5 + 4 * n) * _size(labels))


def _size(labels: Labels) -> float:
    return max(map(abs, labels or SIGNS)) ** 2


def _rounding(n: int, values: np.ndarray, swings: np.ndarray, statistic: Statistic) -> np.ndarray:
    """How far rounding carries values; the logarithm magnifies it where a phase nearly cancels.

    Equal weights round alike, so errors of the factors add up with n and not with its root: 4n ε
    for the factors, 32√n ε for the sum of their logarithms. An error δ of the factor is one of
    δ/|share| in its logarithm.
    """
    factors = EPS * (32 * n**0.5 + 4 * n)
    if statistic.loss.name != "log_correlation":
        size = max(1.0, _size(statistic.labels))
        return np.asarray(factors * size + 32 * EPS * np.abs(values))
    with np.errstate(divide="ignore"):
        return np.asarray(factors / np.abs(swings) + 32 * EPS * np.abs(values))


def log_characteristic(
    weights: Float[Array, " n"],
    indicator: Float[AnyArray, " n"],
    probabilities: Float[AnyArray, " n"],
    frequency: float,
) -> tuple[Float[Array, ""], Float[Array, ""], Float[Array, ""]]:
    """E[e^{iωs} Π_{j∈B} (-1)^{x_j}], s = Σ_j g_j x_j, as left·exp(modulus + i·phase).

    Bit j contributes e^{iωg/2}(cos + i(2p-1) sin) off B and e^{iωg/2}((1-2p) cos - i sin) on B, at
    ωg/2; moduli add up in the log domain. indicator: 1 on B; all zeros gives plain E[e^{iωs}].

    A fair bit of B with weight 0 makes the product exactly zero, and its logarithm has no slope
    although the product has one. Such factors -i sin(ωg/2) stay outside the logarithm, in `left`:
    1 without any, the sine itself if there is one, and 0, slopes included, if there are more.
    """
    half = frequency * weights / 2
    cos, sin, lean = jnp.cos(half), jnp.sin(half), 1 - 2 * probabilities
    on = indicator > 0
    real = jnp.where(on, lean * cos, cos)
    imaginary = jnp.where(on, -sin, -lean * sin)
    gone = (real == 0) & (imaginary == 0)
    count = jnp.sum(gone)
    real, imaginary = jnp.where(gone, 1.0, real), jnp.where(gone, 0.0, imaginary)
    modulus = jnp.sum(jnp.log(jnp.hypot(real, imaginary)))
    phase = jnp.sum(half + jnp.arctan2(imaginary, real)) - jnp.pi / 2 * count
    single = jnp.where(count == 1, jnp.sum(jnp.where(gone, sin, 0.0)), 0.0)
    return modulus, phase, jnp.where(count == 0, 1.0, single)


def correlation_wave(
    weights: Float[Array, " n"], target: Target | Labelled, labels: Labels
) -> tuple[Float[Array, ""], Float[Array, ""], Float[Array, ""]]:
    """E[y cos πs] as exp(modulus)·factor, and the factor as a share of what rounding acts on.

    labels: those of a `Labelled` target. A share of 1e-15 is all rounding.
    """
    if isinstance(target, Target):
        modulus, phase, left = log_characteristic(
            weights, target.indicator, target.probabilities, jnp.pi
        )
        share = left * jnp.cos(phase)
        return modulus, share * target.contrast, share
    assert labels is not None
    means = jnp.asarray(labels) @ target.shares
    head = plain_sums(weights[target.subset], target.probabilities[target.subset])
    others, none = weights.at[target.subset].set(0.0), jnp.zeros_like(weights)
    modulus, phase, _ = log_characteristic(others, none, target.probabilities, jnp.pi)
    terms = head.chances[0] * means
    factor = jnp.sum(terms * jnp.cos(phase + jnp.pi * head.sums))
    return modulus, factor, factor / jnp.sum(jnp.abs(terms))


def log_correlation(
    weights: Float[Array, " n"], target: Target | Labelled, labels: Labels = None
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """log|E[y cos πs]| and its sign; for a parity of fair bits Π_{j∉B} cos(πg_j/2) Π_{j∈B}
    sin(πg_j/2). labels: those of a `Labelled` target."""
    modulus, factor, _ = correlation_wave(weights, target, labels)
    return modulus + jnp.log(jnp.abs(factor)), jnp.sign(factor)


def cosine_risk(
    weights: Float[Array, " n"], target: Target | Labelled, labels: Labels, loss: str
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The population risk of cos(πs) for one of the lab's losses by name, and the last number of
    `correlation_wave`: rounding grows as it falls."""
    modulus, factor, share = correlation_wave(weights, target, labels)
    if loss == "log_correlation":
        return -(modulus + jnp.log(jnp.abs(factor))), share
    c = jnp.exp(modulus) * factor
    if loss in _OF_CORRELATION:
        return _OF_CORRELATION[loss](c), share
    none = jnp.zeros_like(weights)
    modulus, phase, _ = log_characteristic(weights, none, target.probabilities, 2 * jnp.pi)
    total = 1 - 2 * c + (1 + jnp.exp(modulus) * jnp.cos(phase)) / 2
    if loss == "squared_hinge":
        return total, share
    if isinstance(target, Labelled):  # E y² is not 1 for a real table
        chances = plain_sums(weights[target.subset], target.probabilities[target.subset]).chances
        total += chances[0] @ (jnp.asarray(labels) ** 2 @ target.shares) - 1
    return total / 2, share


_OF_CORRELATION: dict[str, Callable[[Array], Array]] = {
    "hinge": lambda c: 1 - c,
    "mean_hinge_squared": lambda c: (1 - c) ** 2,
    "correlation": lambda c: -c,
}


_value_and_slopes = jax.jit(jax.value_and_grad(cosine_risk, has_aux=True), static_argnums=(2, 3))


@partial(jax.jit, static_argnums=(2, 3))
def _values(
    weights: Float[Array, "runs n"], targets: Target | JuntaTarget, labels: Labels, loss: str
) -> tuple[Float[Array, " runs"], Float[Array, " runs"]]:
    def one(row: Array, target: Target | JuntaTarget) -> tuple[Array, Array]:
        return cosine_risk(row, labelled(target, labels), labels, loss)

    return jax.vmap(one)(weights, targets)

"""The k-head attention model: heads look at positions, a frozen readout takes the parity."""

from collections.abc import Sequence
from typing import NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.checks import shortened, whole
from paritylab.models.attention import Kind, as_attention
from paritylab.models.positions import AbstractPositionCode, Circle
from paritylab.models.readouts import Readout, as_readout, default_readout
from paritylab.precision import AnyArray, keep_float64
from paritylab.problem import Junta, Parity
from paritylab.problem.keys import Key
from paritylab.problem.sampling import normals


def check_temperature(tau: Float[AnyArray, ""] | float) -> None:
    """A clear error unless the temperature is positive and finite; a jax array may be traced."""
    if not isinstance(tau, jax.Array) and not np.all((tau > 0) & (tau < np.inf)):
        raise ValueError(f"tau must be positive and finite, got {shortened(tau)}")


class ParameterCount(NamedTuple):
    """trainable: numbers that gradient descent moves. paper: numbers as HG1 counts them."""

    trainable: int
    paper: int


def weights_of(attention: Float[AnyArray, "heads n"], k: int) -> Float[Array, " n"]:
    """g_j = (k/heads)·Σ_i γ_i[j]: the weight of bit j in the attended sum; Σ_j g_j = k."""
    return (k / attention.shape[0]) * jnp.sum(attention, axis=0)


def unit_directions(key: Key, heads: int, width: int) -> Float[np.ndarray, "heads width"]:
    """The paper's start: unit directions, uniformly random (normal numbers over their norm)."""
    draws = normals(key, (heads, width)).astype(np.float64)
    return np.asarray(draws / np.linalg.norm(draws, axis=1, keepdims=True))


@final
class WeightedReadout(eqx.Module):
    """ŷ = readout(Σ_j g_j x_j): what the masked model is once its attention is known."""

    weights: Float[AnyArray, " n"]
    readout: Readout

    def parameters(self) -> Float[AnyArray, " n"]:
        return self.weights

    def with_parameters(self, weights: AnyArray) -> "WeightedReadout":
        return type(self)(weights, self.readout)

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        return self.readout(jnp.asarray(self.weights) @ bits)


@final
class HeadAttention(eqx.Module):
    """HG1's masked model: γ_i = softmax_j(<a_i, p_j>/τ), ŷ = h((k/heads) Σ_i Σ_j γ_i[j] x_j).

    directions: a, one trainable row per head. code: the positions p. k: size of the parity
    set. tau: temperature τ. readout: h, frozen; by default that of `default_readout`. kind: how
    scores become attention, "softmax" unless given; "hard" puts all of it on the best position.

    >>> model = HeadAttention.on(Parity(12, (2, 7)), tau=1 / 144)
    >>> round(float(model(np.eye(12)[2])), 4)
    -1.0
    """

    directions: Float[AnyArray, "heads width"] = eqx.field(converter=keep_float64)
    code: AbstractPositionCode
    k: int = eqx.field(static=True)
    readout: Readout
    tau: Float[AnyArray, ""] | float = eqx.field(converter=keep_float64, default=1.0)
    kind: str | Kind = eqx.field(static=True, default="softmax")

    @classmethod
    def on(
        cls,
        problem: Parity | Junta,
        *,
        readout: str | Readout | None = None,
        tau: AnyArray | float = 1.0,
        kind: str | Kind = "softmax",
    ) -> "HeadAttention":
        """One head exactly on each position of B: the construction of Proposition 3."""
        return cls.at(problem.subset, problem, readout=readout, tau=tau, kind=kind)

    @classmethod
    def at(
        cls,
        positions: Sequence[int],
        problem: Parity | Junta,
        *,
        code: AbstractPositionCode | None = None,
        readout: str | Readout | None = None,
        tau: AnyArray | float = 1.0,
        kind: str | Kind = "softmax",
    ) -> "HeadAttention":
        """One head on each of the given positions, right or wrong."""
        code, k = Circle(problem.n) if code is None else code, problem.k
        return cls(code.vectors(list(positions)), code, k, _readout(readout, problem), tau, kind)

    @classmethod
    def random(
        cls,
        key: Key,
        problem: Parity | Junta,
        *,
        heads: int | None = None,
        code: AbstractPositionCode | None = None,
        readout: str | Readout | None = None,
        tau: AnyArray | float = 1.0,
    ) -> "HeadAttention":
        """The paper's start: unit directions, uniformly random; `heads` defaults to k."""
        heads = problem.k if heads is None else heads
        if heads < 1:
            raise ValueError(f"heads must be at least 1, got {heads}")
        code = Circle(problem.n) if code is None else code
        directions = unit_directions(key, heads, code.width)
        return cls(directions, code, problem.k, _readout(readout, problem), tau)

    def __check_init__(self) -> None:
        check_temperature(self.tau)
        whole("k", self.k, 0)
        as_attention(self.kind)

    def scores(self) -> Float[Array, "heads n"]:
        """<a_i, p_j>/τ."""
        return jnp.asarray(self.code.scores(jnp.asarray(self.directions)) / self.tau)

    def attention(self) -> Float[Array, "heads n"]:
        """The attention matrix γ; every row sums to one."""
        return as_attention(self.kind)(self.scores())

    def weights(self) -> Float[Array, " n"]:
        """g, the weight of each bit in the attended sum."""
        return weights_of(self.attention(), self.k)

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        """The prediction ŷ for one bit string; use `jax.vmap` for many."""
        return self.readout(self.weights() @ bits)

    def parameters(self) -> Float[AnyArray, "heads width"]:
        return self.directions

    def with_parameters(self, directions: AnyArray) -> "HeadAttention":
        changed: HeadAttention = eqx.tree_at(lambda model: model.directions, self, directions)
        return changed

    def count(self) -> ParameterCount:
        """Trainable numbers, and the paper's 16 per head + 2k+2 for the classification head."""
        heads = self.directions.shape[0]
        return ParameterCount(heads * self.code.width, 16 * heads + 2 * self.k + 2)


def _readout(given: str | Readout | None, problem: Parity | Junta) -> Readout:
    return default_readout(problem) if given is None else as_readout(given, problem.k)

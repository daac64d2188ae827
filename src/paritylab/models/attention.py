"""Attention over positions: how scores become weights, HG1's k heads and HG2's two.

Heads look at positions, a frozen readout takes the parity of what they see. The full text of HG2
is not public; its model is our reconstruction, consistent with its abstract.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab._support.checks import shortened, whole
from paritylab._support.precision import AnyArray, keep_float64
from paritylab.models.positions import AbstractPositionCode, Circle
from paritylab.models.protocol import TrainsOneArray, parameters_of, with_parameters
from paritylab.models.readouts import Bowl, Readout, as_readout, default_readout
from paritylab.problem import Junta, Parity
from paritylab.problem.keys import Key
from paritylab.problem.sampling import normals

#: A function of scores (..., n) to weights (..., n) over the last axis.
Kind = Callable[[Array], Array]


@jax.jit
def softmax_attention(scores: Float[Array, "... n"]) -> Float[Array, "... n"]:
    """γ_j = exp(score_j) / Σ_p exp(score_p) over the last axis; divide by tau beforehand."""
    return jax.nn.softmax(scores, axis=-1)


def hard_attention(scores: Float[Array, "... n"]) -> Float[Array, "... n"]:
    """All attention on the maximum, on the first of positions tied up to 64 units in the last
    place: which of them is larger by less is rounding."""
    top = jnp.max(scores, axis=-1, keepdims=True)
    scale = jnp.max(jnp.abs(scores), axis=-1, keepdims=True)
    unit = jnp.finfo(scores.dtype).eps  # type: ignore[no-untyped-call]
    first = jnp.argmax(scores >= top - 64 * unit * scale, axis=-1)
    return jax.nn.one_hot(first, scores.shape[-1], dtype=scores.dtype)


def _shifted_sigmoid(scores: Float[Array, "... n"]) -> Float[Array, "... n"]:
    """σ(score - ln(n-1)): 1/n at score 0, and able to reach 1."""
    return jax.nn.sigmoid(scores - jnp.log(scores.shape[-1] - 1.0))


def _linear(scores: Float[Array, "... n"]) -> Float[Array, "... n"]:
    return (1 + scores) / scores.shape[-1]


def _exponential(scores: Float[Array, "... n"]) -> Float[Array, "... n"]:
    return jnp.exp(scores) / scores.shape[-1]


def _rectified(scores: Float[Array, "... n"]) -> Float[Array, "... n"]:
    return jnp.maximum(1 + scores, 0) / scores.shape[-1]


#: Kinds that can be trained. Each gives 1/n to every position at score 0, so that all start from
#: the same place; only softmax divides by a sum over positions.
ATTENTION: dict[str, Kind] = {
    "softmax": softmax_attention,
    "linear": _linear,
    "sigmoid": _shifted_sigmoid,
    "exp": _exponential,
    "relu": _rectified,
}

_KINDS = {**ATTENTION, "hard": hard_attention}


def as_attention(kind: str | Kind) -> Kind:
    """An attention kind from its name; a function of scores passes once it is found to fit."""
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(
                f"attention must be one of {', '.join(_KINDS)} or a function of scores, "
                f"got {shortened(kind)}"
            )
        return _KINDS[kind]
    if not callable(kind):
        raise ValueError(f"attention must be a name or a function of scores, got {shortened(kind)}")
    try:
        shape = jax.eval_shape(kind, jnp.zeros((2, 5))).shape
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ValueError(
            f"the attention function fails on scores of shape (heads, n): {reason}; "
            "write it with jax.numpy over the last axis"
        ) from None
    if shape != (2, 5):
        raise ValueError(
            f"the attention function must give a weight per score, (heads, n) to (heads, n); "
            f"it turned (2, 5) into {shape}"
        )
    return kind


def attend(scores: Float[Array, "... n"], kind: str | Kind = "softmax") -> Float[Array, "... n"]:
    """Weights from scores over the last axis, by an attention kind.

    >>> attend(jnp.zeros(4), "sigmoid").tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    return as_attention(kind)(scores)


def check_temperature(tau: Float[AnyArray, ""] | float) -> None:
    """A clear error unless the temperature is positive and finite; a jax array may be traced."""
    if not isinstance(tau, jax.Array) and not np.all((tau > 0) & (tau < np.inf)):
        raise ValueError(f"tau must be positive and finite, got {shortened(tau)}")


def unit_directions(key: Key, heads: int, width: int) -> Float[np.ndarray, "heads width"]:
    """The paper's start: unit directions, uniformly random (normal numbers over their norm)."""
    draws = normals(key, (heads, width)).astype(np.float64)
    return np.asarray(draws / np.linalg.norm(draws, axis=1, keepdims=True))


@final
class WeightedReadout(TrainsOneArray):
    """ŷ = readout(Σ_j g_j x_j): what the masked model is once its attention is known."""

    trained: ClassVar[str] = "weights"
    weights: Float[AnyArray, " n"]
    readout: Readout

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        return self.readout(jnp.asarray(self.weights) @ bits)


#: What heads may see of a bit: x, or 1 - 2x.
INPUTS = ("bits", "signs")
#: What may train of k heads.
TRAINS = ("directions", "readout")


@final
class HeadAttention(eqx.Module):
    """HG1's masked model: γ_i = softmax_j(<a_i, p_j>/τ), ŷ = h((k/heads) Σ_i Σ_j γ_i[j] x_j).

    directions: a, one trainable row per head. code: the positions p. k: size of the parity
    set. tau: temperature τ. readout: h, frozen; by default that of `default_readout`. kind: how
    scores become attention, "softmax" unless given; "hard" puts all of it on the best position.
    inputs: "signs" attends to z = (k/heads) Σ_i Σ_j γ_i[j] (1 - 2x_j) and takes s = (k - z)/2,
    which is the same sum where attention sums to one; where it does not, equal weights of any size
    then have the value of a balanced input in the middle. trains: "directions", "readout" (the
    floating arrays of an equinox.Module), or both.

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
    inputs: str = eqx.field(static=True, default="bits")
    trains: tuple[str, ...] = eqx.field(static=True, default=("directions",))

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
        if self.inputs not in INPUTS:
            raise ValueError(f"inputs must be bits or signs, got {shortened(self.inputs)}")
        if not self.trains or not set(self.trains) <= set(TRAINS):
            raise ValueError(f"trains must name {' or '.join(TRAINS)}, got {self.trains}")
        if "readout" in self.trains and not jax.tree.leaves(self._readout_numbers()):
            raise ValueError(
                "this readout has no numbers to train; give an equinox.Module with arrays, such "
                "as TrainableReadout.of(Zigzag(k))"
            )

    def _readout_numbers(self) -> object:
        return parameters_of(self.readout)

    def parameters(self) -> object:
        """The directions; where the readout trains too, both by name."""
        if self.trains == ("directions",):
            return self.directions
        numbers = {"readout": tuple(jax.tree.leaves(self._readout_numbers()))}
        return (
            {"directions": self.directions, **numbers} if "directions" in self.trains else numbers
        )

    def with_parameters(self, parameters: Any) -> "HeadAttention":
        """The same model with other numbers in their place."""
        if not isinstance(parameters, dict):
            return self._with_directions(parameters)
        changed = self
        if "directions" in parameters:
            changed = self._with_directions(parameters["directions"])
        form = jax.tree.structure(self._readout_numbers())
        readout = jax.tree.unflatten(form, list(parameters["readout"]))
        trained: HeadAttention = eqx.tree_at(
            lambda model: model.readout, changed, with_parameters(self.readout, readout)
        )
        return trained

    def _with_directions(self, directions: AnyArray) -> "HeadAttention":
        turned: HeadAttention = eqx.tree_at(lambda model: model.directions, self, directions)
        return turned

    def hard(self) -> "HeadAttention":
        """The same heads, each with all attention on its best position."""
        return replace(self, kind="hard")

    def scores(self) -> Float[Array, "heads n"]:
        """<a_i, p_j>/τ."""
        return jnp.asarray(self.code.scores(jnp.asarray(self.directions)) / self.tau)

    def attention(self) -> Float[Array, "heads n"]:
        """The attention matrix γ; every row sums to one."""
        return as_attention(self.kind)(self.scores())

    def weights(self) -> Float[Array, " n"]:
        """g_j = (k/heads)·Σ_i γ_i[j], the weight of bit j in the attended sum; Σ_j g_j = k."""
        attention = self.attention()
        return (self.k / attention.shape[0]) * jnp.sum(attention, axis=0)

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        """The prediction ŷ for one bit string; use `jax.vmap` for many."""
        return self.predict(self.weights(), bits)

    def predict(
        self, weights: Float[AnyArray, " n"], bits: Float[AnyArray, " n"]
    ) -> Float[Array, ""]:
        """The prediction for one bit string at given weights of the bits."""
        if self.inputs == "bits":
            return self.readout(jnp.asarray(weights) @ bits)
        return self.readout((self.k - jnp.asarray(weights) @ (1 - 2 * jnp.asarray(bits))) / 2)


def _readout(given: str | Readout | None, problem: Parity | Junta) -> Readout:
    return default_readout(problem) if given is None else as_readout(given, problem.k)


@final
class TwoHeads(TrainsOneArray):
    """α_h = attend(<w_h, p_l>), z = ½ Σ_h Σ_l α_h[l] x_l with signs x, ŷ = readout(z).

    directions: w, one trainable row per head. code: the positions p. kind: how scores become
    weights (softmax unless given). readout: 1 - 2z² unless given.

    >>> from paritylab.models.positions import OneHot
    >>> model = TwoHeads(100.0 * OneHot(5).vectors([1, 3]), OneHot(5))
    >>> [round(float(model(jnp.array(bits))), 3) for bits in ([0.0, 1, 0, 1, 0], [0.0, 1, 0, 0, 0])]
    [-1.0, 1.0]
    """

    trained: ClassVar[str] = "directions"
    directions: Float[AnyArray, "heads width"] = eqx.field(converter=keep_float64)
    code: AbstractPositionCode
    kind: str | Kind = eqx.field(static=True, default="softmax")
    readout: Readout = Bowl()

    def __check_init__(self) -> None:
        as_attention(self.kind)

    def hard(self) -> "TwoHeads":
        """The same heads, each with all attention on its best position."""
        return replace(self, kind="hard")

    def attention(self) -> Float[Array, "heads n"]:
        """α, one row per head."""
        return attend(self.code.scores(jnp.asarray(self.directions)), self.kind)

    def weights(self) -> Float[Array, " n"]:
        """g_l = ½ Σ_h α_h[l], the weight of sign l in z."""
        return jnp.mean(self.attention(), axis=0)

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        """The prediction ŷ for one string of bits in {0, 1}; use `jax.vmap` for many."""
        return self.readout(self.weights() @ (1 - 2 * jnp.asarray(bits)))

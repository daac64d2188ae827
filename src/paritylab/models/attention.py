"""Attention over positions: how scores become weights, for every model of the lab."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from paritylab.checks import shortened

#: A function of scores (..., n) to weights (..., n) over the last axis.
Kind = Callable[[Array], Array]


@jax.jit
def softmax_attention(scores: Float[Array, "... n"]) -> Float[Array, "... n"]:
    """γ_j = exp(score_j) / Σ_p exp(score_p) over the last axis; divide by tau beforehand."""
    return jax.nn.softmax(scores, axis=-1)


def tied_positions(scores: Float[Array, "... n"]) -> Bool[Array, "... n"]:
    """Positions whose score equals the maximum up to rounding (64 units in the last place).

    >>> tied_positions(jnp.array([0.0, 1.0, 1.0])).tolist()
    [False, True, True]
    """
    top = jnp.max(scores, axis=-1, keepdims=True)
    scale = jnp.max(jnp.abs(scores), axis=-1, keepdims=True)
    unit = jnp.finfo(scores.dtype).eps  # type: ignore[no-untyped-call]
    return scores >= jnp.asarray(top - 64 * unit * scale)


def hard_attention(scores: Float[Array, "... n"]) -> Float[Array, "... n"]:
    """All attention on the maximum, on the first of tied positions.

    Ask `tied_positions` whether there was a choice to make.
    """
    first = jnp.argmax(tied_positions(scores), axis=-1)
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

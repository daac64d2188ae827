"""Attention over positions: one softmax, one argmax, for every model of the lab."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


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
    return scores >= top - 64 * jnp.finfo(scores.dtype).eps * scale


def hard_attention(
    scores: Float[Array, "... n"], *, average_ties: bool = False
) -> Float[Array, "... n"]:
    """All attention on the maximum: the first of tied positions, or their average.

    Ask `tied_positions` whether there was a choice to make.
    """
    tied = tied_positions(scores)
    if average_ties:
        return tied / jnp.sum(tied, axis=-1, keepdims=True).astype(scores.dtype)
    return jax.nn.one_hot(jnp.argmax(tied, axis=-1), scores.shape[-1], dtype=scores.dtype)


def _shifted_sigmoid(scores):
    """σ(score - ln(n-1)): 1/n at score 0, and able to reach 1."""
    return jax.nn.sigmoid(scores - jnp.log(scores.shape[-1] - 1.0))


#: How scores become weights. Every kind gives 1/n to each position at score 0, so that all start
#: from the same place; only softmax divides by a sum over positions.
ATTENTION: dict[str, Callable[[Array], Array]] = {
    "softmax": softmax_attention,
    "linear": lambda scores: (1 + scores) / scores.shape[-1],
    "sigmoid": _shifted_sigmoid,
    "exp": lambda scores: jnp.exp(scores) / scores.shape[-1],
    "relu": lambda scores: jnp.maximum(1 + scores, 0) / scores.shape[-1],
}


def attend(scores: Float[Array, "... n"], kind: str = "softmax") -> Float[Array, "... n"]:
    """Weights from scores over the last axis, by the name of an attention kind.

    >>> attend(jnp.zeros(4), "sigmoid").tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    if kind not in ATTENTION:
        raise ValueError(f"attention must be one of {', '.join(ATTENTION)}, got {kind!r}")
    return ATTENTION[kind](scores)

"""Lemmas 17 to 19: how the gradients of single inputs move the heads."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from paritylab._support.precision import float64
from paritylab.experiments.hg1_example_gradients import (
    example_loss,
    heads_of,
)
from paritylab.models import Circle, HeadAttention
from paritylab.problem import Parity
from paritylab.theory import hg1


def gradient_cosine(
    directions: Any, pair: Any, tau: Any, *, loss: Callable[..., Any], b: float
) -> Any:
    """Cosine between the first head's gradients of two inputs; 1 where one of them is 0."""
    first, second = (jax.grad(loss)(directions, x, tau=tau, b=b)[0] for x in pair)
    product = jnp.linalg.norm(first) * jnp.linalg.norm(second)
    return jnp.where(product > 1e-9, first @ second / jnp.maximum(product, 1e-9), 1.0)


def measure_least_motion(seed: int, n: int, inputs: np.ndarray, tau: float) -> list[float]:
    """Lemma 18's sum over its bound at one random start.

    Least over inputs with the printed plus and with the derivative's minus signs; ones in the input
    of the printed minimum and its s.
    """
    model = HeadAttention.random(seed, Parity(n, (0, 1, 2)), tau=tau)
    with float64():
        attention = np.asarray(model.attention())
    moved = partial(hg1.motion_of_one_input, attention, table=np.asarray(Circle(n).table))
    bound = hg1.spread_of_one_head(tau, n, hg1.smallest_near_attention(attention, tau))
    printed, true = (moved(inputs, as_printed=each) / bound for each in (True, False))
    at = printed.argmin()
    s = inputs[at] @ attention.sum(axis=0)
    return [printed[at], true.min(), inputs[at].sum(), s]


#: n of Lemma 19's inputs.
BITS = 16


def draw_start(seed: int, k: int) -> np.ndarray:
    """Directions of k heads at the paper's random start."""
    return np.asarray(HeadAttention.random(seed, Parity(BITS, tuple(range(k)))).directions)


def coinciding_heads(k: int, turn: int) -> np.ndarray:
    """k heads at one place, `turn` positions from the middle of B, the first k positions."""
    return Circle(BITS).vectors([(k // 2 + turn) % BITS] * k)


class ComplementPair(NamedTuple):
    """Both sides of Lemma 19, squared gradients and claimed bound; s of the input."""

    gradients: float
    bound: float
    attended: float


@partial(jax.jit, static_argnums=3)
def _losses_and_gradients(directions: Any, inputs: Any, b: Any, smooth: bool) -> Any:
    """Losses and their gradients at tau = 1/n; smooth: whether b > 0, which a traced b must be."""
    loss = partial(example_loss, tau=1 / inputs.shape[1], b=b if smooth else 0.0)
    return jax.vmap(jax.value_and_grad(loss), (None, 0))(directions, inputs)


def measure_complement_pair(directions: np.ndarray, bits: np.ndarray, b: float) -> ComplementPair:
    """Squared gradients of an input and of its complement at tau = 1/n, and Lemma 19's bound."""
    k, n = directions.shape[0], bits.shape[0]
    with float64():
        heads = heads_of(jnp.asarray(directions), n, tau=1 / n)
        losses, slopes = _losses_and_gradients(
            heads.directions, np.stack([bits, 1 - bits]), b, b > 0
        )
        loss, gradients = float(losses.sum()), float(np.sum(np.asarray(slopes) ** 2))
        c2 = hg1.smallest_near_attention(np.asarray(heads.attention()), 1 / n)
        attended = float(heads.weights() @ bits)
    return ComplementPair(gradients, hg1.complement_pair(k, n, c2, loss), attended)

"""KS's published experiments: full-batch gradient descent on four versions of the chain model."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning.chain.teacher import draw_tokens
from paritylab.models.chain import ChainModel
from paritylab.models.links import AbstractLink, as_link
from paritylab.problem.sampling import as_key
from paritylab.problem.tree import ParityTree, level_ends

#: The four models of the paper's figure.
MODES = ("direct", "cot", "teacher-full", "selfcheck")
#: Published step sizes by k; the direct model uses a hundredth.
PUBLISHED_STEPS = {8: 15.0, 16: 50.0, 32: 100.0}
#: A level counts as opened once one of its softmax scores exceeds this.
OPENS_AT = 0.4
#: Rows per block of the hand-written gradient.
ROWS = 10_000


class Training(NamedTuple):
    """Curves of one full-batch run.

    prediction: ½ mean (ŷ - y)² of the self-generated answer before every epoch. chain: the loss
    trained on. opened: levels open before every epoch (selfcheck). accuracy: on fresh inputs at
    the end. scores: W at the end.
    """

    prediction: np.ndarray
    chain: np.ndarray
    opened: np.ndarray
    accuracy: float
    scores: np.ndarray

    @property
    def solved_at(self) -> int | None:
        """First epoch whose prediction loss is below 0.01; None if there is none."""
        below = np.flatnonzero(self.prediction < 0.01)
        return int(below[0]) if below.size else None


def published_step(k: int, mode: str) -> float:
    """η of the paper for k = 8, 16, 32, extended as 3k elsewhere; a hundredth for direct."""
    return PUBLISHED_STEPS.get(k, 3.0 * k) * (0.01 if mode == "direct" else 1)


def train_full_batch(
    tree: ParityTree,
    mode: str,
    *,
    samples: int = 100_000,
    epochs: int = 350,
    eta: float | None = None,
    link: str | AbstractLink = "quadratic",
    key=0,
) -> Training:
    """Gradient descent on all rows from W = 0, level mask, published settings unless changed.

    direct: ½ mean (ŷ - y)² of the self-generated answer. cot: the same for all k - 1 tokens,
    divided by k - 1. teacher-full: true tokens as input. selfcheck: cot on the levels that are
    open, a level opening once the one below has a softmax score above 0.4, plus a tenth of the
    prediction loss's gradient.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
    if samples < 1 or epochs < 1:
        raise ValueError(f"samples and epochs must be at least 1, got {samples} and {epochs}")
    key = as_key(key)
    leaves = np.asarray(tree.leaves)
    tokens = draw_tokens(jax.random.fold_in(key, 0), leaves, tree.n, samples)
    model = ChainModel.untrained(tree.n, tree.k, as_link(link), "level")
    rate = published_step(tree.k, mode) if eta is None else eta
    scores, curves = _descend(
        model.with_parameters(np.zeros(model.scores.shape, np.float32)),
        tokens,
        np.float32(rate),
        mode,
        epochs,
    )
    fresh = draw_tokens(jax.random.fold_in(key, 1), leaves, tree.n, 10_000)
    root = model.with_parameters(scores).generate(fresh[:, : tree.n])[:, -1]
    prediction, chain, opened = (np.asarray(curve) for curve in curves)
    accuracy = float(jnp.mean(root * fresh[:, -1] > 0))
    return Training(prediction, chain, opened, accuracy, np.asarray(scores))


@partial(jax.jit, static_argnames=("mode", "epochs"))
def _descend(model, tokens, rate, mode: str, epochs: int):
    losses = LOSS_OF[mode]

    def epoch(scores, _):
        (prediction, chain, opened), gradient = losses(model.with_parameters(scores), tokens)
        return scores - rate * gradient, (prediction, chain, opened)

    return jax.lax.scan(epoch, model.scores, length=epochs)


def _half_square(values):
    return jnp.mean(values**2) / 2


def _self_generated(model, tokens, weigh: Callable, passes=None):
    """Losses of the chain generated end to end, and the gradient of weigh(chain, prediction)."""
    n, depth = model.n, len(level_ends(model.n, model.k)) - 1
    passes = jnp.ones(depth) if passes is None else passes

    def loss(scores):
        made = model.with_parameters(scores).generate(tokens[:, :n], passes)
        errors = made[:, n:] - tokens[:, n:]
        chain, prediction = _half_square(errors), _half_square(errors[:, -1])
        return weigh(errors, chain, prediction), (prediction, chain)

    (_, (prediction, chain)), gradient = jax.value_and_grad(loss, has_aux=True)(model.scores)
    return (prediction, chain, jnp.sum(passes)), gradient


def _direct(model, tokens):
    return _self_generated(model, tokens, lambda errors, chain, prediction: prediction)


def _cot(model, tokens):
    return _self_generated(model, tokens, lambda errors, chain, prediction: chain)


def _selfcheck(model, tokens):
    ends, attention = level_ends(model.n, model.k), model.attention()
    passes, is_open = [], jnp.asarray(1.0)
    for start, end in pairwise(ends):
        passes.append(is_open)
        sharp = jnp.max(attention[:, start - model.n : end - model.n]) > OPENS_AT
        is_open = is_open * sharp
    gates = jnp.stack(passes)
    per_node = jnp.repeat(gates, np.diff(ends), total_repeat_length=model.k - 1)

    def weigh(errors, chain, prediction):
        return jnp.mean(jnp.mean(errors**2, axis=0) * per_node) / 2 + 0.1 * prediction

    return _self_generated(model, tokens, weigh, gates)


def teacher_step(model: ChainModel, tokens):
    """Loss and gradient with teacher forcing, (1/2N(k-1)) Σ_m ‖φ(ẑ_m) - x_m‖², in closed form.

    Two products per block of rows; nothing of size rows × nodes is kept.
    """
    n, nodes, rows = model.n, model.k - 1, tokens.shape[0]
    attention, blocks = model.attention(), max(1, rows // ROWS)

    def block(carry, part):
        z = part @ attention
        error = model.link(z) - part[:, n:]
        product = part.T @ (error * model.link.slope(z))
        return (carry[0] + jnp.sum(error**2), carry[1] + product), None

    start = (jnp.zeros(()), jnp.zeros_like(attention))
    whole = tokens[: rows - rows % blocks].reshape(blocks, -1, tokens.shape[1])
    total, _ = jax.lax.scan(block, start, whole)
    if rows % blocks:
        total, _ = block(total, tokens[rows - rows % blocks :])
    squares, product = total[0], total[1] / (rows * nodes)
    gradient = attention * (product - jnp.sum(attention * product, axis=0)[None, :])
    return squares / (2 * rows * nodes), gradient


def _teacher(model, tokens):
    loss, gradient = teacher_step(model, tokens)
    shown = tokens[: min(tokens.shape[0], ROWS)]
    root = model.generate(shown[:, : model.n])[:, -1]
    return (_half_square(root - shown[:, -1]), loss, jnp.zeros(())), gradient


LOSS_OF: dict[str, Callable] = {
    "direct": _direct,
    "cot": _cot,
    "teacher-full": _teacher,
    "selfcheck": _selfcheck,
}

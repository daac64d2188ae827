"""KS's published experiments: full-batch gradient descent on four versions of the chain model."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.learning.chain.chain_learner import (
    SOLVED_LOSS,
    ChainLearner,
    Descended,
    Job,
    Shape,
    descend_all,
    draw_tokens,
)
from paritylab.learning.contract import register_learner
from paritylab.learning.parts import LinkPart
from paritylab.models.chain import ChainModel
from paritylab.models.links import AbstractLink
from paritylab.options import LINK, Choice, Doc, Ge, Gt
from paritylab.problem.tree import level_ends

#: Published step sizes by k; the direct model uses a hundredth.
PUBLISHED_STEPS = {8: 15.0, 16: 50.0, 32: 100.0}
#: A level counts as opened once one of its softmax scores exceeds this.
OPENS_AT = 0.4
#: Rows on which a teacher-forced model generates its own answers.
ROWS = 10_000


@register_learner("full-batch")
@dataclass(frozen=True, eq=False)
class FullBatch(ChainLearner):
    """Gradient descent on all rows from W = 0, level mask, published settings unless changed.

    mode: "direct" trains on ½ mean (ŷ - y)² of the self-generated answer. "cot": the same for all
    k - 1 tokens, divided by k - 1. "teacher-full": true tokens as input. "selfcheck": cot on the
    levels that are open, a level opening once the one below has a softmax score above 0.4, plus a
    tenth of the prediction loss's gradient. link: φ, a name or one's own. eta: η, `published_step`
    if None.

    stats: solved_at, the first step before which the prediction loss on the rows is below 0.01
    (-1: never); prediction_loss and chain_loss before the last step. trace: prediction_loss,
    chain_loss (what is trained on in full), opened (levels open) and scores.
    """

    mode: Annotated[
        str, Choice(("direct", "cot", "teacher-full", "selfcheck")), Doc("Which model.")
    ] = "cot"
    link: Annotated[LinkPart, LINK, Doc("Link function φ.")] = "quadratic"
    eta: Annotated[float | None, Gt(0), Doc("Step size; the published one if absent.")] = None
    steps: Annotated[int, Ge(1), Doc("Full-batch steps.")] = 350

    needs_pairs = False

    def _descend(self, job: Job) -> Descended:
        """All runs; `solved_at` is the first step whose prediction loss is below 0.01."""
        link, data, leaves, keys, trace = job
        eta = published_step(data.k, self.mode) if self.eta is None else self.eta
        shape = Shape(data.n, data.samples, self.steps, trace)
        found = descend_all(_step_of, (link, np.float32(eta), self.mode), leaves, keys, shape)
        scores, losses, path = jax.tree.map(np.asarray, found)
        below = losses.prediction < SOLVED_LOSS
        stats = {
            "solved_at": np.where(below.any(axis=1), below.argmax(axis=1), -1),
            "prediction_loss": losses.prediction[:, -1],
            "chain_loss": losses.chain[:, -1],
        }
        names = {"risk": "prediction", "chain_loss": "chain", "opened": "opened"}
        kept = {name: getattr(losses, of)[:, ::trace] for name, of in names.items()}
        return Descended(scores, stats, {**kept, "scores": path})


def published_step(k: int, mode: str) -> float:
    """η of the paper for k = 8, 16, 32, extended as 3k elsewhere; a hundredth for direct.

    The chain's loss is a mean over k - 1 tokens, so the gradient of one node's weights is 1/(k-1)
    of its own: η has to grow like k for every node to move as fast. The direct loss is not divided.
    """
    return PUBLISHED_STEPS.get(k, 3.0 * k) * (0.01 if mode == "direct" else 1)


class Losses(NamedTuple):
    """½ mean (ŷ - y)² of the self-generated answer, loss of the chain, number of open levels."""

    prediction: Float[Array, "..."]
    chain: Float[Array, "..."]
    opened: Float[Array, "..."]


Gradient = Float[Array, "tokens nodes"]
Tokens = Float[Array, "rows tokens"]


def _step_of(
    given: tuple[AbstractLink, np.float32, str], leaves: Array, key: Array, shape: Shape
) -> Callable[[Array, Array], tuple[Array, Losses]]:
    """The step of one run: the gradient over all its rows, which are drawn once."""
    link, eta, mode = given
    tokens = draw_tokens(key, leaves, shape.n, shape.samples)

    def step(scores: Array, _: Array) -> tuple[Array, Losses]:
        losses, gradient = LOSS_OF[mode](ChainModel(scores, shape.n, link, "level"), tokens)
        return scores - eta * gradient, losses

    return step


def _half_square(values: Array) -> Array:
    return jnp.mean(values**2) / 2


def _self_generated(
    model: ChainModel,
    tokens: Tokens,
    weigh: Callable[[Array, Array, Array], Array],
    passes: Float[Array, " levels"] | None = None,
) -> tuple[Losses, Gradient]:
    """Losses of the chain generated end to end, and the gradient of weigh(chain, prediction)."""
    n, depth = model.n, len(level_ends(model.n, model.k)) - 1
    gates = jnp.ones(depth, tokens.dtype) if passes is None else passes

    def loss(scores: Array) -> tuple[Array, tuple[Array, Array]]:
        made = model.with_parameters(scores).generate(tokens[:, :n], gates)
        errors = made[:, n:] - tokens[:, n:]
        chain, prediction = _half_square(errors), _half_square(errors[:, -1])
        return weigh(errors, chain, prediction), (prediction, chain)

    (_, (prediction, chain)), gradient = jax.value_and_grad(loss, has_aux=True)(model.scores)
    return Losses(prediction, chain, jnp.sum(gates)), gradient


def _direct(model: ChainModel, tokens: Tokens) -> tuple[Losses, Gradient]:
    return _self_generated(model, tokens, lambda errors, chain, prediction: prediction)


def _cot(model: ChainModel, tokens: Tokens) -> tuple[Losses, Gradient]:
    return _self_generated(model, tokens, lambda errors, chain, prediction: chain)


def _selfcheck(model: ChainModel, tokens: Tokens) -> tuple[Losses, Gradient]:
    """Chain of thought on the levels that are open, plus a tenth of the prediction loss.

    A level opens once some softmax score of the level below exceeds OPENS_AT; a closed level writes
    zeros, so that nothing above it is trained on what is not learnt yet.
    """
    ends, attention = level_ends(model.n, model.k), model.attention()
    passes, is_open = [], jnp.ones((), tokens.dtype)
    for start, end in pairwise(ends):
        passes.append(is_open)
        sharp = jnp.max(attention[:, start - model.n : end - model.n]) > OPENS_AT
        is_open = is_open * sharp
    gates = jnp.stack(passes)
    per_node = jnp.repeat(gates, np.diff(ends), total_repeat_length=model.k - 1)

    def weigh(errors: Array, chain: Array, prediction: Array) -> Array:
        return jnp.mean(jnp.mean(errors**2, axis=0) * per_node) / 2 + 0.1 * prediction

    return _self_generated(model, tokens, weigh, gates)


def _teacher(model: ChainModel, tokens: Tokens) -> tuple[Losses, Gradient]:
    """(1/2N(k-1)) Σ_m ‖φ(ẑ_m) - x_m‖² with true tokens as input: ẑ is one product.

    The prediction loss is of the answer that the model generates itself, on the first ROWS rows.
    """

    def loss(scores: Array) -> Array:
        z = tokens @ model.with_parameters(scores).attention()
        return _half_square(model.link(z) - tokens[:, model.n :])

    chain, gradient = jax.value_and_grad(loss)(model.scores)
    shown = tokens[: min(tokens.shape[0], ROWS)]
    root = model.generate(shown[:, : model.n])[:, -1]
    return Losses(_half_square(root - shown[:, -1]), chain, jnp.zeros((), tokens.dtype)), gradient


LOSS_OF: dict[str, Callable[[ChainModel, Array], tuple[Losses, Gradient]]] = {
    "direct": _direct,
    "cot": _cot,
    "teacher-full": _teacher,
    "selfcheck": _selfcheck,
}
#: The four models of the paper's figure.
MODES = tuple(LOSS_OF)

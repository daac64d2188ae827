"""KS's published experiments: full-batch gradient descent on four versions of the chain model."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from annotated_doc import Doc
from annotated_types import Ge, Gt
from jaxtyping import Array, Float

from paritylab.learning.chain.chain_learner import (
    SOLVED_LOSS,
    ChainLearner,
    Descended,
    Shape,
    Stream,
    descend_all,
    draw_tokens,
)
from paritylab.learning.contract import LINK, LinkPart, register_learner
from paritylab.models.chain import ChainModel
from paritylab.models.links import AbstractLink
from paritylab.options import Choice
from paritylab.problem.tree import level_ends

#: The four models of the paper's figure.
MODES = ("direct", "cot", "teacher-full", "selfcheck")
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
    captions: ClassVar = {
        **ChainLearner.captions,
        "solved_at": "first step with loss below 0.01",
    }

    def default_samples(self, n: int) -> int:
        return 100_000

    def _descend(self, link: AbstractLink, rows: Stream, trace: int | None) -> Descended:
        """All runs; `solved_at` is the first step whose prediction loss is below 0.01."""
        eta = published_step(rows.leaves.shape[1], self.mode) if self.eta is None else self.eta
        shape = Shape(rows.n, int(rows.samples), self.steps, trace)
        given = (link, np.float32(eta), self.mode)
        found = descend_all(_step_of, given, rows.leaves, rows.key, shape)
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
        model = ChainModel(scores, shape.n, link, "level")
        losses, gradient = loss_and_gradient(model, tokens, mode)
        return scores - eta * gradient, losses

    return step


def loss_and_gradient(model: ChainModel, tokens: Tokens, mode: str) -> tuple[Losses, Gradient]:
    """Losses of one of the four models, and the gradient that it descends."""
    return _forced(model, tokens) if mode == "teacher-full" else _generated(model, tokens, mode)


def _generated(model: ChainModel, tokens: Tokens, mode: str) -> tuple[Losses, Gradient]:
    """The chain generated end to end: Σ_m c_m·½ mean (x̂_m - x_m)² with c by the mode.

    direct: 1 for the answer alone. cot: 1/(k-1) each. selfcheck: the same on open levels, and 0.1
    more for the answer; a closed level writes zeros, so that nothing above it is trained on what is
    not learnt yet.
    """
    n, k = model.n, model.k
    gates = _open_levels(model) if mode == "selfcheck" else jnp.ones(k.bit_length() - 1)
    chain = jnp.repeat(gates, np.diff(level_ends(n, k)), total_repeat_length=k - 1) / (k - 1)
    answer = np.arange(k - 1) == k - 2
    weights = {"direct": 1.0 * answer, "cot": chain, "selfcheck": chain + 0.1 * answer}[mode]

    def loss(scores: Array) -> tuple[Array, Array]:
        made = model.with_parameters(scores).generate(tokens[:, :n], gates)
        squares = jnp.mean((made - tokens)[:, n:] ** 2, axis=0) / 2
        return jnp.sum(weights * squares), squares

    gradient, squares = jax.grad(loss, has_aux=True)(model.scores)
    return Losses(squares[-1], jnp.mean(squares), jnp.sum(gates)), gradient


def _open_levels(model: ChainModel) -> Float[Array, " levels"]:
    """1 for every open level: the first, and one above an open level with a sharp softmax score."""
    attention, gates = model.attention(), [jnp.ones(())]
    for start, end in pairwise(np.subtract(level_ends(model.n, model.k), model.n)[:-1]):
        gates.append(gates[-1] * (jnp.max(attention[:, start:end]) > OPENS_AT))
    return jnp.stack(gates)


def _forced(model: ChainModel, tokens: Tokens) -> tuple[Losses, Gradient]:
    """(1/2N(k-1)) Σ_m ‖φ(ẑ_m) - x_m‖² with true tokens as input: ẑ is one product.

    The prediction loss is of the answer that the model generates itself, on the first ROWS rows.
    """

    def loss(scores: Array) -> Array:
        z = tokens @ model.with_parameters(scores).attention()
        return jnp.mean((model.link(z) - tokens[:, model.n :]) ** 2) / 2

    chain, gradient = jax.value_and_grad(loss)(model.scores)
    shown = tokens[: min(tokens.shape[0], ROWS)]
    root = model.generate(shown[:, : model.n])[:, -1]
    return Losses(jnp.mean((root - shown[:, -1]) ** 2) / 2, chain, jnp.zeros(())), gradient

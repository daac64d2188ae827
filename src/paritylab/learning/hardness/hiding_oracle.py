"""Learning from an oracle that errs: direct training while it hides the target, one step of the
chain against its error."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from paritylab.learning.chain.chain_accuracy import (
    ENUMERATED,
    draw_tokens,
    judge_chain,
    pairs_found,
)
from paritylab.learning.chain.chain_learner import ChainLearner, Descended, Job, Shape, descend_all
from paritylab.learning.chain.teacher import teacher_gradient
from paritylab.learning.contract import register_learner
from paritylab.learning.hardness.oracles import hiding, jittered, mean_labels, opposing, tipping
from paritylab.learning.parts import LinkPart
from paritylab.models.chain import ChainModel
from paritylab.models.links import AbstractLink, as_link
from paritylab.options import LINK, Doc, Ge, Gt
from paritylab.problem import ParityTree
from paritylab.problem.sampling import binary_digits
from paritylab.problem.tree import tree_tokens
from paritylab.theory.ks import child_signal


@register_learner("hiding-oracle")
@dataclass(frozen=True, eq=False)
class HidingOracle(ChainLearner):
    """Theorem 2: descent on ½ mean (ŷ - y)² of the self-generated answer, seen through `hiding`.

    epsilon: ε, the error the oracle may make; 0 is the exact gradient. link: φ, a name or one's
    own. eta: η. The start is W = 0, a node sees lower levels only.

    stats, before every step (runs, steps): hidden, whether the oracle answered with the mean over
    all targets; distance, how far the true gradient was from it.
    """

    epsilon: Annotated[float, Ge(0), Doc("Error the oracle may make.")] = 0.002
    link: Annotated[LinkPart, LINK, Doc("Link function φ.")] = "quadratic"
    eta: Annotated[float, Gt(0), Doc("Step size.")] = 1.0
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 50

    needs_pairs = False

    def _descend(self, job: Job) -> Descended:
        """All runs; distances and hidden flags are kept for every step."""
        link, data, leaves, keys, trace = job
        shape = Shape(data.n, data.samples, self.steps, trace)
        given = (link, np.float32(self.eta), np.float32(self.epsilon))
        found = descend_all(_step_of, given, leaves, keys, shape)
        scores, noted, path = jax.tree.map(np.asarray, found)
        stats = {"hidden": noted.hidden, "distance": noted.distance}
        return Descended(scores, stats, {"risk": noted.loss[:, ::trace], "scores": path})


class _Noted(NamedTuple):
    """A step: ½ mean (ŷ - y)² before it, whether the target was hidden, ‖∇ - mean‖."""

    loss: Float[Array, "..."]
    hidden: Bool[Array, "..."]
    distance: Float[Array, "..."]


def _step_of(
    given: tuple[AbstractLink, np.float32, np.float32], leaves: Array, key: Array, shape: Shape
) -> Callable[[Array, Array], tuple[Array, _Noted]]:
    """The step of one run: its gradient, the mean over all targets, what the oracle answers."""
    link, eta, epsilon = given
    rows = _rows(key, leaves, shape)
    signs, labels = rows.tokens[:, : shape.n], rows.tokens[:, -1]
    soft = mean_labels(signs, leaves.shape[0])

    def risk(scores: Array, labels: Array) -> Array:
        answer = ChainModel(scores, shape.n, link, "level").generate(signs)[:, -1]
        return jnp.sum(rows.weights * (answer - labels) ** 2) / 2

    def step(scores: Array, _: Array) -> tuple[Array, _Noted]:
        loss, true = jax.value_and_grad(risk)(scores, labels)
        # The risk is linear in the labels up to a constant: soft labels give the mean gradient.
        mean = jax.grad(risk)(scores, soft)
        answer = hiding(true, mean, epsilon)
        distance = jnp.linalg.norm(jnp.ravel(true - mean))
        return scores - eta * answer.gradient, _Noted(loss, answer.hidden, distance)

    return step


class _Rows(NamedTuple):
    """True tokens of a sample, and the share of the sample that each row is."""

    tokens: Float[Array, "rows tokens"]
    weights: Float[Array, " rows"]


def _rows(key: jax.Array, leaves: Array, shape: Shape) -> _Rows:
    """The sample row by row or, if it has more rows than there are inputs, inputs with counts."""
    n, samples = shape.n, shape.samples
    if n > ENUMERATED or samples <= 1 << n:
        return _Rows(draw_tokens(key, leaves, n, samples), jnp.full(samples, 1 / samples))
    counts = jnp.bincount(jax.random.randint(key, (samples,), 0, 1 << n), length=1 << n)
    bits = binary_digits(jnp.arange(1 << n, dtype=jnp.uint32), n)
    return _Rows(tree_tokens(1 - 2 * bits.astype(jnp.float32), leaves), counts / samples)


def step_under_error(
    tree: ParityTree, samples: int, epsilon: float, key: int = 0, above: float = 5.0
) -> dict[str, bool]:
    """Whether one teacher-forced step is still right if its gradient is wrong by epsilon.

    opposed: an error of norm epsilon straight against the gradient. spread: the same norm over all
    entries at random. tipped: two entries, those of the pair of children that differ most, moved
    further apart by epsilon each, which is the worst for the balance that a node needs. Right
    means every pair found and the sign of the answer on 2,000 fresh inputs. The step gives the
    children of the root ln M + above.
    """
    gradient, tokens = teacher_gradient(tree, key, samples), tree.n + tree.k - 2
    eta = (np.log(tokens) + above) / child_signal(tokens, as_link("cos"))
    wrong = {
        "opposed": opposing(gradient, epsilon),
        "spread": jittered(gradient, epsilon / np.sqrt(gradient.size), key),
        "tipped": tipping(gradient, tree.children, epsilon),
    }
    outcomes, leaves = {}, np.asarray(tree.leaves)
    for name, each in wrong.items():
        model = ChainModel(-eta * each, tree.n)
        found = float(pairs_found(model.scores, leaves)) == 1
        outcomes[name] = found and judge_chain(model, tree, key + 1, 2000)[0] == 1
    return outcomes

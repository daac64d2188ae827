"""Gradient oracles with a bounded error, and learning from them.

`hiding` keeps the target from a direct learner (`HidingOracle`); `opposing`, `tipping` and
`jittered` are errors against which one step of the chain is tried (`step_under_error`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Annotated, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from annotated_doc import Doc
from annotated_types import Ge, Gt
from jaxtyping import Array, Bool, Float, Int

from paritylab.learning.chain.chain_learner import (
    ChainLearner,
    Descended,
    Shape,
    Stream,
    descend_all,
    draw_tokens,
    judge_chain,
    pairs_found,
)
from paritylab.learning.chain.full_batch import loss_and_gradient
from paritylab.learning.chain.teacher import teacher_gradient
from paritylab.learning.contract import LINK, LinkPart, register_learner
from paritylab.models.chain import ChainModel
from paritylab.models.links import AbstractLink, as_link
from paritylab.problem import ParityTree
from paritylab.problem.keys import as_key
from paritylab.theory.ks import child_signal


def hiding(true: Array, mean: Array, epsilon: float | np.float32 | Array) -> tuple[Array, Array]:
    """The oracle's answer and whether it hid the target: the mean gradient over all targets if the
    true one is within epsilon of it, else the true one. (KS prints the two cases exchanged.)"""
    hidden = jnp.linalg.norm(jnp.ravel(true - mean)) <= epsilon
    return jnp.where(hidden, mean, true), hidden


def opposing(true: Array, epsilon: float) -> Array:
    """The worst error of norm epsilon for descent: straight against the gradient."""
    norm = jnp.linalg.norm(jnp.ravel(true))
    return true * jnp.maximum(0, 1 - epsilon / jnp.maximum(norm, 1e-30))


def tipping(true: Array, children: Int[np.ndarray, "nodes 2"], epsilon: float) -> Array:
    """The two entries of the pair that differs most, moved apart by epsilon each.

    children: the two tokens below every node, (nodes, 2); true: (tokens, nodes).
    """
    pairs, nodes = np.asarray(children), np.arange(len(children))
    apart = np.asarray(true)[pairs[:, 0], nodes] - np.asarray(true)[pairs[:, 1], nodes]
    worst = int(np.abs(apart).argmax())
    push = epsilon if apart[worst] >= 0 else -epsilon
    return true.at[pairs[worst], worst].add(np.array([push, -push], true.dtype))


def jittered(true: Array, epsilon: float, key: int | Array) -> Array:
    """Every entry moved by epsilon up or down at random."""
    return true + epsilon * jax.random.rademacher(as_key(key), true.shape, true.dtype)


def mean_label(n: int, k: int) -> Float[np.ndarray, " weights"]:
    """E_p[p(x)] over all k-sets p, for x with 0, 1, …, n minus signs: a Krawtchouk polynomial.

    K_k(h)/C(n,k) with K_k(h) = Σ_j (-1)^j C(h,j) C(n-h,k-j), in whole numbers until the last
    division.

    >>> mean_label(4, 2).tolist() == [1.0, 0.0, -1 / 3, 0.0, 1.0]
    True
    """
    if not 0 <= k <= n:
        raise ValueError(f"k must be between 0 and n={n}, got {k}")
    total = comb(n, k)
    sums = (
        sum((-1) ** j * comb(h, j) * comb(n - h, k - j) for j in range(k + 1)) for h in range(n + 1)
    )
    return np.array([value / total for value in sums])


def mean_label_tail(n: int, k: int, threshold: float) -> float:
    """P(|E_p p(x)| > threshold) over uniform x."""
    return float(_chances(n)[np.abs(mean_label(n, k)) > threshold].sum())


def mean_label_square(n: int, k: int) -> float:
    """E_x (E_p p(x))², which is 1/C(n,k): what the best fixed answer saves of E(p - f)² = 1."""
    return float(_chances(n) @ mean_label(n, k) ** 2)


def _chances(n: int) -> Float[np.ndarray, " weights"]:
    """P of 0, 1, …, n minus signs."""
    return np.array([comb(n, h) / 2**n for h in range(n + 1)])


def mean_labels(signs: Float[Array, "... n"], k: int) -> Float[Array, "..."]:
    """E_p[p(x)] for rows of signs: the labels whose gradient is the mean over all targets."""
    n = signs.shape[-1]
    minus = jnp.round((n - jnp.sum(signs, axis=-1)) / 2).astype(int)
    return jnp.asarray(mean_label(n, k), signs.dtype)[minus]


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

    def _descend(self, link: AbstractLink, rows: Stream, trace: int | None) -> Descended:
        """All runs; distances and hidden flags are kept for every step."""
        shape = Shape(rows.n, int(rows.samples), self.steps, trace)
        given = (link, np.float32(self.eta), np.float32(self.epsilon))
        found = descend_all(_step_of, given, rows.leaves, rows.key, shape)
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
    tokens = draw_tokens(key, leaves, shape.n, shape.samples)
    # The risk is linear in the labels up to a constant: soft labels give the mean gradient.
    soft = tokens.at[:, -1].set(mean_labels(tokens[:, : shape.n], leaves.shape[0]))

    def step(scores: Array, _: Array) -> tuple[Array, _Noted]:
        model = ChainModel(scores, shape.n, link, "level")
        losses, true = loss_and_gradient(model, tokens, "direct")
        mean = loss_and_gradient(model, soft, "direct")[1]
        gradient, hidden = hiding(true, mean, epsilon)
        distance = jnp.linalg.norm(jnp.ravel(true - mean))
        return scores - eta * gradient, _Noted(losses.prediction, hidden, distance)

    return step


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
        outcomes[name] = found and judge_chain(model, tree, key + 1, 2000) == 1
    return outcomes

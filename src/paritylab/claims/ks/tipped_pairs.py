"""How wrong the gradient of the one step may be: an adversary against the balance of children."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.learning.chain.chain_accuracy import answers, draw_tokens, over_runs, tree_children
from paritylab.learning.chain.teacher import BATCH, teacher_gradient
from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.models.links import AbstractLink, as_link
from paritylab.problem import ParityTree
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import each_key, fold_keys

#: Where the error sits, in the order of `survived`.
ADVERSARIES = ("one pair", "every pair", "every entry at random")


def error_patterns(
    gradient: Float[Array, "tokens nodes"], leaves: Any, key: Any
) -> Float[Array, "adversaries tokens nodes"]:
    """An error of 1 per entry for every adversary.

    "one pair" tips the two children of the node that sampling has tipped most, further in the same
    direction; "every pair" does so at every node; the last moves all entries up or down at random.
    """
    tokens, nodes = gradient.shape
    children, at = tree_children(leaves, tokens - nodes).T, jnp.arange(nodes)
    tilt = gradient[children[0], at] - gradient[children[1], at]
    towards = jnp.where(tilt >= 0, 1.0, -1.0)
    every = jnp.zeros_like(gradient).at[children[0], at].set(towards)
    every = every.at[children[1], at].set(-towards)
    one = every * (at == jnp.argmax(jnp.abs(tilt)))[None, :]
    seen = visible_tokens(tokens - nodes, nodes + 1, "token")
    signs = jax.random.rademacher(key, gradient.shape, gradient.dtype)
    return jnp.stack([one, every, jnp.where(seen, signs, 0)])


def survived(
    trees: tuple[ParityTree, ...],
    samples: int,
    errors: Any,
    *,
    eta: float,
    link: Any = "cos",
    key: Any = 0,
    inputs: int = 500,
) -> np.ndarray:
    """Whether a step of size η is right on fresh inputs although each entry is wrong by an error.

    Flags (adversaries, errors, runs); every run uses one gradient from its own samples.
    """
    keys = fold_keys(as_key(key), np.arange(len(trees)))
    rule, n = as_link(link), trees[0].n
    gradients = [
        teacher_gradient(tree, jax.random.fold_in(each, 1), samples, link=rule, batch=BATCH)
        for tree, each in zip(trees, each_key(keys), strict=True)
    ]
    leaves = np.array([tree.leaves for tree in trees], dtype=np.int32)
    sizes = np.asarray(errors, np.float32)
    with jax.default_matmul_precision("highest"):
        right = _right(rule, np.float32(eta), jnp.stack(gradients), leaves, keys, sizes, n, inputs)
    return np.moveaxis(np.asarray(right), 0, -1)


@eqx.filter_jit
def _right(
    link: AbstractLink,
    eta: Any,
    gradients: Any,
    leaves: Any,
    keys: Any,
    errors: Any,
    n: int,
    inputs: int,
) -> Any:
    def one(gradient: Any, leaves: Any, key: Any) -> Any:
        tokens = draw_tokens(jax.random.fold_in(key, 2), leaves, n, inputs)

        def right(pattern: Any, error: Any) -> Any:
            scores = -eta * (gradient + error * pattern)
            return answers(ChainModel(scores, n, link), tokens).wrong == 0

        patterns = error_patterns(gradient, leaves, jax.random.fold_in(key, 3))
        return jax.lax.map(lambda p: jax.lax.map(lambda e: right(p, e), errors), patterns)

    return over_runs(one, gradients, leaves, keys)

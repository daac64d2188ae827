"""Lemmas 4, 6 and 10: the largest norms of gradients, and means of the first tokens."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.experiments.search import hunt
from paritylab.learning.chain.rows import draw_tokens, over_runs
from paritylab.models import AbstractLink, ChainModel
from paritylab.problem import ParityTree


def search_largest_norm(
    n: int, k: int, link: AbstractLink, forced: bool, *, starts: int, steps: int, seed: int
) -> float:
    """The largest ‖∇_W f‖ an ascent finds, over scores and inputs; f has k - 1 outputs."""
    tree = ParityTree(n, tuple(range(k)))

    def outputs(scores: Any, signs: Any) -> Any:
        model = ChainModel(scores, n, link, "token" if forced else "level")
        if forced:
            return link(model.attention().T @ tree.tokens(signs))
        return model.generate(signs)[n:]

    def minus_norm(scores: Any, signs: Any, _: Any) -> Any:
        jacobian = jax.jacobian(outputs)(scores, signs)
        return -jnp.sqrt(jnp.sum(jacobian**2) + 1e-30)

    def draw(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return 2 * generator.normal(size=(n + k - 1, k - 1)), generator.choice([-1.0, 1.0], n)

    once = np.zeros(1)
    (find,) = hunt(minus_norm, draw, once, starts=starts, steps=steps, rate=0.1, seed=seed)
    return -find.margin


#: Unlabelled strings of Lemma 10, and its p.
STRINGS, FAILURE = 256, 0.03


def measure_prefix_means(tree: ParityTree, keys: jax.Array) -> tuple[np.ndarray, np.ndarray]:
    """Per draw of strings: the largest |mean of the first d_l tokens| over levels and strings, and
    whether some token is -1 on all of them."""
    ends, leaves = np.asarray(tree.ends), np.asarray(tree.leaves)

    def one(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        tokens = draw_tokens(key, leaves, tree.n, STRINGS)
        means = jnp.cumsum(tokens, axis=1)[:, ends - 1] / jnp.asarray(ends, tokens.dtype)[None, :]
        return jnp.max(jnp.abs(means)), jnp.any(jnp.max(tokens, axis=0) < 0)

    largest, constant = map(np.asarray, over_runs(one, keys))
    return largest, constant

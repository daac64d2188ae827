"""What a trained chain is worth.

A run has *recovered* its tree if at every inner node the two children outscore every other token
that the node sees. It is *solved* if on every one of 10,000 fresh inputs (on all of them up to
n = 16) the generated root has the sign of y, and ½ mean (ŷ - y)² over them is below 0.01; a learner
that trains every node on its own label must have recovered the tree as well.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from paritylab._support.precision import AnyArray
from paritylab.learning.chain.rows import all_tokens, draw_tokens, over_runs
from paritylab.learning.contract import Subset
from paritylab.models.chain import ChainModel, LayeredChain, visible_tokens
from paritylab.problem import ParityTree
from paritylab.problem.keys import as_key

#: Fresh inputs that judge a run; up to ENUMERATED bits all inputs do. TRACED judge a trace.
FRESH, ENUMERATED, TRACED = 10_000, 16, 1000
#: A chain counts as solved below this ½ mean (ŷ - y)².
SOLVED_LOSS = 0.01
#: What is trained: a chain that is seen, or one that layers hide.
AnyChain: TypeAlias = ChainModel | LayeredChain


def tree_children(leaves: Int[AnyArray, " k"], n: int) -> Int[Array, "nodes 2"]:
    """The two tokens below every inner node; `leaves` may be traced."""
    below = jnp.asarray(leaves)
    inner = jnp.arange(n, n + below.shape[0] - 2, dtype=below.dtype)
    return jnp.concatenate([below, inner]).reshape(-1, 2)


def pair_scores(
    scores: Float[AnyArray, "tokens nodes"], leaves: Int[AnyArray, " k"], mask: str
) -> tuple[Float[Array, "2 nodes"], Float[Array, " nodes"]]:
    """Scores of every node's two children, and the highest score among the others it sees."""
    w, k = jnp.asarray(scores), len(leaves)
    n = w.shape[0] - k + 1
    children, nodes = tree_children(leaves, n).T, jnp.arange(k - 1)
    seen = jnp.where(visible_tokens(n, k, mask), w, -jnp.inf)
    others = seen.at[children, nodes[None, :]].set(-jnp.inf)
    return w[children, nodes[None, :]], jnp.max(others, axis=0)


@partial(jax.jit, static_argnames="mask")
def pairs_found(
    scores: Float[AnyArray, "tokens nodes"], leaves: Int[AnyArray, " k"], mask: str = "token"
) -> Float[Array, ""]:
    """Share of inner nodes whose two children outscore every other token they see.

    scores: W. leaves: of the tree, in its order.
    """
    children, others = pair_scores(scores, leaves, mask)
    return jnp.mean(jnp.min(children, axis=0) > others)


class Answers(NamedTuple):
    """½ mean (ŷ - y)² and its standard error, rows with a wrong sign, largest |ŷ - y|."""

    risk: Float[Array, "..."]
    error: Float[Array, "..."]
    wrong: Int[Array, "..."]
    largest_error: Float[Array, "..."]


def answers(model: AnyChain, tokens: Float[Array, "rows tokens"]) -> Answers:
    """What the generated root is worth on rows of true tokens."""
    root, y = model.generate(tokens[:, : model.n])[:, -1], tokens[:, -1]
    loss = (root - y) ** 2 / 2
    return Answers(
        jnp.mean(loss),
        jnp.std(loss) / np.sqrt(tokens.shape[0] - 1),
        jnp.sum(~(root * y > 0)),
        jnp.max(jnp.abs(root - y)),
    )


_compiled_answers = eqx.filter_jit(answers)


def judge_chain(model: ChainModel, tree: ParityTree, key: int | Array, rows: int) -> float:
    """Share of fresh inputs whose generated root has the right sign."""
    tokens = draw_tokens(as_key(key), np.asarray(tree.leaves), tree.n, rows)
    return 1 - int(_compiled_answers(model, tokens).wrong) / rows


def traced_risks(
    models: Sequence[AnyChain], leaves: Int[AnyArray, " k"], key: Array
) -> Float[Array, " records"]:
    """½ mean (ŷ - y)² of each model of a run's path on a thousand fresh inputs."""
    tokens = draw_tokens(jax.random.fold_in(key, 5), leaves, models[0].n, TRACED)
    return jnp.stack([answers(model, tokens).risk for model in models])


def leaves_under_root(
    pairs: Int[np.ndarray, "nodes 2"], clear: Bool[np.ndarray, " nodes"], n: int
) -> Subset:
    """The inputs below the root if every node stands on its two highest tokens.

    pairs: these two tokens. clear: whether no third one reaches the second's score. None if a node
    has no two highest, or if what they form is not a tree.
    """
    waiting, seen = [n + len(pairs) - 1], set()
    while waiting:
        token = waiting.pop()
        if token in seen or (token >= n and not clear[token - n]):
            return None
        seen.add(token)
        if token >= n:
            waiting.extend(pairs[token - n].tolist())
    return tuple(sorted(token for token in seen if token < n))


@eqx.filter_jit
def judge_runs(
    models: AnyChain, leaves: Int[AnyArray, "runs k"], keys: Array, mask: str, every_input: bool
) -> PyTree:
    """Per run: `Answers`, the share of pairs found, every node's two highest tokens, and whether
    no third token reaches the second's score."""

    def judge_run(
        model: AnyChain, leaves: Array, key: Array
    ) -> tuple[Answers, Array, Array, Array]:
        n, scores = model.n, jnp.asarray(model.scores)
        fresh = jax.random.fold_in(key, 2)
        tokens = all_tokens(leaves, n) if every_input else draw_tokens(fresh, leaves, n, FRESH)
        seen = visible_tokens(n, model.k, mask)
        values, highest = jax.lax.top_k(jnp.where(seen, scores, -jnp.inf).T, min(3, len(seen)))
        found, clear = pairs_found(scores, leaves, mask), values[:, 1] > values[:, -1]
        return answers(model, tokens), found, highest[:, :2], clear

    return over_runs(judge_run, models, leaves, keys)

"""What a trained chain is worth: its answers, the pairs it found, its levels, the set it names.

A run has *recovered* its tree if at every inner node the two children outscore every other token
that the node sees. It is *solved* if on every one of 10,000 fresh inputs (on all of them up to
n = 16) the generated root has the sign of y, and ½ mean (ŷ - y)² over them is below 0.01; a learner
that trains every node on its own label must have recovered the tree as well.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from paritylab.learning.contract import Subset, Trained
from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.precision import AnyArray, float64
from paritylab.problem import ParityTree
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import binary_digits, draw_signs
from paritylab.problem.tree import level_ends, tree_tokens

#: Fresh inputs that judge a run; up to ENUMERATED bits all inputs do.
FRESH, ENUMERATED = 10_000, 16
#: A chain counts as solved below this ½ mean (ŷ - y)².
SOLVED_LOSS = 0.01


def draw_tokens(
    key: Array, leaves: Int[AnyArray, " k"], n: int, rows: int
) -> Float[Array, "rows tokens"]:
    """Fresh input signs and the true tokens of their chain."""
    tokens: Array = tree_tokens(draw_signs(key, rows, n), leaves)
    return tokens


def over_runs(one: Callable[..., PyTree], *per_run: PyTree) -> PyTree:
    """one(…) for every run in turn, stacked: the rows of a single run may fill the memory."""
    return jax.lax.map(lambda given: one(*given), per_run)


def tree_children(leaves: Int[AnyArray, " k"], n: int) -> Int[Array, "nodes 2"]:
    """The two tokens below every inner node; `leaves` may be traced."""
    below = jnp.asarray(leaves)
    inner = jnp.arange(n, n + below.shape[0] - 2, dtype=below.dtype)
    return jnp.concatenate([below, inner]).reshape(-1, 2)


class Pairs(NamedTuple):
    """Scores of every node's two children, and the highest score among the others it sees."""

    children: Float[Array, "2 nodes"]
    others: Float[Array, " nodes"]


def pair_scores(
    scores: Float[AnyArray, "tokens nodes"], leaves: Int[AnyArray, " k"], mask: str
) -> Pairs:
    """The scores W of the tree's own pairs and of their strongest rivals."""
    w, k = jnp.asarray(scores), len(leaves)
    n = w.shape[0] - k + 1
    children, nodes = tree_children(leaves, n).T, jnp.arange(k - 1)
    seen = jnp.where(visible_tokens(n, k, mask), w, -jnp.inf)
    others = seen.at[children, nodes[None, :]].set(-jnp.inf)
    return Pairs(w[children, nodes[None, :]], jnp.max(others, axis=0))


@partial(jax.jit, static_argnames="mask")
def pairs_found(
    scores: Float[AnyArray, "tokens nodes"], leaves: Int[AnyArray, " k"], mask: str = "token"
) -> Float[Array, ""]:
    """Share of inner nodes whose two children outscore every other token they see.

    scores: W. leaves: of the tree, in its order.
    """
    pairs = pair_scores(scores, leaves, mask)
    return jnp.mean(jnp.min(pairs.children, axis=0) > pairs.others)


def levels_solved(
    scores: Float[AnyArray, "tokens nodes"], leaves: Int[AnyArray, " k"]
) -> Float[Array, " levels"]:
    """Share of nodes per level whose children's scores are equal and 1 above the others."""
    pairs, k = pair_scores(scores, leaves, "level"), len(leaves)
    equal = jnp.abs(pairs.children[0] - pairs.children[1]) < 0.2
    good = equal & (jnp.min(pairs.children, axis=0) > pairs.others + 1)
    ends = np.asarray(level_ends(0, k))
    return jnp.stack([jnp.mean(part) for part in jnp.split(good, ends[1:-1])])


class Generating(Protocol):
    """A chain model: scores W, and all tokens from rows of signs."""

    n: int

    @property
    def scores(self) -> AnyArray: ...

    def generate(self, signs: Array) -> Array: ...


def judge_chain(
    model: ChainModel, tree: ParityTree, key: int | Array, rows: int
) -> tuple[float, float]:
    """Accuracy and largest error of the generated root on fresh inputs."""
    worth = _answers_of_one(model, np.asarray(tree.leaves), as_key(key), rows)
    return 1 - int(worth.wrong) / rows, float(worth.largest_error)


class Answers(NamedTuple):
    """½ mean (ŷ - y)² and its standard error, rows with a wrong sign, largest |ŷ - y|."""

    risk: Float[Array, "..."]
    error: Float[Array, "..."]
    wrong: Int[Array, "..."]
    largest_error: Float[Array, "..."]


def answers(model: Generating, tokens: Float[Array, "rows tokens"]) -> Answers:
    """What the generated root is worth on rows of true tokens."""
    root, y = model.generate(tokens[:, : model.n])[:, -1], tokens[:, -1]
    loss = (root - y) ** 2 / 2
    return Answers(
        jnp.mean(loss),
        jnp.std(loss) / np.sqrt(tokens.shape[0] - 1),
        jnp.sum(~(root * y > 0)),
        jnp.max(jnp.abs(root - y)),
    )


@eqx.filter_jit
def _answers_of_one(
    model: ChainModel, leaves: Int[AnyArray, " k"], key: Array, rows: int
) -> Answers:
    return answers(model, draw_tokens(key, leaves, model.n, rows))


class Named(NamedTuple):
    """Every node's two highest tokens, and whether no third token reaches the second's score."""

    pair: Int[AnyArray, "nodes 2"]
    clear: Bool[AnyArray, " nodes"]


def _named(scores: Float[Array, "tokens nodes"], n: int, mask: str) -> Named:
    seen = visible_tokens(n, scores.shape[1] + 1, mask)
    values, tokens = jax.lax.top_k(jnp.where(seen, scores, -jnp.inf).T, min(3, len(seen)))
    return Named(tokens[:, :2], values[:, 1] > values[:, -1])


def leaves_under_root(named: Named, n: int) -> Subset:
    """The inputs below the root if every node stands on its two highest tokens.

    None if a node has no two highest, or if what they form is not a tree.
    """
    pair, clear = np.asarray(named.pair), np.asarray(named.clear)
    waiting, seen = [n + len(pair) - 1], set()
    while waiting:
        token = waiting.pop()
        if token in seen or (token >= n and not clear[token - n]):
            return None
        seen.add(token)
        if token >= n:
            waiting.extend(pair[token - n].tolist())
    return tuple(sorted(token for token in seen if token < n))


class _Judging(NamedTuple):
    """What the compiled judging is specialised on."""

    mask: str
    every_input: bool


@eqx.filter_jit
def _judge_runs(models: Generating, leaves: AnyArray, keys: Array, how: _Judging) -> PyTree:
    """`Answers`, share of pairs found and what is `Named`, of every run."""

    def one(model: Generating, leaves: Array, key: Array) -> tuple[Answers, Array, Named]:
        n, scores = model.n, jnp.asarray(model.scores)
        if how.every_input:
            bits = binary_digits(jnp.arange(1 << n, dtype=jnp.uint32), n)
            tokens = tree_tokens(1 - 2 * bits.astype(scores.dtype), leaves)
        else:
            tokens = draw_tokens(jax.random.fold_in(key, 2), leaves, n, FRESH)
        worth = answers(model, tokens)
        return worth, pairs_found(scores, leaves, how.mask), _named(scores, n, how.mask)

    return over_runs(one, models, leaves, keys)


def judged_chains(
    models: Generating,
    leaves: Int[np.ndarray, "runs k"],
    keys: jax.Array,
    *,
    numbers: PyTree,
    mask: str,
    needs_pairs: bool,
    stats: dict[str, np.ndarray],
    trace: dict[str, np.ndarray],
) -> Trained:
    """`Trained` of chains on trees with the given leaves.

    models: of all runs, stacked: every array has the run as its first axis. numbers: what rebuilds
    them. needs_pairs: whether a solved run must have recovered its tree. stats: further ones.
    """
    n = models.n
    how = _Judging(mask, n <= ENUMERATED)
    if how.every_input:
        with float64():
            wide = jax.tree.map(lambda each: np.asarray(each, np.float64), models)
            found = _judge_runs(wide, leaves, keys, how)
    else:
        with jax.default_matmul_precision("highest"):
            found = _judge_runs(models, leaves, keys, how)
    worth, pairs, named = jax.tree.map(np.asarray, found)
    risk = worth.risk.astype(np.float64)
    right = (worth.wrong == 0) & (risk < SOLVED_LOSS)
    rows = 1 << n if how.every_input else FRESH
    return Trained(
        numbers=numbers,
        subset=[leaves_under_root(Named(*each), n) for each in zip(*named, strict=True)],
        risk=risk,
        error=np.zeros_like(risk) if how.every_input else worth.error.astype(np.float64),
        kind="exact" if how.every_input else "sampled",
        loss="squared",
        solved=right & ((pairs == 1) | (not needs_pairs)),
        recovered=pairs == 1,
        trace=trace,
        stats={
            "accuracy": 1 - worth.wrong / rows,
            "largest_error": worth.largest_error,
            "pairs_found": pairs,
            **stats,
        },
    )


class PrefixMeans(NamedTuple):
    """Per draw: the largest |mean of the first d_l tokens| over levels and strings, and whether
    some token is -1 on all strings."""

    largest: np.ndarray
    constant: np.ndarray


def prefix_means(tree: ParityTree, strings: int, keys: jax.Array) -> PrefixMeans:
    """Lemma 10's quantities on `strings` fresh strings per key."""
    found = _prefix_means(np.asarray(tree.leaves), keys, tree.n, strings)
    return PrefixMeans(*map(np.asarray, found))


@eqx.filter_jit
def _prefix_means(leaves: Int[AnyArray, " k"], keys: Array, n: int, strings: int) -> PyTree:
    ends = np.asarray(level_ends(n, len(leaves)))

    def one(key: Array) -> tuple[Array, Array]:
        tokens = draw_tokens(key, leaves, n, strings)
        means = jnp.cumsum(tokens, axis=1)[:, ends - 1] / jnp.asarray(ends, tokens.dtype)[None, :]
        return jnp.max(jnp.abs(means)), jnp.any(jnp.max(tokens, axis=0) < 0)

    return over_runs(one, keys)

"""What all learners of the chain share: data, model, and what a trained chain is worth.

A run has *recovered* its tree if at every inner node the two children outscore every other token
that the node sees. It is *solved* if on every one of 10,000 fresh inputs (on all of them up to
n = 16) the generated root has the sign of y, and ½ mean (ŷ - y)² over them is below 0.01; a learner
that trains every node on its own label must have recovered the tree as well.
"""

import abc
from collections.abc import Callable
from functools import partial
from typing import ClassVar, NamedTuple, Protocol, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from paritylab.learning.contract import Subset, Trained, check_fields
from paritylab.learning.data import Sample, Target, Unknown
from paritylab.learning.descent import Walk, walk
from paritylab.learning.parts import LinkPart
from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.models.layered import LayeredChain
from paritylab.models.links import AbstractLink, as_link, check_link
from paritylab.precision import AnyArray, float64
from paritylab.problem import ParityTree
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import binary_digits, draw_signs
from paritylab.problem.tree import level_ends, tree_tokens

#: Fresh inputs that judge a run; up to ENUMERATED bits all inputs do.
FRESH, ENUMERATED = 10_000, 16
#: A chain counts as solved below this ½ mean (ŷ - y)².
SOLVED_LOSS = 0.01
#: What is trained: a chain that is seen, or one that layers hide.
Chain: TypeAlias = ChainModel | LayeredChain


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


def levels_solved(
    scores: Float[AnyArray, "tokens nodes"], leaves: Int[AnyArray, " k"]
) -> Float[Array, " levels"]:
    """Share of nodes per level whose children's scores are equal and 1 above the others."""
    children, others = pair_scores(scores, leaves, "level")
    equal = jnp.abs(children[0] - children[1]) < 0.2
    good = equal & (jnp.min(children, axis=0) > others + 1)
    ends = np.asarray(level_ends(0, len(leaves)))
    return jnp.stack([jnp.mean(part) for part in jnp.split(good, ends[1:-1])])


class Generating(Protocol):
    """A chain model: scores W, and all tokens from rows of signs."""

    n: int

    @property
    def scores(self) -> AnyArray: ...

    def generate(self, signs: Array) -> Array: ...


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


_compiled_answers = eqx.filter_jit(answers)


def judge_chain(
    model: ChainModel, tree: ParityTree, key: int | Array, rows: int
) -> tuple[float, float]:
    """Accuracy and largest error of the generated root on fresh inputs."""
    tokens = draw_tokens(as_key(key), np.asarray(tree.leaves), tree.n, rows)
    worth = _compiled_answers(model, tokens)
    return 1 - int(worth.wrong) / rows, float(worth.largest_error)


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


class Judged(NamedTuple):
    """What every run is worth, one entry per run.

    risk, error: ½E(ŷ - y)² of the generated root and its standard error, 0 where every input was
    visited. kind: "exact" or "sampled". right: every answer has the right sign, and the risk is
    below SOLVED_LOSS. pairs: share of inner nodes whose children were found. accuracy,
    largest_error: of the root. subset: the leaves under the root as the scores name them.
    """

    risk: Float[np.ndarray, " runs"]
    error: Float[np.ndarray, " runs"]
    kind: str
    right: Bool[np.ndarray, " runs"]
    pairs: Float[np.ndarray, " runs"]
    accuracy: Float[np.ndarray, " runs"]
    largest_error: Float[np.ndarray, " runs"]
    subset: list[Subset]


def judged_chains(
    models: Generating, leaves: Int[np.ndarray, "runs k"], keys: jax.Array, mask: str
) -> Judged:
    """Chains on trees with the given leaves; every array of `models` has the run as first axis.

    Up to n = 16 all inputs are visited in float64; beyond, 10,000 fresh ones in float32.
    """
    n, every_input = models.n, models.n <= ENUMERATED
    if every_input:
        with float64():
            models = jax.tree.map(lambda each: np.asarray(each, np.float64), models)
            found = _judge_runs(models, leaves, keys, mask, every_input)
    else:
        with jax.default_matmul_precision("highest"):
            found = _judge_runs(models, leaves, keys, mask, every_input)
    worth, pairs, named = jax.tree.map(np.asarray, found)
    risk = worth.risk.astype(np.float64)
    return Judged(
        risk,
        np.zeros_like(risk) if every_input else worth.error.astype(np.float64),
        "exact" if every_input else "sampled",
        (worth.wrong == 0) & (risk < SOLVED_LOSS),
        pairs,
        1 - worth.wrong / (1 << n if every_input else FRESH),
        worth.largest_error,
        [leaves_under_root(Named(*each), n) for each in zip(*named, strict=True)],
    )


@eqx.filter_jit
def _judge_runs(
    models: Generating, leaves: AnyArray, keys: Array, mask: str, every_input: bool
) -> PyTree:
    """`Answers`, share of pairs found and what is `Named`, of every run."""

    def one(model: Generating, leaves: Array, key: Array) -> tuple[Answers, Array, Named]:
        n, scores = model.n, jnp.asarray(model.scores)
        if every_input:
            bits = binary_digits(jnp.arange(1 << n, dtype=jnp.uint32), n)
            tokens = tree_tokens(1 - 2 * bits.astype(scores.dtype), leaves)
        else:
            tokens = draw_tokens(jax.random.fold_in(key, 2), leaves, n, FRESH)
        return answers(model, tokens), pairs_found(scores, leaves, mask), _named(scores, n, mask)

    return over_runs(one, models, leaves, keys)


class PrefixMeans(NamedTuple):
    """Per draw: the largest |mean of the first d_l tokens| over levels and strings, and whether
    some token is -1 on all strings."""

    largest: np.ndarray
    constant: np.ndarray


def prefix_means(tree: ParityTree, strings: int, keys: jax.Array) -> PrefixMeans:
    """Lemma 10's quantities on `strings` fresh strings per key."""
    ends, leaves = np.asarray(level_ends(tree.n, tree.k)), np.asarray(tree.leaves)

    def one(key: Array) -> tuple[Array, Array]:
        tokens = draw_tokens(key, leaves, tree.n, strings)
        means = jnp.cumsum(tokens, axis=1)[:, ends - 1] / jnp.asarray(ends, tokens.dtype)[None, :]
        return jnp.max(jnp.abs(means)), jnp.any(jnp.max(tokens, axis=0) < 0)

    return PrefixMeans(*map(np.asarray, over_runs(one, keys)))


class Descended(NamedTuple):
    """Where all runs ended.

    numbers: W of each (runs, tokens, nodes), or W and the gates that were learnt. stats: the
    learner's own. trace: arrays (runs, records, …) at the recorded steps, "scores" among them;
    "step" only where the records are not every `trace`-th step. It is dropped if no trace was asked
    for.
    """

    numbers: PyTree
    stats: dict[str, np.ndarray]
    trace: dict[str, np.ndarray]


class Job(NamedTuple):
    """What a chain learner is to train. leaves: of every run's tree. trace: record every so many
    steps, or nothing."""

    link: AbstractLink
    data: Sample
    leaves: Int[np.ndarray, "runs k"]
    keys: jax.Array
    trace: int | None


class Shape(NamedTuple):
    """What a compiled descent is specialised on; every: stride of the path, None for no path."""

    n: int
    samples: int
    steps: int
    every: int | None


@eqx.filter_jit
def descend_all(
    step_of: Callable[..., Callable[[Array, Array], tuple[Array, PyTree]]],
    given: PyTree,
    leaves: Int[AnyArray, "runs k"],
    keys: Array,
    shape: Shape,
) -> Walk[Array]:
    """Every run from W = 0; step_of(given, leaves, key of the rows, shape) is the step of one."""

    def one(leaves: Array, key: Array) -> Walk[Array]:
        k = leaves.shape[0]
        step = step_of(given, leaves, jax.random.fold_in(key, 1), shape)
        start = jnp.zeros((shape.n + k - 1, k - 1), jnp.float32)
        return walk(step, start, steps=shape.steps, every=shape.every)

    return Walk(*over_runs(one, leaves, keys))


class ChainLearner(abc.ABC):
    """A learner of W from a sample of trees, W = 0 at the start; a subclass says how it descends.

    mask: "token" lets a node see every earlier token, "level" only lower levels. needs_pairs:
    whether a solved run must have recovered its tree.
    """

    link: LinkPart
    mask: str = "level"
    needs_pairs: ClassVar[bool] = True

    takes = (Sample,)
    of = "tree"

    def __post_init__(self) -> None:
        check_fields(self)
        check_link(as_link(self.link))

    def train(self, data: Sample, keys: jax.Array, trace: int | None) -> Trained:
        """Descend, then judge every run by what its model generates."""
        leaves, link = leaves_of(data), as_link(self.link)
        end = self._descend(Job(link, data, leaves, keys, trace))
        models = eqx.filter_vmap(lambda each: self.model_of(each, data.n, link))(end.numbers)
        found = judged_chains(models, leaves, keys, self.mask)
        kept = {}
        if trace is not None:
            records = end.trace["scores"].shape[1]
            kept = {"step": trace * np.arange(records), **end.trace}
        return Trained(
            numbers=end.numbers,
            subset=found.subset,
            risk=found.risk,
            error=found.error,
            kind=found.kind,
            loss="squared",
            solved=found.right & ((found.pairs == 1) | (not self.needs_pairs)),
            recovered=found.pairs == 1,
            trace=kept,
            stats={
                "accuracy": found.accuracy,
                "largest_error": found.largest_error,
                "pairs_found": found.pairs,
                **end.stats,
            },
        )

    def model_of(self, numbers: PyTree, n: int, link: AbstractLink) -> Chain:
        """The model of one run from its numbers."""
        return ChainModel(numbers, n, link, self.mask)

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> Chain:
        return self.model_of(numbers, target.n, as_link(self.link))

    @abc.abstractmethod
    def _descend(self, job: Job) -> Descended:
        """All runs from W = 0 to their ends."""


def leaves_of(data: Sample) -> Int[np.ndarray, "runs k"]:
    """Leaves of every run's tree, in their order."""
    trees = [each for each in data.targets if isinstance(each, ParityTree)]
    if len(trees) < data.runs:
        raise ValueError(
            "the chain of thought learns trees of parities: give random_trees(n, k, runs) or "
            f"ParityTree(n, leaves), got {type(data.targets[0]).__name__}"
        )
    return np.array([tree.leaves for tree in trees], dtype=np.int32)

"""What all learners of the chain share: rows, descent, and what a trained chain is worth.

Rows of trees are drawn whole (`draw_tokens`), or as a `Stream` that needs the memory of one batch.

A run has *recovered* its tree if at every inner node the two children outscore every other token
that the node sees. It is *solved* if on every one of 10,000 fresh inputs (on all of them up to
n = 16) the generated root has the sign of y, and ½ mean (ŷ - y)² over them is below 0.01; a learner
that trains every node on its own label must have recovered the tree as well.
"""

import abc
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree, UInt8

from paritylab._support.precision import AnyArray, float64
from paritylab.learning.contract import BaseLearner, LinkPart, Subset, Trained, check_fields
from paritylab.learning.data import Sample, Target, Unknown
from paritylab.learning.descent import Walk, walk
from paritylab.models.chain import ChainModel, LayeredChain, visible_tokens
from paritylab.models.links import AbstractLink, as_link, check_link
from paritylab.problem import ParityTree
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import binary_digits, draw_signs, packed_signs
from paritylab.problem.tree import tree_tokens

#: Rows of samples drawn at a time, and those worked on at a time: as many as a cache holds.
BATCH, PART = 8192, 2048


def draw_tokens(
    key: Array, leaves: Int[AnyArray, " k"], n: int, rows: int
) -> Float[Array, "rows tokens"]:
    """Fresh input signs and the true tokens of their chain."""
    tokens: Array = tree_tokens(draw_signs(key, rows, n), leaves)
    return tokens


def over_runs(one: Callable[..., PyTree], *per_run: PyTree) -> PyTree:
    """one(…) for every run in turn, stacked: the rows of a single run may fill the memory."""
    return jax.lax.map(lambda given: one(*given), per_run)


@eqx.filter_jit
def every_run(one: Callable[..., PyTree], given: PyTree, rows: "Stream") -> PyTree:
    """one(given, rows of a run, its key) for every run of a stream; what is no array in `given` is
    compiled for. The training rows of a run come from fold_in(its key, 1)."""

    def run(leaves: Array, key: Array) -> PyTree:
        own = rows._replace(leaves=leaves, key=jax.random.fold_in(key, 1))
        return one(given, own, key)

    return over_runs(run, rows.leaves, rows.key)


class Columns(NamedTuple):
    """Tokens of many rows, one column per row: running sums over tokens then add whole lines."""

    inputs: Float[Array, "n rows"]
    inner: Float[Array, "nodes rows"]

    def tokens(self) -> Float[Array, "rows tokens"]:
        """The same with a line per row."""
        return jnp.concatenate(self).T


class Stream(NamedTuple):
    """The rows of a run, or of many, drawn again at every pass so that one batch is in memory.

    leaves: of the tree, (k,). key: batch i comes from fold_in(key, i). samples: N. n: bits. size:
    rows per batch. A stream of many runs has leaves (runs, k) and one key per run.
    """

    leaves: Int[AnyArray, "... k"]
    key: Array
    samples: int | np.int32
    n: int
    size: int

    @classmethod
    def of(cls, leaves: Int[np.ndarray, "... k"], key: Array, samples: int, n: int) -> "Stream":
        """Batches hold a power of two of rows, so that few shapes compile."""
        size = min(BATCH, 1 << max(6, (samples - 1).bit_length()))
        return cls(np.asarray(leaves, np.int32), key, np.int32(samples), n, size)

    def mean(self, add: Callable[[Columns, Bool[Array, " rows"]], PyTree], zero: PyTree) -> PyTree:
        """Mean over all rows of what add(columns, kept) sums over some; kept: rows that count."""
        # A cache's worth of rows on a processor, the whole batch elsewhere.
        rows = min(PART, self.size) if jax.default_backend() == "cpu" else self.size

        def batch(index: Array, total: PyTree) -> PyTree:
            packed = packed_signs(jax.random.fold_in(self.key, index), self.size, self.n)
            parts = packed.reshape(-1, rows, packed.shape[1])
            (added, _), _ = jax.lax.scan(part, (total, index * self.size), parts)
            return added

        def part(carried: tuple[PyTree, Array], packed: Array) -> tuple[tuple[PyTree, Array], None]:
            total, first = carried
            kept = first + jnp.arange(rows) < self.samples
            added = add(as_columns(packed, self.leaves, self.n), kept)
            return (jax.tree.map(jnp.add, total, added), first + rows), None

        batches = (self.samples + self.size - 1) // self.size
        total = jax.lax.fori_loop(0, batches, batch, zero)
        return jax.tree.map(lambda each: each / self.samples, total)


def as_columns(packed: UInt8[Array, "rows bytes"], leaves: Int[AnyArray, " k"], n: int) -> Columns:
    """The tokens of rows whose input signs are packed bits."""

    def signs(byte: Array) -> Array:
        bits = (byte[None, :] >> jnp.arange(7, -1, -1, dtype=jnp.uint8)[:, None]) & 1
        return 1 - 2 * bits.astype(jnp.float32)

    inputs = jax.lax.map(signs, packed.T).reshape(-1, packed.shape[0])[:n]
    parts, below = [], inputs[leaves]
    while below.shape[0] > 1:
        below = below[0::2] * below[1::2]
        parts.append(below)
    return Columns(inputs, jnp.concatenate(parts))


#: Fresh inputs that judge a run; up to ENUMERATED bits all inputs do. TRACED judge a trace.
FRESH, ENUMERATED, TRACED = 10_000, 16, 1000
#: A chain counts as solved below this ½ mean (ŷ - y)².
SOLVED_LOSS = 0.01
#: What is trained: a chain that is seen, or one that layers hide.
Chain: TypeAlias = ChainModel | LayeredChain


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


def answers(model: Chain, tokens: Float[Array, "rows tokens"]) -> Answers:
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
    models: Sequence[Chain], leaves: Int[AnyArray, " k"], key: Array
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
def _judged(
    models: Chain, leaves: Int[AnyArray, "runs k"], keys: Array, mask: str, every_input: bool
) -> PyTree:
    """Per run: `Answers`, the share of pairs found, every node's two highest tokens, and whether
    no third token reaches the second's score."""

    def one(model: Chain, leaves: Array, key: Array) -> tuple[Answers, Array, Array, Array]:
        n, scores = model.n, jnp.asarray(model.scores)
        if every_input:
            bits = binary_digits(jnp.arange(1 << n, dtype=jnp.uint32), n)
            tokens = tree_tokens(1 - 2 * bits.astype(scores.dtype), leaves)
        else:
            tokens = draw_tokens(jax.random.fold_in(key, 2), leaves, n, FRESH)
        seen = visible_tokens(n, model.k, mask)
        values, highest = jax.lax.top_k(jnp.where(seen, scores, -jnp.inf).T, min(3, len(seen)))
        found, clear = pairs_found(scores, leaves, mask), values[:, 1] > values[:, -1]
        return answers(model, tokens), found, highest[:, :2], clear

    return over_runs(one, models, leaves, keys)


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


class ChainLearner(BaseLearner, abc.ABC):
    """A learner of W from a sample of trees, W = 0 at the start; a subclass says how it descends.

    mask: "token" lets a node see every earlier token, "level" only lower levels. needs_pairs:
    whether a solved run must have recovered its tree.
    """

    link: LinkPart
    mask: str = "level"
    needs_pairs: ClassVar[bool] = True

    takes = (Sample,)
    targets = ("tree",)
    streams = True
    trains_on: ClassVar = {"n": 64, "k": 32, "runs": 5}

    def __post_init__(self) -> None:
        check_fields(self)
        check_link(as_link(self.link))

    def frames(self, trace: Mapping[str, np.ndarray], n: int) -> dict[str, Any]:
        if "scores" not in trace:
            return {}
        scores = np.asarray(trace["scores"], dtype=float)
        seen = visible_tokens(n, scores.shape[2] + 1, self.mask)
        ends = [int(np.flatnonzero(column)[-1]) + 1 for column in seen.T]
        columns = [
            [moment[:end, node].tolist() for node, end in enumerate(ends)]
            for moment in np.where(seen, scores, 0)
        ]
        return {"scores": columns}

    def train(self, data: Sample, keys: jax.Array, trace: int | None) -> Trained:
        """Descend, then judge every run by what its model generates.

        Up to n = 16 all inputs are visited in float64; beyond, 10,000 fresh ones in float32.
        """
        link, rows = as_link(self.link), Stream.of(leaves_of(data), keys, data.samples, data.n)
        end = self._descend(link, rows, trace)
        models = eqx.filter_vmap(lambda each: self.model_of(each, data.n, link))(end.numbers)
        every_input = data.n <= ENUMERATED
        with float64() if every_input else jax.default_matmul_precision("highest"):
            if every_input:
                models = jax.tree.map(lambda each: np.asarray(each, np.float64), models)
            found = _judged(models, rows.leaves, keys, self.mask, every_input)
        worth, pairs, highest, clear = jax.tree.map(np.asarray, found)
        risk, error = worth.risk.astype(np.float64), worth.error.astype(np.float64)
        right = (worth.wrong == 0) & (risk < SOLVED_LOSS)
        kept = {}
        if trace is not None:
            kept = {"step": trace * np.arange(end.trace["scores"].shape[1]), **end.trace}
        return Trained(
            numbers=end.numbers,
            subset=[leaves_under_root(*each, data.n) for each in zip(highest, clear, strict=True)],
            risk=risk,
            error=np.zeros_like(risk) if every_input else error,
            kind="exact" if every_input else "sampled",
            loss="squared",
            solved=right & ((pairs == 1) | (not self.needs_pairs)),
            recovered=pairs == 1,
            trace=kept,
            stats={
                "accuracy": 1 - worth.wrong / (1 << data.n if every_input else FRESH),
                "largest_error": worth.largest_error,
                "pairs_found": pairs,
                **end.stats,
            },
        )

    def model_of(self, numbers: PyTree, n: int, link: AbstractLink) -> Chain:
        """The model of one run from its numbers."""
        return ChainModel(numbers, n, link, self.mask)

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> Chain:
        return self.model_of(numbers, target.n, as_link(self.link))

    @abc.abstractmethod
    def _descend(self, link: AbstractLink, rows: Stream, trace: int | None) -> Descended:
        """All runs from W = 0 to their ends. rows: of all runs, with their keys. trace: record
        every so many steps, or nothing."""


def leaves_of(data: Sample) -> Int[np.ndarray, "runs k"]:
    """Leaves of every run's tree, in their order."""
    trees = [each for each in data.targets if isinstance(each, ParityTree)]
    if len(trees) < data.runs:
        raise ValueError(
            "the chain of thought learns trees of parities: give random_trees(n, k, runs) or "
            f"ParityTree(n, leaves), got {type(data.targets[0]).__name__}"
        )
    return np.array([tree.leaves for tree in trees], dtype=np.int32)

"""What all learners of the chain share: the data they take, the model, how a run is judged."""

import abc
from collections.abc import Callable
from typing import ClassVar, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PyTree

from paritylab.learning.chain.chain_accuracy import judged_chains, over_runs
from paritylab.learning.contract import Trained, check_fields
from paritylab.learning.data import Sample, Target, Unknown
from paritylab.learning.descent import Walk, walk
from paritylab.learning.parts import LinkPart
from paritylab.models.chain import ChainModel
from paritylab.models.layered import LayeredChain
from paritylab.models.links import AbstractLink, as_link, check_link
from paritylab.precision import AnyArray
from paritylab.problem import ParityTree

#: What is trained: a chain that is seen, or one that layers hide.
Chain: TypeAlias = ChainModel | LayeredChain


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

    A run recovers its tree if at every inner node the two children outscore every other token the
    node sees. It is solved if its generated root has the right sign on every one of 10,000 fresh
    inputs (all inputs up to n = 16) and ½ mean (ŷ - y)² is below 0.01.
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

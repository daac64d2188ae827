"""What all learners of the chain share: the data they take, the model, how a run is judged."""

import abc
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float, Int, PyTree

from paritylab.learning.chain.chain_accuracy import Generating, judged_chains
from paritylab.learning.contract import Trained, check_fields
from paritylab.learning.data import Sample, Target, Unknown
from paritylab.learning.parts import LinkPart
from paritylab.models.chain import ChainModel
from paritylab.models.layered import LayeredChain
from paritylab.models.links import AbstractLink, as_link, check_link
from paritylab.problem import ParityTree


class Descended(NamedTuple):
    """Where all runs ended: W of each (runs, tokens, nodes), the learner's own stats, its trace
    without the steps, which is empty if none was asked for; gates, if it learnt any."""

    scores: Float[np.ndarray, "runs tokens nodes"]
    stats: dict[str, np.ndarray]
    trace: dict[str, np.ndarray]
    gates: Float[np.ndarray, "runs layers nodes"] | None = None


class Job(NamedTuple):
    """What a chain learner is to train. leaves: of every run's tree. trace: record every so many
    steps, or nothing."""

    link: AbstractLink
    data: Sample
    leaves: Int[np.ndarray, "runs k"]
    keys: jax.Array
    trace: int | None


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
        leaves, link = leaves_of(data), as_link(self.link)
        found = self._descend(Job(link, data, leaves, keys, trace))
        numbers = found.scores if found.gates is None else (found.scores, found.gates)
        return judged_chains(
            eqx.filter_vmap(lambda each: self.model_of(each, data.n, link))(numbers),
            leaves,
            keys,
            numbers=numbers,
            mask=self.mask,
            needs_pairs=self.needs_pairs,
            stats=found.stats,
            trace=found.trace,
        )

    def model_of(self, numbers: PyTree, n: int, link: AbstractLink) -> Generating:
        """The model of one run from its numbers."""
        return ChainModel(numbers, n, link, self.mask)

    def rebuild(
        self, numbers: PyTree, target: Target | Unknown, key: jax.Array
    ) -> ChainModel | LayeredChain:
        return ChainModel(numbers, target.n, as_link(self.link), self.mask)

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

"""What all learners of trees share: from settings and data to trained, judged runs."""

import abc
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Int, PyTree

from paritylab._support.precision import float64
from paritylab.learning.chain.evaluation import (
    ENUMERATED,
    FRESH,
    SOLVED_LOSS,
    AnyChain,
    judge_runs,
    leaves_under_root,
)
from paritylab.learning.contract import BaseLearner, LinkPart, Trained, check_fields
from paritylab.learning.data import Data, KnownData, Sample, Target, Unknown
from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.models.links import as_link, check_link
from paritylab.problem import ParityTree


class Descended(NamedTuple):
    """Where all runs ended.

    numbers: W of each (runs, tokens, nodes), or W and what else was trained. stats: those of the
    learner. trace: arrays (runs, records, …) at the recorded steps, "scores" among them;
    "step" only where the records are not every `trace`-th step. It is dropped if no trace was asked
    for.
    """

    numbers: PyTree
    stats: dict[str, np.ndarray]
    trace: dict[str, np.ndarray]


class ChainLearner(BaseLearner, abc.ABC):
    """A learner of W from rows of trees, W = 0 at the start; a subclass says how it descends.

    mask: what a node sees, see `ChainModel`. needs_pairs: whether a solved run must have recovered
    its tree.
    """

    link: LinkPart
    mask: str

    takes: ClassVar[tuple[type[Data], ...]] = (Sample,)
    targets = ("tree",)
    streams = True
    trains_on: ClassVar = {"n": 64, "k": 32, "runs": 5}

    def __post_init__(self) -> None:
        check_fields(self)
        check_link(as_link(self.link))

    @property
    def needs_pairs(self) -> bool:
        """Whether every node is trained on its own token."""
        return True

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

    def train(self, data: KnownData, keys: jax.Array, trace: int | None) -> Trained:
        """Descend, then judge every run by what its model generates.

        Up to n = 16 all inputs are visited in float64; beyond, 10,000 fresh ones in float32.
        """
        leaves = leaves_of(data)
        end = self._descend(data, leaves, keys, trace)
        models = eqx.filter_vmap(lambda each: self.model_of(each, data.n))(end.numbers)
        every_input = data.n <= ENUMERATED
        with float64() if every_input else jax.default_matmul_precision("highest"):
            if every_input:
                models = jax.tree.map(lambda each: np.asarray(each, np.float64), models)
            found = judge_runs(models, leaves, keys, self.mask, every_input)
        worth, pairs, highest, clear = jax.tree.map(np.asarray, found)
        risk, error = worth.risk.astype(np.float64), worth.error.astype(np.float64)
        right = (worth.wrong == 0) & (risk < SOLVED_LOSS)
        records = {}
        if trace is not None:
            records = {"step": trace * np.arange(end.trace["scores"].shape[1]), **end.trace}
        return Trained(
            numbers=end.numbers,
            subset=[leaves_under_root(*each, data.n) for each in zip(highest, clear, strict=True)],
            risk=risk,
            error=np.zeros_like(risk) if every_input else error,
            kind="exact" if every_input else "sampled",
            loss="squared",
            solved=right & ((pairs == 1) | (not self.needs_pairs)),
            recovered=pairs == 1,
            trace=records,
            stats={
                "accuracy": 1 - worth.wrong / (1 << data.n if every_input else FRESH),
                "largest_error": worth.largest_error,
                "pairs_found": pairs,
                **end.stats,
            },
        )

    def model_of(self, numbers: PyTree, n: int) -> AnyChain:
        """The model of one run from its numbers."""
        return ChainModel(numbers, n, as_link(self.link), self.mask)

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> AnyChain:
        return self.model_of(numbers, target.n)

    @abc.abstractmethod
    def _descend(
        self, data: KnownData, leaves: Int[np.ndarray, "runs k"], keys: jax.Array, trace: int | None
    ) -> Descended:
        """All runs from W = 0 to their ends. trace: record every so many steps, or nothing."""


def leaves_of(data: KnownData) -> Int[np.ndarray, "runs k"]:
    """Leaves of every run's tree, in their order."""
    trees = [each for each in data.targets if isinstance(each, ParityTree)]
    if len(trees) < data.runs:
        raise ValueError(
            "the chain of thought learns trees of parities: give random_trees(n, k, runs) or "
            f"ParityTree(n, leaves), got {type(data.targets[0]).__name__}"
        )
    forms = {(getattr(tree, "arity", 2), getattr(tree, "shape", "balanced")) for tree in trees}
    if forms != {(2, "balanced")}:
        raise ValueError(
            "the chain of thought is a complete tree whose nodes are products of two tokens, got "
            f"{sorted(forms - {(2, 'balanced')})[0]}"
        )
    return np.array([tree.leaves for tree in trees], dtype=np.int32)

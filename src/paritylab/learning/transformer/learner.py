"""The learner of ordinary transformers."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, cast

import equinox as eqx
import jax
import numpy as np
from annotated_doc import Doc
from annotated_types import Ge, Gt, Lt
from jaxtyping import PyTree

from paritylab.learning.contract import (
    MOST_INPUTS,
    BaseLearner,
    OptimiserPart,
    Trained,
    check_fields,
    register_learner,
)
from paritylab.learning.data import (
    CLEAN,
    Fresh,
    Population,
    Sample,
    Target,
    Unknown,
    are_uniform,
)
from paritylab.learning.descent import OPTIMISER, as_optimiser, stacked
from paritylab.learning.transformer.chains import Plan, plan
from paritylab.learning.transformer.training import (
    SOLVED_SHARE,
    Dials,
    Shape,
    Task,
    Test,
    train_all,
)
from paritylab.models.transformer import Build, Decoder, Places
from paritylab.options import Choice
from paritylab.problem import Parity, ParityTree
from paritylab.risk.objective import Target as Arrays, target_of


@register_learner("transformer")
@dataclass(frozen=True, eq=False)
class Transformer(BaseLearner):
    """A decoder-only transformer that reads n bits and writes a chain that ends with the parity.

    chain: what is written before the answer, see `plan`. gap: a line shows every gap-th partial
    parity. flips: share of chain tokens flipped in training. Trained in float32 on the
    cross-entropy of all slots, each after the ones shown before it. `Fresh` rows are new at every
    step; of a `Sample` each step draws `batch` rows; of a `Population` it reads all inputs.

    Every `check` steps a run is tested on 512 fresh rows. It is solved, and stops, once it writes
    all tokens of the chain right by itself on 98 % of them. Its risk is ½(ŷ - y)² with
    ŷ = P(+1) - P(-1) of the last slot after its own chain. Stats: rows, read until it was solved or
    out of steps; steps; accuracy of the answers; attention, the largest weight of a head of the
    last layer on an unknown parent of a slot, averaged over them. The trace has the tests, rounded
    up to whole ones: risk (the cross-entropy), right, by_slot, attention.

    >>> from paritylab.learning import Fresh, learn
    >>> from paritylab.problem import Parity
    >>> runs = learn(Transformer(steps=300), Fresh(Parity(8, (1, 4, 6)), 64), runs=2)
    >>> int(runs.solved.sum()), bool((runs.stats["attention"] > 0.5).all())
    (2, True)
    """

    chain: Annotated[
        str,
        Choice(("line", "none", "tree", "post-order", "again", "filler")),
        Doc("What is written before the answer."),
    ] = "line"
    gap: Annotated[int, Ge(1), Doc("A line shows every gap-th partial parity.")] = 1
    flips: Annotated[float, Ge(0), Lt(0.5), Doc("Share of chain tokens flipped.")] = 0.0
    layers: Annotated[int, Ge(1), Doc("Layers.")] = 1
    heads: Annotated[int, Ge(1), Doc("Heads per layer.")] = 4
    width: Annotated[int, Ge(1), Doc("Numbers per token, a multiple of the heads.")] = 32
    positions: Annotated[
        Places,
        Choice(
            ("learned", "sinusoidal", "rotary"),
            own="a function of (length, width) or an AbstractPlaces",
        ),
        Doc("How places are known."),
    ] = "learned"
    optimiser: Annotated[OptimiserPart, OPTIMISER, Doc("Optimiser.")] = "adamw"
    eta: Annotated[float, Gt(0), Doc("Step size.")] = 3e-3
    batch: Annotated[int, Ge(1), Doc("Rows per step of a sample.")] = 64
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run, at most.")] = 2000
    check: Annotated[int, Ge(1), Doc("Steps between two tests.")] = 25

    takes = (Population, Sample, Fresh)
    targets = ("parity", "tree")
    trains_on: ClassVar = {"n": 16, "k": 8, "runs": 4}
    captions: ClassVar = {"right": "share of fresh rows with a right chain"}
    course = ("right",)

    def default_samples(self, n: int) -> int:
        return 64

    def __post_init__(self) -> None:
        check_fields(self)
        as_optimiser(self.optimiser, self.eta)
        if self.width % self.heads:
            raise ValueError(f"width must be a multiple of heads={self.heads}, got {self.width}")
        if self.gap > 1 and self.chain != "line":
            raise ValueError(f"gap is for the chain line, got gap={self.gap} with {self.chain}")

    def train(
        self, data: Population | Sample | Fresh, keys: jax.Array, trace: int | None
    ) -> Trained:
        plans = [self.plan_of(each) for each in data.targets]
        tests = -(-self.steps // self.check)
        errors, samples = CLEAN, 1
        if isinstance(data, Population):
            if data.n > MOST_INPUTS:
                raise ValueError(
                    f"training visits all inputs up to n = {MOST_INPUTS}, got n={data.n}; give "
                    "Sample or Fresh"
                )
            if self.flips:
                raise ValueError("flipped chain tokens are drawn: give Sample or Fresh rows")
            batch = 1 << data.n
        else:
            errors, samples = data.corruption, data.samples
            batch = samples if isinstance(data, Fresh) else self.batch
        flips = errors.tokens + self.flips * (1 - 2 * errors.tokens)
        records = 0 if trace is None else 1 + tests
        how = Shape(self.optimiser, batch, type(data).__name__, are_uniform(data), records)
        dials = Dials(
            *(np.asarray(each, np.float32) for each in (self.eta, flips, errors.flips)),
            *(np.asarray(each, np.int32) for each in (self.steps, self.check, samples)),
        )
        # float32 whatever the caller's mode: twice as fast, and the same key gives the same run.
        with jax.enable_x64(False), jax.default_matmul_precision("highest"):
            tasks = stacked(
                Task(jax.tree.map(np.float32, _arrays(target)), each.sums, each.parents)
                for target, each in zip(data.targets, plans, strict=True)
            )
            end = train_all(self._build(data.n, plans[0].written), tasks, keys, dials, how)
        end = jax.tree.map(np.asarray, end)
        return Trained(
            numbers=tuple(jax.tree.leaves(end.model)),
            subset=[None] * data.runs,
            risk=end.risk.astype(np.float64),
            error=end.error.astype(np.float64),
            kind="sampled",
            loss="squared",
            solved=end.last.right >= SOLVED_SHARE,
            stats={
                "rows": end.steps.astype(np.int64) * batch,
                "steps": end.steps,
                "accuracy": end.accuracy,
                "attention": end.last.attention,
            },
            trace={} if trace is None else self._traced(end.seen, tests, trace),
        )

    def _traced(self, seen: Test, tests: int, trace: int) -> dict[str, np.ndarray]:
        """The first test, every so many steps rounded up to whole tests, and the last."""
        stride = -(-trace // self.check)
        chosen = np.minimum(np.arange(0, tests + stride, stride), tests)
        kept = {name: np.asarray(values)[:, chosen] for name, values in seen._asdict().items()}
        return {"step": np.minimum(chosen * self.check, self.steps), **kept}

    def plan_of(self, target: Target | Unknown) -> Plan:
        """The chain that belongs to a target."""
        if not isinstance(target, Parity | ParityTree):
            raise ValueError(
                f"a transformer learns a Parity or a ParityTree, got a {type(target).__name__}"
            )
        leaves = target.leaves if isinstance(target, ParityTree) else target.subset
        if not leaves:
            raise ValueError("a transformer's chain needs k ≥ 1, got k=0")
        return plan(self.chain, leaves, target.n, self.gap)

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> Decoder:
        build = self._build(target.n, self.plan_of(target).written)
        with jax.enable_x64(False):
            form = eqx.filter_eval_shape(build.draw, key)
        return cast(Decoder, jax.tree.unflatten(jax.tree.structure(form), list(numbers)))

    def _build(self, n: int, written: tuple[bool, ...]) -> Build:
        return Build(n, written, self.layers, self.heads, self.width, self.positions)


def _arrays(target: Target) -> Arrays:
    """The parity of a target, which may be the root of a tree."""
    assert isinstance(target, Parity | ParityTree)
    return target_of(target.problem if isinstance(target, ParityTree) else target)

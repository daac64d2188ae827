"""The chain of thought: KS's theorems and published models as settings of one learner."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, TypedDict, Unpack

import jax
import numpy as np
import optax
from annotated_doc import Doc
from annotated_types import Ge, Gt
from jaxtyping import Int, PyTree

from paritylab.learning.chain.chain_learner import ChainLearner, Descended
from paritylab.learning.chain.curriculum import Curriculum, Filter, as_curriculum
from paritylab.learning.chain.evaluation import AnyChain
from paritylab.learning.chain.objective import Objective
from paritylab.learning.chain.oracles import Hiding, Oracle, as_oracle
from paritylab.learning.chain.records import stats_of, trace_of
from paritylab.learning.chain.rows import Draw, Flips, rows_per_batch
from paritylab.learning.chain.step_sizes import level_step, published_step, usual_step
from paritylab.learning.chain.training import ChainOptimiser, Setting, StepRule, train_runs
from paritylab.learning.contract import LINK, LinkPart, register_learner
from paritylab.learning.data import Data, Fresh, KnownData, Population, Sample
from paritylab.learning.descent import OPTIMISER
from paritylab.models.chain import ChainModel
from paritylab.models.links import AbstractLink, CosineSeries, as_link
from paritylab.options import Choice, ListOf

#: Up to here all inputs of a `Population` are visited.
MOST_BITS = 20
#: The four models of the paper's figure.
PUBLISHED = ("direct", "cot", "teacher", "self-consistency")
#: The share of earlier steps that the optimiser "momentum" adds to a step.
MOMENTUM = 0.9
#: Step size of optimisers that rescale gradients, where none is asked for.
RESCALED_STEP = 0.3


class ChainSettings(TypedDict, total=False):
    """The fields of `Chain` as keywords of its presets, for type checkers and completion."""

    supervision: str
    mask: str
    curriculum: Curriculum
    optimiser: ChainOptimiser
    eta: float | Sequence[float] | None
    steps: int | None
    batch: int | None
    rounding: bool
    lowest_level: bool
    mean_loss: bool
    answer_weight: float
    oracle: str | Oracle
    link: LinkPart
    link_eta: float | None
    stream: bool


@register_learner("chain")
@dataclass(frozen=True, eq=False)
class Chain(ChainLearner):
    """KS's transformer, which writes a chain of parities of two, trained from W = 0.

    The presets are the procedures of the paper, the fields its devices; every field can be changed
    on every preset. The loss is Σ_m c_m·½ mean (x̂_m - x_m)² over the inner tokens m of the tree.

    supervision: "teacher" (forcing) writes every token from the true ones, "chain" writes all
    tokens from the bits alone and compares each, "answer" compares the last one only. mean_loss:
    c_m = 1/(k-1) instead of 1, for tokens of a chain. answer_weight: is added to c of the answer.
    mask: what a node attends to, see `ChainModel`.

    curriculum: "all" levels at once; "self-consistency" opens a level once the one below has a
    softmax score above 0.4; a `Filter` silences levels that rest on tokens which say nothing. A
    silenced level writes zeros; for the answer alone, which needs all levels, it does not move.
    lowest_level: moves only the lowest level that still has no weights. It is the only one that
    filter and rounding leave to move if rows are many; if they are few, two children may be rounded
    to unequal scores, and then the gradient of all levels throws their node far off: of 60 trees at
    n = 12, k = 4, N = 4,000 it recovers 15, the lowest level's alone 47. rounding: scores to whole
    numbers after every step.

    optimiser: a name, a transformation from optax, or a function such as `optax.adam` that is
    called with η. eta: η, one number or one per level; for a transformation it is a factor of its
    updates, 1 if None. None stands for the paper's choice: `usual_step` with teacher forcing,
    `level_step` without, `published_step` for a mean loss or for the answer alone, and 0.3 for
    optimisers that rescale gradients. steps: log2 k if None. batch: rows of every step, a part of
    the sample; a remainder is left out.

    oracle: answers with something near the gradient, see `Hiding`. link: φ. link_eta: step size of
    the numbers that the link holds; one without numbers becomes a `CosineSeries`. stream: draws
    rows again at every pass, so that memory does not grow with N.

    stats: solved_at, the first step before which the loss of the answer on the rows is below 0.01
    (-1: never); answer_loss and chain_loss (the mean over tokens) before the last step. Where
    levels are learnt in turn: levels_per_step (runs, steps + 1), levels solved from the bottom,
    before any step and after each; one_per_step: exactly one more every time, up to the last;
    silenced_level: the first level that does not train (0: none). An oracle adds its notes. trace:
    risk (of the answer), chain_loss, open_levels, scores.

    >>> from paritylab.learning import Sample, learn
    >>> from paritylab.problem import random_trees
    >>> bool(learn(Chain.theorem5(), Sample(random_trees(16, 4, runs=2), 20_000)).solved.all())
    True
    """

    supervision: Annotated[
        str, Choice(("teacher", "chain", "answer")), Doc("What is compared with the truth.")
    ] = "teacher"
    mask: Annotated[
        str, Choice(("token", "level", "none")), Doc("Earlier tokens, lower levels, or everything.")
    ] = "token"
    curriculum: Annotated[
        Curriculum,
        Choice(("all", "self-consistency", "filter"), own="a Filter(augmentation, threshold)"),
        Doc("Which levels are trained when."),
    ] = "all"
    optimiser: Annotated[ChainOptimiser, OPTIMISER, Doc("Optimiser.")] = "sgd"
    eta: Annotated[
        float | Sequence[float] | None,
        Gt(0),
        ListOf("level"),
        Doc("Step size; the paper's if absent."),
    ] = None
    steps: Annotated[int | None, Ge(1), Doc("Gradient steps; log2 k if absent.")] = 1
    batch: Annotated[int | None, Ge(1), Doc("Rows of a step; all of the sample if absent.")] = None
    rounding: Annotated[bool, Doc("Round scores to integers after each step.")] = False
    lowest_level: Annotated[bool, Doc("Move only the lowest level without weights.")] = False
    mean_loss: Annotated[bool, Doc("Divide the loss of a chain by its k - 1 tokens.")] = False
    answer_weight: Annotated[float, Ge(0), Doc("Weight of the answer, added to the chain's.")] = 0.0
    oracle: Annotated[
        str | Oracle,
        Choice(("exact", "hiding"), own="an oracle such as Hiding(0.002)"),
        Doc("What answers with a gradient."),
    ] = "exact"
    link: Annotated[LinkPart, LINK, Doc("Link function φ.")] = "cos"
    link_eta: Annotated[float | None, Gt(0), Doc("Step size of the link; fixed if absent.")] = None
    stream: Annotated[bool, Doc("Draw rows again at every pass instead of keeping them.")] = True

    takes: ClassVar[tuple[type[Data], ...]] = (Population, Sample, Fresh)
    trains_on: ClassVar = {**ChainLearner.trains_on, "preset": "theorem5"}
    fresh_rows: ClassVar[bool] = False
    captions: ClassVar = {
        **ChainLearner.captions,
        "risk": "½ mean (ŷ - y)² of the generated answer",
        "solved_at": "first step with loss below 0.01",
    }
    presets: ClassVar[dict[str, Callable[..., "Chain"]]] = {}

    @classmethod
    def theorem5(cls, **changes: Unpack[ChainSettings]) -> "Chain":
        """Theorem 5: one step on teacher-forced chains, a node sees every earlier token."""
        return cls(**changes)

    @classmethod
    def theorem7(cls, **changes: Unpack[ChainSettings]) -> "Chain":
        """Theorem 7: log2 k steps without teacher forcing, with a filter and integer weights."""
        devices = cls(
            supervision="chain",
            mask="level",
            curriculum=Filter(256, 1.6),
            steps=None,
            rounding=True,
            # Without rounding every level goes on to move, as scores that are not whole must.
            lowest_level=changes.get("rounding", True),
        )
        return replace(devices, **changes)

    @classmethod
    def theorem2(cls, epsilon: float = 0.002, **changes: Unpack[ChainSettings]) -> "Chain":
        """Theorem 2: no chain, and gradients through an oracle that hides the target."""
        devices = cls(
            supervision="answer",
            mask="level",
            eta=1.0,
            steps=50,
            oracle=Hiding(epsilon),
            link="quadratic",
            stream=False,
        )
        return replace(devices, **changes)

    @classmethod
    def published(cls, model: str = "cot", **changes: Unpack[ChainSettings]) -> "Chain":
        """One of the four models of the paper's figure, 350 steps on all rows.

        model: "direct" is trained on the answer alone, "cot" on a chain, "teacher" with teacher
        forcing, "self-consistency" on a chain whose levels open in turn, and a tenth of the answer.
        """
        supervisions = dict(zip(PUBLISHED, ("answer", "chain", "teacher", "chain"), strict=True))
        if model not in supervisions:
            raise ValueError(f"model must be one of {', '.join(PUBLISHED)}, got {model!r}")
        consistent = model == "self-consistency"
        devices = cls(
            supervision=supervisions[model],
            mask="level",
            curriculum="self-consistency" if consistent else "all",
            steps=350,
            mean_loss=True,
            answer_weight=0.1 if consistent else 0.0,
            link="quadratic",
            stream=False,
        )
        return replace(devices, **changes)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_curriculum(self.curriculum)
        oracle = as_oracle(self.oracle)
        if getattr(oracle, "needs_mean", False) and self.supervision == "teacher":
            raise ValueError(
                "with teacher forcing a model reads true tokens, which depend on the target, so "
                "that no mean gradient hides it (Theorem 5); use another supervision"
            )

    @property
    def needs_pairs(self) -> bool:
        return self.supervision != "answer"

    def default_samples(self, n: int) -> int:
        if self.supervision == "teacher" and self.steps == 1:
            return 1000 * n
        return 2**18 if isinstance(as_curriculum(self.curriculum), Filter) else 100_000

    def model_of(self, numbers: PyTree, n: int) -> AnyChain:
        """The model of one run from its numbers: W, or W and the link's numbers."""
        if not isinstance(numbers, tuple | list):
            return ChainModel(numbers, n, self._link(), self.mask)
        scores, parts = numbers
        tree = jax.tree.structure(self._link())
        return ChainModel(scores, n, jax.tree.unflatten(tree, parts), self.mask)

    def _link(self) -> AbstractLink:
        """φ; where it trains and has no numbers of its own, a series that equals it."""
        link = as_link(self.link)
        if self.link_eta is None or jax.tree.leaves(link):
            return link
        return CosineSeries.of(link)

    def _descend(
        self, data: KnownData, leaves: Int[np.ndarray, "runs k"], keys: jax.Array, trace: int | None
    ) -> Descended:
        """All runs, each from its own rows."""
        k = leaves.shape[1]
        draw = _draw_of(data, self.batch, stream=self.stream)
        setting = Setting(
            self._link(),
            self.mask,
            Objective(self.supervision, self.mean_loss, self.answer_weight),
            _traceable(as_curriculum(self.curriculum)),
            self._rule(data, k),
            _traceable(as_oracle(self.oracle)),
            k.bit_length() - 1 if self.steps is None else self.steps,
            trace,
        )
        walked, end = jax.tree.map(np.asarray, train_runs(setting, draw, leaves, keys))
        scores, arrays = walked.end
        numbers = scores if arrays is None else (scores, tuple(jax.tree.leaves(arrays)))
        records = {} if trace is None else trace_of(setting, walked, end)
        return Descended(numbers, stats_of(walked.noted, end), records)

    def _rule(self, data: KnownData, k: int) -> StepRule:
        """How a gradient becomes a step; the step size is looked up where it is absent."""
        eta: Any = self._step_size(data, k) if self.eta is None else self.eta
        per_level = None
        if isinstance(eta, list | tuple):
            depth = k.bit_length() - 1
            if len(eta) != depth:
                raise ValueError(f"eta needs one number per level, {depth} for k={k}: {eta}")
            per_level = np.asarray(eta, np.float32) / np.float32(max(eta))
            eta = max(eta)
        return StepRule(
            self.optimiser,
            np.asarray(eta, np.float32),
            per_level,
            None if self.link_eta is None else np.asarray(self.link_eta, np.float32),
            self.rounding,
            self.lowest_level,
        )

    def _step_size(self, data: KnownData, k: int) -> float:
        """η where none is asked for."""
        if isinstance(self.optimiser, optax.GradientTransformation):
            return 1.0
        if self.optimiser not in ("sgd", "momentum", optax.sgd):
            return RESCALED_STEP
        link, rows = self._link(), data.samples if isinstance(data, Sample | Fresh) else None
        rows = rows if self.batch is None else self.batch
        if self.supervision == "answer" or self.mean_loss:
            plain = published_step(k, answer=self.supervision == "answer")
        elif self.supervision == "teacher":
            plain = usual_step(data.n, k, link, rows, self.mask)
        else:
            plain = level_step(data.n, k, link, rows)
        return plain * (1 - MOMENTUM if self.optimiser == "momentum" else 1)


def _traceable(part: Any) -> Any:
    """Numbers of a curriculum or an oracle as arrays, so that another one compiles nothing."""
    return jax.tree.map(lambda leaf: np.float32(leaf) if type(leaf) in (int, float) else leaf, part)


def _draw_of(data: KnownData, batch: int | None, *, stream: bool) -> Draw:
    """How the rows of every run are drawn; an error in one line for what cannot be."""
    kind, flips = type(data).__name__, _flips_of(data)
    samples = data.samples if isinstance(data, Sample | Fresh) else 1 << min(data.n, 62)
    if batch is not None and not isinstance(data, Sample):
        raise ValueError(f"batch is for a Sample: a {kind} has no rows that are drawn once")
    if batch is not None and batch > samples:
        raise ValueError(f"batch must be at most the {samples:,} rows of the sample, got {batch:,}")
    if not isinstance(data, Population):
        number = np.int32(samples) if stream else samples
        return Draw(data.n, kind, number, stream, rows_per_batch(batch or samples), batch, flips)
    if data.n > MOST_BITS:
        raise ValueError(
            f"a chain on a Population visits 2^n inputs and takes n ≤ {MOST_BITS}, got "
            f"n={data.n}; give a Sample or Fresh rows"
        )
    if flips is not None:
        raise ValueError("a Population states no token wrongly; give a Sample or Fresh rows")
    return Draw(data.n, kind, samples, False, 0)


def _flips_of(data: KnownData) -> Flips | None:
    """The share of tokens and of answers that the rows state wrongly; None if they are right."""
    corruption = getattr(data, "corruption", None)
    tokens, flips = (float(getattr(corruption, name, 0.0)) for name in ("tokens", "flips"))
    noise = {float(getattr(tree, "noise", 0.0)) for tree in data.targets}
    if len(noise) > 1:
        raise ValueError(f"the trees of one call need equal noise, got {sorted(noise)}")
    (own,) = noise
    label = own * (1 - flips) + (1 - own) * flips
    if not tokens and not label:
        return None
    return Flips(np.float32(tokens), np.float32(label))


Chain.presets = {
    "theorem5": Chain.theorem5,
    "theorem7": Chain.theorem7,
    "theorem2": Chain.theorem2,
    **{name: partial(Chain.published, name) for name in PUBLISHED},
}

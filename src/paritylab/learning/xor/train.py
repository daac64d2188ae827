"""Learning the XOR pair: one gradient step or many, exact or from streamed rows, many runs."""

from dataclasses import dataclass
from typing import Annotated

import jax
import numpy as np
from jaxtyping import Bool, Int, PyTree

from paritylab.learning.contract import Subset, Trained, check_fields, register_learner
from paritylab.learning.data import Fresh, Population, Sample, Target, Unknown, are_uniform
from paritylab.learning.descent import as_optimiser
from paritylab.learning.judging import Scores, squared_risks
from paritylab.learning.parts import AttentionPart, LossPart, OptimiserPart, ReadoutPart
from paritylab.learning.xor.exact import (
    SOLVED_ERROR,
    XOR_LOSSES,
    as_xor_readout,
    default_gain,
    first_gradient,
    first_response,
    pairs_of,
    unit_step,
    usual_width,
    xor_label,
)
from paritylab.learning.xor.loop import End, Setting, Start, batch_rows, run_all
from paritylab.models import (
    AbstractPositionCode,
    Bowl,
    TwoHeads,
    as_attention,
    as_code,
    is_drawn,
)
from paritylab.models.positions import Positions
from paritylab.options import ATTENTION, LOSS, OPTIMISER, Choice, Doc, Ge, Gt
from paritylab.precision import float64
from paritylab.problem import Parity, as_loss

#: Numbers held at a time, 200 MB of them: the position tables, rows and weights of one block.
LARGEST_BLOCK = 25_000_000


@register_learner("xor")
@dataclass(frozen=True, eq=False)
class XorStep:
    """Two heads on a hidden pair: HG2's model, each run with positions of its own.

    width: of random positions, 12 ln n if None; other codes have their own. positions, attention,
    readout, loss, optimiser: a name, or a part of one's own. gain: step size in units of
    `unit_step`, 2 ln n + 6 if None; for optimisers other than sgd and momentum the step size
    itself. start: standard deviation of random starting directions. Beyond about n = 10^5 use
    `streamed_step`, which keeps positions as packed bits.

    Targets are `Parity(n, (i, j), sign=-1)`. Exact gradients (`Population`) need fair bits and,
    away from w = 0, the readout "square" with the squared or correlation loss; one step from w = 0
    is exact for every readout and loss. A run names the two positions of largest weight. It is
    solved if ½(ŷ-y)² ≤ 0.01 on every input: `stats["worst"]` is the largest |ŷ - y|, exact for the
    readouts square and abs while the weight off the pair is at most |g_i + g_j|, else an upper
    bound; a readout of one's own is searched at 1,025 values of |z|.
    """

    width: Annotated[
        int | None, Ge(1), Doc("Dimension of random positions; 12 ln n if absent.")
    ] = None
    positions: Annotated[
        Positions,
        Choice(("circle", "onehot", "signs", "balanced"), own="a code"),
        Doc("Position code; balanced is ours."),
    ] = "signs"
    attention: Annotated[AttentionPart, ATTENTION, Doc("How scores become weights.")] = "softmax"
    readout: Annotated[
        ReadoutPart,
        Choice(("square", "abs"), own="an even function"),
        Doc("1 - 2z², or 1 - |2z| by two ReLUs."),
    ] = "square"
    loss: Annotated[
        LossPart, LOSS, Doc("Loss trained on; squared and correlation have exact risks.")
    ] = "squared"
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 1
    gain: Annotated[float | None, Gt(0), Doc("Step size in units that raise the pair by 1.")] = None
    optimiser: Annotated[OptimiserPart, OPTIMISER, Doc("Optimiser.")] = "sgd"
    start: Annotated[float, Ge(0), Doc("Standard deviation of the random start.")] = 0.0

    takes = (Population, Sample, Fresh)
    of = "pair"

    def __post_init__(self) -> None:
        check_fields(self)
        as_attention(self.attention)
        as_xor_readout(self.readout)
        as_loss(self.loss)
        as_optimiser(self.optimiser, 1.0)
        if not isinstance(self.optimiser, str) and self.gain is not None:
            raise ValueError(
                f"an optimiser from optax brings its own step size, got gain={self.gain} too"
            )

    def train(
        self, data: Population | Sample | Fresh, keys: jax.Array, trace: int | None
    ) -> Trained:
        """Blocks of runs, as many at a time as fit into memory."""
        targets = pairs_of(data.targets)
        with float64():
            setting = self._setting(data, trace)
            blocks = self._blocks(setting, len(keys))
            eta = np.float64(self._eta(data.n))
            ends = [self._block(setting, eta, targets, keys, block) for block in blocks]
        end = End(*jax.tree.map(lambda *parts: np.concatenate(parts)[: len(keys)], *ends))
        return self._judged(setting, targets, keys, end)

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> TwoHeads:
        code = self._code(target.n, key)
        return TwoHeads(numbers, code, self.attention, as_xor_readout(self.readout))

    def _judged(
        self, setting: Setting, targets: tuple[Parity, ...], keys: jax.Array, end: End
    ) -> Trained:
        """The closed risk for 1 - 2z² on fair bits; otherwise the risk of the rebuilt model."""
        found, fair = end.found, all(target.is_uniform for target in targets)
        worst = np.asarray(found.worst)
        if isinstance(setting.readout, Bowl) and fair:
            unknown = np.full(len(keys), np.nan)
            risk, rounding = np.asarray(found.risk), np.asarray(found.rounding)
            scores = Scores(risk, rounding, "exact", unknown)
        else:
            models = (
                self.rebuild(end.numbers[run], target, keys[run])
                for run, target in enumerate(targets)
            )
            rows = max(256, (1 << 22) // setting.n)
            scores = squared_risks(models, targets, keys, 1 << (rows.bit_length() - 1))
        return Trained(
            numbers=end.numbers,
            subset=_named(np.asarray(found.best), np.asarray(found.separated)),
            risk=scores.risk,
            error=scores.error,
            kind=scores.kind,
            loss="squared",
            solved=worst <= SOLVED_ERROR,
            trace=_trace(setting, end),
            stats={
                "worst": worst,
                "split": np.asarray(found.split),
                "numbers": np.full(len(keys), end.numbers[0].size),
            },
        )

    def _setting(self, data: Population | Sample | Fresh, trace: int | None) -> Setting:
        """What the compiled call is specialised on, or one clear error if nothing fits."""
        code = (
            None if is_drawn(self.positions) else as_code(self.positions, data.n, width=self.width)
        )
        readout, loss = as_xor_readout(self.readout), as_loss(self.loss)
        source = type(data).__name__
        if isinstance(data, Population):
            if not are_uniform(data):
                raise ValueError("exact XOR gradients need fair bits; use Fresh or Sample")
            closed = isinstance(readout, Bowl) and loss in map(as_loss, XOR_LOSSES)
            source = "exact" if closed else "first"
            if not closed and not self._is_first_step:
                raise ValueError(
                    'exact gradients away from w = 0 need readout="square" and the squared or '
                    "correlation loss; use Fresh or Sample, or steps=1 with start=0 and an "
                    "optimiser by name"
                )
        return Setting(
            n=data.n,
            code=code,
            attention=self.attention,
            readout=readout,
            loss=loss,
            optimiser=self.optimiser,
            steps=self.steps,
            every=trace,
            source=source,
            samples=0 if isinstance(data, Population) else data.samples,
        )

    @property
    def _is_first_step(self) -> bool:
        return self.steps == 1 and self.start == 0 and isinstance(self.optimiser, str)

    def _eta(self, n: int) -> float:
        """The step size: the gain in units of `unit_step`, or as it is for other optimisers."""
        gain = default_gain(n) if self.gain is None else self.gain
        if self.optimiser not in ("sgd", "momentum"):
            return gain
        return gain * unit_step(n, attention=self.attention, readout=self.readout, loss=self.loss)

    def _code(self, n: int, key: jax.Array) -> AbstractPositionCode:
        """The positions of one run."""
        with float64():
            return as_code(self.positions, n, key=jax.random.fold_in(key, 1), width=self._width(n))

    def _width(self, n: int) -> int:
        if is_drawn(self.positions):
            return usual_width(n) if self.width is None else self.width
        return as_code(self.positions, n, width=self.width).width

    def _blocks(self, setting: Setting, runs: int) -> list[np.ndarray]:
        """Run numbers of blocks of equal size that fit in memory; the last run fills the last."""
        n, width = setting.n, self._width(setting.n)
        records = 0 if setting.every is None else -(-setting.steps // setting.every)
        table = n * width if setting.code is None else 0
        size = table + 2 * width * (1 + records) + 8 * n
        if setting.samples:
            size += n * batch_rows(n, setting.samples)
        if size > LARGEST_BLOCK:
            raise ValueError(
                f"one run at n = {n:,} and width {width:,} holds {size:,} numbers, more than "
                f"{LARGEST_BLOCK:,}; streamed_step keeps one draw of random signs as packed bits"
            )
        blocks = -(-runs // (LARGEST_BLOCK // size))
        each = -(-runs // blocks)
        return [np.minimum(at * each + np.arange(each), runs - 1) for at in range(blocks)]

    def _block(
        self,
        setting: Setting,
        eta: np.float64,
        all_targets: tuple[Parity, ...],
        keys: jax.Array,
        block: np.ndarray,
    ) -> End:
        """The runs of one block, each with positions of its own."""
        n, targets = setting.n, [all_targets[run] for run in block]
        codes = [] if setting.code is not None else [self._code(n, keys[run]) for run in block]
        fair = all(target.is_uniform for target in all_targets)
        starts = Start(
            pair=np.array([target.subset for target in targets]),
            noise=np.array([target.noise for target in targets]),
            key=keys[block],
            directions=self.start * _normal(keys[block], self._width(n)),
            table=np.stack([code.vectors(np.arange(n)) for code in codes]) if codes else None,
            probabilities=None if fair else np.stack([each.probabilities for each in targets]),
            first=self._first(setting, targets) if setting.source == "first" else None,
        )
        return End(*jax.tree.map(np.asarray, run_all(setting, eta, starts)))

    def _first(self, setting: Setting, targets: list[Parity]) -> tuple[np.ndarray, ...]:
        """Gradient on the pair and off it and the risk at w = 0, of every target."""
        weight = first_response(self.attention, setting.n).weight
        known: dict[float, tuple[float, float, float]] = {}
        for noise in {target.noise for target in targets}:
            found = first_gradient(
                setting.n, xor_label, 2, setting.readout, setting.loss, noise=noise, weight=weight
            )
            known[noise] = (float(found.relevant[0]), found.other, found.value)
        return tuple(np.array([known[target.noise] for target in targets]).T)


def _normal(keys: jax.Array, width: int) -> np.ndarray:
    """Standard normal directions (runs, 2, width) from every run's key."""

    def draw(key: jax.Array) -> jax.Array:
        return jax.random.normal(jax.random.fold_in(key, 2), (2, width))

    return np.asarray(jax.vmap(draw)(keys))


def _named(best: Int[np.ndarray, "runs 2"], separated: Bool[np.ndarray, " runs"]) -> list[Subset]:
    """The two positions of each run, nothing where a third has the same weight."""
    pairs = zip(np.sort(best, axis=1).tolist(), separated, strict=True)
    return [tuple(pair) if clear else None for pair, clear in pairs]


def _trace(setting: Setting, end: End) -> dict[str, np.ndarray]:
    """What was recorded at every so many steps; empty if nothing was asked for."""
    if setting.every is None:
        return {}
    steps = np.arange(0, setting.steps, setting.every)
    return {"step": steps, "risk": np.asarray(end.risks), "directions": np.asarray(end.path)}

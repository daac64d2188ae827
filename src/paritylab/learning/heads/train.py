"""k heads trained as published, annealed, on a pair, or with parts of one's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Annotated, Any, ClassVar, TypedDict, Unpack

import jax
import numpy as np
from annotated_doc import Doc
from annotated_types import Ge, Gt
from jaxtyping import PyTree
from numpy.typing import ArrayLike

from paritylab._support.precision import float64
from paritylab.learning.contract import (
    ATTENTION,
    LOSS,
    AttentionPart,
    BaseLearner,
    LossPart,
    OptimiserPart,
    ReadoutPart,
    Trained,
    check_fields,
    register_learner,
)
from paritylab.learning.data import (
    Data,
    Fresh,
    Population,
    Rows,
    Sample,
    Target,
    Unknown,
    targets_or_unknown,
)
from paritylab.learning.descent import OPTIMISER, as_optimiser
from paritylab.learning.heads.assembly import (
    assemble,
    drawn_starts,
    meet,
    starts_at,
    trained_parts,
)
from paritylab.learning.heads.evaluation import evaluate
from paritylab.learning.heads.objective import at_angles
from paritylab.learning.heads.starts import draw_code
from paritylab.learning.heads.temperature import Temperature, is_schedule, temperature
from paritylab.learning.objective import training_inputs
from paritylab.learning.stepwise import Report
from paritylab.learning.training import Steps, take_steps
from paritylab.learning.xor.exact import pairs_of
from paritylab.models import HeadAttention, as_attention
from paritylab.models.attention import TRAINS
from paritylab.models.positions import Positions, is_drawn
from paritylab.options import Choice, Formula
from paritylab.problem import as_loss

#: A correlation above this is proof that the heads sit on B; below it a run may start again.
FOUND = 0.9
#: First directions by name.
STARTS = ("unit", "zero", "spaced")


class HeadsSettings(TypedDict, total=False):
    """The fields of `Heads` as keywords of its presets, for type checkers and completion."""

    tau: Temperature
    loss: LossPart
    readout: ReadoutPart
    optimiser: OptimiserPart
    eta: float | None
    steps: int
    heads: int | None
    positions: Positions
    attention: AttentionPart
    start: str | float | ArrayLike | None
    k: int | None
    inputs: str
    trains: str | tuple[str, ...]
    batch: int | None
    width: int | None
    gain: float | None
    unit: bool
    jitter: float
    moves: int | None
    restarts: int


@register_learner("heads")
@dataclass(frozen=True, eq=False)
class Heads(BaseLearner):
    """k heads and a readout on top: HG1's model, HG2's pair, our annealed heads, and variants.

    tau: temperature, a number, a formula in n, a function of n, or a schedule: "n/4 -> 1/n" falls
    geometrically, a function of n and the share of steps done does as it likes, and the trained
    model has the last temperature. loss, readout, optimiser, positions, attention:
    a name, or a part of one's own. eta: step size; None is 0.1, and 0.2 for Adam at n = 20 as in
    the public code. heads: k if None. start: "unit" directions, "zero", "spaced" evenly on the
    circle, the variance of a head's score at normal directions, or directions (heads, width), or
    one such array per run. k: needed for `Rows` only. inputs: heads see "bits" x or "signs" 1 - 2x,
    which differs where attention does not sum to one. trains: "directions", "readout", or both; the
    zigzag readout then trains its weights and thresholds, an equinox.Module its arrays. batch: rows
    per step of those drawn once. width: of random positions, 12 ln n if None.

    gain: the step size in units that raise the pair's score by 1 (`unit_step`), for the readout
    "pair"; 2 ln n + 6 if neither it nor eta is given. unit: heads stay unit directions on the
    circle, and lengths are in units of a head's angular width √min(τ, 1): eta the length of a step,
    jitter the standard deviation of a random kick until 90 % of the steps are done; without it two
    heads that meet never part again. moves: relocations of a head that are compared at every second
    step, `candidates(k)` if None; the best is taken if the model's own risk falls. With moves, rows
    are halved: one half gives gradients, the other compares moves. restarts: how often at most a
    run starts again whose own correlation E[yŷ] stays below 0.9.

    For juntas the readout "zigzag" stands for their `default_readout`, straight lines through the
    values of a symmetric junta; others need a readout of one's own. A run names the positions its
    heads look at most, on signs those of largest weight; it is solved if its squared-hinge risk
    (½(ŷ-y)² for real values) is below 0.05. With the readout "pair" on pairs of fair bits it is
    solved if ½(ŷ-y)² ≤ 0.01 on every input: `stats["worst"]` is the largest |ŷ - y|.
    """

    tau: Annotated[Temperature, Formula(), Doc('Temperature: "2/n"; "1 -> 1/n" falls.')] = "1/n"
    loss: Annotated[LossPart, LOSS, Doc("Loss trained on.")] = "squared_hinge"
    readout: Annotated[
        ReadoutPart,
        Choice(("zigzag", "cos", "pair"), own="a function"),
        Doc("From the attended sum to ŷ."),
    ] = "zigzag"
    optimiser: Annotated[OptimiserPart, OPTIMISER, Doc("Optimiser.")] = "sgd"
    eta: Annotated[float | None, Gt(0), Doc("Step size; the source's if absent.")] = None
    steps: Annotated[int, Ge(0), Doc("Gradient steps per run.")] = 1000
    heads: Annotated[int | None, Ge(1), Doc("Number of heads; k if absent.")] = None
    positions: Annotated[
        Positions,
        Choice(("circle", "onehot", "signs", "balanced"), own="a code or table"),
        Doc("Position code."),
    ] = "circle"
    attention: Annotated[AttentionPart, ATTENTION, Doc("How scores become weights.")] = "softmax"
    start: Annotated[
        str | float | ArrayLike | None,
        Choice(("unit", "zero", "spaced"), own="the variance of a head's score, or an array"),
        Doc("First directions; unit ones if absent."),
    ] = None
    k: Annotated[int | None, Ge(1), Doc("Size of the set, where rows do not say.")] = None
    inputs: Annotated[str, Choice(("bits", "signs")), Doc("What heads see of a bit.")] = "bits"
    trains: Annotated[
        str | tuple[str, ...],
        Choice(("directions", "readout"), own="both in a tuple"),
        Doc("What trains."),
    ] = "directions"
    batch: Annotated[int | None, Ge(1), Doc("Rows per step; all of them if absent.")] = None
    width: Annotated[int | None, Ge(1), Doc("Dimension of positions; 12 ln n if absent.")] = None
    gain: Annotated[float | None, Gt(0), Doc("Step in units that raise a pair by 1.")] = None
    unit: Annotated[bool, Doc("Keep directions of norm 1; lengths in widths of a head.")] = False
    jitter: Annotated[float, Ge(0), Doc("Random kick per step of unit heads, in widths.")] = 0.0
    moves: Annotated[int | None, Ge(0), Doc("Moves compared; by k if absent.")] = 0
    restarts: Annotated[int, Ge(0), Doc("Further starts of a run that knows it failed.")] = 0

    takes = (Population, Sample, Fresh, Rows)
    closed = True
    presets: ClassVar[dict[str, Callable[..., "Heads"]]] = {}
    trains_on: ClassVar = {"n": 12, "k": 2, "preset": "code"}

    @classmethod
    def paper(cls, **changes: Unpack[HeadsSettings]) -> "Heads":
        """Theorem 5: plain gradient descent on the squared hinge at tau = 1/n.

        The theorem's own step size (`theory.hg1.step_size`) is of order 1e-9 and moves nothing;
        the 0.1 is our choice.
        """
        return cls(**changes)

    @classmethod
    def code(cls, **changes: Unpack[HeadsSettings]) -> "Heads":
        """The public code: soft attention, Adam, (mean hinge)², 2000 epochs; 0.2 for n = 20."""
        published = cls(tau="n/4", loss="mean_hinge_squared", optimiser="adam", steps=2000)
        return replace(published, **changes)

    @classmethod
    def annealed(cls, **changes: Unpack[HeadsSettings]) -> "Heads":
        """Heads that learn, ours: the cos readout, the logarithm of the correlation, a temperature
        that falls slowly, kicks, and moves.

        The exact correlation E[y cos πs] = Π_{j∉B} cos(πg_j/2) Π_{j∈B} sin(πg_j/2) is known in
        closed form; descending minus its logarithm pulls heads to uncovered bits of B and apart
        from each other. `moves=0, jitter=0.15` is annealing alone, with the larger kicks it needs.
        """
        ours = cls(
            tau="1 -> 0.5/n^2",
            loss="log_correlation",
            readout="cos",
            optimiser="adam99",
            eta=0.2,
            steps=1500,
            start="spaced",
            unit=True,
            jitter=0.1,
            moves=None,
        )
        return replace(ours, **changes)

    @classmethod
    def pair(cls, **changes: Unpack[HeadsSettings]) -> "Heads":
        """HG2: two heads from zero on a hidden pair, ŷ = 1 - 2z², one step, random positions.

        Beyond about n = 10^5 use `streamed_step`, which keeps positions as packed bits.
        """
        theirs = cls(
            tau=1.0,
            loss="squared",
            readout="pair",
            steps=1,
            heads=2,
            positions="signs",
            start="zero",
            inputs="signs",
        )
        return replace(theirs, **changes)

    def __post_init__(self) -> None:
        settings = vars(self)
        if isinstance(self.start, str) and self.start not in STARTS:
            settings = {**settings, "start": _as_number(self.start)}
            object.__setattr__(self, "start", settings["start"])
        if isinstance(self.start, Real) and not isinstance(self.start, bool) and self.start >= 0:
            settings = {**settings, "start": None}
        check_fields(self, settings)
        temperature(self.tau, 2)
        as_loss(self.loss)
        as_attention(self.attention)
        as_optimiser(self.optimiser, 1.0)
        if not set(trained_parts(self)) <= set(TRAINS) or not trained_parts(self):
            raise ValueError(f"trains must name {' or '.join(TRAINS)}, got {self.trains}")
        if not self.unit and (self.jitter or self.moves != 0 or starts_at(self, "spaced")):
            raise ValueError(
                "jitter, moves and evenly spaced starts are measured along the circle: they need "
                "unit=True, as in Heads.annealed()"
            )
        if self.unit and (self.positions != "circle" or trained_parts(self) != ("directions",)):
            raise ValueError(
                "unit heads train their angles on the circle: positions must be circle and trains "
                "directions"
            )
        if self.gain is not None and (self.eta is not None or self.readout != "pair"):
            raise ValueError('gain is the step size of the readout "pair", in place of eta')
        if self.readout == "pair":
            object.__setattr__(self, "targets", ("pair",))

    def train(
        self, data: Data, keys: jax.Array, trace: int | None, report: Report = None
    ) -> Trained:
        """All runs from their starts; those that know that they failed start again."""
        if self.readout == "pair" and data.targets is not None:
            pairs_of(data.targets, 'the readout "pair"')
        with float64():
            given, targets = training_inputs(data, keys), targets_or_unknown(data)
        steps = meet(self, data)
        waiting, starts, end = np.arange(len(keys)), np.ones(len(keys), dtype=int), None
        for attempt in range(self.restarts + 1):
            chosen = waiting
            if attempt:
                # Few shapes compile: the runs that start again fill up a power of two.
                chosen = np.resize(waiting, 1 << (len(waiting) - 1).bit_length())
            some = jax.tree.map(lambda leaf, runs=chosen: leaf[runs], given) if attempt else given
            now = replace(steps, attempt=np.asarray(attempt, np.int32))
            found = take_steps(
                now,
                data,
                keys[chosen] if attempt else keys,
                trace,
                report,
                targets=tuple(targets[run] for run in chosen),
                given=some,
                drawn=drawn_starts(self, now.like, keys, chosen, attempt),
            )
            end = found if end is None else _replaced(end, found, waiting)
            starts[waiting] = attempt + 1
            if not self.restarts:
                break
            # NaN compares false, so a diverged run waits for another start.
            waiting = waiting[~(np.abs(end.stats["correlation"][waiting]) >= FOUND)]
            if not len(waiting):
                break
        assert end is not None
        return evaluate(self, data, keys, end, trace, starts)

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> HeadAttention:
        known = () if isinstance(target, Unknown) else (target,)
        with float64():
            model = assemble(self, target.n, self.size(target), known)
            if self.unit:
                return _in_numpy(at_angles(model, np.asarray(numbers)))
            if is_drawn(self.positions):
                own = jax.random.split(key)[1]
                model = replace(model, code=draw_code(self.positions, model, own))
            return model.with_parameters(numbers)

    def size(self, given: Data | Target | Unknown) -> int:
        """k, from the learner or from the data."""
        k = given.k if self.k is None else self.k
        if k is None:
            raise ValueError("rows do not say how many bits are hidden; give Heads(k=…)")
        if k < 1:
            raise ValueError("heads need a parity set with at least one position, got k=0")
        return k

    def frames(self, trace: Mapping[str, np.ndarray], n: int) -> dict[str, Any]:
        if self.positions != "circle" or not {"angles", "directions"} & trace.keys():
            return {}
        if "angles" in trace:
            angles = np.asarray(trace["angles"])
            pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
        else:
            pairs = np.asarray(trace["directions"])
        shares = np.ones(len(pairs))
        if is_schedule(self.tau):
            shares = np.asarray(trace["step"]) / self.steps
        taus = [temperature(self.tau, n, float(share)) for share in shares]
        return {"directions": pairs.reshape(len(pairs), -1).tolist(), "tau": taus}


def _as_number(text: str) -> str | float:
    """A variance as the command line gives it."""
    try:
        return float(text)
    except ValueError:
        return text


def _replaced(end: Steps, again: Steps, runs: np.ndarray) -> Steps:
    """The ends of all runs, those of some replaced."""

    def put(leaf: np.ndarray, new: np.ndarray) -> np.ndarray:
        changed = np.array(leaf)
        changed[runs] = new[: len(runs)]
        return changed

    replaced: Steps = jax.tree.map(put, end, again)
    return replaced


def _in_numpy(model: HeadAttention) -> HeadAttention:
    """The model with its directions in numpy, which every precision takes as they are."""
    return replace(model, directions=np.asarray(model.directions))


Heads.presets = {
    "paper": Heads.paper,
    "code": Heads.code,
    "annealed": Heads.annealed,
    "pair": Heads.pair,
}

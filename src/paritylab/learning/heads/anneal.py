"""Heads that learn: the cos readout, the log-correlation, and a temperature that falls slowly.

Our own procedure on HG1's architecture. Every head is a unit direction on the circle. The exact
correlation E[y cos πs] = Π_{j∉B} cos(πg_j/2) Π_{j∈B} sin(πg_j/2) is known in closed form;
descending minus its logarithm pulls heads to uncovered bits of B and apart from each other. Step
and jitter are measured in the angular width √τ of a head, so nothing depends on the size.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from annotated_doc import Doc
from annotated_types import Ge, Gt
from jaxtyping import Array, Float, PyTree

from paritylab._support.precision import AnyArray, float64
from paritylab.learning.contract import BaseLearner, Trained, check_fields, register_learner
from paritylab.learning.data import (
    Population,
    Rows,
    Sample,
    Target,
    Unknown,
    are_uniform,
    functions_of,
)
from paritylab.learning.descent import training_rows, walk
from paritylab.learning.heads.fields import (
    EVERY,
    LAST,
    Field,
    candidates,
    exact_loss,
    final_weights,
    relocate,
    rows_loss,
)
from paritylab.learning.judging import judge_heads, judge_models
from paritylab.models import Circle, Cosine, HeadAttention
from paritylab.risk.objective import stacked_targets
from paritylab.risk.rows import draw_rows

#: A correlation above this is proof that the heads sit on B; below it a run starts again.
FOUND = 0.9
ADAM = optax.scale_by_adam(b1=0.9, b2=0.99)


@register_learner("anneal")
@dataclass(frozen=True, eq=False)
class Annealed(BaseLearner):
    """Heads that learn. Lengths are in units of a head's angular width √min(τ, 1).

    tau falls geometrically from tau_start to tau_end/n². eta: length of an Adam step. jitter:
    standard deviation of the random kick per step, until 90 % of the steps are done; without it two
    heads that meet never part again. moves: relocations of a head that are compared at every second
    step, `candidates(k)` if None; the best is taken if the correlation of the model's own answers
    with the label rises. restarts: how often at most a run whose own correlation stays below 0.9
    starts again. k: needed for `Rows` only. Heads start evenly spaced at a random rotation.

    With moves, rows are halved: one half gives gradients, the other compares moves. A run names the
    positions its heads point at; it is solved if the squared-hinge risk of its heads at the last
    temperature, with the readout cos(πs), is below 0.05.
    """

    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 1500
    tau_start: Annotated[float, Gt(0), Doc("Temperature at the start.")] = 1.0
    tau_end: Annotated[float, Gt(0), Doc("Temperature at the end, in units of 1/n².")] = 0.5
    eta: Annotated[float, Gt(0), Doc("Step in units of a head's width √tau.")] = 0.2
    jitter: Annotated[float, Ge(0), Doc("Random kick per step, in the same units.")] = 0.1
    moves: Annotated[int | None, Ge(0), Doc("Relocations compared; by k if absent.")] = None
    restarts: Annotated[int, Ge(0), Doc("Further starts of a run that knows it failed.")] = 0
    k: Annotated[int | None, Ge(1), Doc("Size of the set, where rows do not say.")] = None

    takes = (Population, Sample, Rows)
    trains_on: ClassVar = {"n": 12, "k": 2}

    @classmethod
    def without_moves(cls, **changes: Any) -> "Annealed":
        """Annealing alone, with the larger kicks that it needs."""
        return cls(**{"moves": 0, "jitter": 0.15, **changes})

    def __post_init__(self) -> None:
        check_fields(self)

    def train(
        self, data: Population | Sample | Rows, keys: jax.Array, trace: int | None
    ) -> Trained:
        """Anneal; runs that know that they failed start again, as often as `restarts` allows."""
        k, waiting = self._size(data), np.arange(len(keys))
        done: dict[str, np.ndarray] = {"starts": np.ones(len(keys), dtype=int)}
        shape = _Shape(
            n=data.n,
            k=k,
            steps=self.steps,
            fair=are_uniform(data),
            data=type(data).__name__,
            samples=data.samples if isinstance(data, Sample) else 0,
            every=trace,
            tries=candidates(k) if self.moves is None else self.moves,
        )
        schedule = np.array([self.tau_start, self.tau_end / data.n**2, self.eta, self.jitter])
        with float64():
            if isinstance(data, Rows):
                given = training_rows(data, keys)
            else:
                given = stacked_targets(functions_of(data, "annealed heads"))
            for attempt in range(self.restarts + 1):
                some, mine = given, keys
                if attempt:
                    # Few shapes compile: the runs that start again fill up a power of two.
                    chosen = np.resize(waiting, 1 << (len(waiting) - 1).bit_length())
                    some = jax.tree.map(lambda leaf, runs=chosen: leaf[runs], given)
                    mine = keys[chosen]
                found = _anneal_block(some, mine, np.int32(attempt), schedule, shape)
                for name, each in found.items():
                    values = np.asarray(each)[: len(waiting)]
                    done.setdefault(name, np.zeros((len(keys), *values.shape[1:])))[waiting] = (
                        values
                    )
                done["starts"][waiting] = attempt + 1
                # NaN compares false, so a diverged run waits for another start.
                waiting = waiting[~(np.abs(done["correlation"][waiting]) >= FOUND)]
                if not len(waiting):
                    break
        return self._judged(data, keys, done, trace)

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> HeadAttention:
        angles = np.asarray(numbers)
        directions = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
        tau = self.tau_end / target.n**2
        return HeadAttention(directions, Circle(target.n), self._size(target), Cosine(), tau)

    def frames(self, trace: Mapping[str, np.ndarray], n: int) -> dict[str, Any]:
        if "angles" not in trace:
            return {}
        angles = np.asarray(trace["angles"])
        pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
        end = self.tau_end / n**2
        tau = self.tau_start * (end / self.tau_start) ** (trace["step"] / self.steps)
        return {"directions": pairs.reshape(len(pairs), -1).tolist(), "tau": tau.tolist()}

    def _judged(
        self,
        data: Population | Sample | Rows,
        keys: jax.Array,
        done: dict[str, np.ndarray],
        trace: int | None,
    ) -> Trained:
        """Risk and named positions of the angles where every run ended."""
        numbers, n = done["angles"], data.n
        if isinstance(data, Rows):
            models = [self.rebuild(angles, Unknown(n), keys[0]) for angles in numbers]
            found = judge_models(models, data, keys)
        else:
            with float64():
                weights = np.asarray(final_weights(numbers, self.tau_end, n))
            found = judge_heads(weights, data, Cosine())
        turns = np.nan_to_num(numbers) * n / (2 * np.pi)
        positions = np.round(turns).astype(int) % n
        path = {}
        if trace is not None:
            steps = np.arange(0, self.steps, trace)
            path = {"step": steps, "risk": done["risks"], "angles": done["path"]}
        return found.trained(
            data,
            numbers,
            [tuple(sorted(set(each))) for each in positions.tolist()],
            trace=path,
            stats={
                "positions": positions,
                "correlation": done["correlation"],
                "starts": done["starts"],
                "moves": done["moves"].astype(int),
            },
        )

    def _size(self, given: Population | Sample | Rows | Target | Unknown) -> int:
        """k, from the learner or from the data."""
        k = given.k if self.k is None else self.k
        if k is None or k < 1:
            raise ValueError(f"annealed heads need the size of the hidden set, got k={k}")
        return k


class _Shape(NamedTuple):
    """What a compiled annealing is specialised on."""

    n: int
    k: int
    steps: int
    fair: bool
    data: str
    samples: int
    every: int | None
    tries: int


@partial(jax.jit, static_argnames="shape")
def _anneal_block(
    per_run: PyTree, keys: Array, attempt: np.int32, schedule: Float[AnyArray, "4"], shape: _Shape
) -> dict[str, Array]:
    """One start of all runs. schedule: tau_start, tau_end, eta and jitter, which may change without
    compiling again.

    correlation: |E[y cos πs]| at the end, by which a run knows whether it sits on B.
    """
    tau_end = jnp.asarray(schedule)[1]

    def one(given: PyTree, run_key: Array) -> dict[str, Array]:
        turn_key, kick_key = jax.random.split(jax.random.fold_in(run_key, 100 + attempt))
        field, whole = _fields(given, jax.random.fold_in(run_key, 2), shape)
        # Evenly spaced at a random rotation: the heads see the whole circle between them.
        turn = jax.random.uniform(turn_key, (1,), jnp.float64, 0, 2 * jnp.pi)
        angles = turn + 2 * jnp.pi * jnp.arange(shape.k) / shape.k
        way = walk(
            _step(field, kick_key, schedule, shape),
            (angles, ADAM.init(angles)),
            steps=shape.steps,
            every=shape.every,
            keep=lambda carry: carry[0],
        )
        angles, (values, moved) = way.end[0], way.noted
        correlation = jnp.exp(-whole.seen(angles, tau_end)[0])
        found = {"angles": angles, "correlation": correlation, "moves": jnp.sum(moved)}
        if shape.every is not None:
            found |= {"risks": values[:: shape.every], "path": way.path}
        return found

    made: dict[str, Array] = jax.vmap(one)(per_run, keys)
    return made


def _fields(given: PyTree, sample_key: Array, shape: _Shape) -> tuple[Field, Field]:
    """What one run's heads descend, and what tells them in the end whether they are right.

    On rows, moves are judged by the half that gives no gradient: what was fitted to its rows looks
    better on them than it is.
    """
    if shape.data == "Population":
        field = Field(shape.n, exact_loss(given, shape.fair))
        return field, field
    rows = given
    if shape.data == "Sample":
        rows = draw_rows(sample_key, given, shape.samples, uniform=shape.fair)
    whole = Field(shape.n, rows_loss(rows))
    half = rows.labels.shape[0] // 2
    if not shape.tries or half < 1:
        return whole, whole
    first = jax.tree.map(lambda part: part[:half], rows)
    second = jax.tree.map(lambda part: part[half:], rows)
    return Field(shape.n, rows_loss(first), rows_loss(second)), whole


def _step(
    field: Field, kick_key: Array, schedule: Float[AnyArray, "4"], shape: _Shape
) -> Callable[[PyTree, Array], tuple[PyTree, PyTree]]:
    """One step of all heads: Adam, a kick and, at every second step, a relocation of one head."""
    tau_start, tau_end, eta, jitter = schedule

    def step(carry: PyTree, number: Array) -> tuple[PyTree, PyTree]:
        angles, state = carry
        time = number / shape.steps
        # Geometric: every halving of the temperature takes equally many steps, so a head narrows
        # by the same factor per step from the whole circle down to less than one position.
        tau = tau_start * (tau_end / tau_start) ** time
        (value, seen), gradient = jax.value_and_grad(field.seen, has_aux=True)(angles, tau)
        # Where a factor of c vanishes its logarithm has no slope; such a head waits for a kick.
        updates, state = ADAM.update(jnp.nan_to_num(gradient), state)
        key = jax.random.fold_in(kick_key, number)
        noise = jax.random.normal(key, (shape.k,), jnp.float64)
        # A head's attention falls off like exp(-(θ-φ)²/2τ): √τ is its angular width.
        width = jnp.sqrt(jnp.minimum(tau, 1.0))
        moved = angles + width * (jitter * noise * (time < 0.9) - eta * updates)
        if not shape.tries:
            return (moved, state), (value, False)

        def relocated() -> tuple[PyTree, Array]:
            now = (seen, value, angles, tau, jax.random.fold_in(key, 1))
            head, place, does = relocate(field, *now, tries=shape.tries)
            # A head that jumps keeps no momentum from where it was.
            at = (jnp.arange(shape.k) == head) & does
            calm = state._replace(mu=jnp.where(at, 0.0, state.mu), nu=jnp.where(at, 0.0, state.nu))
            return (jnp.where(at, place, moved), calm), does

        due = (number % EVERY == 0) & (time < LAST)
        after, does = jax.lax.cond(due, relocated, lambda: ((moved, state), jnp.array(False)))
        return after, (value, does)

    return step

"""Heads that learn: the cos readout, the log-correlation, and a temperature that falls slowly.

Our own procedure on HG1's architecture. Every head is a unit direction on the circle. The exact
correlation E[y cos πs] = Π_{j∉B} cos(πg_j/2) Π_{j∈B} sin(πg_j/2) is known in closed form;
descending minus its logarithm pulls heads to uncovered bits of B and apart from each other. Step
and jitter are measured in the angular width √τ of a head, so nothing depends on the size.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PyTree

from paritylab.learning.contract import Trained, check_fields, register_learner
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
    POINTS,
    Dense,
    Field,
    HiddenSet,
    Windows,
    candidates,
    exact_loss,
    final_weights,
    relocate,
    rows_loss,
)
from paritylab.learning.judging import judge_heads, judge_models
from paritylab.models import Circle, Cosine, HeadAttention
from paritylab.options import Doc, Ge, Gt
from paritylab.precision import AnyArray, float64
from paritylab.problem import Junta, Parity
from paritylab.risk.objective import stacked_targets
from paritylab.risk.rows import draw_rows

#: A correlation above this is proof that the heads sit on B; below it a run starts again.
FOUND = 0.9
ADAM = optax.scale_by_adam(b1=0.9, b2=0.99)


@register_learner("anneal")
@dataclass(frozen=True, eq=False)
class Annealed:
    """Heads that learn. Lengths are in units of a head's angular width √min(τ, 1).

    tau falls geometrically from tau_start to tau_end/n². eta: length of an Adam step. jitter:
    standard deviation of the random kick per step, until 90 % of the steps are done; without it two
    heads that meet never part again. moves: relocations of a head that are compared at every second
    step, `candidates(k)` if None; the best is taken if the correlation of the model's own answers
    with the label rises. greedy: False accepts a random one by Metropolis' rule instead. restarts:
    how often at most a run whose own correlation stays below 0.9 starts again. k: needed for `Rows`
    only. Heads start evenly spaced at a random rotation.

    With moves, rows are halved: one half gives gradients, the other compares moves. A run names the
    positions its heads point at; it is solved if the squared-hinge risk of its heads at the last
    temperature, with the readout cos(πs), is below 0.05.
    """

    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 1500
    tau_start: Annotated[float, Gt(0), Doc("Temperature at the start.")] = 1.0
    tau_end: Annotated[float, Gt(0), Doc("Temperature at the end, in units of 1/n².")] = 0.5
    eta: Annotated[float, Gt(0), Doc("Step in units of a head's width √tau.")] = 0.2
    jitter: Annotated[float, Ge(0), Doc("Random kick per step, in the same units.")] = 0.1
    moves: Annotated[int | None, Ge(0), Doc("Relocations compared at a time; by k if absent.")] = (
        None
    )
    greedy: Annotated[bool, Doc("Take the best move if it raises |c|; else Metropolis.")] = True
    restarts: Annotated[int, Ge(0), Doc("Further starts of a run that knows it failed.")] = 0
    k: Annotated[int | None, Ge(1), Doc("Size of the set, where rows do not say.")] = None

    takes = (Population, Sample, Rows)

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
        k = self._size(data)
        done: dict[str, np.ndarray] = {}
        counts = np.ones(len(keys), dtype=int)
        waiting = np.arange(len(keys))
        for attempt in range(self.restarts + 1):
            found = self._attempt(data, keys, waiting, attempt, trace, k)
            for name, values in found.items():
                done.setdefault(name, np.zeros((len(keys), *values.shape[1:])))[waiting] = values
            counts[waiting] = attempt + 1
            # NaN compares false, so a diverged run waits for another start.
            waiting = waiting[~(np.abs(found["correlation"]) >= FOUND)]
            if not len(waiting):
                break
        return self._judged(data, keys, done, counts, trace)

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> HeadAttention:
        angles = np.asarray(numbers)
        directions = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
        tau = self.tau_end / target.n**2
        return HeadAttention(directions, Circle(target.n), self._size(target), Cosine(), tau)

    def _judged(
        self,
        data: Population | Sample | Rows,
        keys: jax.Array,
        done: dict[str, np.ndarray],
        counts: np.ndarray,
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
            _as_sets(positions),
            trace=path,
            stats={
                "positions": positions,
                "correlation": done["correlation"],
                "starts": counts,
                "moves": done["moves"].astype(int),
            },
        )

    def _size(self, given: Population | Sample | Rows | Target | Unknown) -> int:
        """k, from the learner or from the data."""
        k = given.k if self.k is None else self.k
        if k is None or k < 1:
            raise ValueError(f"annealed heads need the size of the hidden set, got k={k}")
        return k

    def _known(
        self, data: Population | Sample, targets: Sequence[Parity | Junta], k: int
    ) -> PyTree:
        """What the exact correlation of every run depends on, as stacked arrays.

        Windows serve parities of fair bits wherever they are less work than all positions.
        """
        if (
            isinstance(data, Population)
            and isinstance(targets[0], Parity)
            and k * POINTS < data.n
            and are_uniform(data)
        ):
            sets = [each for each in targets if isinstance(each, Parity)]
            subsets = np.array([each.subset for each in sets], dtype=np.float64)
            contrasts = np.array([each.sign * (1 - 2 * each.noise) for each in sets])
            return HiddenSet(jnp.asarray(subsets), jnp.asarray(contrasts))
        return stacked_targets(targets)

    def _attempt(
        self,
        data: Population | Sample | Rows,
        keys: jax.Array,
        chosen: np.ndarray,
        attempt: int,
        trace: int | None,
        k: int,
    ) -> dict[str, np.ndarray]:
        """One start of the chosen runs, padded to a power of two so that few shapes compile."""
        runs = len(keys)
        padded = chosen if len(chosen) == runs else np.resize(chosen, _power_of_two(len(chosen)))
        with float64():
            some = keys[padded]
            if isinstance(data, Rows):
                arrays = training_rows(data, some)
            else:
                targets = functions_of(data, "annealed heads")
                every = len(chosen) == runs
                arrays = self._known(data, targets if every else [targets[i] for i in padded], k)
            attempt_keys = jax.vmap(lambda key: jax.random.fold_in(key, 100 + attempt))(some)
            sample_keys = jax.vmap(lambda key: jax.random.fold_in(key, 2))(some)
            angles = _random_angles(attempt_keys, k)
            schedule = np.array([self.tau_start, self.tau_end / data.n**2, self.eta, self.jitter])
            shape = _Shape(
                n=data.n,
                k=k,
                steps=self.steps,
                fair=are_uniform(data),
                data=type(data).__name__,
                samples=data.samples if isinstance(data, Sample) else 0,
                every=trace,
                tries=candidates(k) if self.moves is None else self.moves,
                greedy=self.greedy,
            )
            found = _anneal_block(angles, arrays, attempt_keys, sample_keys, schedule, shape)
        return {name: np.asarray(values)[: len(chosen)] for name, values in found.items()}


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
    greedy: bool


def _as_sets(positions: Int[np.ndarray, "runs k"]) -> list[tuple[int, ...] | None]:
    """The positions of every run, ascending, each once."""
    ordered = np.sort(positions, axis=1)
    if np.all(ordered[:, 1:] > ordered[:, :-1]):  # what many runs spend most of this on
        return list(map(tuple, ordered.tolist()))
    return [tuple(sorted(set(each))) for each in ordered.tolist()]


def _power_of_two(size: int) -> int:
    return 1 << (size - 1).bit_length()


@partial(jax.jit, static_argnums=1)
def _random_angles(keys: Array, k: int) -> jax.Array:
    """Evenly spaced at a random rotation: the heads of a run see the whole circle between them."""

    def one(key: Array) -> Array:
        turn = jax.random.uniform(jax.random.split(key)[0], (1,), jnp.float64, 0, 2 * jnp.pi)
        return turn + 2 * jnp.pi * jnp.arange(k) / k

    return jax.vmap(one)(keys)


@partial(jax.jit, static_argnames="shape")
def _anneal_block(
    starts: Float[AnyArray, "runs k"],
    per_run: PyTree,
    keys: Array,
    sample_keys: Array,
    schedule: Float[AnyArray, "4"],
    shape: _Shape,
) -> dict[str, Array]:
    """All runs of one start. schedule: tau_start, tau_end, eta and jitter, which may change without
    compiling again.

    correlation: |E[y cos πs]| at the end, by which a run knows whether it sits on B.
    """
    tau_end = schedule[1]

    def one(angles: Array, given: PyTree, key: Array, sample_key: Array) -> dict[str, Array]:
        field, whole = _fields(given, sample_key, shape)
        step = _step(field, jax.random.split(key)[1], schedule, shape)
        start = (angles, ADAM.init(angles))
        way = walk(step, start, steps=shape.steps, every=shape.every, keep=lambda carry: carry[0])
        angles = way.end[0]
        found = {"angles": angles, "correlation": jnp.exp(-whole.seen(angles, tau_end)[0])}
        values, moved = way.noted
        found["moves"] = jnp.sum(moved)
        if shape.every is not None:
            found |= {"risks": values[:: shape.every], "path": way.path}
        return found

    made: dict[str, Array] = jax.vmap(one)(jnp.asarray(starts), per_run, keys, sample_keys)
    return made


def _fields(given: PyTree, sample_key: Array, shape: _Shape) -> tuple[Field, Field]:
    """What one run's heads descend, and what tells them in the end whether they are right.

    On rows, moves are judged by the half that gives no gradient: what was fitted to its rows looks
    better on them than it is.
    """
    field: Field
    if isinstance(given, HiddenSet):
        field = Windows(shape.n, given)
        return field, field
    if shape.data == "Population":
        field = Dense(shape.n, exact_loss(given, shape.fair))
        return field, field
    rows = given
    if shape.data == "Sample":
        rows = draw_rows(sample_key, given, shape.samples, uniform=shape.fair)
    whole = Dense(shape.n, rows_loss(rows))
    half = rows.labels.shape[0] // 2
    if not shape.tries or half < 1:
        return whole, whole
    first = jax.tree.map(lambda part: part[:half], rows)
    second = jax.tree.map(lambda part: part[half:], rows)
    return Dense(shape.n, rows_loss(first), rows_loss(second)), whole


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
            head, place, does = relocate(
                field,
                seen,
                value,
                angles,
                tau,
                jax.random.fold_in(key, 1),
                tries=shape.tries,
                greedy=shape.greedy,
            )
            # A head that jumps keeps no momentum from where it was.
            at = (jnp.arange(shape.k) == head) & does
            calm = state._replace(mu=jnp.where(at, 0.0, state.mu), nu=jnp.where(at, 0.0, state.nu))
            return (jnp.where(at, place, moved), calm), does

        now = (number % EVERY == 0) & (time < LAST)
        after, does = jax.lax.cond(now, relocated, lambda: ((moved, state), jnp.array(False)))
        return after, (value, does)

    return step

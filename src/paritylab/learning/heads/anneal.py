"""Heads that learn: the cos readout, the log-correlation, and a temperature that falls slowly.

Our own procedure on HG1's architecture. Every head is a unit direction on the circle. The exact
correlation E[y cos πs] = Π_{j∉B} cos(πg_j/2) Π_{j∈B} sin(πg_j/2) is known in closed form;
descending minus its logarithm pulls heads to uncovered bits of B and apart from each other. Step
and jitter are measured in the angular width √τ of a head, so nothing depends on the size.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PyTree
from numpy.typing import ArrayLike

from paritylab.learning.contract import SOLVED_RISK, Trained, check_fields, register_learner
from paritylab.learning.data import (
    Population,
    Rows,
    Sample,
    Target,
    Unknown,
    are_uniform,
    functions_of,
    targets_or_unknown,
)
from paritylab.learning.descent import stacked, training_rows
from paritylab.learning.judging import judge_heads, judge_weights, judging_loss
from paritylab.learning.loop import walk
from paritylab.models import Circle, Cosine, HeadAttention, softmax_attention
from paritylab.precision import AnyArray, float64
from paritylab.risk.objective import JuntaTarget, labelled, target_of
from paritylab.risk.routes.cosine import correlation_wave, log_correlation
from paritylab.risk.routes.targets import SIGNS
from paritylab.risk.rows import Rows as Table, draw_rows
from paritylab.shapes import bucket

#: A correlation above this is proof that the heads sit on B; below it a run starts again.
FOUND = 0.9


@register_learner("anneal")
@dataclass(frozen=True, eq=False)
class Annealed:
    """Heads that learn. Lengths are in units of a head's angular width √min(τ, 1).

    tau falls geometrically from tau_start to tau_end/n². eta: length of an Adam step. jitter:
    standard deviation of the random kick per step, until 90 % of the steps are done; without it two
    heads that meet never part again. even: heads start evenly spaced at a random rotation.
    restarts: how often at most a run whose own correlation stays below 0.9 starts again. start:
    angles (k,) or (runs, k) of the first start. k: needed for `Rows` only.

    A run names the positions its heads point at; it is solved if the squared-hinge risk of its
    heads at the last temperature, with the readout cos(πs), is below 0.05.
    """

    steps: int = 1500
    tau_start: float = 1.0
    tau_end: float = 0.5
    eta: float = 0.2
    jitter: float = 0.15
    even: bool = True
    restarts: int = 0
    start: ArrayLike | None = None
    k: int | None = None

    takes = (Population, Sample, Rows)

    def __post_init__(self) -> None:
        check_fields(self)

    def train(
        self, data: Population | Sample | Rows, keys: jax.Array, trace: int | None
    ) -> Trained:
        k = self._size(data)
        given = self._given(len(keys), k)
        done: dict[str, np.ndarray] = {}
        counts = np.ones(len(keys), dtype=int)
        waiting = np.arange(len(keys))
        for attempt in range(self.restarts + 1):
            found = self._attempt(data, keys, waiting, attempt, trace, given, k)
            given = None
            for name, values in found.items():
                done.setdefault(name, np.zeros((len(keys), *values.shape[1:])))[waiting] = values
            counts[waiting] = attempt + 1
            # NaN compares false, so a diverged run waits for another start.
            waiting = waiting[~(np.abs(found["correlation"]) >= FOUND)]
            if not len(waiting):
                break
        return self._judged(data, keys, done, counts, trace)

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> HeadAttention:
        return self._model(np.asarray(numbers), target)

    def _model(self, angles: np.ndarray, target: Target | Unknown) -> HeadAttention:
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
        numbers, n = done["angles"], data.n
        if isinstance(data, Rows):
            pairs = zip(numbers, targets_or_unknown(data), strict=True)
            models = [self._model(*pair) for pair in pairs]
            found = judge_heads(models, data, keys)
        else:
            padded = np.resize(numbers, (bucket(len(numbers)), *numbers.shape[1:]))
            with float64():
                weights = np.asarray(_weights_at(padded, self.tau_end / n**2, n))
            found = judge_weights(weights[: len(numbers)], data, Cosine())
        turns = np.nan_to_num(numbers) * n / (2 * np.pi)
        positions = np.round(turns).astype(int) % n
        path = {}
        if trace is not None:
            path = {
                "step": np.arange(0, self.steps, trace),
                "risk": done["risks"],
                "angles": done["path"],
            }
        return Trained(
            numbers=numbers,
            subset=[tuple(sorted(set(each.tolist()))) for each in positions],
            risk=found.risk,
            error=found.error,
            kind=found.kind,
            loss=judging_loss(data),
            solved=found.risk + found.error < SOLVED_RISK,
            trace=path,
            stats={"positions": positions, "correlation": done["correlation"], "starts": counts},
        )

    def _size(self, given: Population | Sample | Rows | Target | Unknown) -> int:
        k = given.k if self.k is None else self.k
        if k is None or k < 1:
            raise ValueError(f"annealed heads need the size of the hidden set, got k={k}")
        return k

    def _given(self, runs: int, k: int) -> np.ndarray | None:
        if self.start is None:
            return None
        angles = np.asarray(self.start, dtype=np.float64)
        if angles.shape not in ((k,), (runs, k)) or not np.isfinite(angles).all():
            raise ValueError(
                f"start must be finite angles of shape {(runs, k)}, got shape {angles.shape}"
            )
        return np.broadcast_to(angles, (runs, k))

    def _attempt(
        self,
        data: Population | Sample | Rows,
        keys: jax.Array,
        chosen: np.ndarray,
        attempt: int,
        trace: int | None,
        given: np.ndarray | None,
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
                arrays = stacked(target_of(targets[i]) for i in padded)
            attempt_keys = jax.vmap(lambda key: jax.random.fold_in(key, 100 + attempt))(some)
            sample_keys = jax.vmap(lambda key: jax.random.fold_in(key, 2))(some)
            angles = _random_angles(attempt_keys, k, self.even) if given is None else given[padded]
            schedule = np.array([self.tau_start, self.tau_end / data.n**2, self.eta, self.jitter])
            shape = _Shape(
                n=data.n,
                k=k,
                steps=self.steps,
                fair=are_uniform(data),
                data=type(data).__name__,
                samples=data.samples if isinstance(data, Sample) else 0,
                every=trace,
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


def _power_of_two(size: int) -> int:
    return 1 << (size - 1).bit_length()


@partial(jax.jit, static_argnums=(1, 2))
def _random_angles(keys: Array, k: int, even: bool) -> jax.Array:
    """Evenly spaced at a random rotation, or every head on its own."""

    def one(key: Array) -> Array:
        shape = (1,) if even else (k,)
        turn = jax.random.uniform(jax.random.split(key)[0], shape, jnp.float64, 0, 2 * jnp.pi)
        return turn + (2 * jnp.pi * jnp.arange(k) / k if even else 0.0)

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
    tau_start, tau_end, eta, jitter = schedule
    adam = optax.scale_by_adam(b1=0.9, b2=0.99)

    def one(angles: Array, given: PyTree, key: Array, sample_key: Array) -> dict[str, Array]:
        rows = given if shape.data == "Rows" else None
        if shape.data == "Sample":
            rows = draw_rows(sample_key, given, shape.samples, uniform=shape.fair)
        risk = partial(_minus_log, target=given, rows=rows, fair=shape.fair, n=shape.n)
        kick_key = jax.random.split(key)[1]

        def step(carry: PyTree, number: Array) -> tuple[PyTree, Array]:
            angles, state = carry
            time = number / shape.steps
            tau = tau_start * (tau_end / tau_start) ** time
            value, gradient = jax.value_and_grad(risk)(angles, tau)
            updates, state = adam.update(jnp.nan_to_num(gradient), state)
            noise = jax.random.normal(jax.random.fold_in(kick_key, number), (shape.k,), jnp.float64)
            width = jnp.sqrt(jnp.minimum(tau, 1.0))
            moved = angles + width * (jitter * noise * (time < 0.9) - eta * updates)
            return (moved, state), value

        start = (angles, adam.init(angles))
        way = walk(step, start, steps=shape.steps, every=shape.every, keep=lambda carry: carry[0])
        angles = way.end[0]
        found = {"angles": angles, "correlation": jnp.exp(-risk(angles, tau_end))}
        if shape.every is not None:
            found |= {"risks": way.told[:: shape.every], "path": way.path}
        return found

    made: dict[str, Array] = jax.vmap(one)(jnp.asarray(starts), per_run, keys, sample_keys)
    return made


def _weights(angles: Array, tau: float | Array, n: int) -> Array:
    """What every bit weighs in the attended sum of heads at the given angles."""
    directions = jnp.stack([jnp.sin(angles), jnp.cos(angles)], axis=1)
    return jnp.sum(softmax_attention(Circle(n).scores(directions) / tau), axis=0)


@partial(jax.jit, static_argnames="n")
def _weights_at(angles: AnyArray, tau: float, n: int) -> Array:
    weights: Array = jax.vmap(partial(_weights, tau=tau, n=n))(jnp.asarray(angles))
    return weights


def _minus_log(
    angles: Array, tau: float | Array, *, target: PyTree, rows: Table | None, fair: bool, n: int
) -> Array:
    """-log|E[y cos πs]| of heads at the given angles, exactly or from rows."""
    weights = _weights(angles, tau, n)
    if rows is not None:
        mean = rows.shares @ (rows.labels * jnp.cos(jnp.pi * (rows.bits @ weights)))
        return -jnp.log(jnp.abs(mean) + 1e-300)
    if isinstance(target, JuntaTarget):
        return _junta_minus_log(weights, target)
    if not fair:
        return -log_correlation(weights, target.arrays())[0]
    half = jnp.pi / 2 * weights
    factors = jnp.where(target.indicator > 0, jnp.sin(half), jnp.cos(half))
    return -jnp.sum(jnp.log(jnp.abs(factors) + 1e-300)) - jnp.log(jnp.abs(target.contrast))


def _junta_minus_log(weights: Array, target: JuntaTarget) -> Array:
    """The same for a junta; a correlation that is mere rounding gives no direction.

    Only the mean of y enters, and two labels carry it for real values too.
    """
    modulus, factor, share = correlation_wave(weights, labelled(target, SIGNS), SIGNS)
    known = jnp.abs(share) > 1e-12
    size = modulus + jnp.log(jnp.where(known, jnp.abs(factor), 1.0))
    return jnp.where(known, -size, -jnp.log(1e-300))

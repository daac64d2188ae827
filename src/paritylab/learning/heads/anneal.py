"""Heads that learn: the cos readout, the log-correlation, and a temperature that falls slowly.

Our own procedure on HG1's architecture. Every head is a unit direction on the circle. The exact
correlation E[y cos πs] = Π_{j∉B} cos(πg_j/2) Π_{j∈B} sin(πg_j/2) is known in closed form;
descending minus its logarithm pulls heads to uncovered bits of B and apart from each other. Step
and jitter are measured in the angular width √τ of a head, so nothing depends on the size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from paritylab.learning.heads.train import as_targets, run_keys
from paritylab.models import Circle, softmax_attention
from paritylab.precision import float64
from paritylab.problem import Parity
from paritylab.risk.objective import Target, target_of
from paritylab.risk.routes.cosine import log_correlation
from paritylab.risk.rows import Rows, draw_rows

#: A correlation above this is proof that the heads sit on B; below it a run starts again.
FOUND = 0.9


@dataclass(frozen=True)
class Annealing:
    """The schedule. Lengths are in units of a head's angular width √min(τ, 1).

    tau falls geometrically from tau_start to tau_end/n². rate: length of an Adam step. jitter:
    standard deviation of the random kick per step, until 90 % of the steps are done; without it two
    heads that meet never part again. even: heads start evenly spaced at a random rotation.
    """

    steps: int = 1500
    tau_start: float = 1.0
    tau_end: float = 0.5
    rate: float = 0.2
    jitter: float = 0.15
    even: bool = True


@dataclass(frozen=True)
class AnnealedRuns:
    """Finished runs. directions: (runs, k, 2), unit vectors. correlation: E[y cos πs] at the end.

    starts: how many starts each run took. path_risks: -log|correlation| along the last start.
    """

    problems: tuple[Parity, ...]
    directions: np.ndarray
    correlation: np.ndarray
    starts: np.ndarray
    path_risks: np.ndarray

    @property
    def positions(self) -> np.ndarray:
        """The position each head points at, (runs, k)."""
        n = self.problems[0].n
        angles = np.arctan2(self.directions[..., 0], self.directions[..., 1])
        return np.round(angles * n / (2 * np.pi)).astype(int) % n

    @property
    def recovered(self) -> np.ndarray:
        """Whether the heads point at exactly B."""
        pairs = zip(self.positions, self.problems, strict=True)
        return np.array([set(found.tolist()) == set(p.subset) for found, p in pairs])


def anneal_heads(
    problems: Parity | Sequence[Parity],
    annealing: Annealing | None = None,
    *,
    runs: int | None = None,
    restarts: int = 0,
    samples: int | None = None,
    starts: np.ndarray | None = None,
    seed: int = 0,
    first: int = 0,
) -> AnnealedRuns:
    """Anneal k heads on each problem; a run whose own correlation stays below 0.9 starts again.

    restarts: at most this many further starts per run. samples: estimate the correlation from this
    many labelled rows, drawn once per run, instead of exactly. starts: angles (runs, k) for the
    first start.

    >>> runs = anneal_heads(Parity(30, (3, 4, 20)), runs=8, restarts=3)
    >>> runs.recovered.all()
    np.True_
    """
    targets, schedule = as_targets(problems, runs), annealing or Annealing()
    if restarts < 0:
        raise ValueError(f"restarts must be at least 0, got {restarts}")
    if samples is not None and samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples}")
    if starts is not None and np.shape(starts) != (len(targets), targets[0].k):
        raise ValueError(f"starts must be angles of shape {(len(targets), targets[0].k)}")
    keys = run_keys(seed, first, len(targets))
    done: dict[str, np.ndarray] = {}
    counts = np.ones(len(targets), dtype=int)
    waiting = np.arange(len(targets))
    for attempt in range(restarts + 1):
        given = starts if attempt == 0 else None
        found = _anneal_some(targets, schedule, keys, waiting, attempt, samples, given)
        for name, values in found.items():
            done.setdefault(name, np.zeros((len(targets), *values.shape[1:])))[waiting] = values
        counts[waiting] = attempt + 1
        waiting = waiting[np.abs(found["correlation"]) < FOUND]
        if not len(waiting):
            break
    angles = done["angles"]
    directions = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return AnnealedRuns(targets, directions, done["correlation"], counts, done["risks"].T)


def _anneal_some(targets, schedule, keys, chosen, attempt, samples, given) -> dict[str, np.ndarray]:
    """One start of the chosen runs, padded to a power of two so that few shapes compile."""
    size = len(targets) if len(chosen) == len(targets) else 1 << (len(chosen) - 1).bit_length()
    padded = np.resize(chosen, size)
    with float64():
        some = [targets[i] for i in padded]
        arrays = jax.tree.map(lambda *leaves: np.stack(leaves), *map(target_of, some))
        fair = all(target.is_uniform for target in targets)
        attempt_keys = jax.vmap(lambda key: jax.random.fold_in(key, 100 + attempt))(keys[padded])
        sample_keys = jax.vmap(lambda key: jax.random.fold_in(key, 2))(keys[padded])
        if given is None:
            given = _random_angles(attempt_keys, some[0].k, schedule.even)
        angles, correlation, risks = _anneal_block(
            given,
            arrays,
            attempt_keys,
            sample_keys,
            np.asarray(_numbers(schedule, some[0].n)),
            (some[0].k, schedule.steps, fair, samples),
        )
    named = {"angles": angles, "correlation": correlation, "risks": risks}
    return {name: np.asarray(values)[: len(chosen)] for name, values in named.items()}


def _numbers(schedule: Annealing, n: int) -> tuple[float, ...]:
    return schedule.tau_start, schedule.tau_end / n**2, schedule.rate, schedule.jitter


@partial(jax.jit, static_argnums=(1, 2))
def _random_angles(keys, k: int, even: bool):
    """Evenly spaced at a random rotation, or every head on its own."""

    def one(key):
        shape = (1,) if even else (k,)
        turn = jax.random.uniform(jax.random.split(key)[0], shape, jnp.float64, 0, 2 * jnp.pi)
        return turn + (2 * jnp.pi * jnp.arange(k) / k if even else 0.0)

    return jax.vmap(one)(keys)


@eqx.filter_jit
def _anneal_block(starts, targets: Target, keys, sample_keys, numbers, sizes):
    k, steps, fair, samples = sizes
    n = targets.indicator.shape[1]
    tau_start, tau_end, rate, jitter = numbers
    adam = optax.scale_by_adam(b1=0.9, b2=0.99)

    def one(angles, target: Target, key, sample_key):
        rows = None
        if samples is not None:
            rows = draw_rows(sample_key, target, samples, uniform=fair)
        risk = partial(_minus_log, target=target, rows=rows, fair=fair, n=n)
        kick_key = jax.random.split(key)[1]

        def step(carry, number):
            angles, state = carry
            time = number / steps
            tau = tau_start * (tau_end / tau_start) ** time
            value, gradient = jax.value_and_grad(risk)(angles, tau)
            updates, state = adam.update(jnp.nan_to_num(gradient), state)
            kick = jax.random.normal(jax.random.fold_in(kick_key, number), (k,), jnp.float64)
            width = jnp.sqrt(jnp.minimum(tau, 1.0))
            moved = angles + width * (jitter * kick * (time < 0.9) - rate * updates)
            return (moved, state), value

        (angles, _), risks = jax.lax.scan(step, (angles, adam.init(angles)), jnp.arange(steps))
        final = jnp.exp(-risk(angles, tau_end))
        return angles, final, risks[:: max(steps // 20, 1)]

    return jax.vmap(one)(jnp.asarray(starts), targets, keys, sample_keys)


def _minus_log(angles, tau, *, target: Target, rows: Rows | None, fair: bool, n: int):
    """-log|E[y cos πs]| of heads at the given angles, exactly or from rows."""
    directions = jnp.stack([jnp.sin(angles), jnp.cos(angles)], axis=1)
    weights = jnp.sum(softmax_attention(Circle(n).scores(directions) / tau), axis=0)
    if rows is not None:
        mean = rows.shares @ (rows.labels * jnp.cos(jnp.pi * (rows.bits @ weights)))
        return -jnp.log(jnp.abs(mean) + 1e-300)
    if not fair:
        size, _ = log_correlation(weights, *map(jnp.asarray, target))
        return -size
    half = jnp.pi / 2 * weights
    factors = jnp.where(target.indicator > 0, jnp.sin(half), jnp.cos(half))
    return -jnp.sum(jnp.log(jnp.abs(factors) + 1e-300)) - jnp.log(jnp.abs(target.contrast))

"""Training k heads: many runs in one compiled call."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning.descent import Descent, as_optimiser, descend
from paritylab.learning.heads.procedure import Procedure, preset, temperature
from paritylab.models import Circle, FullFormAttention, HeadAttention, JointAttention, as_readout
from paritylab.precision import float64
from paritylab.problem import Parity, random_parity
from paritylab.problem.losses import as_loss
from paritylab.risk.objective import Target, target_of, weight_risk
from paritylab.risk.rows import (
    MAX_ALL_BITS,
    check_data,
    data_risk,
    draw_rows,
    empirical_risk,
    every_row,
)

#: What is trained: the two position entries of each head, its whole 4×4 matrix, or the heads
#: together with a feed-forward head that starts as the paper's or at random.
VARIANTS = ("masked", "unmasked", "joint", "joint-random")

#: Below this risk a run counts as solved.
SOLVED = 0.05


@dataclass(frozen=True)
class HeadRuns:
    """Finished runs, all with the same procedure.

    directions: (runs, heads, 2). path: directions along the way, (records, runs, heads, 2), taken
    before the steps `path_steps`, with the risks seen there (records, runs). risk: the population
    risk at the end (runs,); exact up to 24 bits (for trained readouts and the 4×4 form up to 20 by
    visiting all inputs, else from 65,536 fresh samples).
    """

    problems: tuple[Parity, ...]
    procedure: Procedure
    directions: np.ndarray
    path: np.ndarray
    path_steps: np.ndarray
    path_risks: np.ndarray
    risk: np.ndarray

    @property
    def tau(self) -> float:
        return temperature(self.procedure.tau, self.problems[0].n)

    @property
    def positions(self) -> np.ndarray:
        """The position each head looks at most, (runs, heads)."""
        return np.argmax(self.directions @ Circle(self.problems[0].n).table.T, axis=-1)

    @property
    def recovered(self) -> np.ndarray:
        """Whether the heads look at exactly the positions of B, so that hard attention is right."""
        found = zip(self.positions, self.problems, strict=True)
        return np.array([set(heads.tolist()) == set(target.subset) for heads, target in found])

    @property
    def solved(self) -> np.ndarray:
        """Whether the soft model's risk is below 0.05."""
        return self.risk < SOLVED

    def model(self, run: int) -> HeadAttention:
        """The trained heads of one run."""
        k = self.problems[run].k
        readout = as_readout(self.procedure.readout, k)
        return HeadAttention(
            self.directions[run], Circle(self.problems[run].n), k, readout, self.tau
        )


def train_heads(
    problems: Parity | Sequence[Parity],
    procedure: str | Procedure = "paper",
    *,
    runs: int | None = None,
    heads: int | None = None,
    data: str = "population",
    samples: int | None = None,
    variant: str = "masked",
    starts: np.ndarray | None = None,
    seed: int = 0,
    first: int = 0,
    records: int = 20,
    **changes: Any,
) -> HeadRuns:
    """Train k heads from random angles, once per problem; run i draws from fold_in(seed, first+i).

    problems: one target for all `runs`, or one per run (equal n and k). procedure: a preset or your
    own; keywords such as tau=, loss=, readout=, optimiser=, rate=, steps= change single settings.
    heads: k by default. data: the exact "population", "all" inputs, one "sample" or "fresh" batches
    of `samples` rows. starts: directions (runs, heads, 2) instead of random ones.

    >>> runs = train_heads(Parity(8, (2, 5)), "code", runs=16, steps=400)
    >>> runs.recovered.mean() > 0.3
    np.True_
    """
    targets = as_targets(problems, runs)
    n, k = targets[0].n, targets[0].k
    chosen = preset(procedure, n) if isinstance(procedure, str) else procedure
    chosen = replace(chosen, **changes)
    size = check_data(data, samples, n)
    if variant not in VARIANTS:
        raise ValueError(f"variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    if variant != "masked" and data == "population":
        raise ValueError(f'variant="{variant}" needs data="all", "sample" or "fresh", got "{data}"')
    keys = run_keys(seed, first, len(targets))
    loss, heads = as_loss(chosen.loss), k if heads is None else heads
    readout = as_readout(chosen.readout, k)
    with float64():
        model = _model(variant, n, k, heads, readout, temperature(chosen.tau, n))
        parameters = _starts(model, variant, targets, keys, heads, starts)
        arrays = jax.tree.map(lambda *leaves: np.stack(leaves), *map(target_of, targets))
        uniform = all(target.is_uniform for target in targets)
        exact = _cached_weight_risk(readout, loss, n, k) if variant == "masked" else None
        every = _stride(chosen.steps, records)
        source = (data, size, uniform, exact if data == "population" else None)
        descent = _descend_all(
            model,
            loss,
            source,
            _optimiser_and_rate(chosen),
            (chosen.steps, every),
            parameters,
            arrays,
            keys,
        )
        risk = _final_risks(model, loss, exact, uniform, descent.parameters, arrays, keys)
        descent = jax.tree.map(np.asarray, descent)
    path = np.moveaxis(_directions(descent.path, variant), 0, 1)
    return HeadRuns(
        targets,
        chosen,
        _directions(descent.parameters, variant),
        path,
        np.arange(0, chosen.steps, every),
        descent.risks.T,
        np.asarray(risk),
    )


def random_targets(
    n: int, k: int, runs: int, *, seed: int = 0, first: int = 0, **options: Any
) -> tuple[Parity, ...]:
    """One random parity per run; options as in `random_parity`. Run i uses fold_in(seed, i)."""
    keys = run_keys(seed, first, runs)
    return tuple(random_parity(jax.random.split(key)[0], n, k, **options) for key in keys)


def run_keys(seed: int, first: int, runs: int):
    """Keys of runs first … first+runs-1: fold_in(seed, i)."""
    base = jax.random.key(seed)
    return jax.vmap(lambda i: jax.random.fold_in(base, i))(np.arange(first, first + runs))


def as_targets(problems, runs) -> tuple[Parity, ...]:
    """One problem per run, checked."""
    if isinstance(problems, Parity):
        runs = 1 if runs is None else runs
        if runs < 1:
            raise ValueError(f"runs must be at least 1, got {runs}")
        problems = (problems,) * runs
    targets = tuple(problems)
    sizes = {(target.n, target.k) for target in targets}
    if len(sizes) != 1:
        raise ValueError(f"the problems of one call need equal n and k, got (n, k) in {sizes}")
    if runs is not None and runs != len(targets):
        raise ValueError(f"got {len(targets)} problems for runs={runs}")
    if targets[0].k < 1:
        raise ValueError("heads need a parity set with at least one position, got k=0")
    return targets


def _model(variant: str, n: int, k: int, heads: int, readout, tau: float):
    model = HeadAttention(np.zeros((heads, 2)), Circle(n), k, readout, tau)
    if variant == "unmasked":
        return FullFormAttention.embed(model, masked=False)
    return model if variant == "masked" else JointAttention.from_zigzag(model)


def _starts(model, variant: str, targets, keys, heads: int, starts):
    """Parameters of every run, stacked."""
    pairs = [jax.random.split(key) for key in keys]
    if starts is None:
        drawn = [
            HeadAttention.random(pair[1], target, heads=heads).directions
            for pair, target in zip(pairs, targets, strict=True)
        ]
        starts = np.stack(drawn)
    starts = np.asarray(starts, dtype=np.float64)
    if starts.shape != (len(targets), heads, 2):
        raise ValueError(f"starts must have shape {(len(targets), heads, 2)}, got {starts.shape}")
    if variant == "masked":
        return starts
    if variant == "unmasked":
        matrices = np.zeros((len(targets), heads, 4, 4))
        matrices[:, :, 0, 2:] = starts
        return matrices
    networks = [
        JointAttention.from_random(model.heads, jax.random.fold_in(pair[1], 1)).network.parameters()
        if variant == "joint-random"
        else model.network.parameters()
        for pair in pairs
    ]
    return {
        "directions": starts,
        "network": jax.tree.map(lambda *leaves: np.stack(leaves), *networks),
    }


def _directions(parameters, variant: str) -> np.ndarray:
    if variant == "unmasked":
        return np.asarray(parameters)[..., 0, 2:]
    return np.asarray(parameters if variant == "masked" else parameters["directions"])


def _stride(steps: int, records: int) -> int:
    """The smallest divisor of `steps` that keeps at most `records` entries."""
    return next(d for d in range(1, steps + 1) if steps % d == 0 and steps // d <= records)


def _optimiser_and_rate(procedure: Procedure):
    """A named optimiser keeps its step size outside the compiled code, so rates share it."""
    as_optimiser(procedure.optimiser, procedure.rate)
    return procedure.optimiser, np.float64(procedure.rate)


_cached_weight_risk = lru_cache(maxsize=256)(weight_risk)


@eqx.filter_jit
def _descend_all(model, loss, source, optimiser_and_rate, schedule, parameters, targets, keys):
    data, size, uniform, exact = source
    steps, every = schedule
    optimiser = as_optimiser(*optimiser_and_rate)

    def one(parameters, target: Target, key) -> Descent:
        data_key, step_key = jax.random.split(jax.random.fold_in(key, 2))
        if exact is not None:
            risk = lambda p, _: exact(model.with_parameters(p).weights(), target)  # noqa: E731
        else:
            risk = data_risk(model, loss, data, size, target, data_key, uniform)
        return descend(risk, parameters, optimiser, steps=steps, every=every, key=step_key)

    return jax.vmap(one)(parameters, targets, keys)


@eqx.filter_jit
def _final_risks(model, loss, exact, uniform, parameters, targets, keys):
    def one(parameters, target: Target, key):
        trained = model.with_parameters(parameters)
        if exact is not None:
            return exact(trained.weights(), target)
        if target.indicator.shape[0] <= MAX_ALL_BITS:
            noise = (1 - jnp.abs(target.contrast)) / 2
            return empirical_risk(trained, every_row(target), loss, noise)
        rows = draw_rows(jax.random.fold_in(key, 3), target, 65536, uniform=uniform)
        return empirical_risk(trained, rows, loss)

    if exact is not None:
        return jax.vmap(one)(parameters, targets, keys)
    return jax.lax.map(lambda run: one(*run), (parameters, targets, keys))

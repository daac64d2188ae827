"""Can other attention kinds catch up with softmax? All rates at once, judged along the way."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from paritylab.learning.descent import as_optimiser
from paritylab.learning.xor.exact import SOLVED_ERROR, worst_case, xor_risk
from paritylab.learning.xor.parts import unit_step
from paritylab.models import Bowl, attend
from paritylab.models.attention import Kind
from paritylab.models.positions import as_code
from paritylab.precision import float64


class Race(NamedTuple):
    """solved and risk (checkpoints, etas, runs) of one attention kind; checkpoints in steps."""

    checkpoints: tuple[int, ...]
    etas: np.ndarray
    solved: np.ndarray
    risk: np.ndarray

    def best(self, checkpoint: int) -> np.ndarray:
        """Flags of the runs at the step size that solves most of them after `checkpoint` steps."""
        flags = self.solved[self.checkpoints.index(checkpoint)]
        return flags[int(flags.mean(axis=1).argmax())]

    def best_risk(self, checkpoint: int) -> float:
        """Smallest median risk over step sizes after `checkpoint` steps."""
        risks = np.nan_to_num(self.risk[self.checkpoints.index(checkpoint)], nan=np.inf)
        return float(np.median(risks, axis=1).min())


class _Rules(NamedTuple):
    """What a compiled race is specialised on."""

    attention: str | Kind
    optimiser: str
    loss: str
    checkpoints: tuple[int, ...]


def race(
    n: int,
    width: int,
    attention: str | Kind,
    *,
    optimiser: str = "sgd",
    etas: Any,
    checkpoints: tuple[int, ...] = (1, 10, 1000),
    positions: str = "signs",
    loss: str = "squared",
    runs: int = 20,
    seed: int = 0,
) -> Race:
    """Exact gradient descent from w = 0 at every step size, judged after each checkpoint.

    attention: a name, or a function of scores. etas: step sizes; those of plain gradient descent
    are gains, in units of `unit_step`. From w = 0 both heads stay equal, so one row of directions
    stands for both.
    """
    etas = np.asarray(etas, dtype=np.float32)
    scale = unit_step(n, attention=attention, loss=loss) / 2 if optimiser == "sgd" else 1.0
    with float64():
        keys = jax.random.split(jax.random.key(seed), runs)
        codes = [as_code(positions, n, key=key, width=width) for key in keys]
    tables = np.stack([code.vectors(np.arange(n)) for code in codes]).astype(np.float32)
    rules = _Rules(attention, optimiser, loss, checkpoints)
    solved, risk = _race_compiled(tables, etas * np.float32(scale), rules)
    return Race(checkpoints, etas, np.asarray(solved), np.asarray(risk))


@partial(jax.jit, static_argnames="rules")
def _race_compiled(
    tables: Float[Array, "runs n width"], etas: Float[Array, " etas"], rules: _Rules
) -> tuple[Array, Array]:
    n, width = tables.shape[1:]
    # Positions are exchangeable, so the pair may be the first two of them.
    on_pair = jnp.arange(n) < 2

    def one(table: Array, eta: Array) -> tuple[Array, ...]:
        def weights(direction: Array) -> Array:
            return attend(table @ direction, rules.attention)

        rule = as_optimiser(rules.optimiser, eta)
        gradient = jax.grad(lambda direction: xor_risk(weights(direction), on_pair, rules.loss))

        def step(_: Any, carry: Any) -> Any:
            direction, state = carry
            update, state = rule.update(gradient(direction), state, direction)
            return optax.apply_updates(direction, update), state

        start = jnp.zeros(width, jnp.float32)
        carry, outcomes, done = (start, rule.init(start)), [], 0
        for checkpoint in rules.checkpoints:
            carry = jax.lax.fori_loop(done, checkpoint, step, carry)
            g, done = weights(carry[0]), checkpoint
            worst = worst_case(g, on_pair, Bowl()).error
            outcomes.append((worst <= SOLVED_ERROR, xor_risk(g, on_pair)))
        return tuple(jnp.stack(column) for column in zip(*outcomes, strict=True))

    over_runs = jax.vmap(one, in_axes=(0, None), out_axes=1)
    solved, risk = jax.vmap(over_runs, in_axes=(None, 0), out_axes=1)(tables, etas)
    return solved, risk

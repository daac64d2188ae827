"""Can other attention kinds catch up with softmax? All rates at once, judged along the way."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from paritylab.learning.descent import as_optimiser
from paritylab.learning.xor.exact import worst_case, xor_risk
from paritylab.learning.xor.train import unit_step
from paritylab.models import Bowl, attend
from paritylab.models.positions import as_code


class Race(NamedTuple):
    """solved and risk (checkpoints, rates, runs) of one attention kind; checkpoints in steps."""

    checkpoints: tuple[int, ...]
    rates: np.ndarray
    solved: np.ndarray
    risk: np.ndarray

    def best(self, checkpoint: int) -> np.ndarray:
        """Flags of the runs at the rate that solves most of them after `checkpoint` steps."""
        flags = self.solved[self.checkpoints.index(checkpoint)]
        return flags[int(flags.mean(axis=1).argmax())]

    def best_risk(self, checkpoint: int) -> float:
        """Smallest median risk over rates after `checkpoint` steps."""
        risks = np.nan_to_num(self.risk[self.checkpoints.index(checkpoint)], nan=np.inf)
        return float(np.median(risks, axis=1).min())


def race(
    n: int,
    width: int,
    attention: str,
    *,
    optimiser: str = "sgd",
    rates,
    checkpoints: tuple[int, ...] = (1, 10, 1000),
    positions: str = "signs",
    loss: str = "squared",
    runs: int = 20,
    seed: int = 0,
) -> Race:
    """Exact gradient descent from w = 0 at every rate, judged after each checkpoint.

    From w = 0 both heads stay equal, so one row of directions stands for both. Rates of plain
    gradient descent are in units of `unit_step`.
    """
    rates = np.asarray(rates, dtype=np.float32)
    scale = unit_step(n, attention=attention, loss=loss) / 2 if optimiser == "sgd" else 1.0
    keys = jax.random.split(jax.random.key(seed), runs)
    tables = np.stack(
        [as_code(positions, n, key=key, width=width).vectors(np.arange(n)) for key in keys]
    )
    solved, risk = _race_compiled(
        tables.astype(np.float32),
        rates * np.float32(scale),
        attention,
        optimiser,
        loss,
        checkpoints,
    )
    return Race(checkpoints, rates, np.asarray(solved), np.asarray(risk))


@partial(jax.jit, static_argnames=("attention", "optimiser", "loss", "checkpoints"))
def _race_compiled(tables, rates, attention: str, optimiser: str, loss: str, checkpoints):
    n, width = tables.shape[1:]
    # Positions are exchangeable, so the pair may be the first two of them.
    on_pair = jnp.arange(n) < 2

    def one(table, rate):
        def weights(direction):
            return attend(table @ direction, attention)

        rule = as_optimiser(optimiser, rate)
        gradient = jax.grad(lambda direction: xor_risk(weights(direction), on_pair, loss))

        def step(_, carry):
            direction, state = carry
            update, state = rule.update(gradient(direction), state, direction)
            return optax.apply_updates(direction, update), state

        start = jnp.zeros(width, jnp.float32)
        carry, outcomes, done = (start, rule.init(start)), [], 0
        for checkpoint in checkpoints:
            carry = jax.lax.fori_loop(done, checkpoint, step, carry)
            g, done = weights(carry[0]), checkpoint
            outcomes.append((worst_case(g, on_pair, Bowl()).loss <= 0.01, xor_risk(g, on_pair)))
        return tuple(jnp.stack(column) for column in zip(*outcomes, strict=True))

    over_runs = jax.vmap(one, in_axes=(0, None), out_axes=1)
    solved, risk = jax.vmap(over_runs, in_axes=(None, 0), out_axes=1)(tables, rates)
    return solved, risk

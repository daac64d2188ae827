"""Recurrent rivals: an Elman network and an LSTM that read bits one after another."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from paritylab.problem.sampling import as_key

CELLS = ("elman", "lstm")


@final
class Recurrent(eqx.Module):
    """h_t = inner(h_{t-1}, u_t), answer_t = readout(h_t); one number per time step.

    inner: the cell; a linear map stands for Elman's tanh(A·u + B·h + b).
    """

    inner: eqx.nn.Linear | eqx.nn.LSTMCell
    readout: eqx.nn.Linear
    width: int = eqx.field(static=True)

    @classmethod
    def random(cls, key, inputs: int, width: int, cell: str = "elman") -> "Recurrent":
        """equinox's usual random start."""
        if cell not in CELLS:
            raise ValueError(f"cell must be one of {', '.join(CELLS)}, got {cell!r}")
        first, second = jax.random.split(as_key(key))
        inner: eqx.nn.Linear | eqx.nn.LSTMCell
        if cell == "elman":
            inner = eqx.nn.Linear(inputs + width, width, key=first)
        else:
            inner = eqx.nn.LSTMCell(inputs, width, key=first)
        return cls(inner, eqx.nn.Linear(width, 1, key=second), width)

    def start(self):
        """The state before the first step."""
        zero = jnp.zeros(self.width)
        return (zero, zero) if isinstance(self.inner, eqx.nn.LSTMCell) else zero

    def step(self, state, given: Float[Array, " inputs"]):
        """The next state and the answer read from it."""
        if isinstance(self.inner, eqx.nn.LSTMCell):
            state = self.inner(given, state)
            return state, self.readout(state[0])[0]
        state = jnp.tanh(self.inner(jnp.concatenate([given, state])))
        return state, self.readout(state)[0]

    def __call__(self, inputs: Float[Array, "time inputs"]) -> Float[Array, " time"]:
        """Answers after every time step."""

        # A bound method of a traced module cannot be hashed, so scan gets a plain function.
        def advance(state, given):
            return self.step(state, given)

        return jax.lax.scan(advance, self.start(), inputs)[1]

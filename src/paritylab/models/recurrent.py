"""Recurrent rivals: an Elman network and an LSTM that read bits one after another."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from paritylab._support.precision import AnyArray
from paritylab.problem.keys import Key, as_key

CELLS = ("elman", "lstm")

#: What a cell remembers: h (width,), for an LSTM h and c.
State = Array | tuple[Array, Array]


@final
class Recurrent(eqx.Module):
    """h_t = inner(h_{t-1}, u_t), answer_t = readout(h_t); one number per time step.

    inner: the cell; a linear map stands for Elman's tanh(A·u + B·h + b).
    """

    inner: eqx.nn.Linear | eqx.nn.LSTMCell
    readout: eqx.nn.Linear
    width: int = eqx.field(static=True)

    @classmethod
    def random(cls, key: Key, inputs: int, width: int, cell: str = "elman") -> "Recurrent":
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

    def start(self) -> State:
        """The state before the first step."""
        zero = jnp.zeros(self.width)
        return (zero, zero) if isinstance(self.inner, eqx.nn.LSTMCell) else zero

    def step(self, state: State, given: Float[Array, " inputs"]) -> tuple[State, Float[Array, ""]]:
        """The next state and the answer read from it."""
        if isinstance(self.inner, eqx.nn.LSTMCell):
            assert isinstance(state, tuple)
            state = self.inner(given, state)
            return state, self.readout(state[0])[0]
        assert not isinstance(state, tuple)
        state = jnp.tanh(self.inner(jnp.concatenate([given, state])))
        return state, self.readout(state)[0]

    def __call__(self, inputs: Float[Array, "time inputs"]) -> Float[Array, " time"]:
        """Answers after every time step."""

        # A bound method of a traced module cannot be hashed, so scan gets a plain function.
        def advance(state: State, given: Array) -> tuple[State, Array]:
            return self.step(state, given)

        return jax.lax.scan(advance, self.start(), inputs)[1]


@final
class BitReader(eqx.Module):
    """ŷ = the last answer of a network that reads the bits one by one, fed with its own answers.

    network: of n + 2 inputs: the bit as a sign, the previous answer, the one-hot position.
    labels: the sign of each answer is an input of the next step, as when running parities are
    shown in training; without them that input is 0.
    """

    network: Recurrent
    labels: bool = eqx.field(static=True)

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        signs = 1 - 2 * jnp.asarray(bits, jnp.result_type(float))
        places = jnp.eye(signs.shape[0])

        def advance(
            carry: tuple[State, Array], seen: tuple[Array, Array]
        ) -> tuple[tuple[State, Array], Array]:
            state, previous = carry
            sign, place = seen
            given = jnp.concatenate([jnp.stack([sign, previous]), place])
            state, answer = self.network.step(state, given)
            return (state, jnp.sign(answer) if self.labels else previous), answer

        start = (self.network.start(), jnp.asarray(1.0 if self.labels else 0.0))
        return jax.lax.scan(advance, start, (signs, places))[1][-1]


def reader_inputs(
    signs: Float[Array, "rows n"], previous: Float[Array, "rows n"]
) -> Float[Array, "rows n inputs"]:
    """What a `BitReader`'s network is given at every time step, for rows of strings.

    previous: the answers before each step, those of a teacher or zeros.
    """
    rows, n = signs.shape
    places = jnp.broadcast_to(jnp.eye(n)[None], (rows, n, n))
    return jnp.concatenate([signs[..., None], previous[..., None], places], axis=-1)
